#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# How much samples stand for: one in N of a software event has N as its weight; a recording
# that loses samples of bursts, or has none of short processes, says what helps. Truths stand in tests/programs.
# shellcheck source=lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
need_perf
for program in switches new_pages short_children spin; do
    gcc -g -O2 -pthread -o $program "$TOP/tests/programs/$program.c" || exit 1
done

record() { "$ASSAY" record --force -o run.assay "$@" 2>err.log || { cat err.log; return 1; }; }
report() { "$ASSAY" report --json --limit 0 run.assay >report.json; }
field() { python3 -c 'import json, sys; r = json.load(open("report.json")); print(eval(sys.argv[1]))' "$1"; }
between() { [ "$2" -ge "$1" ] && [ "$2" -le "$3" ] || { echo "$2, want $1 to $3"; return 1; }; }

"$ASSAY" record --force -q -e context-switches -c 1 -o run.assay -- ./switches 10 2>/dev/null && report
[ "$(field 'r["truth"]["samples"]')" -gt 0 ] 2>/dev/null || skip_all "context switches cannot be sampled here"

# Both processes block once for each byte: 40,000 switches, and some that the machine adds or
# saves. One sample for each would be ten times too many.
one_in_twenty() {
    record -e context-switches -c 20 -- ./switches 20000 && report || return 1
    between 200 "$(field 'r["truth"]["samples"]')" 6000 || return 1
    between 20 "$(field 'int(sum(x["self"] for x in r["rows"]) / max(1, sum(x["self_samples"] for x in r["rows"])))')" 20
}
check 'one in N switches is sampled, with weight N' one_in_twenty

# The tables of switches lead with the program's function that called the kernel, here read(2) and write(2)
# of libc; with --kernel with the kernel's own.
first() { python3 -c 'import json; r = json.load(open("report.json"))["rows"][0]; print("kernel" if r["kernel"] else r["name"])'; }
leads_with_program() {
    record -e context-switches -c 1 -- ./switches 2000 && report || return 1
    first | grep -Eq '(^|_)(read|write)' || { first; return 1; }
    field 'next(x["self"] == 0 and x["total"] > 0 for x in r["rows"] if x["kernel"])' | grep -qx True || return 1
    "$ASSAY" report --inverted run.assay >tree.txt && ! grep -q 'schedule' tree.txt || { cat tree.txt; return 1; }
    "$ASSAY" report run.assay | tr '\n' ' ' | grep -q 'self counts for the program.s function' || return 1
    "$ASSAY" report --kernel --json --limit 0 run.assay >report.json && [ "$(first)" = kernel ] || { first; return 1; }
}
if record -e context-switches -c 1 -- ./switches 10 && report && [ "$(field 'any(x["kernel"] for x in r["rows"])')" = True ]; then
    check 'switches count for the function that entered the kernel' leads_with_program
else
    skip 'switches count for the function that entered the kernel' 'the kernel is not sampled here'
fi

# Each child gives up the processor fewer than a thousand times, and so has no sample.
few_in_threads() {
    record -e context-switches -c 1000 -- sh -c 'for i in 1 2 3 4 5 6 7 8; do ./switches 400; done' || return 1
    grep -q '[0-9]* % of context-switches[:u]* are in no sample: .* of [0-9]* threads had fewer' err.log || { cat err.log; return 1; }
    record -e context-switches -c 1 -- sh -c 'for i in 1 2 3 4 5 6 7 8; do ./switches 400; done' || return 1
    ! grep -q 'are in no sample' err.log || { cat err.log; return 1; }
}
check 'events of threads with too few for a sample are told' few_in_threads

# The page faults of touch, and few others: each third.
one_in_three() {
    record -e cpu-clock,page-faults/period=3/ -m 64M -- ./new_pages 2 && report || return 1
    between 10500 "$(sed -n 's/.* samples of cpu-clock[:u]*, \([0-9]*\) of page-faults.*/\1/p' err.log)" 12000 || return 1
    "$ASSAY" report --json --limit 100 -e page-faults/period=3/ run.assay >report.json || return 1
    between 31000 "$(field 'sum(x["self"] for x in r["rows"])')" 36000
}
check 'a rate and a count stand in one recording' one_in_three

# With rings as large as they should be, small copies of the stack leave room for a burst: the best of
# four recordings loses nothing, however busy the machine is. Else the hint names what helps.
bursts() {
    local try
    for try in 1 2 3 4; do
        record -e page-faults -c 1 -- ./new_pages 8 && report || return 1
        [ "$(field 'r["truth"]["samples_lost"]')" != 0 ] || return 0
        grep -q -- '-g fp copies no stacks' err.log || { cat err.log; return 1; }
    done
    grep -q 'kernel.perf_event_mlock_kb' err.log || { echo "$try recordings lost samples"; cat err.log; return 1; }
}
check 'a burst of page faults fits the ring' bursts
what_helps() {
    local ring=()
    [ "$(id -u)" = 0 ] && ring=(-m 64M)
    record -e page-faults -c 1 -g fp "${ring[@]}" -- ./new_pages 8 && report || return 1
    between 131072 "$(field 'r["truth"]["samples"]')" 140000
}
check 'and what the hint says loses nothing' what_helps

# 200 threads on all processors leave the recorder little time at 5 kHz: 10 MB of stacks a second on each.
# The best of three recordings loses a twentieth at most, and all that are lost are counted.
many_threads() {
    local try lost all
    for try in 1 2 3; do
        record -F 5000 -- ./spin 5 threads 200 && report || return 1
        lost=$(field 'r["truth"]["samples_lost"]') all=$(field 'r["truth"]["samples"] + r["truth"]["samples_lost"]')
        between 4000 "$all" 7500 || return 1
        at_most_a_twentieth "$lost" "$all" && return 0
    done
    [ "$(id -u)" != 0 ] || { echo "$try recordings, $lost of $all lost"; return 1; }
}
at_most_a_twentieth() { [ $((20 * $1)) -le "$2" ]; }
check 'few samples of 200 threads are lost' many_threads

# Each of 1,500 children ends before its first sample is due. Where the kernel is not sampled,
# the recording says what is missing.
# Of the time in both functions, the share of the children in thousandths.
children_share() {
    field "int(1000 * (t := {n: sum(x['total_share'] for x in r['rows'] if x['name'] == n) for n in ('child_work', 'parent_work')})['child_work'] / sum(t.values()))"
}
# The share of the time, in per cent, that has no samples by the recorder's own note.
unsampled() { sed -n 's/.*note: \([0-9]*\)% of the processor time has no samples.*-F 10000.*/\1/p' err.log | grep . || echo 0; }
short_children() {
    record -- ./short_children 1500 && report || return 1
    if [ "$(field 'r["truth"]["user_only"]')" = True ]; then
        between 400 "$(children_share)" 600 >/dev/null && return 0
        grep -q 'of the processor time has no samples: [0-9]* processes .*-F 10000' err.log || { cat err.log; return 1; }
        return 0
    fi
    # Samples stand for all of the time, but for what a note names; without weights they stand for
    # half of it. How the time of the parent falls on its own functions, the samples decide.
    local weighed
    weighed=$(field "int(100 * r['metric']['total'] / (int(r['facts']['user-ns']) + int(r['facts']['system-ns'])))")
    between 85 $((weighed + $(unsampled))) 110 || { cat err.log; return 1; }
    [ "$(unsampled)" -gt 0 ] || between 350 "$(children_share)" 650 || return 1
    "$ASSAY" report --notes run.assay | grep -q 'many threads ended within a few periods'
}
check 'samples of short children stand for their processor time' short_children
# The values of all samples are the time that the program used, though a third has no sample.
all_of_the_time() {
    [ "$(field 'r["truth"]["user_only"]')" = True ] && return 0
    "$ASSAY" export --format json run.assay >run.json && python3 - "$(unsampled)" <<'PY'
import json, sys
d = json.load(open("run.json"))
text = d["strings"]
facts = {text[k]: text[v] for k, v in zip(d["facts"]["key"], d["facts"]["value"])}
used = int(facts["user-ns"]) + int(facts["system-ns"])
weighed = sum(d["samples"]["values"][0]) + int(sys.argv[1]) / 100 * used
print(weighed / used)
assert 0.85 <= weighed / used <= 1.05, (weighed, used)
PY
}
check 'and all samples together stand for the time that the program used' all_of_the_time
# Each function uses 0.7 ms a thousand times; what fork and exit cost beside them differs from machine to machine.
# The best of three recordings: on a busy machine, samples are late, and late ones are missing from short processes.
milliseconds() { field "int(sum(x['total'] for x in r['rows'] if x['name'] == '$1') / 1e6)"; }
what_gives_it() {
    local try
    for try in 1 2 3; do
        record -F 10000 -- ./short_children 1000 && report || return 1
        between 560 "$(milliseconds child_work)" 840 && between 560 "$(milliseconds parent_work)" 840 && return 0
    done
    echo "$try recordings had other times"
    return 1
}
check 'and what it names gives them' what_gives_it

# Two fifths of a second of sleep beside next to no work.
sleeper() {
    record -- sleep 0.4 && grep -q 'it waited for the rest.*-e context-switches -c 1' err.log || { cat err.log; return 1; }
    record -- ./short_children 300 || return 1
    ! grep -q 'it waited' err.log || { cat err.log; return 1; }
}
check 'a program that waits is said to' sleeper
finish
