#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Recording: complete stacks, size on disk, the recorder's own CPU, short programs,
# lost samples. perf is the peer, on the same work in the same run.
# shellcheck source=lib/common.sh
. "$TOP/bench/lib/common.sh"

work="$WORKLOADS/regex"
[ -x "$work" ] || {
    "$TOP/bench/workloads" regex >&2 || exit 1
}
rounds=${BENCH_ROUNDS:-300}
perf=$(command -v perf)

# The program alone, so that the recorder's share can be told from it.
cost -n 3 "$work" "$rounds"
alone=$cpu

cost "$ASSAY" record -q -F 999 -o ours.assay -- "$work" "$rounds"
ours=$cpu
# The same once more: what the recorder says of itself, without symbolising.
"$ASSAY" record --self-stats -F 999 -o stats.assay -- "$work" "$rounds" >/dev/null 2>stats.log
self=$(sed -n 's/.*recorder.* \([0-9.]*\) us a sample.*/\1/p' stats.log)
"$ASSAY" report --json --limit 1 ours.assay >ours.json
field() { python3 -c 'import json, sys; r = json.load(open("ours.json")); print(eval(sys.argv[1]))' "$1"; }
samples=$(field 'r["truth"]["samples"]')
complete=$(field '100 * r["truth"]["complete_stacks"]')
size=$(stat -c %s ours.assay)

# Completeness of perf: stacks whose outermost frame is _start.
perf_complete() {
    perf script -i "$1" -F ip,sym 2>/dev/null | awk '
        /^$/ { if (seen) { n++; ok += last == "_start" } seen = 0; next }
        { seen = 1; last = $2 }
        END { if (seen) { n++; ok += last == "_start" } if (n) printf "%.1f", 100 * ok / n }'
}
peer='' peer_size='' peer_cpu=''
if [ -n "$perf" ]; then
    short=$((rounds / 20))
    perf record -q -F 999 -e cpu-clock --call-graph dwarf -o dwarf.data -- "$work" "$short" >/dev/null 2>&1
    perf record -q -F 999 -e cpu-clock --call-graph fp -o fp.data -- "$work" "$short" >/dev/null 2>&1
    peer="perf dwarf $(perf_complete dwarf.data) %, fp $(perf_complete fp.data) %"
    cost -n 3 "$work" "$short"
    short_alone=$cpu
    cost perf record -q -F 999 -e cpu-clock --call-graph dwarf,65528 -o full.data -- "$work" "$short"
    full=$cpu
    n=$(perf script -i full.data -F ip 2>/dev/null | awk '/^$/ { n++ } END { print n + 0 }')
    peer_size="perf dwarf,65528: $(calc "$(stat -c %s full.data)/max($n,1)" .0f)"
    peer_cpu="perf dwarf,65528: $(calc "($full-$short_alone)/max($n,1)*1e6" .0f) µs"
    rm -f full.data
fi
row 'complete stacks, C++ without frame pointers (recursion + std::regex), 999 Hz' "$peer" '99.5 %' \
    "$(calc "$complete" .2f) % of $samples" "assay record -F 999 -- regex $rounds"
row 'bytes per sample on disk at that completeness' "$peer_size" '≤ 64, aim 32' \
    "$(calc "$size/$samples" .1f), symbols included" "assay record -F 999 -- regex $rounds"
row 'recorder CPU per sample' "$peer_cpu" '≤ 15 µs' \
    "$self µs by its own rusage; $(calc "($ours-$alone)/$samples*1e6" .1f) µs as the difference to the program alone, with kernel, symbols and file" \
    "assay record --self-stats -F 999 -- regex $rounds"

cost -n 10 "$ASSAY" record -q --force -o true.assay -- true
ours=$wall
peer=''
if [ -n "$perf" ]; then
    cost -n 5 perf record -q -e cpu-clock -o true.data -- true
    peer="perf $(calc "$wall" .3f) s"
fi
row '`record /bin/true`' "$peer" '≤ 0.03 s' "$(calc "$ours" .3f) s wall" 'assay record -- true'

# Many threads on few CPUs, fast, with the rings an unprivileged user may have.
gcc -O2 -g -pthread -o spin "$TOP/tests/programs/spin.c"
"$ASSAY" record -q -F 5000 -m 128 -o threads.assay -- ./spin 50 threads 200
"$ASSAY" report --json --limit 1 threads.assay >ours.json
row 'lost samples, 200 threads, 5 kHz, rings of 128 pages' 'samply loses > 20 %' '0, or the exact number shown' \
    "$(field 'r["truth"]["samples_lost"]') of $(field 'r["truth"]["samples"]')" 'assay record -F 5000 -m 128 -- spin 50 threads 200'
