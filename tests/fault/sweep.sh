#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The n-th read, write, open, mmap ... of a command fails, for n = 1, 2, ...: it ends
# with a status of its own and words, leaves no half-made file, no process and no leak, keeps
# an older file; or gets by without, and its result is whole.
#   FAULT_ALL=1 takes the first and the last call from each place in the program and all commands, and
#   FAULT_ONLY=PATTERN the commands of that name; else the calls behind the first 12 (with sanitizers,
#   which are slow, the first 6) are thinned out.
# beside others: 45 s
# shellcheck source=../e2e/lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
[ "$(uname -m)" = x86_64 ] || skip_all 'faults are put into system calls of x86-64 only'
[ -x "$TOOLS/fault" ] || skip_all "no $TOOLS/fault: run make dev"
"$TOOLS/fault" read=EIO 0 count true || skip_all 'one process may not trace another here'
all=${FAULT_ALL:-}
faults_made=0
may_leave_part=0
may_leave_runs=0
after_each= # a function that judges what else must hold
limit=60    # seconds that a command may take
may_wait=0

# A failed command: status 1, or 2 as for a wrong command line, and an error in words.
# What it may leave: a bench's and a count's whole result of the runs that were made,
# a recording's .part file that opens, the recordings of a survey's steps.
failed_in_words() { # STATUS
    local left
    [ "$1" -eq 1 ] || [ "$1" -eq 2 ] || { echo "status $1"; return 1; }
    grep -q '^assay: .....' err.log || { echo 'no error in words'; return 1; }
    for left in out*; do
        case $left in
        out.log | 'out*') ;;
        out.json) python3 -m json.tool out.json >/dev/null || return 1 ;;
        out.cover) ;;
        out.survey*) whole_survey "$left" || { echo "left $left"; return 1; } ;;
        out.loop) ;;
        out.html) [ "$may_leave_runs" = 1 ] && grep -q '</html>' out.html || { echo "left $left"; return 1; } ;;
        out.db) ;;
        out.counts) grep -q elapsed out.counts || { echo 'half a count'; return 1; } ;;
        out.assay) [ "$may_leave_runs" = 1 ] && whole out.assay || { echo "left $left"; return 1; } ;;
        out.assay.part) [ "$may_leave_part" = 1 ] && whole out.assay.part.assay || { echo "left $left"; return 1; } ;;
        *) echo "left $left"; return 1 ;;
        esac
    done
}
# Each recording of a survey opens, also where the survey is not finished.
whole_survey() { # FOLDER
    local file
    for file in "$1"/*.assay; do
        [ ! -e "$file" ] || "$ASSAY" report "$file" >report.log 2>&1 || { cat report.log; return 1; }
    done
}
# A command that got by: its result is there and, if it is a recording, opens.
whole() { # OUTPUT
    local file=${1%.part.assay}
    [[ $1 != *.survey ]] || { "$ASSAY" report "$1" >report.log 2>&1 || { cat report.log; return 1; }; return 0; }
    [ "$file" = "$1" ] || mv "$file.part" "$1"
    [ "$1" = - ] || [ -s "$1" ] || { echo "no '$1'"; return 1; }
    [[ $1 != *.assay ]] || "$ASSAY" report "$1" >report.log 2>&1 || { cat report.log; return 1; }
}
one_fault() { # KIND=ERROR N OUTPUT COMMAND...
    local fault=$1 n=$2 output=$3 status
    shift 3
    rm -rf out* .assay cache
    timeout $limit "$TOOLS/fault" "$fault" "$n" fired "$@" >out.log 2>err.log </dev/null
    status=$?
    # Not every run makes as many calls; one that was never let go knows no leaks.
    [ "$(cat fired)" = fired ] || return 0
    if grep -qE 'Sanitizer|runtime error|Assertion' err.log; then
        echo 'a report of the sanitizer, or an assertion'
    elif [ $status -eq 124 ] && [ "$may_wait" = 1 ] && grep -q '^assay: ' err.log && grep -q 'waiting for changes' err.log; then
        return 0
    elif [ $status -eq 0 ]; then
        whole "$output" && ${after_each:-true} && return
    else
        failed_in_words $status && ${after_each:-true} && return
    fi
    echo "$fault number $n: $*"
    head -n 20 err.log
    return 1
}
# The calls that are to fail: one from each place, or each n in turn, then further and further apart.
sweep() { # KIND=ERROR OUTPUT COMMAND...
    local fault=$1 calls n=1
    if [ -n "$all" ]; then
        sweep_places "$@"
        return
    fi
    rm -rf out* .assay cache
    ASAN_OPTIONS=detect_leaks=0 "$TOOLS/fault" "$fault" 0 count "${@:3}" >out.log 2>err.log </dev/null ||
        { cat err.log; return 1; }
    calls=$(cat count)
    while [ "$n" -le "$calls" ]; do
        one_fault "$fault" "$n" "${@:2}" || return 1
        if [ "$n" -lt "$dense" ]; then n=$((n + 1)); else n=$((n + n / 4 + 1)); fi
    done
}
sweep_places() { # KIND=ERROR OUTPUT COMMAND...
    local fault=$1 n numbers
    rm -rf out* .assay cache
    ASAN_OPTIONS=detect_leaks=0 "$TOOLS/fault" "$fault" places places "${@:3}" >out.log 2>err.log </dev/null ||
        { cat err.log; return 1; }
    mapfile -t numbers < <(sort -nu places)
    faults_made=$((faults_made + ${#numbers[@]}))
    for n in "${numbers[@]}"; do one_fault "$fault" "$n" "${@:2}" || return 1; done
}

"$TOOLS/make_profile" plain in.assay
# An input of --per-input is its argument, with which it succeeds.
echo 'int main(int argc, char **argv) { (void)argv; return argc > 2; }' >prog.c
gcc -g --coverage -o gcc-prog prog.c && gcc -g -o plain-prog prog.c || skip_all 'no gcc'
"$TOOLS/make_profile" two-metrics other.assay
printf 'main;work;hot 7\nmain;idle 1\n' >in.folded
# Writes a byte for each turn of its life.
cat >allocates.c <<'C'
#include <stdlib.h>
#include <unistd.h>
int main(void)
{
    for (;;) {
        for (int i = 0; i < 100; i++)
            free(malloc(64));
        if (write(1, ".", 1) != 1)
            return 1;
        usleep(2000);
    }
}
C
cp "$TOP"/tests/golden/cover/cover.{covmapping,proftext} .
cp "$TOP"/tests/fuzz/corpus/tracefile/lcov1 in.info
cp "$TOP"/tests/fuzz/corpus/tracefile/lcov2 other.info
cp "$TOP"/tests/fuzz/corpus/unified_diff/small.diff .
cp "$TOP/tests/fuzz/corpus/import/dtrace.txt.bz2" in.dtrace.bz2
cp "$TOP/tests/fuzz/corpus/import/flight.jfr" in.jfr
cp "$TOP/tests/fuzz/corpus/tracefile/go-cover" in.out
mkdir corpus && echo one >corpus/one && echo two >corpus/two
faults='read=EIO write=ENOSPC open=EMFILE rename=EACCES stat=EIO'
starts='fd=EMFILE clone=EAGAIN wait=EINTR'
# A sanitizer's own memory does not come back empty-handed.
dense=12
if grep -q __asan_init "$ASSAY"; then dense=6; else faults+=' memory=ENOMEM'; fi

sweeps() { # NAME FAULTS OUTPUT COMMAND...
    local name=$1 list=$2 fault
    shift 2
    # shellcheck disable=SC2053 # a pattern
    [[ $name == ${FAULT_ONLY:-*} ]] || return 0
    for fault in $list; do check "$name: each ${fault%=*} fails with ${fault#*=}" sweep "$fault" "$@"; done
}
sweeps report "$faults" - "$ASSAY" report in.assay
sweeps 'report to a file' "$faults" out.txt "$ASSAY" report in.assay --json -o out.txt
sweeps flame "$faults" out.svg "$ASSAY" flame in.assay -o out.svg
sweeps export "$faults" out.gz "$ASSAY" export in.assay --format pprof -o out.gz
sweeps import "$faults" out.assay "$ASSAY" import in.folded -o out.assay
sweeps 'cover report' "$faults" - "$ASSAY" cover report cover.covmapping cover.proftext
sweeps 'cover export' "$faults" out.info "$ASSAY" cover export cover.covmapping cover.proftext --format lcov -o out.info
sweeps 'cover merge' "$faults" out.proftext "$ASSAY" cover merge -o out.proftext cover.proftext
sweeps bench "$faults $starts" out.json "$ASSAY" bench -N --warmup 0 --runs 3 --export-json out.json true
sweeps stat "$faults $starts perf=EACCES" out.counts "$ASSAY" stat -o out.counts true
sweeps doctor "$faults" - "$ASSAY" doctor true
may_leave_part=1
sweeps heap "$faults $starts" out.assay "$ASSAY" heap -q -o out.assay -- ./plain-prog
may_leave_part=0
if [ -n "$all" ]; then
    sweeps 'import of a packed file' "$faults" out.assay "$ASSAY" import in.dtrace.bz2 -o out.assay
    sweeps 'report of a flight recording' "$faults" - "$ASSAY" report in.jfr
    sweeps 'cover export of Go blocks' "$faults" out.xml "$ASSAY" cover export in.out --format jacoco -o out.xml
    sweeps 'diff of two formats' "$faults" out.txt "$ASSAY" diff in.assay in.folded -o out.txt
    # The page stays where the screen cannot be printed.
    may_leave_runs=1
    sweeps 'diff to a page' "$faults" out.html "$ASSAY" diff --html out.html in.assay in.folded
    may_leave_runs=0
    sweeps merge "$faults" out.assay "$ASSAY" merge -o out.assay in.assay other.assay
    sweeps 'view, served' "$faults wait=EINTR" - "$ASSAY" view --serve --idle 20ms in.assay
    sweeps cache "$faults" - env XDG_CACHE_HOME="$PWD/cache" "$ASSAY" cache --clear
    # Of the other processes of a survey each has its own rows here.
    sweeps survey "$faults $starts" out.survey "$ASSAY" survey -q --no-html --steps time,heap --max-time 0.01 -o out.survey -- ./plain-prog
    "$ASSAY" survey -q --no-html --steps time,heap --max-time 0.01 -o made.survey -- ./plain-prog
    sweeps 'report of a survey' "$faults" - "$ASSAY" report made.survey
    # A round that fails waits for the next change.
    may_wait=1 limit=10
    sweeps loop "$faults $starts" - "$ASSAY" loop --no-build --rounds 1 --steps time --max-time 0.01 -o out.loop -- ./plain-prog
    may_wait=0 limit=60
    sweeps 'view to a page' "$faults" out.html "$ASSAY" view --no-open --html out.html in.assay
    # A recording stays that cannot be compared.
    may_leave_part=1 may_leave_runs=1
    "$ASSAY" heap -q -f -o base.assay -- ./plain-prog
    sweeps 'heap against a limit' "$faults $starts" out.assay "$ASSAY" heap -q --baseline base.assay --sample 64k -o out.assay -- ./plain-prog
    may_leave_runs=0
    sweeps 'record with the heap' "$faults $starts" out.assay "$ASSAY" record -q --heap -o out.assay -- ./plain-prog
    sweeps 'cover run over inputs' "$faults $starts" - "$ASSAY" cover run -f -o out.cover --per-input corpus -- ./gcc-prog {}
    # What is attached to goes on, and has its own code again.
    # shellcheck disable=SC2053 # a pattern
    if [[ 'heap, attached' == ${FAULT_ONLY:-*} ]] && gcc -g -O1 -fno-builtin -o allocates allocates.c; then
        ./allocates >alive &
        target=$!
        eventually [ -s alive ]
        goes_on() { local turn; turn=$(stat -c %s alive) && eventually eval '[ "$(stat -c %s alive)" -gt '"$turn"' ]' || { echo "the program that it was attached to has ended or hangs"; return 1; }; }
        after_each=goes_on
        sweeps 'heap, attached' "$faults ptrace=EPERM ptrace=EIO ptrace=ESRCH $starts" out.assay "$ASSAY" heap -q -p $target --duration 0.02 -o out.assay
        after_each=
        kill $target
    fi
    may_leave_part=0
    sweeps annotate "$faults" - "$ASSAY" annotate in.assay
    sweeps 'export to a database' "$faults" out.db "$ASSAY" export in.assay --format sqlite -o out.db
    sweeps 'export every table' "$faults" out.rows "$ASSAY" export in.assay --format json -o out.rows
    sweeps 'cover show' "$faults" - "$ASSAY" cover show cover.covmapping cover.proftext
    sweeps 'cover add' "$faults" out.info "$ASSAY" cover add in.info in.info -o out.info
    sweeps 'cover subtract' "$faults" out.info "$ASSAY" cover subtract in.info other.info -o out.info
    sweeps 'cover intersect' "$faults" out.info "$ASSAY" cover intersect in.info in.info -o out.info
    sweeps 'cover diff' "$faults" - "$ASSAY" cover diff --diff-file small.diff in.info
    sweeps 'cover export as a page' "$faults" out.html "$ASSAY" cover export in.info --format html -o out.html
    sweeps 'cover merge to a recording' "$faults" out.assay "$ASSAY" cover merge -o out.assay cover.covmapping cover.proftext
    sweeps 'cover flags' "$faults" - "$ASSAY" cover flags gcc
    sweeps 'cover formats' "$faults" - "$ASSAY" cover formats
    # libpfm itself crashes when it cannot read /proc/cpuinfo; this is none that can be opened.
    mkdir nolib && : >nolib/libpfm.so.4
    sweeps list "$faults perf=EACCES" - env LD_LIBRARY_PATH="$PWD/nolib" "$ASSAY" list
    sweeps help "$faults" - "$ASSAY" help cover report
    may_leave_part=1 may_leave_runs=1
    sweeps 'bench to a recording' "$faults $starts" out.assay "$ASSAY" bench -N --warmup 0 --runs 3 --recording out.assay true
    may_leave_part=0 may_leave_runs=0
    sweeps 'bench to a database' "$faults" - "$ASSAY" bench -N --warmup 0 --runs 3 --save x --db out.db true
    sweeps 'stat over time' "$faults $starts" out.counts "$ASSAY" stat -I 10 -o out.counts sleep 0.03
fi
sweeps 'cover run' "$faults $starts" - "$ASSAY" cover run -f -o out.cover ./gcc-prog
# The first process that this command forks is the one that traces the program.
tracing='child:ptrace=EPERM child:ptrace=EIO child:ptrace=ESRCH child:wait=EINTR child:open=EMFILE child:read=EIO'
sweeps 'cover run by breakpoints' "open=EMFILE $starts $tracing" - "$ASSAY" cover run --engine ptrace -f -o out.cover ./plain-prog

older_file_is_kept() {
    "$ASSAY" flame in.assay -o old.svg || return 1
    cp old.svg before.svg
    ! "$TOOLS/fault" write=ENOSPC 1 fired "$ASSAY" flame in.assay --force --title new -o old.svg &&
        [ "$(cat fired)" = fired ] && cmp old.svg before.svg
}
check 'a write that fails leaves the older file as it was' older_file_is_kept

if reason=$("$TOP/tests/e2e/lib/perf_allowed.py"); then
    may_leave_part=1
    sweeps record "$faults $starts perf=EMFILE ioctl=EINVAL fsync=EIO" out.assay "$ASSAY" record -q -o out.assay -- true
    [ -z "$all" ] || ! "$ASSAY" record -q -f --wait -o waits.assay -- true 2>err.log ||
        sweeps 'record of waits' "$faults $starts perf=EMFILE ioctl=EINVAL" out.assay "$ASSAY" record -q --wait -o out.assay -- true
    [ -z "$all" ] || ! "$ASSAY" record -q -f --calls ./plain-prog:main -o calls.assay -- ./plain-prog 2>err.log ||
        sweeps 'record of calls' "$faults $starts perf=EMFILE ioctl=EINVAL" out.assay "$ASSAY" record -q --calls ./plain-prog:main -o out.assay -- ./plain-prog
    if [ -n "$all" ]; then
        sweeps 'record as a flight recorder' "$faults $starts perf=EMFILE ioctl=EINVAL" out.assay "$ASSAY" record -q --flight -p $$ --duration 0.02 -o out.assay
    fi
    # shellcheck disable=SC2053 # a pattern
    if [ -n "$all" ] && [[ dump == ${FAULT_ONLY:-*} ]]; then
        "$ASSAY" record -q --flight -o flight.assay -p $$ 2>flight.log &
        flight=$!
        sweeps dump "$faults" - "$ASSAY" dump $flight
        check 'a flight recorder whose dumps failed goes on' kill -TERM $flight
        wait $flight
    fi
    sweeps 'record, attached' 'perf=EACCES read=EIO open=EMFILE ioctl=EINVAL' out.assay "$ASSAY" record -q -p $$ --duration 0.02 -o out.assay
else
    skip record "$reason"
fi
if gcc -O1 -o no_perf "$TOP/tests/programs/no_perf.c" && ./no_perf true; then
    may_leave_part=1
    sweeps 'record by ptrace' 'ptrace=EPERM ptrace=EIO ptrace=ESRCH' out.assay ./no_perf "$ASSAY" record -q -o out.assay -- sh -c 'true; (true)'
    sweeps 'probes by breakpoints' 'ptrace=EPERM ptrace=EIO ptrace=ESRCH open=EMFILE read=EIO' out.assay ./no_perf "$ASSAY" record -q -e ./plain-prog:main -o out.assay -- ./plain-prog
else
    skip 'record by ptrace' 'no seccomp filters here'
fi
[ -z "$all" ] || echo "# $faults_made calls failed, from each place the first and the last"
finish
