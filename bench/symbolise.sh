#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Random addresses -> function, file and line, all inlined calls: dwarf/ against
# llvm-symbolizer, on debug information that is not compressed, warm page cache.
set -u
llvm=$(command -v llvm-symbolizer-14 llvm-symbolizer-19 llvm-symbolizer | head -n 1)
[ -n "$llvm" ] || { echo "llvm-symbolizer is not installed: apt-get install llvm-14" >&2; exit 1; }
# The driver is not a part of a release: it has an optimised build folder of its own.
build=$TOP/build/bench
{
    [ -e "$build/build.ninja" ] || meson setup "$build" "$TOP" --buildtype=release -Doptimization=2
    ninja -C "$build" tests/tools/dwarf_lookup
} >&2 || exit 1

python3 - "$build/tests/tools/dwarf_lookup" "$llvm" "${WORKLOADS:?}" <<'PYTHON'
import os
import random
import re
import resource
import subprocess
import sys

lookup, llvm, workloads = sys.argv[1:]


def sections(path):
    out = subprocess.run(["readelf", "-SW", path], capture_output=True, text=True).stdout
    found = {m[1]: (int(m[2], 16), int(m[3], 16))
             for m in re.finditer(r"\] (\.\S+)\s+\S+\s+(\w+) \w+ (\w+)", out)}
    return found[".text"], found[".debug_info"][1]


def cpu_seconds(argv, addresses):
    """The least of three runs, user + system."""
    runs = []
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(argv, input=addresses, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                       check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        runs.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(runs)


def row(name, count, label):
    path = os.path.join(workloads, name)
    if not os.path.exists(path):
        print(f"| {label}: {name} | {os.path.basename(llvm)} | | not built here | `bench/workloads` |")
        return
    (low, size), info = sections(path)
    random.seed(7)
    addresses = "".join(f"{low + random.randrange(size):#x}\n" for _ in range(count)).encode()
    own = cpu_seconds([lookup, path], addresses)
    other = cpu_seconds([llvm, "--no-demangle", "--obj=" + path], addresses)
    target = "≥ 5×" if count > 1 else ""
    print(f"| {label}: {name}, .debug_info {info / 1e6:.0f} MB, {count} addresses, CPU "
          f"| {os.path.basename(llvm)} {other:.2f} s | {target} | {own:.2f} s = {other / own:.1f}× "
          "| `make bench BENCH=symbolise` |")


for program in ("rbd-mirror.debug", "cppcheck", "rg"):
    row(program, 100000, "random addresses → function, line, inlines")
row("rbd-mirror.debug", 1, "the first address, page cache warm")
PYTHON
