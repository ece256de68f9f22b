#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The account of the heap: what it costs allocation stress and real programs, beside valgrind's DHAT
# and heaptrack. CPU is the best of interleaved runs, recorder and children included.
# shellcheck source=lib/common.sh
. "$TOP/bench/lib/common.sh"
rounds=${ROUNDS:-5}
for program in csv churn; do
    gcc -O2 -g -pthread -o $program "$TOP/bench/programs/heap_$program.c"
done
cat >load.sql <<'SQL'
create table t(a integer primary key, b text, c real);
insert into t select value, hex(value * 7919), value / 3.0 from generate_series(1, 200000);
create index i on t(b);
select count(*), sum(c) from t where b > '3';
SQL

# best CPU_VARIABLE RSS_VARIABLE COMMAND…: keeps the least CPU and the memory of all rounds.
# shellcheck disable=SC2034,SC2154 # the names are those of the caller; cost sets cpu and rss_kb
best() {
    local -n least=$1 memory=$2
    shift 2
    cost "$@" >/dev/null 2>&1
    memory=$rss_kb
    [ -n "$least" ] && [ "$(calc "int($cpu >= $least)" d)" = 1 ] || least=$cpu
}
# measure WHAT TARGET COMMAND…
# shellcheck disable=SC2034 # best sets them by name
measure() {
    local what=$1 target=$2 plain='' ours='' sampled='' dhat='' track='' rss_plain='' rss_ours='' rss='' peers=''
    shift 2
    for ((i = 0; i < rounds; i++)); do
        best plain rss_plain "$@"
        best ours rss_ours "$ASSAY" heap -q -f -o ours.assay -- "$@"
        best sampled rss "$ASSAY" heap -q -f --sample 512k -o sampled.assay -- "$@"
    done
    if command -v heaptrack >/dev/null; then
        best track rss heaptrack -o track "$@"
        peers="heaptrack $(calc "$track / $plain" .1f)×"
    fi
    if command -v valgrind >/dev/null; then
        best dhat rss valgrind --tool=dhat --dhat-out-file=dhat.json "$@"
        peers="$peers, DHAT $(calc "$dhat / $plain" .0f)×"
    fi
    row "heap: $what, exact: CPU over plain (load $(cut -d' ' -f1 /proc/loadavg))" "${peers:-none here}" "$target" \
        "$(calc "$ours / $plain")×, memory + $(calc "($rss_ours - $rss_plain) / 1024" .0f) MB, file $(calc "$(stat -c %s ours.assay) / 1024" .0f) KB" 'make bench BENCH=heap'
    row "heap: $what, --sample 512k: CPU over plain" '-' '≤ 1.05×' \
        "$(calc "$sampled / $plain")×" 'make bench BENCH=heap'
}
measure 'C, a map for each CSV row, 8 million blocks' '≤ 2.5×' ./csv
measure 'C, 2 threads, 29 frames deep' '≤ 2.5×' ./churn
command -v sqlite3 >/dev/null && measure 'SQLite loads 200,000 rows' '≤ 2×' sh -c 'sqlite3 :memory: <load.sql'
measure 'gcc -O2 of one file' '≤ 2×' gcc -O2 -c -o out.o "$TOP/bench/programs/heap_churn.c"
