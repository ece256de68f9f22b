#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The cost of the account of the heap for four programs that only allocate (C and Rust, one thread and
# two) and three real ones, beside valgrind's DHAT, heaptrack, gperftools and dhat-rs. CPU is the best
# of interleaved runs, recorder and children included. ROUNDS=N (3); each peer runs once, gperftools
# with a tenth of the work.
# shellcheck source=lib/common.sh
. "$TOP/bench/lib/common.sh"
rounds=${ROUNDS:-3}
load() { cut -d' ' -f1 /proc/loadavg; }
for program in csv churn; do
    gcc -O2 -g -pthread -o $program "$TOP/bench/programs/heap_$program.c"
done
cat >load.sql <<'SQL'
create table t(a integer primary key, b text, c real);
insert into t select value, hex(value * 7919), value / 3.0 from generate_series(1, 200000);
create index i on t(b);
select count(*), sum(c) from t where b > '3';
SQL
# The Rust programs, each with and without dhat-rs, and a tool that others wrote.
rust=$TOP/build/workloads/heap_rust
if command -v cargo >/dev/null && mkdir -p "$rust" && cp -r "$TOP/bench/programs/heap_rust/." "$rust"; then
    CARGO_TARGET_DIR=$rust/plain nice cargo build -q --release --manifest-path "$rust/Cargo.toml"
    CARGO_TARGET_DIR=$rust/peer nice cargo build -q --release --features peer --manifest-path "$rust/Cargo.toml"
    [ -x "$rust/tool/bin/rg" ] || CARGO_PROFILE_RELEASE_DEBUG=1 nice cargo install -q --root "$rust/tool" ripgrep
fi

# best CPU_VARIABLE RSS_VARIABLE WALL_VARIABLE COMMAND…: keeps the least of all rounds, and the memory.
# shellcheck disable=SC2034,SC2154 # the names are those of the caller; cost sets cpu, wall and rss_kb
best() {
    local -n least=$1 memory=$2 shortest=$3
    shift 3
    cost "$@" >/dev/null 2>&1
    memory=$rss_kb
    [ -n "$least" ] && [ "$(calc "int($cpu >= $least)" d)" = 1 ] || least=$cpu
    [ -n "$shortest" ] && [ "$(calc "int($wall >= $shortest)" d)" = 1 ] || shortest=$wall
}
# measure WHAT TARGET COMMAND…: `small` is a command with a tenth of the work, `peer` one with dhat-rs.
# shellcheck disable=SC2034 # best sets them by name
measure() {
    local what=$1 target=$2 plain='' ours='' sampled='' dhat='' track='' rust_peer='' tc='' google=''
    local rss_plain='' rss_ours='' rss='' peers='none here' wall_plain='' wall_ours='' w=''
    shift 2
    for ((i = 0; i < rounds; i++)); do
        best plain rss_plain wall_plain "$@"
        best ours rss_ours wall_ours "$ASSAY" heap -q -f -o ours.assay -- "$@"
        best sampled rss w "$ASSAY" heap -q -f --sample 512k -o sampled.assay -- "$@"
    done
    if command -v heaptrack >/dev/null; then
        best track rss w timeout 300 heaptrack "${how[@]}" -o track "$@"
        peers="heaptrack ${how[*]} $(calc "$track / $plain" .1f)×"
    fi
    if command -v valgrind >/dev/null; then
        best dhat rss w valgrind --tool=dhat --dhat-out-file=dhat.json "$@"
        peers="$peers, DHAT $(calc "$dhat / $plain" .0f)×"
    fi
    if [ ${#peer[@]} -gt 0 ] && [ -x "${peer[0]}" ]; then
        best rust_peer rss w "${peer[@]}"
        peers="$peers, dhat-rs $(calc "$rust_peer / $plain" .0f)×"
    fi
    local tcmalloc=/usr/lib/x86_64-linux-gnu/libtcmalloc.so.4
    if [ ${#small[@]} -gt 0 ] && [ -e $tcmalloc ]; then
        best tc rss w env LD_PRELOAD=$tcmalloc "${small[@]}"
        best google rss w env LD_PRELOAD=$tcmalloc HEAPPROFILE="$PWD/google" "${small[@]}"
        peers="$peers, gperftools $(calc "$google / $tc" .0f)×"
        rm -f google.*
    fi
    row "heap: $what, exact: CPU over plain (load $(load))" "$peers" "$target" \
        "$(calc "$ours / $plain")×; wall $(calc "$wall_ours / $wall_plain")×; memory $(calc "$rss_ours / $rss_plain" .1f)×, + $(calc "($rss_ours - $rss_plain) / 1024" .0f) MB; file $(calc "$(stat -c %s ours.assay) / 1024" .0f) KB" 'make bench BENCH=heap'
    row "heap: $what, --sample 512k: CPU over plain (load $(load))" '-' "${sample_target}" \
        "$(calc "$sampled / $plain")×" 'make bench BENCH=heap'
}
# equal WHAT COMMAND…: totals, peak and end beside DHAT's.
equal() {
    local what=$1
    shift
    command -v valgrind >/dev/null || return 0
    valgrind --tool=dhat --run-libc-freeres=no --num-callers=40 --dhat-out-file=dhat.json "$@" >/dev/null 2>&1
    "$ASSAY" heap -q -f -o ours.assay -- "$@" >/dev/null
    "$ASSAY" export --force --format dhat -o ours.json ours.assay 2>/dev/null
    row "heap: $what: blocks and bytes in all, at the peak, at the end" 'DHAT' 'equal' "$(python3 - <<'PY'
import json
KEYS = ["tbk", "tb", "gbk", "gb", "ebk", "eb"]
def sums(path):
    points = json.load(open(path))["pps"]
    impossible = sum(p["mb"] < p["gb"] for p in points)
    return [sum(p[k] for p in points) for k in KEYS], impossible
(ours, wrong), (theirs, theirs_wrong) = sums("ours.json"), sums("dhat.json")
same = "equal" if ours == theirs else "differ: " + ", ".join(
    "%s %+d" % (k, a - b) for k, a, b in zip(KEYS, ours, theirs) if a != b)
print("%s (%d blocks); sites whose maximum is below their value at the peak: %d, DHAT %d" % (same, ours[0], wrong, theirs_wrong))
PY
)" 'make bench BENCH=heap'
}

if command -v heaptrack >/dev/null; then
    # shellcheck disable=SC2034 # best sets them by name
    ours='' theirs='' plain='' rss='' c=''
    for ((i = 0; i < rounds; i++)); do
        best c rss plain ./churn 4 200000
        best c rss ours "$ASSAY" heap -q -f -o ours.assay -- ./churn 4 200000
        best c rss theirs heaptrack --raw -o track ./churn 4 200000
    done
    # Version 1.4 of heaptrack needs all memory to interpret many sizes from many stacks.
    row "heap: C, 4 threads: wall over plain (load $(load))" "heaptrack --raw $(calc "$theirs / $plain" .1f)×" '≤ 1/4 of heaptrack' \
        "$(calc "$ours / $plain" .1f)×, $(calc "$ours / $theirs") of heaptrack's" 'make bench BENCH=heap'
fi
equal 'C, CSV rows' ./csv 2000
equal 'C, 1 thread, deep' ./churn 1 20000
[ -x "$rust/plain/release/csv" ] && equal 'Rust, HashMap' "$rust/plain/release/csv" 2000

"$ASSAY" heap -q -f -o many.assay -- ./churn 1 600000 12000 >/dev/null
sites=$("$ASSAY" report --json many.assay | python3 -c 'import json, sys; print(sum(p["stacks"] for p in json.load(sys.stdin)["places"]))')
# shellcheck disable=SC2034
shortest_report='' cpu_report='' rss=''
for ((i = 0; i < 5; i++)); do best cpu_report rss shortest_report "$ASSAY" report many.assay; done
row "heap: report of a recording with $sites stacks that allocate: wall (load $(load))" '-' '≤ 0.1 s' "$shortest_report s, $cpu_report s CPU" 'make bench BENCH=heap'

sample_target='≤ 1.05×' peer=() how=()
small=(./csv 40000)
measure 'C, a map for each CSV row, 8 million blocks' '≤ 2.5×' ./csv
small=(./churn 2 100000) how=(--raw)
measure 'C, 2 threads, 29 frames deep' '≤ 2.5×' ./churn
if [ -x "$rust/plain/release/csv" ]; then
    small=("$rust/plain/release/csv" 30000) how=() peer=("$rust/peer/release/csv")
    measure 'Rust, a HashMap for each CSV row' '≤ 2.5×' "$rust/plain/release/csv"
    small=("$rust/plain/release/churn" 2 100000) how=(--raw) peer=("$rust/peer/release/churn")
    measure 'Rust, 2 threads, 29 frames deep' '≤ 2.5×' "$rust/plain/release/churn"
fi
small=() peer=() how=() sample_target='≤ 1.01×'
command -v sqlite3 >/dev/null && measure 'SQLite loads 200,000 rows' '≤ 2×' sh -c 'exec sqlite3 :memory: <load.sql'
measure 'gcc -O2 of one file' '≤ 2×' gcc -O2 -c -o out.o "$TOP/bench/programs/heap_churn.c"
[ -x "$rust/tool/bin/rg" ] && measure 'ripgrep over the sources' '≤ 2×' "$rust/tool/bin/rg" -j2 -c 'alloc.*free|static' "$TOP/src" "$TOP/tests"
