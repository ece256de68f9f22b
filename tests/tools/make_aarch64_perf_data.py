#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make_aarch64_perf_data.py OBJDUMP PROGRAM OUT: a perf.data as a board would send it.

One sample at the first instruction of `leaf`, whose caller is `middle`, called by `main`:
registers and a copied stack, as `perf record --call-graph dwarf` takes them. Both callers
have a frame of 16 bytes, x29 and x30."""
import os
import re
import struct
import subprocess
import sys

BASE, STACK = 0xAAAA00000000, 0xFFFFE000
IP, TID, TIME, PERIOD, CHAIN, REGS, DUMP = 1, 2, 4, 1 << 8, 1 << 5, 1 << 12, 1 << 13
ARCH = 6  # HEADER_ARCH


def u64(*values):
    return struct.pack(f"<{len(values)}Q", *values)


def u32(*values):
    return struct.pack(f"<{len(values)}I", *values)


def record(kind, body, misc=2):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def code(objdump, program):
    """Addresses of functions, and of the instructions behind their calls."""
    text = subprocess.run([objdump, "-d", program], capture_output=True, text=True, check=True).stdout
    starts, behind, function = {}, {}, ""
    for line in text.splitlines():
        start = re.match(r"^([0-9a-f]+) <(\w+)>:$", line)
        call = re.match(r"^\s*([0-9a-f]+):.*\tbl\t[0-9a-f]+ <(\w+)>", line)
        if start:
            function = start.group(2)
            starts[function] = int(start.group(1), 16)
        elif call:
            behind[function, call.group(2)] = int(call.group(1), 16) + 4
    return starts, behind


def main():
    objdump, program, out = sys.argv[1], os.path.realpath(sys.argv[2]), sys.argv[3]
    starts, behind = code(objdump, program)
    in_middle, in_main = BASE + behind["middle", "leaf"], BASE + behind["main", "middle"]
    mask = (1 << 33) - 1
    attr = u32(1, 112) + u64(0, 999, IP | TID | TIME | PERIOD | CHAIN | REGS | DUMP, 0, 1 << 10 | 1 << 18)
    attr += u32(0, 0) + u64(0, 0, 0, mask) + u32(64, 0) + u64(0) + u32(0, 0)
    tail = u32(7, 7) + u64(5)
    path = program.encode() + bytes(8 - len(program) % 8)
    mmap = u32(7, 7) + u64(BASE, 0x10000, 0) + u32(0, 0) + u64(0, 0) + u32(5, 2) + path + tail
    registers = [0] * 29 + [STACK, in_middle, STACK, BASE + starts["leaf"]]
    dump = u64(STACK + 16, in_main, 0, 0, 0, 0, 0, 0)
    sample = u64(BASE + starts["leaf"]) + u32(7, 7) + u64(10, 1000) + u64(0)
    sample += u64(2, *registers) + u64(len(dump)) + dump + u64(len(dump))
    with open(out, "wb") as f:
        f.write(b"PERFILE2" + u64(16) + record(64, attr, 0) + record(80, u64(ARCH) + u32(8) + b"aarch64\0", 0)
                + record(3, u32(7, 7) + b"board\0\0\0" + tail, 0) + record(10, mmap) + record(9, sample))


main()
