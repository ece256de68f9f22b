#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""compare_wait_stacks.py ASSAY WAITS.assay FULL.assay

Compares the stacks of the waits of a recording with those of full copies of the stack (perf record -e sched:sched_switch
--call-graph dwarf,65528, imported) of the same process at the same time, address by address. Prints waits, those whose stack
is also that of a full copy, and those whose stack is cut though the wait began in the recording. A thread that slept before
it has no stack: its single cut frame is left out.
"""
import json
import re
import subprocess
import sys

assay, waits_path, full_path = sys.argv[1:]
IS_KERNEL, IS_CUT, NO_USER = 1, 4, 5


def load(path):
    return json.loads(subprocess.run([assay, "export", path, "--format", "json"], check=True, capture_output=True).stdout)


def stack_of(profile, stack):
    frames, out = profile["frames"], []
    while stack:
        frame = profile["stacks"]["frame"][stack]
        if frames["flags"][frame] & IS_CUT:
            out.append(("cut", frames["address"][frame]))
        elif not frames["flags"][frame] & IS_KERNEL:
            module = profile["strings"][profile["modules"]["path"][frames["module"][frame]]]
            # Generated code belongs to the map that names it, where there is one: an import has none.
            generated = re.fullmatch(r"/*anon|.*perf-\d+\.map", module)
            out.append(("anon" if generated else module, frames["address"][frame]))
        stack = profile["stacks"]["parent"][stack]
    return tuple(out)


waits, full = load(waits_path), load(full_path)
copied = {stack_of(full, s) for s in set(full["samples"]["stack"])}
total = equal = cut = 0
for stack, state, count in zip(*(waits["waits"][c] for c in ("stack", "state", "count"))):
    frames = stack_of(waits, stack) if stack else ()
    if state <= 1 or frames in ((), (("cut", NO_USER),)):
        continue
    total += count
    equal += count if frames in copied else 0
    cut += count if any(f[0] == "cut" for f in frames) else 0
print(total, equal, cut)
