#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# record --wait of threads that are stopped, that share a lock with another program, or that end while they sleep: each wait
# has its class, and lies between the times that the program itself measured.
# shellcheck source=lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
need_perf
[ "$(id -u)" = 0 ] || skip_all 'BPF programs need root'
command -v python3 >/dev/null || skip_all 'no python3'
gcc -g -O2 -pthread -o waits_trouble "$TOP/tests/programs/waits_trouble.c" || exit 1
"$ASSAY" record --wait -q -o w.assay -- ./waits_trouble >truth.txt 2>err.txt || { cat err.txt; exit 1; }
! grep -q 'no-waits\|waits-sampled' <("$ASSAY" report w.assay --notes --json) || skip_all 'waits are not recorded by BPF here'
"$ASSAY" export w.assay -f sqlite -o w.sqlite || exit 1
cat truth.txt
judge() { # KIND NUMBER: the n-th line of that kind
    python3 - "$1" "$2" <<'END'
import sqlite3, sys
kind, number = sys.argv[1], int(sys.argv[2])
lines = [l.split() for l in open("truth.txt")]
_, tid, inner, outer = [l for l in lines if l[0] == kind][number]
rows = sqlite3.connect("w.sqlite").execute(
    "SELECT w.class, sum(w.blocked_ns) FROM waits w JOIN threads t ON t.id = w.thread_id WHERE t.tid = ? GROUP BY 1", (tid,))
found = dict(rows.fetchall())
print(kind, inner, outer, found)
# The program reads its clock before and behind what it does: the wait contains the shorter time.
assert found.get(kind, 0) >= int(inner) * 1000, found
assert int(outer) <= 0 or found[kind] <= int(outer) * 1000, found
END
}
check 'a process that is stopped' judge stopped 0
check 'a lock in memory that two programs share' judge lock 0
check 'a thread that sleeps when its process runs another program' judge sleep 0
check 'a thread that sleeps when its process ends' judge sleep 1
check 'no time is missing' eval "tr -s '\n ' '  ' < <('$ASSAY' report w.assay) | grep -Eq 'the classes miss 0\.[0-4]'"
finish
