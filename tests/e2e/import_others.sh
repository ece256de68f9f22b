#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Recordings of other profilers: our times of each function are those of the writers' own readers.
set -u
# shellcheck source=lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
exec 2>err
: >out

# gperftools: google-pprof is its reader.
library=
for candidate in /usr/lib/*/libprofiler.so.0 /usr/lib/libprofiler.so.0 /usr/local/lib/libprofiler.so.0; do
    if [ -e "$candidate" ]; then library=$candidate; fi
done
if [ -n "$library" ] && command -v google-pprof >/dev/null; then
    cat >busy.c <<'C'
#include <time.h>
__attribute__((noinline)) long leaf(long n) { volatile long s = 0; for (long i = 0; i < n; i++) s += i ^ n; return s; }
__attribute__((noinline)) long middle(long n) { long s = 0; for (long i = 0; i < 100; i++) s += leaf(n + i); return s + 1; }
__attribute__((noinline)) long other(long n) { volatile long s = 1; for (long i = 0; i < n; i++) s *= i | n; return s; }
int main(void)
{
    volatile long s = 0;
    while (clock() < CLOCKS_PER_SEC / 2)
        s += middle(3000) + other(100000);
    return s == 7;
}
C
    gcc -g -O1 -fno-omit-frame-pointer -fno-optimize-sibling-calls busy.c -o busy
    CPUPROFILE_FREQUENCY=500 CPUPROFILE=busy.prof LD_PRELOAD=$library ./busy 2>>err
    google-pprof --collapsed ./busy busy.prof >theirs 2>>err
    if [ -s theirs ]; then
        "$ASSAY" export busy.prof --format folded -e samples -o ours &&
            python3 - theirs ours <<'P' >&2
import collections
import re
import sys

counts = []
for path in sys.argv[1:]:
    own, total, samples = collections.Counter(), collections.Counter(), 0
    for line in open(path):
        stack, n = line.rsplit(" ", 1)
        frames = [re.sub(r"<.*|_\[.\]$", "", f) for f in stack.split(";")]
        own[frames[-1]] += int(n)
        samples += int(n)
        for f in set(frames):
            total[f] += int(n)
    names = ("main", "leaf", "middle", "other")
    counts.append((samples, [own[n] for n in names], [total[n] for n in names]))
print(counts)
assert counts[0] == counts[1] and counts[0][0] > 0 and counts[0][2][1] > 0
P
        verdict "gperftools' own reader has the same counts of each function" $?
        "$ASSAY" report busy.prof --json >report.json && grep -q '"file": *"[^"]*busy.c"' report.json
        verdict "a profile of gperftools has lines" $?
    else
        skip "profiles of gperftools" "the program got no samples: no timers here"
    fi
else
    skip "profiles of gperftools" "libprofiler or google-pprof is not installed"
fi
finish
