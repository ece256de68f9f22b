#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# perf.data to what is looked at: 5,000 copied stacks of cppcheck (C++, -O2 -g), and a
# million call chains. CPU seconds; perf's readers run beside us on the same files, the
# million with a tenth of it, for perf takes minutes.
. "$TOP/bench/lib/common.sh"
program=${WORKLOADS:?}/cppcheck
source=$TOP/build/workloads/src/cppcheck/lib/token.cpp
[ -x "$program" ] && [ -e "$source" ] || { row "perf.data" "" "" "cppcheck is not built here" "bench/workloads cppcheck"; exit 0; }
export PERF_BUILDID_DIR=$SCRATCH/buildids DEBUGINFOD_URLS=
limit_s=${PEER_LIMIT_S:-400}

# peer_cpu COMMAND…: its CPU seconds, or that it took too long.
peer_cpu() {
    cost timeout "$limit_s" "$@"
    # What a stopped one's addr2line processes took is not told: wall time then.
    if [ "$status" = 0 ]; then echo "$cpu s"; else echo "not done after $limit_s s of wall time"; fi
}

perf record -q -o dwarf.data -e cpu-clock -F 333 --call-graph dwarf -- "$program" -q "$source" \
    >/dev/null 2>&1
samples=$(perf script -i dwarf.data --no-inline -F time -G 2>/dev/null | wc -l)
megabytes=$(($(stat -c %s "$program") / 1000000))
what="perf.data, dwarf, $samples samples, $megabytes MB of C++"
report_peer=$(peer_cpu perf report -i dwarf.data --stdio -g none)
script_peer=$(peer_cpu perf script -i dwarf.data)

# ours OPTION…: cold, then with the symbol cache.
ours() {
    local cold
    export XDG_CACHE_HOME=$SCRATCH/cache-$1
    cost "$ASSAY" "$@"
    cold=$cpu
    cost -n 5 "$ASSAY" "$@"
    echo "$cold s cold, $cpu s with the symbol cache, $((rss_kb / 1024)) MB"
}
row "$what → flame graph" "perf script alone $script_peer" "≤ 0.7 s" \
    "$(ours flame dwarf.data --force -o flame.svg)" "assay flame perf.data"
row "the same → report" "perf report $report_peer" "≤ 0.5 s" "$(ours report dwarf.data)" \
    "assay report perf.data"

perf script -i dwarf.data --no-inline --max-stack 4096 -F comm,tid,time,event,ip,sym,dso \
    >theirs 2>/dev/null
"$ASSAY" export dwarf.data --format perf-script -o ours
equal=$(python3 "$TOP/tests/tools/compare_perf_script.py" theirs ours |
    awk '{ printf "%s%s", (NR > 1 ? "; " : ""), $0 }' | tr -s ' ')
row "its stacks against perf script's, frame by frame" "" \
    "every complete one equal, or explained" "$equal" "tests/tools/compare_perf_script.py"

"$TOP/bench/lib/make_perf_data.py" "$program" 100000 tenth.data
tenth=$(peer_cpu perf report -i tenth.data --stdio --no-inline -g none)
"$TOP/bench/lib/make_perf_data.py" "$program" 1000000 million.data
row "perf.data, 1 M call chains, $(($(stat -c %s million.data) / 1000000)) MB → report" \
    "perf report --no-inline of 100,000 of them: $tenth" "≤ 1.5 s, ≤ 400 MB" \
    "$(ours report million.data)" "assay report perf.data"
