#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What `assay top -a` takes of a CPU among 1,000 processes, beside perf top: CPU time of the tool in
# ten seconds, after it has run for five. A pipe keeps the tools from reading the end of their input, which perf top does without pause.
# shellcheck source=lib/common.sh
. "$TOP/bench/lib/common.sh"
gcc -O2 -g -o many "$TOP/bench/programs/many.c"
./many 1000 &
many=$!
ticks() { awk '{ sub(/.*\) /, ""); print $12 + $13 }' "/proc/$1/stat"; }
share() { # of a CPU in percent, of a command that is started and ended here
    local before after pid
    "$@" >screens.txt 2>errors.txt < <(exec sleep 60) &
    pid=$!
    sleep 5
    before=$(ticks $pid)
    sleep 10
    after=$(ticks $pid)
    kill -INT $pid
    wait $pid 2>/dev/null
    awk -v ticks=$((after - before)) -v hz="$(getconf CLK_TCK)" 'BEGIN { printf "%.1f %%", 100 * ticks / hz / 10 }'
}
sleep 1.5
ours=$(share "$ASSAY" top -a)
if command -v perf >/dev/null; then
    plain=$(share perf top --stdio)
    same=$(share perf top --stdio -F 199 --call-graph dwarf)
    theirs="perf top: $plain; with -F 199 --call-graph dwarf, the same work: $same"
fi
kill "$many"
wait "$many" 2>/dev/null
row 'watch the whole machine, 1,000 processes: CPU of the tool once it runs' "${theirs:-no perf here}" '≤ 2 % of a CPU' \
    "$ours (load $(cut -d' ' -f1 /proc/loadavg))" 'make bench BENCH=top'
