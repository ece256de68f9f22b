#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""LLVM profiles of every version, pointer width and byte order, all of the same counts.

make_profiles.py FOLDER writes raw-VERSION-WIDTH-ORDER.profraw, indexed-VERSION.profdata
and the text that all of them come to, expected.proftext; expected-plain.proftext is
that of the versions without value profiles, expected-bits.proftext of those with bitmaps.

Written from llvm/docs/InstrProfileFormat.rst and the table of docs/formats/coverage.md, and
of nothing in src/: a second opinion on both.
"""
import struct
import sys
from pathlib import Path

from llvm_bytes import pad, ref, uleb

# name, hash, counters, bitmap; the second one's values: where its calls went, sizes copied
FUNCTIONS = [
    ("main", 0x1234, [1, 200, 3], b""),
    ("file.c:leaf", 0x18, [7, (1 << 40) + 5], b"\x05\x80\xff"),
    ("zero", 0, [0], b""),
]
CALLS = [("main", 9), ("file.c:leaf", 4), (None, 2)]
SIZES = [(8, 6), (64, 1)]
ADDRESS = {"main": 0x401000, "file.c:leaf": 0x401080, "zero": 0x401100}


def value_block(order, value_of):
    """Kinds 0 and 1, one site each."""
    kinds = b""
    for kind, values in enumerate((CALLS, SIZES)):
        kinds += struct.pack(order + "II", kind, 1) + pad(bytes([len(values)]))
        for value, count in values:
            kinds += struct.pack(order + "QQ", value_of(kind, value), count)
    return struct.pack(order + "II", 8 + len(kinds), 2) + kinds


# ---- Raw -------------------------------------------------------------------


def raw_record(version, width, order, name, hash_, counters, bitmap, at, bits_at):
    pointer = order + ("Q" if width == 64 else "I")
    mask = (1 << width) - 1
    has_values = name == "file.c:leaf"
    sites = [1, 1, 0] if has_values else [0, 0, 0]
    r = struct.pack(order + "QQ", ref(name.encode()), hash_)
    r += struct.pack(pointer, at & mask)
    if version >= 11:
        r += struct.pack(pointer, 0)
    if version >= 9:
        r += struct.pack(pointer, bits_at & mask)
    r += struct.pack(pointer, ADDRESS[name]) + struct.pack(pointer, 0)
    r += struct.pack(order + "I", len(counters))
    r += struct.pack(order + "HHH", *sites)[: 6 if version >= 10 else 4]
    if version >= 11:
        r += struct.pack(order + "H", 32)
    if version >= 9:
        r = pad(r, 4) + struct.pack(order + "I", len(bitmap))
    if version >= 12:
        r += struct.pack(order + "I", 0)
    return pad(r)


def raw(version, width, order):
    names = "\1".join(f[0] for f in FUNCTIONS).encode()
    names = uleb(len(names)) + b"\0" + names
    counters = b"".join(struct.pack(order + f"{len(f[2])}Q", *f[2]) for f in FUNCTIONS)
    bits = b"".join(f[3] for f in FUNCTIONS) if version >= 9 else b""
    size = len(raw_record(version, width, order, *FUNCTIONS[0], 0, 0))
    # Before 8 pointers are addresses; since then they are relative to their record.
    data_at, counters_at, bits_at = 0x500000, 0x600000, 0x700000
    relative = version >= 8
    records, at, bits_seen = b"", 0, 0
    for i, f in enumerate(FUNCTIONS):
        own = data_at + i * size if relative else 0
        records += raw_record(version, width, order, *f, counters_at + at - own,
                              bits_at + bits_seen - own)
        at += 8 * len(f[2])
        bits_seen += len(f[3])
    ids = pad(struct.pack(order + "Q", 20) + bytes(range(20))) if version >= 6 else b""
    delta = counters_at - (data_at if relative else 0)
    mask = (1 << width) - 1
    uniform = [11, 12] if version >= 11 else []
    before, behind = (16, 8) if version >= 5 else (0, 0)
    header = [0xFF6C70726F660081 | (ord("r" if width == 64 else "R") << 8), version]
    if version >= 6:
        header += [len(ids)]
    header += [len(FUNCTIONS)]
    header += [before] if version >= 5 else []
    header += [len(counters) // 8]
    header += [behind] if version >= 5 else []
    if version >= 9:
        header += [len(bits), -len(bits) % 8]
    if version >= 11:
        header += [len(uniform), 8, 0x123]
    header += [len(names), delta & mask]
    if version >= 9:
        header += [(bits_at - data_at) & mask]
    header += [0x800000]
    if version >= 10:
        header += [0, 0]
    header += [2 if version >= 10 else 1]
    out = struct.pack(order + f"{len(header)}Q", *header)
    if version >= 7:
        out += ids
    out += records + b"\xaa" * before + counters + b"\xaa" * behind + pad(bits)
    if version >= 11:
        out += struct.pack(order + "2Q", *uniform) + b"\xaa" * 8
    out += pad(names)
    out += value_block(order, lambda kind, v: v if kind else ADDRESS.get(v, 0x77))
    return out + (ids if version == 6 else b"")


# ---- Indexed ---------------------------------------------------------------


def indexed_data(version, hash_, counters, bitmap, has_values):
    d = struct.pack("<Q", hash_)
    if version >= 2:
        d += struct.pack("<Q", len(counters))
    d += struct.pack(f"<{len(counters)}Q", *counters)
    if version >= 11:
        d += struct.pack(f"<{len(bitmap) + 1}Q", len(bitmap), *bitmap)
    if version >= 14:  # facts of GPU code: none
        d += bytes(8 * (version - 13))
    if version >= 3:
        d += value_block("<", lambda kind, v: v if kind else ref(v.encode()) if v else 0) if has_values \
            else struct.pack("<II", 8, 0)
    return d


def indexed(version):
    buckets = 4
    header = struct.pack("<QQQQQ", 0x8169666F72706CFF, version, 0, 0, 0)
    header += bytes(8 * ((version >= 8) + (version >= 9) + (version >= 10) + (version >= 12)))
    if version >= 4:
        total = sum(sum(f[2]) for f in FUNCTIONS)
        header += struct.pack("<8Q", 6, 1, 3, 6, 7, (1 << 40) + 5, (1 << 40) + 5, total)
        header += struct.pack("<3Q", 999999, 1, 5)
    out, offsets = header, [0] * buckets
    for b in range(buckets):
        mine = [f for f in FUNCTIONS if ref(f[0].encode()) % buckets == b]
        if not mine:
            continue
        offsets[b] = len(out)
        out += struct.pack("<H", len(mine))
        for name, hash_, counters, bitmap in mine:
            data = indexed_data(version, hash_, counters, bitmap, name == "file.c:leaf")
            out += struct.pack("<QQQ", ref(name.encode()), len(name), len(data)) + name.encode() + data
    out = pad(out)
    table_at = len(out)
    out += struct.pack(f"<{2 + buckets}Q", buckets, len(FUNCTIONS), *offsets)
    offsets = [table_at] + [0] * (version >= 8)  # no memory profile
    if version >= 9:  # binary ids: none
        offsets.append(len(out))
        out += bytes(8)
    if version >= 10:  # no temporal traces
        offsets.append(0)
    if version >= 12:  # virtual tables: none
        offsets.append(len(out))
        out += bytes(8)
    return out[:32] + struct.pack(f"<{len(offsets)}Q", *offsets) + out[32 + 8 * len(offsets):]


# ---- Text ------------------------------------------------------------------


def text(bits, values):
    out = ""
    for name, hash_, counters, bitmap in sorted(FUNCTIONS):
        out += f"{name}\n# Func Hash:\n{hash_}\n# Num Counters:\n{len(counters)}\n"
        out += "# Counter Values:\n" + "".join(f"{c}\n" for c in counters)
        if bits and bitmap:
            out += f"# Num Bitmap Bytes:\n${len(bitmap)}\n# Bitmap Byte Values:\n"
            out += "".join(f"{hex(b)}\n" for b in bitmap) + "\n"
        if values and name == "file.c:leaf":
            out += "# Num Value Kinds:\n2\n# ValueKind = IPVK_IndirectCallTarget:\n0\n"
            out += f"# NumValueSites:\n1\n{len(CALLS)}\n"
            out += "".join(f"{n or '** External Symbol **'}:{c}\n" for n, c in CALLS)
            out += f"# ValueKind = IPVK_MemOPSize:\n1\n# NumValueSites:\n1\n{len(SIZES)}\n"
            out += "".join(f"{v}:{c}\n" for v, c in SIZES)
        out += "\n"
    return out


def main():
    folder = Path(sys.argv[1])
    for version in range(4, 13):
        for width in (32, 64):
            for order in "<>":
                name = f"raw-{version}-{width}-{'little' if order == '<' else 'big'}.profraw"
                (folder / name).write_bytes(raw(version, width, order))
    for version in range(1, 16):
        (folder / f"indexed-{version}.profdata").write_bytes(indexed(version))
    (folder / "expected.proftext").write_text(text(False, True))
    (folder / "expected-plain.proftext").write_text(text(False, False))
    (folder / "expected-bits.proftext").write_text(text(True, True))


main()
