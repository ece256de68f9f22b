#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes tests/fuzz/cli/fixed: a small program with unwind tables and DWARF, the same with a
build-id and its debug file apart, and a perf.data with stacks in each. The fuzzer puts changed
programs in their places. Made with gcc 12.2 and binutils 2.40; SHA256SUMS names the result."""
import hashlib
import re
import struct
import subprocess
import tempfile
from pathlib import Path

OUT = Path(__file__).resolve().parent / "fixed"
STACK, BUILD_ID = 0x7FFF0000, bytes(range(0x10, 0x24))
IP, TID, TIME, PERIOD, CHAIN, REGS, DUMP = 1, 2, 4, 1 << 8, 1 << 5, 1 << 12, 1 << 13
SOURCE = """
typedef struct Pair { int first, second; } Pair;
volatile int sink;
static inline __attribute__((always_inline)) int twice(int n) { return n * 2 + sink; }
__attribute__((noinline)) int leaf(Pair p) { return twice(p.first) * 3 + sink; }
__attribute__((noinline)) int middle(int n) { Pair p = {n, sink}; return leaf(p) + sink; }
void _start(void) { sink = middle(2); for (;;) { sink++; } }
"""


def u64(*values):
    return struct.pack(f"<{len(values)}Q", *values)


def u32(*values):
    return struct.pack(f"<{len(values)}I", *values)


def record(kind, body, misc=2):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def run(*words, cwd):
    return subprocess.run(words, cwd=cwd, check=True, capture_output=True, text=True).stdout


def instructions(program, cwd):
    """Addresses of all instructions, and of those behind the calls."""
    text = run("objdump", "-d", program, cwd=cwd)
    lines = re.findall(r"^\s*([0-9a-f]+):.*\t(\S+)", text, re.M)
    every = [int(address, 16) for address, _ in lines]
    calls = [m.start() for m in re.finditer(r"\tcall ", text)]
    behind = [int(re.search(r"^\s*([0-9a-f]+):", text[at:], re.M).group(1), 16) for at in calls]
    return every, behind


def recording(path, every, behind, build_id):
    attr = u32(1, 112) + u64(0, 999, IP | TID | TIME | PERIOD | CHAIN | REGS | DUMP, 0, 1 << 10 | 1 << 18)
    attr += u32(0, 0) + u64(0, 0, 0, 0x1C0) + u32(64, 0) + u64(0) + u32(0, 0)
    tail = u32(42, 42) + u64(5)
    name = path + bytes(8 - len(path) % 8)
    what = bytes([20, 0, 0, 0]) + build_id if build_id else u32(0, 0) + u64(0, 0)
    start = every[0] & ~0xFFF
    maps = record(10, u32(42, 42) + u64(start, 0x1000, start - 0x400000) + what + u32(5, 2) + name + tail,
                  2 | (1 << 14 if build_id else 0))
    samples = b""
    for i, ip in enumerate(every):
        dump = u64(behind[1], STACK + 32, behind[0], 0, behind[0], 0, 0, 0)
        samples += record(9, u64(ip) + u32(42, 42) + u64(10 + i, 1000) + u64(2, 2**64 - 512, ip)
                          + u64(2, STACK + 16, STACK, ip) + u64(len(dump)) + dump + u64(len(dump)))
    comm = record(3, u32(42, 42) + b"prog\0\0\0\0" + tail, 0)
    return b"PERFILE2" + u64(16) + record(64, attr, 0) + comm + maps + samples


def main():
    OUT.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "prog.c").write_text(SOURCE)
        flags = ["-g", "-O1", "-fno-omit-frame-pointer", "-fasynchronous-unwind-tables", "-nostdlib", "-static",
                 "-fno-pie", "-no-pie", "-fcf-protection=none", "-ffile-prefix-map=" + folder + "=/fuzz",
                 "-Wl,-z,noseparate-code", "-Wl,-z,max-page-size=4096"]
        run("gcc", *flags, "-Wl,--build-id=none", "-o", "prog", "prog.c", cwd=folder)
        run("gcc", *flags, f"-Wl,--build-id=0x{BUILD_ID.hex()}", "-o", "prog-id", "prog.c", cwd=folder)
        run("objcopy", "--only-keep-debug", "prog-id", "prog-id.debug", cwd=folder)
        found = {name: instructions(name, folder) for name in ("prog", "prog-id")}
        run("objcopy", "--strip-all", "--add-gnu-debuglink=prog-id.debug", "prog-id", cwd=folder)
        files = {name: (Path(folder) / name).read_bytes() for name in ("prog", "prog-id", "prog-id.debug")}
    files["prog.data"] = recording(b"/fuzz/prog", *found["prog"], None)
    files["prog-id.data"] = recording(b"/fuzz/prog-id", *found["prog-id"], BUILD_ID)
    sums = "".join(f"{hashlib.sha256(content).hexdigest()}  {name}\n" for name, content in files.items())
    files["SHA256SUMS"] = sums.encode()
    for name, content in files.items():
        (OUT / name).write_bytes(content)


main()
