#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The file of defaults where another user, under sudo the owner of HOME, can put what he likes: it names options
# of commands that root runs, for one --build.
# beside others: 1 s
# shellcheck source=../e2e/lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
export HOME=$PWD/home
unset XDG_CONFIG_HOME ASSAY_CONFIG
mkdir -p home/.config/assay
config=home/.config/assay/config
refuses() { ! timeout 10 "$ASSAY" stat -e task-clock sh -c 'touch ran' 2>err && grep -q 'not a regular file of this user or of root' err && [ ! -e ran ] || { cat err; return 1; }; }
mkfifo $config
check 'a FIFO is refused at once' refuses
rm $config && ln -s /dev/zero $config
check 'a device is refused' refuses
rm $config && mkdir $config
check 'a folder is refused' refuses
rmdir $config && head -c 100000 /dev/zero | tr '\0' '#' >$config
check 'a file of more than 64 KiB is refused' eval '! "$ASSAY" stat true 2>err && grep -q "more than" err || { cat err; false; }'
if [ "$(id -u)" = 0 ]; then
    printf '[stat]\npre = touch ran\n' >$config && chown 65534:65534 $config
    check "another user's file is refused" refuses
    rm $config && printf '[stat]\npre = touch ran\n' >theirs && chown 65534:65534 theirs && ln -s "$PWD/theirs" $config
    check "also behind a link of ours" refuses
else
    skip "another user's file is refused" 'not root'
fi
finish
