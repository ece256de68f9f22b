#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make_perf_data.py PROGRAM SAMPLES OUT: a perf.data of SAMPLES call chains in PROGRAM.

As `perf record -g -e cpu-clock -F 999` of one process would write it: 20,000 distinct stacks
of 4 to 60 frames in up to 3,000 functions of PROGRAM, the frequent ones a thousand times as often
as the rare ones, rounds of 4,000 samples. The same arguments give the same file."""
import os
import random
import struct
import subprocess
import sys

PID, BASE = 4242, 0x555555554000
IP, TID, TIME, CHAIN, PERIOD = 1, 2, 4, 1 << 5, 1 << 8
CONTEXT_USER = 2**64 - 512
ATTR_LEN = 128


def record(kind, misc, body):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def padded(text):
    return text + bytes(8 - len(text) % 8)


def functions(program):
    table = subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout
    rows = (line.split() for line in table.splitlines())
    return sorted({int(r[0], 16) for r in rows if len(r) == 3 and r[1] in "tTwW"})


def code_segment(program):
    """Offset, address and size of the first executable segment."""
    text = subprocess.run(["readelf", "-lW", program], capture_output=True, text=True, check=True).stdout
    for line in text.splitlines():
        words = line.split()
        if words and words[0] == "LOAD" and "E" in words[6:8]:
            return int(words[1], 16), int(words[2], 16), int(words[4], 16)
    sys.exit("no executable segment")


def stacks(program, count):
    random.seed(7)
    known = functions(program)
    hot = random.sample(known, min(3000, len(known)))
    paths, result = [[hot[0]]], []
    while len(result) < count:
        parent = random.choice(paths)
        path = parent + [random.choice(hot) + random.randrange(1, 24)]
        if len(path) < 60:
            paths.append(path)
        if len(path) >= 4:
            result.append(path)
    return result


def main():
    program, samples, out = os.path.realpath(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    offset, address, size = code_segment(program)
    pages = (size + offset % 4096 + 4095) & ~4095
    chains = []
    for path in stacks(program, 20000):
        ips = [BASE + at for at in reversed(path)]
        chains.append((struct.pack("<QII", ips[0], PID, PID),
                       struct.pack(f"<QQ{len(ips) + 1}Q", 1001001, len(ips) + 1, CONTEXT_USER, *ips)))
    picks = random.choices(range(len(chains)), weights=[1 / (i % 1000 + 1) for i in range(len(chains))], k=samples)
    info = os.stat(program)
    tail = struct.pack("<IIQ", PID, PID, 1)
    attr = struct.pack("<IIQQQQ", 1, ATTR_LEN, 0, 999, IP | TID | TIME | CHAIN | PERIOD, 0)
    attr += struct.pack("<Q", 1 << 8 | 1 << 9 | 1 << 10 | 1 << 13 | 1 << 18 | 1 << 23)  # mmap comm freq task sample_id_all mmap2
    attr += bytes(ATTR_LEN - len(attr))
    at = 104
    with open(out, "wb") as f:
        f.write(bytes(104) + attr + struct.pack("<QQ", 0, 0))
        data = f.tell()
        f.write(record(3, 1 << 13, struct.pack("<II", PID, PID) + padded(b"prog") + tail))
        mmap = struct.pack("<IIQQQ", PID, PID, BASE + address - address % 4096, pages, offset - offset % 4096)
        mmap += struct.pack("<IIQQII", os.major(info.st_dev), os.minor(info.st_dev), info.st_ino, 0, 5, 2)
        f.write(record(10, 2, mmap + padded(program.encode()) + tail))
        batch = []
        for n, pick in enumerate(picks):
            head, rest = chains[pick]
            batch.append(record(9, 2, head + struct.pack("<Q", 1000000 + n * 1001001) + rest))
            if len(batch) == 4000:
                f.write(b"".join(batch) + record(68, 0, b""))
                batch = []
        f.write(b"".join(batch))
        end = f.tell()
        f.seek(0)
        f.write(b"PERFILE2" + struct.pack("<QQQQQQQQ", 104, ATTR_LEN + 16, at, ATTR_LEN + 16, data, end - data, 0, 0))


main()
