#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Raw profiles that hold counters alone, and the programs that say what those count.

make_correlated.py FOLDER writes, for both widths and byte orders, VERSION-WIDTH-ORDER-MODE.elf
and .profraw, where MODE is "binary" (records in a section that is not loaded), "dwarf4" or
"dwarf5" (annotated variables), binary-pe-WIDTH.exe and .profraw, macho-64.dSYM and .profraw,
and the text that all of them come to, correlated.proftext.

In the programs stand functions that a linker dropped, and one that two units describe;
in the debug information variables that are not counters, and counters of which something
is missing.

Written from llvm/lib/ProfileData/InstrProfCorrelator.cpp, DWARF 4 and 5, the gABI, "PE Format"
and "Mach-O File Format Reference", and of nothing in src/.
"""
import struct
import sys
from pathlib import Path

from llvm_bytes import pad, ref, uleb

COUNTERS_AT = 0x14000
BUILD_ID = bytes(range(0x40, 0x54))
# name, hash, counters; None: dropped by the linker
FUNCTIONS = [
    ("main", 0x1234, [1, 200, 3]),
    ("file.c:leaf", 0x18, [7, (1 << 40) + 5]),
    ("dropped", 0x99, None),
    ("zero", 0xFFFFFFFFFFFFFFF0, [0]),
]
KEPT = [f for f in FUNCTIONS if f[2] is not None]


def address_of(name):
    at = COUNTERS_AT
    for other, _, counters in KEPT:
        if other == name:
            return at
        at += 8 * len(counters)
    return 0


# ---- Records ---------------------------------------------------------------


def record(version, width, order, name, hash_, counters):
    pointer = order + ("Q" if width == 64 else "I")
    r = struct.pack(order + "QQ", ref(name.encode()), hash_)
    r += struct.pack(pointer, address_of(name))
    r += struct.pack(pointer, 0) * (3 + (version >= 11))  # uniform, bitmap, function, values
    r += struct.pack(order + "I", len(counters or [0]))
    r += bytes(6)
    if version >= 11:
        r += struct.pack(order + "H", 32)
    r = pad(r, 4) + struct.pack(order + "I", 0)
    if version >= 12:
        r += struct.pack(order + "I", 0)
    return r


def records(version, width, order):
    # LLVM's tools do not take one whose counters were dropped.
    functions = KEPT if version == 10 else FUNCTIONS
    rows = [record(version, width, order, *f) for f in functions + FUNCTIONS[:1]]
    return b"".join(pad(r) for r in rows[:-1]) + rows[-1]  # nothing fills up the last


def names():
    plain = "\1".join(f[0] for f in FUNCTIONS).encode()
    return uleb(len(plain)) + b"\0" + plain


# ---- Debug information --------------------------------------------------------


class Dwarf:
    """One unit, written in version 4 with addresses in place or 5 with tables of them."""

    def __init__(self, version, width, order):
        self.version, self.order = version, order
        self.pointer = order + ("Q" if width == 64 else "I")
        self.size = width // 8
        self.strings, self.offsets, self.addresses = b"\0", [], []
        self.abbrevs, self.codes = b"", {}

    def text(self, s):
        """A form and a value."""
        at = len(self.strings)
        self.strings += s.encode() + b"\0"
        if self.version == 4:
            return 0x0E, struct.pack(self.order + "I", at)  # strp
        self.offsets.append(at)
        return 0x25, bytes([len(self.offsets) - 1])  # strx1

    def place(self, address):
        if self.version == 4:
            block = b"\x03" + struct.pack(self.pointer, address)  # DW_OP_addr
        else:
            self.addresses.append(address)
            block = b"\xa1" + uleb(len(self.addresses) - 1)  # DW_OP_addrx
        return 0x18, uleb(len(block)) + block  # exprloc

    def number(self, v):
        return 0x07, struct.pack(self.order + "Q", v)  # data8

    def die(self, tag, attrs, children=None):
        key = (tag, children is not None, tuple((name, form) for name, (form, _) in attrs))
        if key not in self.codes:
            self.codes[key] = len(self.codes) + 1
            self.abbrevs += uleb(self.codes[key]) + uleb(tag) + bytes([children is not None])
            self.abbrevs += b"".join(uleb(n) + uleb(f) for n, f in key[2]) + b"\0\0"
        out = uleb(self.codes[key]) + b"".join(value for _, (_, value) in attrs)
        return out if children is None else out + b"".join(children) + b"\0"

    def annotation(self, name, value):
        return self.die(0x6000, [(0x03, self.text(name)), (0x1C, value)])

    def counters(self, name, hash_, count, without=""):
        notes = {"Function Name": self.text(name), "CFG Hash": self.number(hash_),
                 "Num Counters": (0x0F, uleb(count))}
        notes = [self.annotation(k, v) for k, v in notes.items() if k != without]
        return self.die(0x34, [(0x03, self.text("__profc_" + name)),
                               (0x02, self.place(address_of(name)))], notes)

    def function(self, name, hash_, counters):
        local = self.die(0x34, [(0x03, self.text("local")), (0x02, (0x18, b"\2\x91\x10"))])
        block = self.die(0x0B, [], [self.die(0x34, [(0x03, self.text("__profc_far"))])])
        children = [local, self.counters(name, hash_, len(counters or [0])), block]
        return self.die(0x2E, [(0x03, self.text(name))], children)

    def sections(self):
        bases = []
        if self.version == 5:
            bases = [(0x72, (0x17, struct.pack(self.order + "I", 8))),
                     (0x73, (0x17, struct.pack(self.order + "I", 8)))]
        functions = [self.function(*f) for f in FUNCTIONS + FUNCTIONS[:1]]
        functions += [self.die(0x2E, [], [self.counters("zero", 1, 1, without="CFG Hash")])]
        stray = [self.counters("main", 7, 1)]  # in no function
        unit = self.die(0x11, bases, functions + stray)
        head = struct.pack(self.order + "H", self.version)
        if self.version == 4:
            head += struct.pack(self.order + "IB", 0, self.size)
        else:
            head += struct.pack(self.order + "BBI", 1, self.size, 0)
        length = len(head) + len(unit)
        info = struct.pack(self.order + "I", length) + head + unit
        out = {"debug_info": info, "debug_abbrev": self.abbrevs + b"\0", "debug_str": self.strings}
        if self.version == 5:
            n = len(self.offsets)
            out["debug_str_offs"] = struct.pack(self.order + f"IHH{n}I", 4 + 4 * n, 5, 0, *self.offsets)
            n, letter = len(self.addresses), self.pointer[-1]
            out["debug_addr"] = struct.pack(self.order + "IHBB", 4 + self.size * n, 5, self.size, 0)
            out["debug_addr"] += struct.pack(self.order + f"{n}{letter}", *self.addresses)
        return out


# ---- Objects -------------------------------------------------------------------


def counter_bytes(order):
    return b"".join(struct.pack(order + f"{len(f[2])}Q", *[0] * len(f[2])) for f in KEPT)


def elf(width, order, sections):
    """sections: (name, type, flags, address, bytes)"""
    word = "Q" if width == 64 else "I"
    sections = [("", 0, 0, 0, b"")] + sections
    strings = b""
    name_at = []
    for name in [s[0] for s in sections] + [".shstrtab"]:
        name_at.append(len(strings))
        strings += name.encode() + b"\0"
    sections = sections + [(".shstrtab", 3, 0, 0, strings)]
    machine = {(64, "<"): 62, (32, "<"): 3, (64, ">"): 21, (32, ">"): 20}[width, order]
    head_size = 64 if width == 64 else 52
    body, rows = b"", b""
    for (_, kind, flags, address, data), at in zip(sections, name_at):
        body = pad(body)
        rows += struct.pack(order + "II" + word * 4 + "II" + word * 2, at, kind, flags, address,
                            head_size + len(body), len(data), 0, 0, 8 if kind else 0, 0)
        body += data
    body = pad(body)
    head = b"\x7fELF" + bytes([2 if width == 64 else 1, 1 if order == "<" else 2, 1]) + bytes(9)
    head += struct.pack(order + "HHI" + word * 3 + "IHHHHHH", 2, machine, 1, 0, 0,
                        head_size + len(body), 0, head_size, 0, 0, len(rows) // len(sections),
                        len(sections), len(sections) - 1)
    return head + body + rows


def program(version, width, order, mode):
    note = struct.pack(order + "III", 4, len(BUILD_ID), 3) + b"GNU\0" + BUILD_ID
    sections = [(".note.gnu.build-id", 7, 2, 0x200, note),
                ("__llvm_prf_cnts", 1, 3, COUNTERS_AT, counter_bytes(order))]
    if mode == "binary":
        sections += [("__llvm_covdata", 1, 0, 0, records(version, width, order)),
                     ("__llvm_covnames", 1, 0, 0, names())]
    else:
        for name, data in Dwarf(int(mode[-1]), width, order).sections().items():
            sections += [("." + name.replace("_offs", "_offsets"), 1, 0, 0, data)]
    return elf(width, order, sections)


def pe(version, width):
    """A program whose counters begin behind a byte that marks their start."""
    base = 0x140000000 if width == 64 else 0x400000
    global COUNTERS_AT
    section_rva, before = 0x2000, COUNTERS_AT
    COUNTERS_AT = base + section_rva + 8
    data = records(version, width, "<")
    COUNTERS_AT = before
    counters = bytes(8) + counter_bytes("<")
    optional = struct.pack("<H", 0x20B if width == 64 else 0x10B) + bytes(22 if width == 64 else 26)
    optional += struct.pack("<Q" if width == 64 else "<I", base)
    optional += struct.pack("<II", 0x1000, 0x200) + bytes(16)
    optional = optional.ljust(112 if width == 64 else 96, b"\0")
    strings = b""
    rows, body = b"", b""
    sections = [(b".lprfc", section_rva, counters), (b".lcovd", 0x3000, data), (b".lcovn", 0x4000, names())]
    at = pad(bytes(64 + 4 + 20 + len(optional) + 40 * len(sections)), 512)
    for name, rva, content in sections:
        rows += name.ljust(8, b"\0") + struct.pack("<IIII", len(content), rva, len(pad(content, 512)), len(at) + len(body))
        rows += bytes(12) + struct.pack("<I", 0x40000040)
        body += pad(content, 512)
    machine = 0x8664 if width == 64 else 0x14C
    head = b"MZ".ljust(60, b"\0") + struct.pack("<I", 64) + b"PE\0\0"
    head += struct.pack("<HHIIIHH", machine, len(sections), 0, 0, 0, len(optional), 0x22)
    return pad(head + optional + rows + strings, 512) + body


def macho(mode):
    """The debug information of a program, apart from it: counters have no bytes here."""
    sections = [("__llvm_prf_cnts", "__DATA", COUNTERS_AT, len(counter_bytes("<")), b"")]
    for name, data in Dwarf(int(mode[-1]), 64, "<").sections().items():
        sections += [("__" + name, "__DWARF", 0, len(data), data)]
    command_size = 72 + 80 * len(sections)
    at = 32 + command_size
    rows, body = b"", b""
    for name, segment, address, size, data in sections:
        rows += name.encode().ljust(16, b"\0") + segment.encode().ljust(16, b"\0")
        rows += struct.pack("<QQIIIIIIII", address, size, at + len(body) if data else 0, 0, 0, 0,
                            0 if data else 1, 0, 0, 0)
        body += data
    head = struct.pack("<IIIIIIII", 0xFEEDFACF, 0x0100000C, 0, 0xA, 1, command_size, 0, 0)
    head += struct.pack("<II16sQQQQIIII", 0x19, command_size, b"__DWARF", 0, 0, at, len(body), 0, 0,
                        len(sections), 0)
    return head + rows + body


# ---- Profiles -------------------------------------------------------------------


def profile(version, width, order, mode, ids=BUILD_ID, before=b""):
    ids = struct.pack(order + "Q", len(ids)) + pad(ids) if ids else b""
    counters = before + b"".join(struct.pack(order + f"{len(f[2])}Q", *f[2]) for f in KEPT)
    counters = pad(counters)
    variant = 1 << 59 if mode.startswith("dwarf") else 0
    header = [0xFF6C70726F660081 | (ord("r" if width == 64 else "R") << 8), version | variant]
    header += [len(ids), 0, 0, len(counters) // 8, 0]
    header += [0, 0] if version >= 9 else []
    header += [0, 0, 0] if version >= 11 else []
    header += [0, 0]  # names, where the counters are
    header += [0] if version >= 9 else []
    header += [0]
    header += [0, 0] if version >= 10 else []
    header += [2 if version >= 10 else 1]
    return struct.pack(order + f"{len(header)}Q", *header) + ids + counters


def text():
    out = ""
    for name, hash_, counters in sorted(KEPT):
        out += f"{name}\n# Func Hash:\n{hash_}\n# Num Counters:\n{len(counters)}\n# Counter Values:\n"
        out += "".join(f"{c}\n" for c in counters) + "\n"
    return out


def main():
    folder = Path(sys.argv[1])
    for version in range(8, 13):
        for width in (32, 64):
            for order in "<>":
                for mode in ("binary", "dwarf4", "dwarf5"):
                    if mode == "binary" and version == 8:
                        continue  # since LLVM 18
                    name = f"{version}-{width}-{'little' if order == '<' else 'big'}-{mode}"
                    (folder / f"{name}.elf").write_bytes(program(version, width, order, mode))
                    (folder / f"{name}.profraw").write_bytes(profile(version, width, order, mode))
    for width in (32, 64):
        (folder / f"10-{width}-pe.exe").write_bytes(pe(10, width))
        (folder / f"10-{width}-pe.profraw").write_bytes(profile(10, width, "<", "binary", b"", bytes(7)))
    for mode in ("dwarf4", "dwarf5"):
        (folder / f"10-macho-{mode}.dSYM").write_bytes(macho(mode))
        (folder / f"10-macho-{mode}.profraw").write_bytes(profile(10, 64, "<", mode, b""))
    (folder / "correlated.proftext").write_text(text())


main()
