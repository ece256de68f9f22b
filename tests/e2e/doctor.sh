#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# assay doctor says of this machine and of a program what recording needs.
# shellcheck source=lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
gcc -g -O2 -o with_lines "$TOP/tests/programs/chain.c" || exit 1
strip -o bare with_lines
strip -R .note.gnu.build-id with_lines -g -o without_id
printf '#!/bin/sh\nexit 0\n' >script
chmod +x script

# verdict CHECK PROGRAM: what doctor says of one thing.
verdict() {
    "$ASSAY" doctor --json "$2" >doctor.json 2>err.log
    python3 - "$1" <<'PY'
import json, sys
report = json.load(open("doctor.json"))
assert report["schema"] == 1
for check in report["checks"]:
    assert check["verdict"] in ("ok", "limited", "missing"), check
    # A kernel without a PMU needs no fixing, all else that is not ok says what to do.
    assert check["verdict"] == "ok" or check["fix"], check
    if check["check"] == sys.argv[1]:
        print(check["verdict"])
PY
}
says() {
    local got
    got=$(verdict "$2" "$3") || { cat err.log; return 1; }
    [ "$got" = "$1" ] || { echo "$2 of $3 is '$got', want '$1'"; return 1; }
}
check 'the kernel is named' says ok kernel ./with_lines
check 'debug information is found' says ok debug-info ./with_lines
check 'sources are found' says ok source ./with_lines
check 'unwind tables are found' says ok unwind-tables ./bare
check 'a stripped program is told' says limited symbols ./bare
check 'its debug information is missed' says limited debug-info ./bare
check 'a missing build-id is told' says limited build-id ./without_id
check 'a script leads to its interpreter' says ok unwind-tables ./script

if [ "$(id -u)" = 0 ] && [ "$(uname -m)" = x86_64 ] && command -v setpriv >/dev/null; then
    check 'how much of a stack is copied, as root' says ok stack-copies ./with_lines
    as_user() {
        setpriv --reuid 65534 --regid 65534 --clear-groups "$ASSAY" doctor >user.txt 2>&1
        grep -A1 'up to 64 KB are copied' user.txt | grep -q 'sudo assay record' || { cat user.txt; return 1; }
    }
    if setpriv --reuid 65534 --regid 65534 --clear-groups "$ASSAY" doctor 2>/dev/null | grep -q 'perf_event_open works'; then
        check 'and what a user lacks' as_user
    else
        skip 'and what a user lacks' 'another user cannot record here'
    fi
fi

# A level above 2 is one of some distributions' kernels. For others it is 2, and events open all the same.
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null && echo 3 >level && unshare -m mount --bind level /proc/sys/kernel/perf_event_paranoid 2>/dev/null; then
    at_level_3() {
        chmod 644 level
        unshare -m sh -c 'mount --bind level /proc/sys/kernel/perf_event_paranoid && exec setpriv --reuid 65534 --regid 65534 --clear-groups "$ASSAY" doctor' >user.txt 2>&1
        if grep -q '^ok .*perf_event_open works' user.txt; then
            grep -q '^limited *kernel.perf_event_paranoid is 3: own processes' user.txt
        else
            grep -q '^missing *kernel.perf_event_paranoid is 3: no perf events for this user' user.txt
        fi || { cat user.txt; return 1; }
    }
    check 'kernel.perf_event_paranoid 3 is what the kernel makes of it' at_level_3
else
    skip 'kernel.perf_event_paranoid 3 is what the kernel makes of it' 'no right to mount'
fi

text_has_a_line_a_check() {
    "$ASSAY" doctor ./with_lines >out.log || return 1
    ! grep -vE '^(ok|limited|missing) +[^ ]|^ +-> ' out.log
}
check 'the text has a verdict on each line' text_has_a_line_a_check
fails_on() {
    "$ASSAY" doctor "$1" >out.log 2>err.log
    local status=$?
    [ $status -eq 1 ] && [ ! -s out.log ] && grep -q "$1" err.log || { echo "status $status"; cat err.log; return 1; }
}
check 'a program that does not exist is an error' fails_on ./no-such-program
check 'so is one that nothing can run' fails_on ./doctor.json
finish
