#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# perf_event_open and ptrace refused: the truths hold, sampled by timers inside the processes.
# shellcheck source=lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
programs=$TOP/tests/programs
gcc -O1 -o no_perf "$programs/no_perf.c" || exit 1
./no_perf true || skip_all 'no seccomp filters here'
gcc -g -O2 -fomit-frame-pointer -pthread -o chain "$programs/chain.c" || exit 1
gcc -g -O2 -fomit-frame-pointer -pthread -o life "$programs/life.c" -ldl || exit 1
gcc -g -O2 -pthread -o spin "$programs/spin.c" || exit 1
gcc -g -O1 -pthread -o signals "$programs/timer_signals.c" || exit 1

record() { ./no_perf --ptrace "$ASSAY" record --force -o run.assay "$@" 2>err.log || { cat err.log; return 1; }; }
report() { "$ASSAY" report --json --limit 100 "$@" run.assay >report.json; }
field() { python3 -c 'import json, sys; r = json.load(open("report.json")); print(eval(sys.argv[1]))' "$1"; }
at_least() { [ "$2" -ge "$1" ] || { echo "$2, want at least $1"; return 1; }; }
share_of() { field "int(100 * sum(x['total_share'] for x in r['rows'] if x['name'] == '$1'))"; }
function_is_hot() { # NAME SHARE COMMAND…
    local name=$1 share=$2
    shift 2
    record -- "$@" && report && at_least "$share" "$(share_of "$name")"
}
folders() { find /dev/shm /tmp /var/tmp "${TMPDIR:-/tmp}" -maxdepth 1 -name 'assay-agent-*' -user "$(id -u)" 2>/dev/null | sort -u; }
before=$(folders)

record -- ./chain 1000 || exit 1
report --tree --percent-limit 0
check 'chain and shares, sampled by timers' "$TOP/tests/e2e/lib/truth.py" report.json --share hot=80+-12 \
    --share other=20+-12 --chain main,a,b,hot --inlined mix --source "$programs/chain.c"
"$ASSAY" report run.assay >report.txt
check 'the report says what sampled' grep -q 'cpu time by thread timers' report.txt
check 'and what was refused' eval 'grep -q "ptrace: refused" report.txt && grep -q "seccomp=unconfined" err.log && grep -q "no ptrace" err.log'
check 'all stacks are complete' eval 'report && at_least 99 "$(field "int(100 * r[\"truth\"][\"complete_stacks\"])")"'
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
    ./no_perf --ptrace "$ASSAY" record -q --force -o run.assay -- "$@" >/dev/null 2>&1
    got=$?
    [ $got -eq "$want" ] || { echo "status $got, want $want"; return 1; }
}
check 'the exit status is the command'\''s own' status_is 7 sh -c 'exit 7'
check 'so is the end by a signal' status_is 143 sh -c 'kill -TERM $$'
killed_keeps_samples() { # a process that ends by SIGKILL has told of itself up to then
    ./no_perf --ptrace "$ASSAY" record -q --force -o run.assay -- sh -c './spin 60000 & sleep 3; kill -9 $!' 2>err.log
    report && at_least 50 "$(share_of burn)"
}
check 'a killed process is in the recording' killed_keeps_samples

check 'threads' eval 'record -- ./spin 200 threads 8 && report --by thread && at_least 8 "$(field "sum(x[\"self_samples\"] >= 2 for x in r[\"rows\"])")"'
check 'children of vfork' eval 'record -- ./life vfork 4 && report --by process && at_least 4 "$(field "sum(x[\"self_samples\"] >= 2 for x in r[\"rows\"])")"'
check 'children of fork' eval 'record -- bash -c "x() { for ((i = 0; i < 200000; i++)); do :; done; }; x & x & wait" && report --by process && weights_are_cpu_time'
check 'threads that come and go' function_is_hot burn 75 ./life churn 10
check 'a library loaded at run time' eval 'record -- ./life dlopen && report --by module && at_least 50 "$(field "sum(int(100 * x[\"self_share\"]) for x in r[\"rows\"] if \"libm.so\" in x[\"name\"])")"'
check 'a deleted program' eval 'cp life gone && function_is_hot burn 75 ./gone unlink gone'
check 'exec' function_is_hot burn 75 sh -c 'exec ./life burn 300'
check 'programs one after the other in one process' eval 'record -- sh -c "./life burn 100; exec sh -c \"./life burn 100; exec ./life burn 100\"" && report --by process && at_least 3 "$(field "sum(x[\"self_samples\"] >= 2 for x in r[\"rows\"])")"'

# What the program does with signals is its own: it blocks all of them, has handlers for all of
# them, uses SIGPROF, small stacks of coroutines and an alternate stack, and loses no system call.
# It prints its own verdict; one line a way.
for way in blocked handlers profiler altstack coroutine eintr; do
    check "signals: $way" eval "record -- ./signals $way >out.log && cat out.log && grep -qx \"$way: as without\" out.log && report && weights_are_cpu_time && at_least 60 \"\$(share_of work)\""
done

same_environment() { # but for the variables that load the library
    env -u LD_PRELOAD -u ASAN_OPTIONS -u _ sh -c 'env; ls -l /proc/self/fd | wc -l; umask' | grep -v '^_=' >without.txt
    record -q -- env -u LD_PRELOAD -u ASAN_OPTIONS -u _ sh -c 'env; ls -l /proc/self/fd | wc -l; umask' >with.txt || return 1
    grep -v '^_=' with.txt | diff without.txt -
}
check 'descriptors and environment of the program are its own' same_environment
keeps_preload() {
    gcc -shared -fPIC -o other.so -x c - <<<'int other(void) { return 1; }' || return 1
    LD_PRELOAD=$PWD/other.so record -q -- sh -c 'grep -c other.so /proc/$$/maps' >out.log && at_least 1 "$(cat out.log)"
}
check 'a library that the user preloads is still loaded' keeps_preload

# musl has no unwind rules: its callers are found by the calls that lead there.
all_complete() { report && at_least 97 "$(field "int(100 * r['truth']['complete_stacks'])")"; }
if command -v musl-gcc >/dev/null; then
    musl-gcc -g -O2 -fasynchronous-unwind-tables -o chain_musl "$programs/chain.c" &&
        musl-gcc -g -O2 -fasynchronous-unwind-tables -pthread -o calls_musl "$programs/musl_calls.c" || exit 1
    check "a program of musl's" eval 'record -- ./chain_musl 500 && all_complete && report --tree --percent-limit 0 &&
        "$TOP/tests/e2e/lib/truth.py" report.json --share hot=80+-12 --share other=20+-12 --chain main,a,b,hot'
    called_by_libc() { "$ASSAY" export --format folded run.assay >folded.txt && grep -q 'main;.*;compare' folded.txt && grep -q 'thread;.*work' folded.txt || { cat folded.txt; return 1; }; }
    check 'functions that it calls, and its threads' eval 'record -- ./calls_musl 2000 && all_complete && called_by_libc'
else
    skip "a program of musl's" 'no musl-gcc here'
fi

env_without_leaks() { ASAN_OPTIONS=detect_leaks=0 "$@"; }
if gcc -g -O1 -fsanitize=address -pthread -o asan_spin "$programs/spin.c" 2>/dev/null && ./asan_spin 10 >/dev/null 2>&1; then
    # Its search for leaks needs ptrace.
    check 'a program with an address sanitizer' env_without_leaks function_is_hot burn 60 ./asan_spin 300
else
    skip 'a program with an address sanitizer' 'none here'
fi
printf 'int main(void) { for (volatile long i = 0; i < 300000000; i++); return 0; }\n' >static.c
if gcc -O0 -static -o static static.c 2>/dev/null; then
    static_is_refused() {
        ! "$ASSAY" record --engine timer --force -o no.assay -- ./static 2>err.log && grep 'statically linked' err.log && [ ! -e no.assay ]
    }
    check 'a static program is refused before it runs' static_is_refused
    static_child_is_said() { record -- sh -c './static' && cat err.log && grep 'of the processor time has no samples: statically' err.log; }
    check 'a static child is missing, and that is said' static_child_is_said
fi
check 'assay doctor knows the way on' eval './no_perf --ptrace "$ASSAY" doctor >doctor.log && grep -q "sampled by timers" doctor.log'
check 'an engine that is none' fails "does not take 'quartz'" "$ASSAY" record --engine quartz -- true
check 'what timers cannot sample' fails 'processor time of a command' "$ASSAY" record --engine timer -e page-faults -- true

# Other tests may run beside this one: it asks again.
leaves_nothing() { eventually is_as_before >/dev/null || { diff <(echo "$before") <(folders); return 1; }; }
is_as_before() { [ -z "$(comm -13 <(echo "$before") <(folders))" ]; }
check 'nothing is left behind' leaves_nothing
guard_cleans() { # the recorder is killed: the program goes on, and all is removed after it
    ./no_perf --ptrace "$ASSAY" record -q --force -o run.assay -- ./spin 2000 >spin.log 2>err.log &
    local pid=$!
    runs() { pgrep -P $pid -x spin >/dev/null && sleep 0.5; }
    eventually runs
    kill -9 $pid
    wait $pid 2>/dev/null
    leaves_nothing || return 1
    [ ! -s err.log ] || { cat err.log; return 1; }
}
check 'a killed recorder leaves nothing behind' guard_cleans

if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
    as_nobody() {
        local place status
        place=$(mktemp -d -p /tmp) && chmod 777 "$place" && cp no_perf chain "$ASSAY" "$place" || return 1
        (cd "$place" && setpriv --reuid 65534 --regid 65534 --clear-groups env HOME=/dev/null ./no_perf --ptrace \
            ./assay record --force -o run.assay -- ./chain 300 2>err.log) && cp "$place/run.assay" run.assay
        status=$?
        cat "$place/err.log"
        rm -rf "$place"
        [ $status = 0 ] && report && at_least 60 "$(share_of hot)"
    }
    check 'as another user' as_nobody
fi
finish
