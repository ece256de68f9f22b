#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# make demo, second part: one screen names the lock, and the line of the thread that holds it.
# shellcheck source=lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
need_perf
[ "$(id -u)" = 0 ] || skip_all 'BPF programs need root'
cp -r "$TOP/examples" examples
check 'the demo runs to its end' \
    sh -c 'ASSAY="$ASSAY" REQUESTS=1000 examples/queue/demo >demo.txt 2>&1 || { tail demo.txt; false; }'
tr -s ' \n' '  ' <demo.txt >flat.txt
check 'the first screen names the lock and its holder' \
    grep -Eq "% of worker [0-9]+'s time waits for cache_lock, held by flush_slow \(store.c:[0-9]+\)" flat.txt
check 'the table of locks has both lines' \
    grep -Eq 'cache_lock, waited for in store_get \(store.c:[0-9]+\); held by flush_slow' flat.txt
check 'the line that writes to the disk has its waits' grep -Eq '[0-9.]+% .*fdatasync' demo.txt
# The fast form holds the lock for a copy only.
held() { awk '/queue-fast.assay --locks/ {now = 1} now && /cache_lock/ {print $1, $2}' demo.txt | head -n 1; }
check "the fast form hardly waits ($(held))" \
    awk '/queue-fast.assay --locks/ {now = 1} now && /cache_lock, waited/ && $2 == "s" {bad = 1} END {exit bad}' demo.txt
finish
