#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Samples by timers inside the process, where perf events and ptrace are refused: shares of
# planted threads, interrupted system calls, cost; and the library against gperftools.
# shellcheck source=lib/common.sh
. "$TOP/bench/lib/common.sh"
seconds=${SECONDS_OF_CPU:-20}
gcc -O1 -o no_perf "$TOP/tests/programs/no_perf.c"
gcc -O2 -g -fno-omit-frame-pointer -pthread -o planted "$TOP/bench/programs/planted.c" -ldl
gcc -O2 -g -fomit-frame-pointer -pthread -o fixed_work "$TOP/bench/programs/fixed_work.c" -ldl
library=$(dirname "$(readlink -f "$ASSAY")")/agent_image.so
ln -sf "$library" libassay-own.so # a name that is not a session's
peer=$(ldconfig -p | awk '/libprofiler\.so/ { print $NF; exit }')

# worst TRUTH: the largest difference of a share in shares.txt ("name percent") from the truth.
worst() {
    awk 'NR == FNR { if ($1 ~ /^planted_/) truth[$1] = $2; next }
        $1 in truth { got[$1] = $2 }
        END { for (n in truth) { d = got[n] - truth[n]; if (d < 0) d = -d; if (d > w) w = d }; printf "%.1f\n", w }' "$1" shares.txt
}
value() { awk -v name="$2" '$1 == name { print $2 }' "$1"; }
shares_of() {
    "$ASSAY" report --json --limit 100 "$1" |
        python3 -c 'import json, sys
for r in json.load(sys.stdin)["rows"]: print(r["name"], 100 * r["total_share"])' >shares.txt
}

./no_perf --ptrace "$ASSAY" record -q --force -o run.assay -- ./planted "$seconds" >truth.txt 2>/dev/null
shares_of run.assay
ours="± $(worst truth.txt) points, $(value truth.txt eintr) EINTR"
theirs='no gperftools here'
if [ -n "$peer" ]; then
    LD_PRELOAD=$peer CPUPROFILE_FREQUENCY=1000 ./planted "$seconds" theirs.prof >truth2.txt 2>/dev/null
    google-pprof --text ./planted theirs.prof 2>/dev/null | awk '$6 ~ /^planted_/ { print $6, $5 }' | tr -d % >shares.txt
    theirs="gperftools ± $(worst truth2.txt) points"
fi
row "thread timers, 8 threads of planted shares, perf and ptrace refused, $seconds s of CPU: worst share" "$theirs" \
    '± 2 points, 0 EINTR' "$ours" 'make bench BENCH=timers'

# What the profilers cost: the share of the program's samples that have their code on the stack, the
# kernel's part of their system calls included. Two runs differ by more than this on a busy machine.
rounds=${ROUNDS:-700}
cost_of() { # MODULE PRELOAD ARGUMENT…
    local module=$1 preload=$2
    shift 2
    "$ASSAY" record -q -f -F 4999 -o cost.assay -- env LD_PRELOAD="$preload" CPUPROFILE_FREQUENCY=250 \
        ./fixed_work "$rounds" "$@" >/dev/null 2>&1
    "$ASSAY" report --json --by module --limit 100 cost.assay | python3 -c 'import json, sys
rows = json.load(sys.stdin)["rows"]
print("%.2f" % max([0] + [100 * r["total_share"] for r in rows if sys.argv[1] in r["name"]]))' "$module"
}
theirs='no gperftools here'
[ -z "$peer" ] || theirs="gperftools at 250 Hz $(cost_of libprofiler "$peer" theirs.out) %"
row 'the library: share of CPU in a program of two threads, 25 frames deep, about 250 samples per CPU second' "$theirs" \
    '≤ 1 %, ≤ half' "$(cost_of agent_image "$PWD/libassay-own.so" on) %" 'make bench BENCH=timers'
