#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The recorded program is its own master: status, signals, standard streams; and
# the recording holds its threads and children.
# shellcheck source=lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
need_perf
gcc -g -O2 -pthread -o spin "$TOP/tests/programs/spin.c" || exit 1

# field JSON-PATH-EXPRESSION FILE: what python makes of the report `r`.
field() { python3 -c 'import json, sys; r = json.load(open(sys.argv[2])); print(eval(sys.argv[1]))' "$1" "$2"; }
report() { "$ASSAY" report --json "$@" >report.json; }
status_is() {
    local want=$1 got
    shift
    "$@" >out.log 2>err.log
    got=$?
    [ "$got" -eq "$want" ] || { echo "status $got, want $want"; cat err.log; return 1; }
}
record() { "$ASSAY" record --force -o run.assay "$@"; }

check 'status 0 is passed on' status_is 0 record -- ./spin 50
check 'status 7 is passed on' status_is 7 record -- ./spin 50 exit 7
check 'a recording of a program that failed opens' report run.assay
check 'death by signal is 128 + its number' status_is 143 record -- ./spin 50 signal 15
check 'a recording of a program that died opens' report run.assay
check 'the exit status is in the recording' grep -q signal <(field 'r["facts"].get("exit-status")' report.json)
check 'a program that ends at once is recorded' status_is 0 record -- true
check 'its recording opens' report run.assay

streams_are_its_own() {
    local got
    got=$(printf 'one\ntwo\n' | record -q -- cat 2>err.log) || return 1
    [ "$got" = "$(printf 'one\ntwo')" ] || { echo "got '$got'"; return 1; }
}
check 'standard input and output are those of the program' streams_are_its_own
no_stream_is_added() { # nothing of ours on the program's standard output
    [ -z "$(record -- ./spin 10 2>/dev/null)" ]
}
check 'nothing is added to standard output' no_stream_is_added

threads_are_recorded() {
    record -q -- ./spin 60 threads 8 || return 1
    report --by thread run.assay || return 1
    local busy
    busy=$(field 'sum(row["self_samples"] >= 10 for row in r["rows"])' report.json)
    [ "$busy" -ge 8 ] || { echo "$busy threads with 10 samples or more, want 8"; return 1; }
}
check 'every thread is in the recording' threads_are_recorded
children_are_recorded() {
    record -q -- ./spin 60 fork 4 || return 1
    report --by process run.assay || return 1
    local busy
    busy=$(field 'sum(row["self_samples"] >= 10 for row in r["rows"])' report.json)
    [ "$busy" -ge 4 ] || { echo "$busy children with 10 samples or more, want 4"; return 1; }
}
check 'every child is in the recording' children_are_recorded
through_a_shell() {
    record -q -- sh -c './spin 100; exec ./spin 100' || return 1
    report run.assay || return 1
    local share
    share=$(field 'int(100 * sum(x["self_share"] for x in r["rows"] if x["name"] == "burn"))' report.json)
    [ "$share" -ge 75 ] || { echo "burn has $share %"; return 1; }
}
check 'fork and exec are followed' through_a_shell

# interrupted SIGNAL: sent to the whole foreground group, as a terminal's Ctrl-C is.
interrupted() {
    python3 - "$1" "$ASSAY" <<'PY'
import os, signal, subprocess, sys, time
number = getattr(signal, sys.argv[1])
child = subprocess.Popen([sys.argv[2], "record", "-q", "--force", "-o", "cut.assay", "--", "./spin", "20000"],
                         start_new_session=True,
                         # Who runs the tests in the background ignores SIGINT.
                         preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
def used():
    """Processor time of the program, in seconds."""
    try:
        with open(f"/proc/{child.pid}/task/{child.pid}/children") as f:
            program = f.read().split()[0]
        with open(f"/proc/{program}/stat") as f:
            return sum(map(int, f.read().rsplit(") ", 1)[1].split()[11:13])) / os.sysconf("SC_CLK_TCK")
    except (OSError, IndexError):
        return 0

end = time.monotonic() + 60
while used() < 0.5 and time.monotonic() < end:
    time.sleep(0.05)
if number == signal.SIGINT:
    os.killpg(child.pid, number)
else:
    child.send_signal(number)
try:
    status = child.wait(timeout=60)
except subprocess.TimeoutExpired:
    os.killpg(child.pid, signal.SIGKILL)
    sys.exit("did not end after the signal")
print("status", status)
PY
}
for signal in SIGINT SIGTERM; do
    rm -f cut.assay
    check "$signal ends program and recording" interrupted $signal
    check "the recording that $signal ended opens" report cut.assay
    check "and holds samples" test "$(field 'r["truth"]["samples"]' report.json)" -ge 20
done

attaches() {
    ./spin 2500 threads 2 &
    local pid=$! status
    eventually test "/proc/$pid/exe" -ef spin
    record -q -p $pid --duration 0.5
    status=$?
    wait $pid || { echo "the observed program failed: $?"; return 1; }
    [ $status -eq 0 ] || { echo "status $status"; return 1; }
    report run.assay || return 1
    local share
    share=$(field 'int(100 * sum(x["self_share"] for x in r["rows"] if x["name"] == "burn"))' report.json)
    [ "$share" -ge 75 ] || { echo "burn has $share %"; return 1; }
}
check 'a running program is attached to, for as long as asked' attaches
# Before an exec's record its thread has no user stack any more. The first such sample may come before
# any that tells what an exec looks like.
execs_are_complete() {
    record -q -F 10000 -- sh -c 'i=0; while [ $i -lt 150 ]; do /bin/true; i=$((i + 1)); done' || return 1
    "$ASSAY" export -f folded --force -o folded.txt run.assay || return 1
    awk '/begin_new_exec/ { all += $NF; if (/stack not in memory/) cut += $NF }
        END { printf "%d of %d ns\n", cut, all; exit cut * 10 > all }' folded.txt
}
check 'stacks of an exec whose memory is gone are whole' execs_are_complete

finish
