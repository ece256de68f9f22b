#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# perf_event_open refused altogether, by a seccomp filter as containers have it:
# the same truths hold, sampled by ptrace, and the report says so.
# shellcheck source=lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
programs=$TOP/tests/programs
gcc -O1 -o no_perf "$programs/no_perf.c" || exit 1
./no_perf true || skip_all 'no seccomp filters here'
gcc -g -O2 -fomit-frame-pointer -pthread -o chain "$programs/chain.c" || exit 1
gcc -g -O2 -fomit-frame-pointer -pthread -o life "$programs/life.c" -ldl || exit 1
gcc -g -O2 -pthread -o spin "$programs/spin.c" || exit 1

record() { ./no_perf "$ASSAY" record --force -F 999 -o run.assay "$@" 2>err.log || { cat err.log; return 1; }; }
report() { "$ASSAY" report --json --limit 100 "$@" run.assay >report.json; }
field() { python3 -c 'import json, sys; r = json.load(open("report.json")); print(eval(sys.argv[1]))' "$1"; }
at_least() { [ "$2" -ge "$1" ] || { echo "$2, want at least $1"; return 1; }; }
# With what it called: a stop that comes a few microseconds late lies in the clock call.
share_of() { field "int(100 * sum(x['total_share'] for x in r['rows'] if x['name'] == '$1'))"; }
function_is_hot() { # NAME SHARE COMMAND…
    local name=$1 share=$2
    shift 2
    record -- "$@" && report && at_least "$share" "$(share_of "$name")"
}

# Long enough that how ticks and slices of work beat against each other says nothing.
if ! record -- ./chain 1000; then
    grep -q 'perf_event_open is refused' err.log && skip_all 'ptrace is refused here, too'
    exit 1
fi
report --tree --percent-limit 0
check 'chain and shares, sampled by ptrace' "$TOP/tests/e2e/lib/truth.py" report.json --share hot=80+-10 \
    --share other=20+-10 --chain main,a,b,hot --inlined mix --source "$programs/chain.c"
"$ASSAY" report run.assay >report.txt
check 'the report says what sampled' grep -q 'cpu time by ptrace' report.txt
check 'what was refused, and what lifts it' grep -q 'seccomp=unconfined' err.log
check 'and what the samples mean' grep -q 'stopping threads with ptrace, about [0-9]* us' err.log

short_says_so() { # no sample by good luck, and no advice that cannot help
    for _ in {1..20}; do
        record -- ./short || return 1
        grep -q ' 0 samples of' err.log && break
    done
    grep 'no samples: the program used .* ms of processor time' err.log && ! grep ' 0 us' err.log &&
        "$ASSAY" report run.assay >short.txt && grep 'many times in one recording' short.txt &&
        ! grep 'higher rate' short.txt
}
printf 'int main(void) { return 0; }\n' >short.c
gcc -static -o short short.c 2>/dev/null && check 'a program too short for a sample' short_says_so
weights_are_cpu_time() {
    python3 - <<'PY'
import json
r = json.load(open("report.json"))
used = int(r["facts"]["user-ns"]) + int(r["facts"]["system-ns"])
seen = r["metric"]["total"]
assert 0.8 * used <= seen <= 1.05 * used, (seen, used)
PY
}
check 'the weights sum up to the processor time used' weights_are_cpu_time

status_is() { # STATUS COMMAND…
    local want=$1 got
    shift
    ./no_perf "$ASSAY" record -q --force -o run.assay -- "$@" >/dev/null 2>&1
    got=$?
    [ $got -eq "$want" ] || { echo "status $got, want $want"; return 1; }
}
check 'the exit status is the command'\''s own' status_is 7 sh -c 'exit 7'
check 'so is the end by a signal' status_is 143 sh -c 'kill -TERM $$'
check 'and a handler that the program has' status_is 5 sh -c 'trap "exit 5" USR1; kill -USR1 $$; sleep 5'
check 'a program that stops itself and goes on' status_is 0 sh -c 'while sleep 0.1; do kill -CONT $$; done & kill -STOP $$; kill $!'

check 'threads' eval 'record -- ./spin 200 threads 8 && report --by thread && at_least 8 "$(field "sum(x[\"self_samples\"] >= 5 for x in r[\"rows\"])")"'
check 'children of vfork' eval 'record -- ./life vfork 4 && report --by process && at_least 4 "$(field "sum(x[\"self_samples\"] >= 5 for x in r[\"rows\"])")"'
check 'threads that come and go' function_is_hot burn 75 ./life churn 10
check 'a library loaded at run time' eval 'record -- ./life dlopen && report --by module && at_least 50 "$(field "sum(int(100 * x[\"self_share\"]) for x in r[\"rows\"] if \"libm.so\" in x[\"name\"])")"'
check 'a deleted program' eval 'cp life gone && function_is_hot burn 85 ./gone unlink gone'
check 'exec from a thread' eval 'record -- sh -c "exec ./life burn 200" && report && at_least 85 "$(share_of burn)"'
# A fork that comes between the asking for a stop and the stop must not end the sampling.
cat >storm.sh <<'SH'
for i in {1..150}; do (:); done
for ((i = 0; i < 400000; i++)); do x=$((x + i)); done
SH
check 'forks in the way of stops' eval 'record -- bash storm.sh && report && weights_are_cpu_time'

daemon_goes_on() { # what outlives the command is let go, and ends by itself
    cp life "d$$"
    record -- "./d$$" daemon 1000 || return 1
    ended() { ! pgrep -x "d$$"; }
    eventually ended >/dev/null || { echo 'the daemon hangs'; pkill -x "d$$"; return 1; }
}
check 'what outlives the command is let go' daemon_goes_on
signal_ends_both() {
    ./no_perf "$ASSAY" record -q --force -o run.assay -- ./spin 20000 2>err.log &
    local pid=$! status
    eventually child_used $pid 1000
    kill -TERM $pid
    wait $pid
    status=$?
    [ $status -eq 143 ] && report && at_least 50 "$(field 'r["truth"]["samples"]')"
}
check 'a signal ends the program and the recording is whole' signal_ends_both
event_says_why() {
    ! ./no_perf "$ASSAY" record -o no.assay -e cpu-clock -- true 2>err.log && grep -q 'seccomp' err.log
}
check 'an event asked for by name is refused in words' event_says_why
doctor_says_limited() {
    ./no_perf "$ASSAY" doctor >doctor.log && grep -q 'sampled by ptrace' doctor.log && grep -q 'counters are not known' doctor.log
}
check 'assay doctor knows the way on' doctor_says_limited
finish
