#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The package and the static executable of `make deb` and `make dist` work on a Debian 12 that has nothing else.
# shellcheck source=../e2e/lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
nightly_only
[ "$(id -u)" = 0 ] || skip_all 'only root makes a chroot'
command -v debootstrap >/dev/null || skip_all 'no debootstrap here (tools/install-deps --dev)'
need_perf

mirror=$(sed -n 's/^URIs: *//p; s/^deb \(\[.*\] \)\?\([^ ]*\) bookworm main.*/\2/p' /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null | head -n 1)
debootstrap --variant=minbase bookworm fresh ${mirror:+"$mirror"} >boot.log 2>&1 || skip_all "no Debian packages in reach: $(tail -n 1 boot.log)"
package=$("$TOP/tools/make-deb" "$ASSAY" .) || { echo 'no package was made'; exit 1; }
cp "$package" fresh/tmp/assay.deb
[ ! -e "$TOP/build/assay-static" ] || cp "$TOP/build/assay-static" fresh/tmp/assay-static

cat >fresh/tmp/count.sh <<'S'
i=0
while [ $i -lt 200000 ]; do i=$((i + 1)); done
S
# in_fresh COMMAND: in the new system, with /proc, /sys and /dev of its own.
in_fresh() {
    unshare --mount --fork sh -c 'mount -t proc proc fresh/proc && mount --rbind /sys fresh/sys && mount --rbind /dev fresh/dev &&
        exec chroot fresh sh -c "$1"' sh "$1"
}
check 'the package installs' in_fresh 'dpkg -i /tmp/assay.deb'
check 'it says its version' in_fresh 'assay --version | grep -qx "assay 0.1.0"'
check 'the completions lie where the shells of Debian look' in_fresh \
    'cd /usr/share && ls bash-completion/completions/assay zsh/vendor-completions/_assay fish/vendor_completions.d/assay.fish'
check 'doctor ends with 0' in_fresh 'assay doctor'
check 'every line of doctor is ok, or limited with its cure' in_fresh \
    '! assay doctor | grep -vE "^(ok|limited) |^ +->"'
check 'it records and reports' in_fresh \
    'assay record -q -o /tmp/x.assay -- sh /tmp/count.sh && assay report /tmp/x.assay | grep -q "all stacks complete"'
check 'it keeps account of the heap' in_fresh 'assay heap -q -o /tmp/h.assay -- ls / && assay report /tmp/h.assay | grep -q peak'
check 'it times' in_fresh 'assay bench -r 3 "ls /" | grep -q "ls / takes"'
check 'it can be removed' in_fresh 'dpkg -r assay && [ ! -e /usr/bin/assay ]'
if [ -e fresh/tmp/assay-static ]; then
    check 'the static executable records and reports' in_fresh \
        'cd /tmp && ./assay-static record -q -o s.assay -- sh count.sh && ./assay-static report s.assay | grep -q "all stacks complete"'
else
    skip 'the static executable' 'it is not built (make static)'
fi
finish
