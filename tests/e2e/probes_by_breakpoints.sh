#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Probes where the kernel refuses them: breakpoints in the program, with the same counts.
# shellcheck source=lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
[ "$(uname -m)" = x86_64 ] || skip_all 'breakpoints at functions work on x86-64 only'
programs=$TOP/tests/programs
gcc -O1 -o no_perf "$programs/no_perf.c" && gcc -g -O2 -o probes "$programs/probes.c" || exit 1
gcc -g -O1 -o steps "$programs/steps.c" && gcc -g -O0 -pthread -o late_calls "$programs/late_calls.c" || exit 1
gcc -g -O2 -o hit_often "$programs/hit_often.c" || exit 1
./no_perf true || skip_all 'no seccomp filters here'
N=800
record() { rm -f p.assay; ./no_perf "$ASSAY" record -q -o p.assay "$@" 2>err; }
if ! record -e ./probes:parse -- ./probes 8 >/dev/null; then
    grep -q 'ptrace\|not permitted\|perf' err && skip_all 'ptrace is refused here, too'
    cat err
    exit 1
fi
field() { python3 -c 'import json, sys; r = json.load(open("report.json")); sys.exit(not eval(sys.argv[1]))' "$1"; }
probe() { # EVENT …: a recording and its report
    local options=()
    for event; do options+=(-e "$event"); done
    record "${options[@]}" -- ./probes $N >/dev/null && assay report --json p.assay >report.json || { cat err; return 1; }
}
count() { # NUMBER: so many hits, none lost, each with its whole stack
    field "r['metric']['total'] == $1 and r['truth']['samples_lost'] == 0 and r['truth']['complete_stacks'] == 1" ||
        { python3 -c 'import json; r = json.load(open("report.json")); print(r["metric"], r["truth"])'; return 1; }
}
check 'a function' probe './probes:parse len=%di'
check 'is counted exactly' count $((N + N / 4 + N / 8))
check 'with the values of its argument' field "[(b['low'], b['count']) for b in r['arguments'][0]['histogram']][:2] == [(0, $N // 4 + 1), (1, $N // 4)]"
said() { assay report --notes p.assay >notes.txt && tr -s ' \n' ' ' <notes.txt | grep -q "$1" || { cat notes.txt; return 1; }; }
check 'the report says how it was probed' said 'probed by breakpoints: each of 1100 hits stopped its thread'
check 'and what the kernel refused' said 'no probes of the kernel: '
check 'returns' probe 'parse%return $retval'
check 'are counted, too' count $((N + N / 4 + N / 8))
gcc -g -O2 -o probe_texts "$programs/probe_texts.c" || exit 1
# Root is told of the filter, not to become root.
filter_named() {
    ! ./no_perf --ptrace "$ASSAY" record -o n.assay -e ./probes:parse -- ./probes 8 2>err && grep -q 'most likely by the seccomp filter' err && ! grep -q 'need root' err || { cat err; return 1; }
}
if [ "$(id -u)" = 0 ]; then check 'a filter that refuses ptrace, too, is named' filter_named; fi
texts() {
    record -e 'answer%return +0($retval):string' -e './probe_texts:look +0(+8(%di)):string' -- ./probe_texts &&
        assay report --json p.assay >report.json &&
        field "{t['text']: t['count'] for t in r['arguments'][0]['texts']} == {'no': 25, 'yes 0': 25, 'yes 1': 25, 'yes 2': 25}"
}
check 'texts are read at the hit' texts
check 'wildcards' probe './probes:handle_*'
check 'count each function' field "{f['name']: f['self'] for f in r['rows'] if f['self']} == {'handle_one': $N, 'handle_two': $N // 4}"
check 'a marker' probe 'sdt_probes:step'
check 'is switched on' count $N
check 'a library that the program loads' probe 'libc.so.6:malloc size=%di'
check 'with every call after the start' field "r['metric']['total'] >= $N and r['arguments'][0]['most'] == 100"
every_tenth() {
    record -e ./probes:parse -c 10 -- ./probes 8000 >/dev/null && assay report --json p.assay >report.json &&
        field "r['truth']['samples'] == 1100 and r['metric']['total'] == 11000"
}
check 'every tenth hit stands for ten' every_tenth
late() { # THREADS PROCESSES CALLS
    record -g none -e ./late_calls:called -- ./late_calls "$@" && assay report --json p.assay >report.json &&
        field "r['metric']['total'] == (1 + $1 + 2 * $2) * $3"
}
# Instructions that cannot be emulated are carried out as copies behind the program's code: handlers
# of signals must not see those addresses, and no hit may count twice because of a signal.
cat >alarms.c <<'C'
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <ucontext.h>
static volatile long alarms, strange;
long steps;
extern char etext;
__attribute__((noinline, noclone, naked)) void counts(void) { __asm__("incq steps(%rip)\n\tret"); }
__attribute__((noinline, noclone, naked)) long next(long n) { __asm__("lea 1(%rdi), %rax\n\tret"); }
static void on_alarm(int signal, siginfo_t *info, void *context)
{
    unsigned long at = (unsigned long)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP], end = (unsigned long)&etext;
    alarms++;
    strange += at >= end && at <= (end | 4095);
}
int main(void)
{
    struct sigaction action = {.sa_sigaction = on_alarm, .sa_flags = SA_SIGINFO | SA_RESTART};
    struct itimerval timer = {{0, 700}, {0, 700}}, off = {{0}};
    long sum = 0;
    sigaction(SIGALRM, &action, 0);
    setitimer(ITIMER_REAL, &timer, 0);
    for (int i = 0; i < 1000; i++) { counts(); sum = next(sum); }
    setitimer(ITIMER_REAL, &off, 0);
    printf("%ld %ld %d %ld\n", steps, sum, alarms > 0, strange);
    return 0;
}
C
gcc -g -O1 -o alarms alarms.c || exit 1
alarms() {
    record -g none -c 1 -e ./alarms:counts -e ./alarms:next -- ./alarms >out && [ "$(cat out)" = '1000 1000 1 0' ] || { cat out err; return 1; }
    for event in counts next; do
        assay report --json -e "alarms:$event" p.assay >report.json && field "r['metric']['total'] == 1000" || { cat report.json; return 1; }
    done
}
check 'signals do not see how instructions are passed' alarms
check 'threads are followed' late 6 0 50
check 'and processes' late 0 5 50
check 'and both' late 3 3 100
each_instruction() { # of a function with instructions of many forms: the program computes the same
    local events=() places
    places=$(objdump -d --no-show-raw-insn --disassemble=forms steps | sed -n 's/^ *\([0-9a-f]*\):\t.*/\1/p')
    for place in $places; do events+=(-e "./steps:0x$place"); done
    ./steps >want.txt
    [ ${#events[@]} -gt 100 ] && record -g none "${events[@]}" -- ./steps >got.txt
    [ $? = 7 ] && cmp want.txt got.txt && said "each of [0-9]* hits" && ! grep -q 'have no breakpoint' notes.txt
}
check 'an instruction of any form does what it did' each_instruction
check 'a signal and a timer of the program come through' eval 'record -e ./hit_often:step -- ./hit_often 4000 >got.txt; [ $? = 5 ] && grep -x "steps 4000, signals handled" got.txt'
killed() { # the recorder is killed while the program runs: the program goes on to its end
    rm -f k.assay got.txt
    ./no_perf "$ASSAY" record -q -o k.assay -e ./hit_often:step -- ./hit_often 100000000 pid.txt >got.txt 2>err &
    local recorder=$!
    eventually test -s pid.txt
    local program
    program=$(cat pid.txt)
    kill -9 $recorder
    wait $recorder 2>/dev/null
    eventually gone "$program" && grep -x 'steps 100000000, signals handled' got.txt
}
check 'a recorder that is killed leaves no breakpoint' killed
fails_on_pid() { # what breakpoints cannot do is said with the reason
    ./late_calls 0 0 1 3000 & local pid=$!
    ! record -e ./late_calls:called -p $pid && grep -q 'CAP_PERFMON\|perf_event_open' err
    local status=$?
    kill $pid
    return $status
}
check 'a process that runs is refused' fails_on_pid
jumps() { ! record -e './probes:tail%return' -- ./probes 8 && grep -q 'CAP_PERFMON\|perf_event_open\|jump' err; }
check 'so is the return of a function that ends in a jump' jumps
check 'the user may ask for breakpoints' eval "assay record -f -q --engine ptrace -o p.assay -e ./probes:parse -- ./probes $N >/dev/null 2>err && assay report --json p.assay >report.json && count 1100"
if [ "$(id -u)" = 0 ]; then
    mkdir other && chmod 777 other && chmod 755 . && cp "$ASSAY" assay.bin && chmod 755 assay.bin probes
    other() { # another user, whom the kernel refuses probes, by its rights alone
        (cd other && setpriv --reuid 65534 --regid 65534 --clear-groups env HOME=/dev/null ../assay.bin record -q -o p.assay -e ../probes:parse -- ../probes $N >/dev/null) 2>err &&
            assay report --json other/p.assay >report.json && count 1100
    }
    check 'a user without rights has the same counts' other
fi
finish
