#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# From a recording without names to its report with inlined calls, as CPU time: perf's
# own file of a large C++ program through perf report, perf script and assay report,
# the latter without and with a cache. Then our recording of the same work: what names,
# file and report take once the program has ended.
set -u
# shellcheck source=bench/lib/common.sh
. "$TOP/bench/lib/common.sh"
program=$WORKLOADS/cppcheck
command='make bench BENCH=recorded_report'
if [ ! -x "$program" ]; then
    row 'recording → report with inlines, symbolising included' '' '≤ 0.5 s' 'cppcheck is not built here' bench/workloads
    exit 0
fi
sources=$(dirname "$WORKLOADS")/src/cppcheck/lib
work=("$program" -q "--suppress=*" "$sources"/{settings,path,platform}.cpp)
size=$(calc "$(stat -Lc %s "$program") / 1e6" .0f)
export XDG_CACHE_HOME=$PWD/cache

# cost_of COMMAND…: seconds of CPU and of wall time, or that it reached the limit. Of
# the addr2line that perf script starts, its rusage knows nothing.
cost_of() {
    # shellcheck disable=SC2154 # cost sets cpu, wall and status
    if ! cost timeout 900 "$@" || [ "$status" -eq 124 ]; then
        echo '> 900 s of wall time'
    else
        echo "$(calc "$cpu" .2f) s CPU, $(calc "$wall" .1f) s wall"
    fi
}
if command -v perf >/dev/null &&
    perf record -q -F 1999 --call-graph dwarf -o perf.data -- "${work[@]}" >/dev/null 2>&1; then
    cold=$(cost_of "$ASSAY" report perf.data)
    warm=$(cost_of "$ASSAY" report perf.data)
    count=$("$ASSAY" report perf.data --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["truth"]["samples"])')
    peer="perf report $(cost_of perf report --stdio -i perf.data), perf script $(cost_of perf script -i perf.data)"
    row "recording → report with inlines, $count samples of cppcheck ($size MB, C++), symbolising included: perf's file, cold" \
        "$peer" '≤ 0.5 s' "$cold" "$command"
    row 'the same with a warm cache' "$peer" '≤ 0.1 s' "$warm" "$command"
fi

# once FILE: sets ours (seconds) and samples.
once() {
    local symbols
    "$ASSAY" record --force --self-stats -F 1999 -o "$1" -- "${work[@]}" >/dev/null 2>record.log || return 1
    symbols=$(sed -n 's/.*symbols and file \([0-9.]*\) ms.*/\1/p' record.log)
    samples=$(sed -n 's/.*assay: \([0-9]*\) samples.*/\1/p' record.log)
    cost -n 3 "$ASSAY" report "$1"
    ours=$(calc "$symbols / 1e3 + $cpu" .2f)
}
rm -rf "$XDG_CACHE_HOME"
once cold.assay && cold=$ours && once warm.assay || { cat record.log >&2; exit 1; }
row "our recording of it ($samples samples, complete stacks): names and file at its end, and its report, cold" '' '≤ 0.5 s' "$cold s" "$command"
row 'the same again: other samples, mostly known addresses' '' '' "$ours s" "$command"
