#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# One command records and shows: report, annotate and flame with a command behind "--".
# shellcheck source=lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
need_perf
gcc -g -O2 -pthread -o spin "$TOP/tests/programs/spin.c" || exit 1

check 'report of a command passes its status on' status_is 7 assay report -o r.txt -- ./spin 100 exit 7
check 'and shows where its time went' grep -q ' burn ' r.txt
check 'without leaving a recording' eval '! ls *.assay 2>/dev/null'
check 'death by a signal is 128 + its number' status_is 143 assay report -o s.txt -- ./spin 100 signal 15
check 'annotate of a command' assay annotate burn -o a.txt -- ./spin 100
check 'shows the source of the function' grep -q 'x \* 6364136223846793005ull' a.txt
check 'flame of a command' assay flame -o f.svg -- ./spin 100
check 'draws it' grep -q burn f.svg
check 'an existing picture stays' status_is 1 assay flame -o f.svg -- touch ran
check 'which is said before the command runs' test ! -e ran
check '-e with a command is the event to record' assay report -e page-faults --count 1 --json -o e.json -- ./spin 10
check 'which the report shows' grep -q '"event": "page-faults' e.json
check '--recording keeps it' assay report --recording k.assay -o k.txt -- ./spin 50
check 'and it opens' assay report k.assay
check 'an existing recording stays' status_is 1 assay report --recording k.assay -- touch ran
check 'before the command runs, too' test ! -e ran
check 'a recording and a command exclude each other' status_is 2 assay report k.assay -- true
check 'a command that is not there is status 1' status_is 1 assay flame -o n.svg -- ./not-there
check 'and leaves no picture' test ! -e n.svg
streams() { # the program's own standard output comes first, the report behind it
    assay report -- echo from the program >both.txt 2>/dev/null && head -n 1 both.txt | grep -qx 'from the program'
}
check 'standard output has both' streams
if [ "$(id -u)" = 0 ]; then
    chmod 755 . && cp "$ASSAY" ./assay.bin && chmod 755 assay.bin spin
    check 'an unprivileged user gets the same' \
        setpriv --reuid 65534 --regid 65534 --clear-groups env HOME=/dev/null ./assay.bin report -- ./spin 50
fi
finish
