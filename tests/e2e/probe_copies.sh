#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Hits of probes that a BPF program copies: the same counts and stacks as by perf's own samples, in
# threads, children, processes that run, single threads and all processes.
# shellcheck source=lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
need_perf
if [ "$(id -u)" != 0 ]; then skip_all 'probes need root'; fi
[ -e /sys/bus/event_source/devices/uprobe/type ] || skip_all 'this kernel has no uprobe events'
programs=$TOP/tests/programs
gcc -g -O0 -pthread -o late_calls "$programs/late_calls.c" && gcc -g -O1 -o deep_calls "$programs/deep_calls.c" &&
    gcc -O1 -o no_perf "$programs/no_perf.c" && gcc -g -O1 -pthread -o busy_calls "$programs/busy_calls.c" &&
    gcc -g -O1 -o coroutine_calls "$programs/coroutine_calls.c" || exit 1
ASSAY_DEBUG=record:1 assay record -f -q -o p.assay -e ./late_calls:called -- ./late_calls 1 0 1 2>err
if grep -q 'no program copies hits' err; then skip_all "BPF programs cannot be used here: $(sed -n 's/.*no program copies hits: //p' err)"; fi

field() { python3 -c 'import json, sys; r = json.load(open("report.json")); sys.exit(not eval(sys.argv[1]))' "$1"; }
show() { python3 -c 'import json; r = json.load(open("report.json")); print(r["metric"], r["truth"])'; cat err; }
report() { assay report --json --limit 0 p.assay >report.json; }
counts() { # HITS: all of them, with whole stacks
    report && field "r['metric']['total'] == $1 and r['truth']['samples_lost'] == 0 and r['truth']['complete_stacks'] == 1" || { show; return 1; }
}
all() { assay record -f -q -m 32M -o p.assay "$@" -- ./late_calls 5 4 200 2>err; }
rows() { python3 -c 'import json; print(sorted((x["name"], x["total"], x["self"]) for x in json.load(open("report.json"))["rows"]))'; }
HITS=$(((1 + 5 + 2 * 4) * 200))
same() { # OPTION …: by the program and by perf
    all "$@" && report && rows >ours.txt && all --copy-stacks "$@" && report && rows >theirs.txt && diff ours.txt theirs.txt
}
check 'threads and children' eval "all -e ./late_calls:called && counts $HITS"
check 'have the rows that perf gives them' same -e ./late_calls:called
sevenths() { report && field "$HITS - 7 * 16 < r['metric']['total'] <= $HITS and r['metric']['total'] == 7 * r['truth']['samples'] and r['truth']['complete_stacks'] == 1" || { show; return 1; }; }
check 'every seventh stands for seven' eval 'all -e ./late_calls:called -c 7 && sevenths'
check 'so have a return and another function' same -e './late_calls:called%return' -e ./late_calls:work
without() { # the right to load programs
    ASSAY_DEBUG=record:1 ./no_perf --bpf "$ASSAY" record -f -q -m 32M -o p.assay -e ./late_calls:called -- ./late_calls 5 4 200 2>err &&
        grep -q 'no program copies hits' err && counts $HITS && rows >theirs.txt && all -e ./late_calls:called && report && rows >ours.txt && diff ours.txt theirs.txt
}
check 'where BPF is refused, perf copies' without
check 'without stacks' eval "all -g none -e ./late_calls:called && report && field \"r['metric']['total'] == $HITS and r['rows'][0]['self'] == $HITS\""
check 'with copies of a size that is given' eval "all -g dwarf,8192 -e ./late_calls:called && counts $HITS"
running() { # HITS OPTION …: of a process that runs, PID stands for its number
    local hits=$1 pid
    shift
    ./late_calls 4 2 100 1500 & pid=$!
    eventually grep -q late_calls /proc/$pid/comm
    assay record -f -q -o p.assay -e ./late_calls:called "${@/PID/$pid}" 2>err
    wait $pid
    counts "$hits"
}
check 'a process that runs, with what it starts' running 900 -p PID
check 'one thread of it' running 100 -t PID
check 'all processes' eval "all -a -e ./late_calls:called && counts $HITS"
check 'after a delay nothing is left out' eval "assay record -f -q -o p.assay -D 300 -e ./late_calls:called -- ./late_calls 1 1 50 1500 2>err && counts 200"
# Stacks of 1 to 23 KB, in turns.
deep() { report && field "r['metric']['total'] == 3000 and r['truth']['samples_lost'] == 0 and r['truth']['complete_stacks'] > 0.5" || { show; return 1; }; }
check 'deep stacks are whole once copies are large' eval 'assay record -f -q -o p.assay -e ./deep_calls:called -- ./deep_calls 60 50 80 2>err && deep'
# Stacks on several pieces of memory: the base of one is not that of another.
coroutines() { assay record -f -q -m 32M -o p.assay "$@" -e ./coroutine_calls:called -- ./coroutine_calls 8 1000 2>err && report; }
same_coroutines() {
    coroutines && field "r['metric']['total'] == 8 * 1000 and r['truth']['samples_lost'] == 0 and r['truth']['stacks']['dump too short'] == 0" || { show; return 1; }
    rows >ours.txt && coroutines --copy-stacks && rows >theirs.txt && diff ours.txt theirs.txt
}
check 'stacks of coroutines' same_coroutines
# Threads that interrupt each other: a hit is in the file, or counts as lost.
busy() { report && field "r['metric']['total'] + r['truth']['samples_lost'] == 16 * 2000 and r['truth']['stacks']['dump too short'] == 0" || { show; return 1; }; }
check 'busy threads on few processors' eval 'assay record -f -q -m 32M -o p.assay -e ./busy_calls:called -- ./busy_calls 16 2000 2>err && busy'
finish
