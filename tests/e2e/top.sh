#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# assay top: the screen on a terminal with its keys, plain lines elsewhere, and a terminal that is
# as it was afterwards, however it ends.
# shellcheck source=lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
need_perf
gcc -g -O2 -pthread -o spin "$TOP/tests/programs/spin.c" || exit 1
on_terminal() { "$TOP/tests/e2e/lib/top_pty.py" "$1" -- "$ASSAY" top "${@:2}"; }
shares() { grep -E '^ *[0-9]+\.[0-9]% .* burn ' "$1" | head -n 1; }

check 'plain screens of a command' status_is 7 eval 'assay top -- ./spin 2300 exit 7 >plain.txt'
check 'a screen a second and one at the end' test "$(grep -c '^assay top: ./spin 2300 exit 7' plain.txt)" -ge 2
check 'in which the function that ran is first' eval "shares plain.txt | awk '{exit !(\$1 + 0 > 80 && \$3 + 0 > 80)}'"
check 'with what was lost' grep -q ' lost · ' plain.txt
check 'without control characters' eval "! grep -q $'\x1b' plain.txt"
check 'a short command has its one screen' eval 'assay top -- ./spin 50 >short.txt && grep -c "^assay top" short.txt | grep -qx 1'
./spin 30000 &
pid=$!
check '-n ends after so many screens' eval "assay top -p $pid -n 2 -d 0.5 >two.txt && grep -c '^assay top' two.txt | grep -qx 2"
check 'the process runs on' kill -0 $pid
check '-E is the number of rows' eval "assay top -p $pid -n 1 -d 0.5 -E 1 >one.txt && test \$(sed '1,/self/d' one.txt | wc -l) = 1"
check 'rows are lines' eval "assay top -p $pid -n 1 -d 0.5 --by line >line.txt && grep -q 'spin.c:[0-9]' line.txt"
check 'rows are processes' eval "assay top -p $pid -n 1 -d 0.5 --by process >process.txt && grep -q '100.0% .*spin $pid' process.txt"
check 'the reader of a pipe may go' eval "timeout 10 \"$ASSAY\" top -p $pid -d 0.2 | head -n 1 | grep -q process"
check 'q ends it, and the terminal is as before' on_terminal 'see=burn,key=q,status=0' -d 0.3 -p $pid
check 'arrows choose a function, Enter shows who calls it, Escape goes back' \
    on_terminal "see=burn,key=down,see=>burn,key=enter,see=called by,see=main,key=escape,see=self  total,key=q,status=0" -d 0.3 -p $pid
check 'a filter shows names that contain it' \
    on_terminal "see=burn,see=main,key=slash,type=BuRx,see=no name contains,key=backspace,key=backspace,key=backspace,key=backspace,type=bur,see=with 'bur_',gone=main,key=enter,key=escape,see=main,key=q,status=0" -d 0.3 -p $pid
check 'Ctrl-C ends it' on_terminal 'see=burn,key=interrupt,status=0' -d 0.3 -p $pid
check 'SIGTERM ends it' on_terminal 'see=burn,signal=15,status=0' -d 0.3 -p $pid
check 'a signal that nobody expects gives the terminal back' on_terminal 'see=burn,signal=10,status=138' -d 0.3 -p $pid
check 'so does a crash' on_terminal 'see=burn,signal=11,status=139' -d 0.3 -p $pid
check 'and a stop, after which it goes on' on_terminal 'see=burn,stop,see=burn,key=q,status=0' -d 0.3 -p $pid
check 'the command writes after the screen, not over it' \
    on_terminal 'see=burn,status=3,after=from the command' -d 0.3 -- sh -c './spin 1500; echo from the command; exit 3'
check 'q ends the command, too' on_terminal 'see=burn,key=q,status=130' -d 0.3 -- ./spin 30000
kill $pid
check 'a process that is gone is an error' status_is 1 assay top -p $pid -n 1
check 'a command and a process exclude each other' status_is 2 assay top -p 1 -- true
check 'a time of 0 is none' status_is 2 assay top -d 0
if [ "$(id -u)" = 0 ]; then
    chmod 755 . && cp "$ASSAY" ./assay.bin && chmod 755 assay.bin spin
    as_nobody() { setpriv --reuid 65534 --regid 65534 --clear-groups env HOME=/dev/null "$@"; }
    check 'the whole machine' eval 'assay top -a -n 1 -d 0.5 >all.txt && grep -q "the whole machine" all.txt'
    check 'another user watches his own command' eval 'as_nobody ./assay.bin top -- ./spin 1500 >nobody.txt'
    check 'and sees where its time goes' eval "shares nobody.txt | awk '{exit !(\$1 + 0 > 80)}'"
    check 'but not the whole machine' status_is 1 as_nobody ./assay.bin top -a -n 1
    gcc -O2 -o no_perf "$TOP/tests/programs/no_perf.c" && chmod 755 no_perf
    check 'without perf events a command is watched by ptrace' eval 'as_nobody ./no_perf ./assay.bin top -- ./spin 1500 >traced.txt'
    check 'which is said' eval "tr '\\n' ' ' <traced.txt | grep -q 'perf events: refused'"
    check 'and shows where its time goes' eval "shares traced.txt | awk '{exit !(\$1 + 0 > 80)}'"
fi
finish
