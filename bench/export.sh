#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What goes out and comes in as text, beside inferno and perf annotate in the same
# run: CPU time, as wall time says how busy the machine is. inferno comes by
# tools/foreign-readers --all. The exports of a million samples are in report.sh.
set -u
cd "$(dirname "$0")/.." || exit 1
assay=$PWD/build/release/src/assay
make_profile=$PWD/build/dev/tests/tools/make_profile
inferno=$PWD/build/readers/bin
[ -x "$make_profile" ] || make dev >/dev/null || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# cpu COMMAND…: user and system seconds of the best of three runs, or of $RUNS.
cpu() {
    python3 - "$@" <<'P'
import os, subprocess, sys
runs = []
for _ in range(int(os.environ.get("RUNS", "3"))):
    child = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    if status:
        sys.exit("failed: " + " ".join(sys.argv[1:]))
    runs.append(usage.ru_utime + usage.ru_stime)
print("%.3f" % max(min(runs), 0.001))
P
}

row() { # WHAT TARGET BYTES OURS THEIRS PEER
    python3 - "$@" <<'P'
import sys
what, target, size, ours, theirs, peer = sys.argv[1:]
ours = float(ours)
rate = lambda s: ", %.0f MB/s" % (int(size) / 1e6 / s) if int(size) else ""
if theirs == "-":
    print(f"| {what} | {peer}: not installed | {target} | {ours:.2f} s{rate(ours)} | `bench/export.sh` |")
else:
    theirs = float(theirs)
    print(f"| {what} | {peer} {theirs:.2f} s{rate(theirs)} | {target} | {ours:.2f} s{rate(ours)}, {theirs / ours:.1f}x | `bench/export.sh` |")
P
}

# perf script text of 200 MB: 90 000 samples, 30 frames each.
"$make_profile" large "$work/large.assay" || exit 1
"$assay" export "$work/large.assay" -f perf-script 2>/dev/null | head -c 200000000 >"$work/script.txt"
theirs=-
[ -x "$inferno/inferno-collapse-perf" ] && theirs=$(cpu "$inferno/inferno-collapse-perf" "$work/script.txt")
row "perf script text, 200 MB, to folded stacks" ">= 300 MB/s" 200000000 \
    "$(cpu "$assay" export "$work/script.txt" -f folded --force -o "$work/folded")" "$theirs" "inferno-collapse-perf"

# A million folded lines, sorted as collapsers write them.
python3 - >"$work/lines.unsorted" <<'P'
import random
random.seed(1)
names = [f"app::module_{i % 37}::step_{i}" for i in range(2000)]
stack = [0]
for _ in range(1000000):
    stack = stack[:random.randint(1, min(len(stack), 16))]
    for _ in range(random.randint(1, 4)):
        stack.append(int(2000 * random.random() * random.random()))
    print(";".join(names[s] for s in stack), random.randint(1, 9))
P
LC_ALL=C sort "$work/lines.unsorted" >"$work/lines"
theirs=-
[ -x "$inferno/inferno-flamegraph" ] && theirs=$(cpu "$inferno/inferno-flamegraph" "$work/lines")
row "folded, 1 M lines, to SVG" ">= 3x" "$(stat -c %s "$work/lines")" \
    "$(cpu "$assay" flame "$work/lines" --force -o "$work/flame.svg")" "$theirs" "inferno-flamegraph"

# 76 MB of lines in the order of time, which no collapser sorted: few begin like the one before.
head -c 76000000 "$work/lines.unsorted" | shuf --random-source=<(yes) >"$work/shuffled"
theirs=-
[ -x "$inferno/inferno-flamegraph" ] && theirs=$(cpu "$inferno/inferno-flamegraph" "$work/shuffled")
row "folded, 76 MB in any order, to SVG" ">= 1x" "$(stat -c %s "$work/shuffled")" \
    "$(cpu "$assay" flame "$work/shuffled" --force -o "$work/flame.svg")" "$theirs" "inferno-flamegraph"

# Perl's own, where FLAMEGRAPH_PL says it is: seconds, so once.
if [ -n "${FLAMEGRAPH_PL:-}" ]; then
    row "the same" ">= 50x" "$(stat -c %s "$work/lines")" \
        "$(cpu "$assay" flame "$work/lines" --force -o "$work/flame.svg")" \
        "$(RUNS=1 cpu perl "$FLAMEGRAPH_PL" "$work/lines")" "flamegraph.pl"
fi

# The hottest function with its instructions, of a recording by perf: of a large C++
# program where it is built (it looks for its configuration beside itself), and small.
annotate_row() { # WHAT FILE FUNCTION PERF_DATA
    row "$1" "<= 0.2 s, >= 20x" 0 "$(cpu "$assay" annotate "$2" "$3" --asm)" \
        "$(cpu perf annotate --stdio -i "$4" -s "$3")" "perf annotate"
}
source=$PWD/build/workloads/src/cppcheck
if [ -x "$PWD/build/workloads/bin/cppcheck" ] && [ -d "$source" ]; then
    ln -s "$source/cfg" "$source/platforms" "$work/"
    cp "$PWD/build/workloads/bin/cppcheck" "$work/"
    (cd "$work" && perf record -q -F 333 -e cpu-clock -g -o cppcheck.data ./cppcheck -q "$source/lib/token.cpp" >/dev/null 2>&1)
    "$assay" import "$work/cppcheck.data" -o "$work/cppcheck.assay" 2>/dev/null
    annotate_row "perf.data of cppcheck: annotate the hottest function with instructions" \
        "$work/cppcheck.data" Token::multiCompare "$work/cppcheck.data"
    annotate_row "the same of an imported recording" \
        "$work/cppcheck.assay" Token::multiCompare "$work/cppcheck.data"
fi
gcc -g -O2 -o "$work/chain" tests/programs/chain.c || exit 1
if (cd "$work" && perf record -q -F 999 -g -o perf.data ./chain 300 >/dev/null 2>&1); then
    cd "$work" || exit 1
    annotate_row "perf.data of 60 lines of C: the same" perf.data hot perf.data
    "$assay" import perf.data -o imported.assay 2>/dev/null
    annotate_row "the same of an imported recording" imported.assay hot perf.data
fi
