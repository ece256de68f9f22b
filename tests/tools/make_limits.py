#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make_limits.py KIND N FILE: inputs of unusual size for tests/nightly/limits.sh.

mappings  a perf.data of one process with N mappings of as many files, a sample in each
threads   a perf.data of N threads with a sample each
samples   a perf.data of N MiB: samples with chains and 8 KiB of copied stack each
names     a pprof file with 20 functions whose names have N bytes"""
import struct
import sys

IP, TID, TIME, PERIOD, CHAIN, REGS, DUMP = 1, 2, 4, 1 << 8, 1 << 5, 1 << 12, 1 << 13
STACK_BYTES = 8192


def u64(*values):
    return struct.pack(f"<{len(values)}Q", *values)


def u32(*values):
    return struct.pack(f"<{len(values)}I", *values)


def record(kind, body, misc=2):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def begin(f, sample_type, regs=0, stack=0):
    attr = u32(1, 112) + u64(0, 999, sample_type, 0, 1 << 10 | 1 << 18) + u32(0, 0) + u64(0, 0, 0, regs)
    f.write(b"PERFILE2" + u64(16) + record(64, attr + u32(stack, 0) + u64(0) + u32(0, 0), 0))


def tail(tid, time):
    return u32(42, tid) + u64(time)


def mmap2(start, size, path, time):
    name = path + bytes(8 - len(path) % 8)
    return record(10, u32(42, 42) + u64(start, size, 0) + u32(0, 0) + u64(0, 0) + u32(5, 2) + name + tail(42, time))


def mappings(n, f):
    begin(f, IP | TID | TIME | PERIOD)
    for i in range(n):
        f.write(mmap2(0x10000000 + i * 0x2000, 0x1000, b"/nowhere/lib%d.so" % i, i + 1))
    for i in range(n):
        f.write(record(9, u64(0x10000010 + i * 0x2000) + u32(42, 42) + u64(n + i + 1, 1000)))


def threads(n, f):
    begin(f, IP | TID | TIME | PERIOD)
    f.write(mmap2(0x400000, 0x10000, b"/nowhere/prog", 1))
    for i in range(n):
        f.write(record(3, u32(42, 100 + i) + b"thread%d" % i + bytes(8 - len(b"thread%d" % i) % 8) + tail(100 + i, i + 2), 0))
        f.write(record(9, u64(0x400010 + i % 1000) + u32(42, 100 + i) + u64(i + 2, 1000)))


def samples(mib, f):
    begin(f, IP | TID | TIME | PERIOD | CHAIN | REGS | DUMP, 0x1C0, STACK_BYTES)
    f.write(mmap2(0x400000, 0x100000, b"/nowhere/prog", 1))
    dump = bytes(STACK_BYTES)
    rest = u64(2, 0x7FFF0010, 0x7FFF0000, 0x400123) + u64(len(dump)) + dump + u64(64)
    size = len(rest) + 72
    for i in range((mib << 20) // size):
        ip = 0x400000 + i % 5000 * 16
        f.write(record(9, u64(ip) + u32(42, 42) + u64(i + 2, 1000) + u64(3, 2**64 - 512, ip, 0x400100) + rest))


def varint(n):
    out = b""
    while n >= 0x80:
        out += bytes([n & 0x7F | 0x80])
        n >>= 7
    return out + bytes([n])


def part(number, value):
    """A field of a protobuf message: bytes, or a number."""
    if isinstance(value, bytes):
        return varint(number << 3 | 2) + varint(len(value)) + value
    return varint(number << 3) + varint(value)


def names(n, f):
    f.write(part(1, part(1, 1) + part(2, 2)))  # sample_type: samples, count
    for i in range(1, 21):
        f.write(part(2, part(1, i) + part(2, i)))  # sample: location, value
        f.write(part(4, part(1, i) + part(4, part(1, i) + part(2, i))))  # location: id, line
        f.write(part(5, part(1, i) + part(2, 2 + i)))  # function: id, name
    for text in [b"", b"samples", b"count"] + [(b"name%d<" % i).ljust(n, b"x") for i in range(20)]:
        f.write(part(6, text))


with open(sys.argv[3], "wb", 1 << 20) as out:
    {"mappings": mappings, "threads": threads, "samples": samples, "names": names}[sys.argv[1]](int(sys.argv[2]), out)
