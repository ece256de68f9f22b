#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Symbolising a profile as a recording does: 5,000 samples in 200 functions, names
# demangled, first without and then with a warm cache, against llvm-symbolizer.
set -u
llvm=$(command -v llvm-symbolizer-14 llvm-symbolizer-19 llvm-symbolizer | head -n 1)
[ -n "$llvm" ] || { echo "llvm-symbolizer is not installed: apt-get install llvm-14" >&2; exit 1; }
build=$TOP/build/bench
{
    [ -e "$build/build.ninja" ] || meson setup "$build" "$TOP" --buildtype=release -Doptimization=2
    ninja -C "$build" tests/tools/address_lookup
} >&2 || exit 1

python3 - "$build/tests/tools/address_lookup" "$llvm" "${WORKLOADS:?}" "$SCRATCH" <<'PYTHON'
import os
import random
import resource
import shutil
import subprocess
import sys

lookup, llvm, workloads, scratch = sys.argv[1:]


def sample(path):
    """5,000 addresses in 200 functions, most near their start."""
    table = subprocess.run(["nm", "-S", path], capture_output=True, text=True).stdout
    rows = [line.split() for line in table.splitlines()]
    functions = [(int(r[0], 16), int(r[1], 16)) for r in rows
                 if len(r) == 4 and r[2] in "tTwW" and int(r[1], 16) > 64]
    random.seed(5)
    hot = random.sample(functions, min(200, len(functions)))
    picked = (random.choice(hot) for _ in range(5000))
    return "".join(f"{start + int(random.random() ** 2 * size):#x}\n"
                   for start, size in picked).encode()


def cpu_seconds(argv, addresses, before_each):
    """The least of three runs, user + system."""
    runs = []
    for _ in range(3):
        before_each()
        start = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(argv, input=addresses, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                       check=True)
        end = resource.getrusage(resource.RUSAGE_CHILDREN)
        runs.append(end.ru_utime + end.ru_stime - start.ru_utime - start.ru_stime)
    return min(runs)


for name in ("cppcheck", "rg"):
    path = os.path.join(workloads, name)
    if not os.path.exists(path):
        print(f"| symbolising 5,000 samples: {name} | | | not built here | `bench/workloads` |")
        continue
    addresses = sample(path)
    cache = os.path.join(scratch, "cache-" + name)
    ours = [lookup, path, "-", "--quiet", "--cache", cache]
    cold = cpu_seconds(ours, addresses, lambda: shutil.rmtree(cache, ignore_errors=True))
    warm = cpu_seconds(ours, addresses, lambda: None)
    other = cpu_seconds([llvm, "--obj=" + path], addresses, lambda: None)
    size = os.path.getsize(path) / 1e6
    command = "`make bench BENCH=symbolise_profile`"
    peer = f"{os.path.basename(llvm)} {other:.2f} s"
    print(f"| symbolising 5,000 samples of {name} ({size:.0f} MB), cold, CPU | {peer} | ≤ 0.4 s "
          f"| {cold:.3f} s = {other / cold:.1f}× | {command} |")
    print(f"| the same with a warm cache, CPU | {peer} | ≤ 0.05 s "
          f"| {warm:.3f} s = {other / warm:.0f}× | {command} |")
PYTHON
