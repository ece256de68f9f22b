#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Recordings of other profilers: our times of each function are those of the writers' own readers.
# beside others: 8 s
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

# Stacks of named functions: inferno's collapsers and speedscope's importer read the same files.
corpus=$TOP/tests/fuzz/corpus/import
readers=$TOP/build/readers # tools/foreign-readers installs them

# same_self OURS THEIRS SCALE: the self value of each function, theirs times SCALE; theirs are
# folded stacks, or JSON of speedscope_import.mjs.
same_self() {
    python3 - "$@" <<'P' >&2
import collections
import json
import sys

ours_path, theirs_path, scale = sys.argv[1], sys.argv[2], float(sys.argv[3])


def folded(path, strip):
    own = collections.Counter()
    for line in open(path):
        stack, n = line.rstrip("\n").rsplit(" ", 1)
        leaf = stack.split(";")[-1]
        own[leaf.rsplit("`", 1)[-1] if strip else leaf] += float(n)
    return own


ours = folded(ours_path, False)
if theirs_path.endswith(".json"):
    theirs = collections.Counter()
    for profile in json.load(open(theirs_path)):
        for name, value in profile.items():
            theirs["(anonymous)" if name.startswith("(anonymous ") else name] += value
else:
    theirs = folded(theirs_path, True)
theirs = {name: round(value * scale, 3) for name, value in theirs.items() if value}
print(dict(ours), theirs)
assert theirs and ours == theirs
P
}
for one in dtrace:txt:1 vtune:csv:1000000; do
    IFS=: read -r name ending scale <<<"$one"
    if [ -x "$readers/bin/inferno-collapse-$name" ]; then
        "$readers/bin/inferno-collapse-$name" "$corpus/$name.$ending" >"$name.theirs" 2>>err &&
            "$ASSAY" export "$corpus/$name.$ending" -o "$name.ours" && same_self "$name.ours" "$name.theirs" "$scale"
        verdict "inferno has the same self values of $name" $?
    else
        skip "inferno's values of $name" "no inferno: tools/foreign-readers --all"
    fi
done
speedscope=$readers/node_modules/speedscope
for one in instruments.txt:1000000 instruments-old.txt:1000000 safari.json:1000000000; do
    file=${one%:*}
    if command -v node >/dev/null && [ -d "$speedscope" ]; then
        node "$TOP/tests/tools/speedscope_import.mjs" "$speedscope" "$corpus/$file" >"$file.theirs.json" &&
            "$ASSAY" export "$corpus/$file" -o "$file.ours" && same_self "$file.ours" "$file.theirs.json" "${one#*:}"
        verdict "speedscope has the same self values of $file" $?
    else
        skip "speedscope's values of $file" "no speedscope: tools/foreign-readers"
    fi
done

# Java Flight Recordings: the JDK's own listing has the same stacks.
if command -v java >/dev/null && command -v jfr >/dev/null; then
    cat >Busy.java <<'J'
public class Busy {
    static long leaf(long n) { long s = 0; for (long i = 0; i < n; i++) s += i ^ n; return s; }
    static long middle(long n) { long s = 0; for (int i = 0; i < 100; i++) s += leaf(n + i); return s; }
    static long deep(int n) { return n == 0 ? middle(3000) : 1 + deep(n - 1); }
    public static void main(String[] a) {
        long end = System.nanoTime() + 2_000_000_000L, s = 0;
        while (System.nanoTime() < end) s += middle(30000) + deep(100);
        System.out.println(s);
    }
}
J
    java -XX:StartFlightRecording=filename=busy.jfr,settings=profile Busy.java >>out 2>&1
    jfr print --events jdk.ExecutionSample --stack-depth 2048 busy.jfr >listing 2>>err
    if grep -q 'jdk.ExecutionSample {' listing; then
        "$ASSAY" export busy.jfr -o jfr.folded &&
            "$TOP/tests/tools/jfr_samples.py" listing jfr.folded >&2
        verdict "the JDK lists the same stacks of a flight recording" $?
        gzip -k busy.jfr && "$ASSAY" export busy.jfr.gz | cmp - jfr.folded
        verdict "a packed one is the same" $?
    else
        skip "flight recordings" "this JVM recorded no samples"
    fi
else
    skip "flight recordings" "no java with jfr"
fi
finish
