#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A report of 1 M samples with 0.5 M distinct stacks; the flame graph and two
# exports of the same recording. Peer figures are perf 6.1 on a recording of the
# same size (0.93 M samples, 0.53 M distinct stacks, 199 MB). CPU time counts:
# wall time says how busy the machine is.
set -u
cd "$(dirname "$0")/.." || exit 1
assay=$PWD/build/release/src/assay
make_profile=$PWD/build/dev/tests/tools/make_profile
[ -x "$make_profile" ] || make dev >/dev/null || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$make_profile" large "$work/large.assay" || exit 1

# CPU seconds and peak memory of the best of three runs, start included.
best() {
    python3 - "$@" <<'P'
import os, subprocess, sys, time
runs = []
for _ in range(3):
    start = time.monotonic()
    child = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    if status:
        sys.exit(1)
    runs.append((usage.ru_utime + usage.ru_stime, time.monotonic() - start, usage.ru_maxrss / 1024))
print("%.2f s CPU, %.2f s wall, %.0f MB" % min(runs))
P
}

row() { # WHAT PEER TARGET COMMAND…
    local what=$1 peer=$2 target=$3
    shift 3
    echo "| $what | $peer | $target | $(best "$@" || echo "failed to run") | \`bench/report.sh\` |"
}

row "1 M samples, 0.5 M distinct stacks: report" "perf report 97.9 s, 7.3 GB" "<= 1 s, <= 300 MB" \
    "$assay" report "$work/large.assay"
row "the same: call tree" "as above" "<= 1 s, <= 300 MB" "$assay" report "$work/large.assay" --tree
row "the same: flame graph" "flamegraph.pl 30.6 s, 476 MB (23 154 frames)" "-" \
    "$assay" flame "$work/large.assay" --force -o "$work/flame.svg"
row "the same: pprof export" "-" "<= 1 s" \
    "$assay" export "$work/large.assay" -f pprof --force -o "$work/out"
row "the same: speedscope export" "-" "<= 1 s" \
    "$assay" export "$work/large.assay" -f speedscope --force -o "$work/out"
python3 - >"$work/random.folded" <<'P'
import random
random.seed(5)
functions = [f"fn_{i}" for i in range(5000)]
for _ in range(500000):
    print(";".join(["main"] + random.choices(functions, k=12)), 1)
P
"$assay" import "$work/random.folded" -o "$work/random.assay" 2>/dev/null || exit 1
row "0.5 M random stacks of 13 calls, 5 M places in the tree: call tree" "before: 1.68 s CPU, 594 MB" \
    "<= 1.2 s, <= 300 MB" "$assay" report "$work/random.assay" --tree
