#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The library (assay/profile.h) beside pprof-rs in one Rust program and beside gperftools in one C++
# program: what they cost at 250 samples a CPU second, and how many of their stacks are whole.
# ROUNDS=N (400) of about 1.3 ms, on two threads; REPEATS=N (3).
# shellcheck source=lib/common.sh
. "$TOP/bench/lib/common.sh"
rounds=${ROUNDS:-400} repeats=${REPEATS:-3}
image=$(dirname "$(readlink -f "$ASSAY")")/agent_image.so
ln -sf "$image" libassay.so && ln -sf "$image" libassay.so.0
export ASSAY_LIBRARY=$PWD LD_LIBRARY_PATH=$PWD
crate=$TOP/build/workloads/pprof_rs
mkdir -p "$crate" && cp -r "$TOP/bench/programs/pprof_rs/." "$crate" || exit 1
nice cargo build -q --release --manifest-path "$crate/Cargo.toml" || exit 1
peer=$crate/target/release/library_peer

# How much of the program's processor time has code of that name on the stack: the signal's handler
# with all that it calls, by samples at 4,999 Hz, which no load of the machine changes.
share() { # BY NAME COMMAND…
    local by=$1 name=$2
    shift 2
    "$ASSAY" record -q -f -F 4999 -o cost.assay -- "$@" >out.txt 2>err.txt
    "$ASSAY" report --json --by "$by" --limit 4000 cost.assay | python3 -c 'import json, sys
rows = json.load(sys.stdin)["rows"]
print("%.2f" % max([0] + [100 * r["total_share"] for r in rows if sys.argv[1] in r["name"]]))' "$name"
}
median() { sort -n | awk '{ a[NR] = $1 } END { printf "%.2f", a[int((NR + 1) / 2)] }'; }
ours=() theirs=()
for ((i = 0; i < repeats; i++)); do
    theirs+=("$(share function perf_signal_handler "$peer" pprof "$rounds" 25)")
    ours+=("$(share module agent_image "$peer" ours "$rounds" 25 ours.data)")
done
row 'the library in a Rust program of two threads, 25 calls deep, 250 samples a CPU second: share of its CPU' \
    "pprof-rs 0.15 $(printf '%s\n' "${theirs[@]}" | median) %" '≤ half' "$(printf '%s\n' "${ours[@]}" | median) % (load $(cut -d' ' -f1 /proc/loadavg))" \
    'make bench BENCH=library'
"$peer" pprof "$rounds" 200 >out.txt 2>err.txt
deep_theirs=$(awk '/^samples/ { printf "%.1f %% of %d", 100 * $4 / $2, $2 }' err.txt)
"$peer" ours "$rounds" 200 ours.data >out.txt 2>err.txt
deep_ours=$("$ASSAY" report --json ours.data | python3 -c 'import json, sys
t = json.load(sys.stdin)["truth"]; print("%.1f %% of %d" % (100 * t["complete_stacks"], t["samples"]))')
row 'the same 200 calls deep: stacks that reach main or the start of the thread' "pprof-rs 0.15 $deep_theirs" 'complete where theirs are cut' \
    "$deep_ours" 'make bench BENCH=library'
gperf=$(ldconfig -p | awk '/libprofiler\.so/ { print $NF; exit }')
[ -n "$gperf" ] || exit 0
g++ -O2 -g -fomit-frame-pointer -pthread -x c++ -o fixed_work "$TOP/bench/programs/fixed_work.c" -ldl || exit 1
ours=() theirs=()
for ((i = 0; i < repeats; i++)); do
    theirs+=("$(CPUPROFILE_FREQUENCY=250 share module libprofiler env LD_PRELOAD="$gperf" ./fixed_work "$rounds" theirs.out)")
    ours+=("$(share module agent_image env LD_PRELOAD="$PWD/libassay.so" ./fixed_work "$rounds" on)")
done
row 'the library in a C++ program of two threads, 25 frames deep, 250 samples a CPU second: share of its CPU' \
    "gperftools $(printf '%s\n' "${theirs[@]}" | median) %" '≤ half' "$(printf '%s\n' "${ours[@]}" | median) % (load $(cut -d' ' -f1 /proc/loadavg))" \
    'make bench BENCH=library'
