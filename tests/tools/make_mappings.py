#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Coverage mappings of every version, in ELF of both widths and byte orders and in LLVM's
two test forms, all of the same functions.

make_mappings.py FOLDER writes mapping-VERSION-WIDTH-ORDER.o, mapping-VERSION-FORM.covmapping,
counts.proftext, and what lines there are: lines-plain, and lines-gaps of the versions that
know of gaps between statements (3 and later).

Written from llvm/docs/CoverageMappingFormat.rst, and of nothing in src/.
"""
import struct
import sys
from pathlib import Path

from llvm_bytes import pad, ref, uleb

NAMES_AT = 0x20000  # where the names are loaded
ZERO, COUNTER, SUBTRACT = 0, 1, 2


def counter(tag, index):
    return index << 2 | tag


# ---- The functions -----------------------------------------------------------
# A region: the words of its kind, then where it starts and ends. Lines are stored as
# differences from the region before.


def regions(rows):
    out, line = uleb(len(rows)), 0
    for words, (from_line, from_column, to_line, to_column), gap in rows:
        out += b"".join(uleb(w) for w in words)
        out += uleb(from_line - line) + uleb(from_column) + uleb(to_line - from_line)
        out += uleb(to_column | (1 << 31 if gap else 0))
        line = from_line
    return out


def leaf(version):
    """if (…) …; else …: 10 times, of those 4 the first way."""
    rows = [([counter(COUNTER, 0)], (1, 12, 5, 2), False)]
    if version >= 5:  # branch: ran and did not
        rows.append(([4 << 3, counter(COUNTER, 1), counter(SUBTRACT, 0)], (2, 7, 2, 8), False))
    rows.append(([counter(COUNTER, 1)], (2, 10, 2, 20), False))
    if version >= 3:
        rows.append(([counter(SUBTRACT, 0)], (2, 21, 4, 3), True))
    rows.append(([counter(SUBTRACT, 0)], (4, 3, 4, 12), False))
    expressions = uleb(1) + uleb(counter(COUNTER, 0)) + uleb(counter(COUNTER, 1))
    return uleb(1) + uleb(FIRST[version]) + expressions + regions(rows)


def user(version):
    """Uses a macro of another file; runs 3 times."""
    expansion = 1 << 3 | 4
    first = regions([([counter(COUNTER, 0)], (9, 1, 12, 2), False),
                     ([expansion], (10, 3, 10, 8), False),
                     ([2 << 3], (11, 1, 11, 9), False)])  # skipped
    second = regions([([counter(COUNTER, 0)], (1, 11, 1, 19), False)])
    return uleb(2) + uleb(FIRST[version]) + uleb(FIRST[version] + 1) + uleb(0) + first + second


# Since version 6 the first name is the compilation's folder.
FIRST = {v: 1 if v >= 6 else 0 for v in range(1, 8)}
FUNCTIONS = [("leaf", 0x18, leaf), ("user", 0, user)]


def files(version):
    names = ["/src", "a.c", "b.h"] if version >= 6 else ["/src/a.c", "/src/b.h"]
    texts = b"".join(uleb(len(n)) + n.encode() for n in names)
    sizes = uleb(len(texts)) + uleb(0) if version >= 4 else b""  # 0: not compressed
    return uleb(len(names)) + sizes + texts


def names(version):
    if version == 1:
        return b"".join(f[0].encode() for f in FUNCTIONS)
    joined = "\1".join(f[0] for f in FUNCTIONS).encode()
    return uleb(len(joined)) + b"\0" + joined


def sections(version, width, order):
    """covmap and covfun."""
    blob = files(version)
    records, mappings, at = b"", b"", NAMES_AT
    for name, hash_, mapping in FUNCTIONS:
        data = mapping(version)
        if version == 1:
            pointer = struct.pack(order + ("Q" if width == 64 else "I"), at)
            records += pointer + struct.pack(order + "IIQ", len(name), len(data), hash_)
        elif version < 4:
            records += struct.pack(order + "QIQ", ref(name.encode()), len(data), hash_)
        else:
            records += struct.pack(order + "QIQQ", ref(name.encode()), len(data), hash_, ref(blob))
            records = pad(records + data)
        mappings += data
        at += len(name)
    if version >= 4:
        return pad(struct.pack(order + "4I", 0, len(blob), 0, version - 1) + blob), records
    header = struct.pack(order + "4I", len(FUNCTIONS), len(blob), len(mappings), version - 1)
    return pad(header + records + blob + mappings), b""


# ---- Files that hold them ------------------------------------------------------


def test_form(version, second):
    covmap, covfun = sections(version, 64, "<")
    text = names(version)
    out = b"llvmcovm" + (struct.pack("<Q", 1) if second else b"testdata")
    out += uleb(len(text)) + uleb(NAMES_AT) + text
    if second:
        out += uleb(len(covmap))
    return pad(pad(out) + covmap) + covfun


MACHINES = {(64, "<"): 62, (32, "<"): 3, (64, ">"): 21, (32, ">"): 20}


def elf(version, width, order):
    covmap, covfun = sections(version, width, order)
    parts = [("__llvm_covmap", 0x10000, covmap), ("__llvm_covfun", 0x18000, covfun),
             ("__llvm_prf_names", NAMES_AT, names(version))]
    texts = b"\0" + b"".join(p[0].encode() + b"\0" for p in parts) + b".shstrtab\0"
    word = "Q" if width == 64 else "I"
    header_size, entry_size = (64, 64) if width == 64 else (52, 40)
    body, at = b"", header_size
    entries = [bytes(entry_size)]
    for name, address, data in parts + [(".shstrtab", 0, texts)]:
        kind = 3 if name == ".shstrtab" else 1
        entry = struct.pack(order + "II", texts.index(name.encode() + b"\0"), kind)
        entry += struct.pack(order + word * 4, 2 if address else 0, address, at, len(data))
        entry += struct.pack(order + "II", 0, 0) + struct.pack(order + word * 2, 8, 0)
        entries.append(entry)
        body += pad(data)
        at += len(pad(data))
    ident = b"\x7fELF" + bytes([2 if width == 64 else 1, 1 if order == "<" else 2, 1]) + bytes(9)
    header = ident + struct.pack(order + "HHI", 2, MACHINES[width, order], 1)
    header += struct.pack(order + word * 3, 0, 0, at) + struct.pack(order + "IHHHHHH", 0,
                          header_size, 0, 0, entry_size, len(entries), len(entries) - 1)
    return header + body + b"".join(entries)


def main():
    folder = Path(sys.argv[1])
    for version in range(1, 8):
        for width in (32, 64):
            for order in "<>":
                name = f"mapping-{version}-{width}-{'little' if order == '<' else 'big'}.o"
                (folder / name).write_bytes(elf(version, width, order))
        (folder / f"mapping-{version}-first.covmapping").write_bytes(test_form(version, False))
        (folder / f"mapping-{version}-second.covmapping").write_bytes(test_form(version, True))
    (folder / "counts.proftext").write_text("leaf\n24\n2\n10\n4\n\nuser\n0\n1\n3\n")
    user_lines = "DA:9,3\nDA:10,3\nDA:12,3\n"
    other = "SF:/src/b.h\nDA:1,3\n"
    plain = "SF:/src/a.c\nDA:1,10\nDA:2,10\nDA:3,10\nDA:4,10\nDA:5,10\n"
    gaps = "SF:/src/a.c\nDA:1,10\nDA:2,10\nDA:3,6\nDA:4,6\nDA:5,10\n"
    (folder / "lines-plain").write_text(plain + user_lines + other)
    (folder / "lines-gaps").write_text(gaps + user_lines + other)


main()
