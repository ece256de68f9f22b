# SPDX-License-Identifier: Apache-2.0
"""old_gcov.py VERSION UNIT NEW_UNIT: UNIT.gcno and UNIT.gcda, written by gcc 12 or 13, as the gcc of
VERSION ('402*' for 4.2, '504*' for 5.4) wrote them: NEW_UNIT.gcno and NEW_UNIT.gcda.

Before gcc 12 lengths are in words; before 9 the notes have no folder; before 8 functions have no
columns and blocks are listed one by one; before 4.8 the exit is the last block; before 4.7 functions
have no checksum of their graph (gcc/gcov-io.h of those versions)."""
import struct
import sys

FUNCTION, BLOCKS, ARCS, LINES, COUNTERS = 0x01000000, 0x01410000, 0x01430000, 0x01450000, 0x01A10000
version = sys.argv[1]
number = int(version[0]) * 100 + int(version[1:3])


def u32(*values):
    return struct.pack("<%dI" % len(values), *values)


def words(data, at=0):
    return struct.unpack_from("<%dI" % ((len(data) - at) // 4), data, at)


def take_text(data, at):
    length, = struct.unpack_from("<I", data, at)
    return data[at + 4:at + 4 + length].rstrip(b"\0"), at + 4 + length


def text(value):
    padded = value + b"\0" * (4 - len(value) % 4)
    return u32(len(padded) // 4) + padded


def record(tag, body):
    return u32(tag, len(body) // 4) + body


def records(data, at):
    while at + 8 <= len(data):
        tag, length = struct.unpack_from("<Ii", data, at)
        if tag == 0:
            return
        body = data[at + 8:at + 8 + max(length, 0)]
        at += 8 + len(body)
        yield tag, bytes(-length) if length < 0 else body


def checksums(body):
    return body[:12] if number >= 407 else body[:8]


class Blocks:
    """The numbers of a function's blocks: the exit is 1 in new files."""

    def __init__(self):
        self.count = 0

    def number(self, block):
        if number >= 408 or block == 0:
            return block
        return self.count - 1 if block == 1 else block - 1


def notes(data):
    magic, _, stamp, _ = struct.unpack_from("<4I", data)
    out = u32(magic) + version[::-1].encode() + u32(stamp)
    _, at = take_text(data, 16)
    blocks = Blocks()
    for tag, body in records(data, at + 4):
        if tag == FUNCTION:
            name, at = take_text(body, 12)
            file, at = take_text(body, at + 4)
            body = checksums(body) + text(name) + text(file) + body[at:at + 4]
        elif tag == BLOCKS:
            blocks.count, = words(body)
            body = bytes(4 * blocks.count)
        elif tag == ARCS:
            fields = list(words(body))
            fields[0] = blocks.number(fields[0])
            fields[1::2] = map(blocks.number, fields[1::2])
            body = u32(*fields)
        elif tag == LINES:
            new, at = u32(blocks.number(words(body[:4])[0])), 4
            while at < len(body):
                new += body[at:at + 4]
                line, = struct.unpack_from("<I", body, at)
                at += 4
                if line == 0:
                    file, at = take_text(body, at)
                    new += text(file) if file else u32(0)
            body = new
        out += record(tag, body)
    return out


def counts(data):
    magic, _, stamp, _ = struct.unpack_from("<4I", data)
    out = u32(magic) + version[::-1].encode() + u32(stamp)
    for tag, body in records(data, 16):
        if tag == FUNCTION:
            body = checksums(body)
        elif tag != COUNTERS:
            continue
        out += record(tag, body)
    return out + u32(0)


for suffix, convert in ((".gcno", notes), (".gcda", counts)):
    with open(sys.argv[2] + suffix, "rb") as source, open(sys.argv[3] + suffix, "wb") as target:
        target.write(convert(source.read()))
