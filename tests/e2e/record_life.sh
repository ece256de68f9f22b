#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Processes that start, load, vanish and end in all the ways a recorder must
# follow; users without rights; what is refused in words.
# shellcheck source=lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
need_perf
gcc -g -O2 -fomit-frame-pointer -pthread -o life "$TOP/tests/programs/life.c" -ldl || exit 1

record() { "$ASSAY" record --force -q -o run.assay "$@" 2>err.log || { cat err.log; return 1; }; }
report() { "$ASSAY" report --json --limit 100 "$@" run.assay >report.json; }
# field EXPRESSION: what python makes of the report `r`.
field() { python3 -c 'import json, sys; r = json.load(open("report.json")); print(eval(sys.argv[1]))' "$1"; }
at_least() { [ "$2" -ge "$1" ] || { echo "$2, want at least $1"; return 1; }; }
share_of() { field "int(100 * sum(x['self_share'] for x in r['rows'] if x['name'] == '$1'))"; }

function_is_hot() { # NAME SHARE RECORD-ARGUMENTS…
    local name=$1 share=$2
    shift 2
    record "$@" && report && at_least "$share" "$(share_of "$name")"
}
check 'a deleted program keeps its names' eval 'cp life gone && function_is_hot burn 80 -- ./gone unlink gone'
check 'a replaced program keeps its names' eval 'cp life other && cp /bin/true by && function_is_hot burn 80 -- ./other replace other by'
check 'a library loaded at run time is known' eval 'record -- ./life dlopen && report --by module && at_least 50 "$(field "sum(int(100 * x[\"self_share\"]) for x in r[\"rows\"] if \"libm.so\" in x[\"name\"])")"'
check 'generated code has the names of its map' eval 'function_is_hot jitted_loop 80 -- ./life jit >map.log; s=$?; rm -f $(cat map.log); [ $s -eq 0 ] || [ "$(uname -m)" != x86_64 ]'
# musl states no rule for what a handler returns to, and has its code stripped.
through_the_handler() { # COMPILER…
    "$@" -g -O2 -fomit-frame-pointer -o in_handler "$TOP/tests/programs/in_handler.c" || return 1
    record -F 999 -- ./in_handler 200 || return 1
    "$ASSAY" export --format folded run.assay | grep -q ';main;spin;.*;on_signal;burn'
}
check 'a stack leads through a signal handler' through_the_handler gcc
if command -v musl-gcc >/dev/null; then
    check 'and so in a program of musl' through_the_handler musl-gcc
    check 'and so in a static one' through_the_handler musl-gcc -static
else
    skip 'a signal handler in a program of musl' 'no musl-gcc here'
fi
children_by_vfork() {
    record -F 5000 -- ./life vfork 6 && report --by process && at_least 6 "$(field 'sum(x["self_samples"] >= 20 for x in r["rows"])')"
}
check 'children of vfork are their own processes' children_by_vfork
marks_of_children() {
    "$ASSAY" export --format json run.assay | python3 -c '
import json, sys
d = json.load(sys.stdin)
rows, text, pid_of = d["intervals"], d["strings"], lambda thread: d["processes"]["pid"][d["threads"]["process"][thread]]
marks = [(text[n], text[x], pid_of(t), s) for t, s, e, n, x in zip(*(rows[c] for c in ("thread", "start_ns", "end_ns", "name", "detail"))) if s == e]
forks, execs = [m for m in marks if m[0] == "fork"], [m for m in marks if m[0] == "exec"]
assert len(forks) == 6 and len({m[2] for m in forks}) == 1, marks
assert {m[1] for m in execs} == {"life", "exe"} and {str(m[2]) for m in execs} >= {m[1] for m in forks}, marks
# A child starts its program after it was made, and lives once: from its first to its last row.
for fork in forks:
    assert min(m[3] for m in execs if str(m[2]) == fork[1]) >= fork[3], marks
lives = [t for t, n in zip(rows["thread"], rows["name"]) if text[n] == "thread"]
assert sorted(lives) == list(range(len(d["threads"]["tid"]))), lives'
}
check 'forks, programs and lives of threads are recorded' marks_of_children
lives_in() { # FORMAT, on standard input
    python3 -c '
import json, sys
d = json.load(sys.stdin)
if sys.argv[1] == "chrome":
    lives = [(e["tid"], e["ts"], e["ts"] + e["dur"]) for e in d["traceEvents"] if e["ph"] == "X"]
    samples = [(s["tid"], s["ts"]) for s in d["samples"]]
else:
    lives, samples = [], []
    for t in d["threads"]:
        m = t["markers"]
        lives += [(t["tid"], s, e) for s, e, phase in zip(m["startTime"], m["endTime"], m["phase"]) if phase == 1]
        samples += [(t["tid"], at) for at in t["samples"]["time"]]
assert len(lives) >= 8, lives # main has no line where no sample hit it; a number may be used again
for tid, at in samples:
    assert any(tid == l[0] and l[1] - 1 <= at <= l[2] + 1 for l in lives), (tid, at, lives)' "$1"
}
time_lines() {
    record -F 999 -- ./life churn 2 && "$ASSAY" export --format chrome run.assay | lives_in chrome &&
        "$ASSAY" export --format firefox run.assay | lives_in firefox
}
check 'time lines hold the lives of threads around their samples' time_lines
# What exec has taken away, or the stack's first page fault is to bring, is nowhere to be
# read: how much of ten programs' 70 samples that is, chance decides. Of the rest crt's
# __do_global_dtors_aux has no rules; all others are to be complete.
stacks_of_short_programs() {
    record -F 10000 -- sh -c 'i=0; while [ $i -lt 100 ]; do /bin/true; i=$((i + 1)); done' && report &&
        at_least 97 "$(field '(lambda s: int(100 * s["complete"] / (sum(s.values()) - s["stack not in memory"])))(r["truth"]["stacks"])')" &&
        at_least 90 "$(field '(lambda s: int(100 - 100 * s["stack not in memory"] / sum(s.values())))(r["truth"]["stacks"])')"
}
check 'stacks are complete from the loader on' stacks_of_short_programs
# glibc states no rule for where clone returns, and there threads are made.
threads_in_the_making() {
    # Threads are made so quickly that not each recording has a sample in it.
    for _ in $(seq 40); do
        record -F 5000 -- ./life threads 4000 && report || return 1
        at_least 97 "$(field 'int(100 * r["truth"]["complete_stacks"])')" || return 1
        [ "$(field 'r["truth"]["user_only"]')" = False ] || return 0
        "$ASSAY" export --format folded run.assay >threads.folded
        grep -q ';main;.*clone3\?;' threads.folded && return 0
    done
    cat threads.folded
    return 1
}
check 'a stack leads out of clone' threads_in_the_making
# A frame of 100 KiB is never whole in a copy; the process still has it.
a_frame_larger_than_the_copy() {
    gcc -g -O2 -fomit-frame-pointer -o large_frame "$TOP/tests/programs/large_frame.c" &&
        record -- ./large_frame 600000000 && report || return 1
    at_least 90 "$(field 'int(100 * r["truth"]["complete_stacks"])')" || return 1
    "$ASSAY" export --format folded run.assay | grep -q ';_start;.*;main;outer;large;spin'
}
check 'a stack leads through a frame that is larger than the copy' a_frame_larger_than_the_copy
# Of 200 KiB of stack at most 64 come with a sample.
deeper_than_the_copy() {
    gcc -g -O2 -fomit-frame-pointer -o deep_stack "$TOP/tests/programs/deep_stack.c" &&
        record -F 999 -- ./deep_stack 50 8 && report || return 1
    at_least 97 "$(field 'int(100 * r["truth"]["complete_stacks"])')" || return 1
    # The deepest stack has every call, and main calls the first.
    "$ASSAY" export --format folded run.assay | awk -F ';' '{ calls = gsub(/;level/, "") }
        /;main/ && calls > most { most = calls } END { print "at most", most, "calls"; exit most != 50 }'
}
check 'a stack deeper than its copy is complete' deeper_than_the_copy
# The middle of such stacks is never there. What lies outside of it is not taken from a call that has
# returned meanwhile.
over_a_gap() { # SHARE-WITH-MAIN WORDS-OF-HELP RECORD-ARGUMENTS…
    local share=$1 help=$2
    shift 2
    "$ASSAY" record --force -o run.assay -F 2999 "$@" -- ./deep_phases 20000 800 2>err.log || { cat err.log; return 1; }
    "$ASSAY" report --notes --wide run.assay >notes.txt && grep -Eq "lack calls in the middle.*$help" notes.txt &&
        grep -q 'complete, .*% more reach their outermost call over a marked gap: [0-9.]*%' notes.txt || { cat notes.txt; return 1; }
    grep -q '% complete stacks, [0-9.]* % with those over a marked gap' err.log || { cat err.log; return 1; }
    "$ASSAY" export --format folded run.assay | awk -v share="$share" '
        /middle not copied/ { gaps += $NF; of_start += /;_start;/ * $NF; of_main += /;_start;.*;main;/ * $NF; mixed += (/;left;.*;work_right/ || /;right;.*;work_left/) * $NF }
        END { print gaps + 0, "gaps,", of_start + 0, "with the start,", of_main + 0, "with main,", mixed + 0, "with another call"
            exit !(gaps && of_start == gaps && of_main >= gaps * share && mixed <= gaps * 0.05) }'
}
gcc -g -O2 -fomit-frame-pointer -o deep_phases "$TOP/tests/programs/deep_phases.c" || exit 1
check 'the two ends of a stack far deeper than its copy belong together' over_a_gap 0.95 'a lower -F leaves more time'
# The stack of the process is read later: where main is at another call then, only its callers are known.
check 'and so where all stacks are copied' over_a_gap 0.8 'without --copy-stacks up to|copies as root|larger copies' --copy-stacks
# In the middle of exec the stack of the program before is gone already.
stacks_of_forked_programs() {
    # Not each recording has a sample there.
    for _ in $(seq 20); do
        record -F 10000 -- bash -c 'for i in {1..60}; do /bin/true; done' && report || return 1
        at_least 97 "$(field 'int(100 * (s := r["truth"]["stacks"])["complete"] + 100 * s["stack not in memory"]) // r["truth"]["samples"]')" || return 1
        [ "$(field 'r["truth"]["stacks"]["stack not in memory"] > 0')" = False ] || return 0
    done
    return 1
}
check 'a stack that exec took is called that' stacks_of_forked_programs

# A program that only its own mount namespace has, under a pid of its own there.
mkdir -p hidden
if unshare -m -p -f --mount-proc mount -t tmpfs none hidden 2>/dev/null; then
    check 'a container has its names' function_is_hot burn 80 -- unshare -m -p -f --mount-proc \
        sh -c 'mount -t tmpfs none hidden && cp life hidden/inside && exec hidden/inside burn 300'
    # Only the container has the sources at the paths that its program names. What stands at these
    # paths here is another text.
    gcc -g -O2 -fomit-frame-pointer -pthread -ffile-prefix-map="$TOP/tests/programs=$PWD/hidden/real" \
        -o life.inside "$TOP/tests/programs/life.c" -ldl || exit 1
    mkdir -p hidden/real
    yes '// not this text' | head -n 400 >hidden/real/life.c
    touch -d 2000-01-01 hidden/real/life.c
    in_the_container() { # MODE-OF-THE-SOURCE
        record -- unshare -m -p -f --mount-proc sh -c "mount -t tmpfs none hidden && mkdir hidden/kept && cp life.inside hidden/inside &&
            cp -p '$TOP/tests/programs/life.c' hidden/kept && chmod $1 hidden/kept/life.c && chmod 755 hidden hidden/kept &&
            ln -s '$PWD/hidden/kept' hidden/real && exec hidden/inside burn 300"
    }
    hot_text() { sed -n "$("$ASSAY" report --json --by line run.assay | python3 -c '
import json, sys
print(next(r["line"] for r in json.load(sys.stdin)["rows"] if r["file"].endswith("/hidden/real/life.c")))')p" "$TOP/tests/programs/life.c"; }
    container_has_its_sources() {
        local text
        in_the_container 644 && text=$(hot_text) && [ -n "$text" ] || return 1
        "$ASSAY" report run.assay | grep -qF -- "$text" && "$ASSAY" annotate run.assay burn | grep -qF -- "$text" || return 1
        ! "$ASSAY" annotate run.assay burn | grep 'not this text'
    }
    check 'and its sources' container_has_its_sources
    private_source_is_not_read() {
        in_the_container 600 || return 1
        ! "$ASSAY" annotate run.assay burn | grep -E 'for \(|while \('
    }
    check 'but no source that is not public' private_source_is_not_read
    rm -r hidden/real
    # The process is found by its pid here; its program is only in its own namespace.
    attached_to_a_container() {
        unshare -m -p -f --mount-proc sh -c 'mount -t tmpfs none hidden && cp life hidden/attached && exec hidden/attached burn 8000' &
        local starter=$! inside=''
        inside_is_there() { inside=$(pgrep -P "$starter") && [ "$(cat "/proc/$inside/comm")" = attached ]; }
        eventually inside_is_there && function_is_hot burn 80 --duration 0.5 -p "$inside"
        local status=$?
        kill -KILL "$inside"
        wait "$starter"
        return $status
    }
    check 'and so when it is attached to' attached_to_a_container
    if [ "$(uname -m)" = x86_64 ]; then
        check "and the map of its generated code" function_is_hot jitted_loop 80 -- unshare -m -p -f --mount-proc \
            sh -c 'mount -t tmpfs none /tmp && exec ./life jit'
    fi
else
    skip 'a container has its names' 'no right to make namespaces'
fi

# Four threads at a time come and go while we attach: each counts once. At 1000 Hz
# a second of CPU time is 1000 samples, so more samples than CPU time means doubles.
attached_once() {
    python3 - "$ASSAY" >used <<'PY' || return 1
import os, subprocess, sys
program = subprocess.Popen(["./life", "churn", "40"])
with open(f"/proc/{program.pid}/stat") as f:
    before = sum(map(int, f.read().rsplit(") ", 1)[1].split()[11:13])) / os.sysconf("SC_CLK_TCK")
recorded = subprocess.run([sys.argv[1], "record", "--force", "-q", "-F", "1000", "-o", "run.assay", "-p", str(program.pid)])
_, _, usage = os.wait4(program.pid, 0)
print(program.pid, int(1000 * (usage.ru_utime + usage.ru_stime - before)))
sys.exit(recorded.returncode)
PY
    local pid used_ms samples
    read -r pid used_ms <used
    "$ASSAY" report run.assay | head -n 1 | grep -q "^life (PID $pid)" || { echo 'does not say what was observed'; return 1; }
    report || return 1
    samples=$(field 'r["truth"]["samples"]')
    at_least 60 "$samples" || return 1
    [ "$samples" -le $((used_ms + used_ms / 50 + 20)) ] || { echo "$samples samples of $used_ms ms of CPU time"; return 1; }
    at_least 85 "$(share_of burn)"
}
check 'threads that start while we attach count once' attached_once
attached() { find "/proc/$1/fd" -lname '*perf_event*' | grep -q .; }
ends_with_the_process() {
    ./life burn 300 &
    local pid=$! recorder
    kill -STOP $pid
    "$ASSAY" record --force -q -o run.assay -p $pid 2>err.log &
    recorder=$!
    eventually attached $recorder
    kill -CONT $pid
    eventually gone $recorder || kill $recorder
    wait $recorder || { cat err.log; return 1; }
    wait $pid && report && at_least 85 "$(share_of burn)"
}
check 'attaching ends with the process' ends_with_the_process
daemon_is_left_alone() {
    cp life "d$$"
    "$ASSAY" record --force -o run.assay -- "./d$$" daemon 20000 2>err.log || { cat err.log; return 1; }
    pkill -x "d$$" || { echo 'waited for the daemon'; return 1; }
    grep -q 'still ran' err.log || { cat err.log; return 1; }
}
check 'a daemon is not waited for, and told' daemon_is_left_alone
duration_ends_the_recording() {
    rm -f go
    "$ASSAY" record --force -o run.assay --duration 0.2 -- sh -c './life burn 200; until [ -e go ]; do sleep 0.1; done' 2>err.log &
    local recorder=$! status
    eventually grep -q 'still runs' err.log
    status=$?
    touch go
    wait $recorder && [ $status -eq 0 ] || { cat err.log; return 1; }
    report && at_least 200000000 "$(field 'r["facts"]["wall-ns"]')"
}
check '--duration ends the recording, not the program' duration_ends_the_recording
delay_leaves_the_start_out() {
    record -D 100000 -- ./life burn 100 && report || return 1
    [ "$(field 'r["truth"]["samples"]')" -eq 0 ] || { field 'r["truth"]'; return 1; }
    record -D 1 -- ./life burn 300 && report && at_least 90 "$(share_of burn)"
}
check '--delay leaves the start out' delay_leaves_the_start_out
two_events() {
    record -e cpu-clock,page-faults -c 1000000 -- ./life burn 50 && report && record -e '{cpu-clock,page-faults}:S' -- ./life burn 50 && report
}
check 'several events and groups are recorded' two_events
clamped() {
    "$ASSAY" record --force -o run.assay -F 100000000 -- true 2>err.log
    grep -q 'perf_event_max_sample_rate' err.log || { cat err.log; return 1; }
}
check 'a rate over the limit is taken back, and told' clamped
# A sample every so many ticks of a clock comes as seldom as one by time: its dump is as large.
printf 'int main(void) { volatile char below[60000] = {0}; for (long i = 0; i < 400000000; i++) below[i %% 60000]++; }\n' >wide.c
deep_by_period() {
    gcc -O1 -o wide wide.c && record -e cpu-clock -c 1000000 -- ./wide && report &&
        at_least 95 "$(field 'int(100 * r["truth"]["complete_stacks"])')"
}
check 'by -c of a clock deep stacks are whole, too' deep_by_period

# As a user without rights.
[ "$(id -u)" -eq 0 ] || { finish; exit; }
chmod 755 . && mkdir -p user && chown 65534:65534 user && cp "$ASSAY" life user/
as_user() { setpriv --reuid 65534 --regid 65534 --clear-groups env HOME="$PWD/user" XDG_CACHE_HOME="$PWD/user" "$@"; }
# As timeout(1) ends it: the command gets the signal, then at once the whole group.
twice_at_once() {
    local recorder
    for _ in 1 2 3 4; do
        rm -f twice.assay*
        "$ASSAY" record -q -o twice.assay -- ./life burn 20000 2>err.log &
        recorder=$!
        sleep 0.3
        kill -TERM $recorder
        kill -TERM $recorder
        wait $recorder
        [ -e twice.assay ] && [ ! -e twice.assay.part ] && ! grep -q stopped err.log || { ls twice*; cat err.log; return 1; }
    done
}
check 'a signal that comes twice at once is one request to end' twice_at_once
if ! (cd user && as_user ./life burn 1 && as_user ./assay doctor >/dev/null); then
    skip 'without rights' 'another user cannot run programs here, or not record'
    finish
    exit
fi
user_record() { (cd user && as_user ./assay record --force -o run.assay "$@"); }
user_can() {
    user_record -- ./life burn 300 2>err.log || { cat err.log; return 1; }
    cp user/run.assay . && report && at_least 90 "$(share_of burn)"
}
check 'a user without rights records' user_can
user_small_rings() {
    (ulimit -l 0 && user_record -- ./life churn 5) 2>err.log || { cat err.log; return 1; }
    cp user/run.assay . && report && at_least 80 "$(share_of burn)"
}
check 'with the smallest ring quota too' user_small_rings
refused() { # WORDS ARGUMENTS…
    local words=$1
    shift
    rm -f user/no.assay*
    (cd user && as_user ./assay record -o no.assay "$@") 2>err.log && return 1
    grep -q '^hint: ' err.log && grep -qi -- "$words" err.log && [ -z "$(ls user/no.assay* 2>/dev/null)" ] || { cat err.log; return 1; }
}
check "another user's process is refused in words" refused 'belongs to user id 0' -p $$
if [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -ge 1 ]; then
    check 'whole CPUs are refused in words' refused 'perf_event_paranoid' -a --duration 0.1
fi
cp life user/setuid && chmod 4755 user/setuid
check 'a set-uid program is refused in words' refused 'set-uid' -- ./setuid burn 1
cp life user/unreadable && chmod 711 user/unreadable
check 'a program that cannot be read is refused in words' refused 'not read' -- ./unreadable burn 1
finish
