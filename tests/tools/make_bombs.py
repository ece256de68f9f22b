#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Small files that unpack to gigabytes: make_bombs.py FOLDER PROGRAM

samples.pb.gz, locations.pb.gz, strings.pb.gz, functions.pb.gz: half a megabyte of pprof whose
messages take two bytes each before gzip. zeros.txt.gz: text. section.elf, zdebug.elf: PROGRAM with
a section of 2 MB that states and holds 2 GB; many.elf: with 24 of 90 MB. zeros.txt.bz2,
zeros.txt.xz: text. flight.jfr.gz: 20 000 chunks of Java's flight recorder. nested.a, many.a:
an archive 5 000 deep, one of 140 000 empty members. blocks.out: Go blocks of 4 000 million lines.
otlp-rows.gz, otlp-profiles.gz: 60 KB of OpenTelemetry with millions of empty functions or profiles.
"""
import bz2
import gzip
import lzma
import struct
import sys
import zlib
from pathlib import Path

folder, program = Path(sys.argv[1]), Path(sys.argv[2])
MB = 1 << 20


def varint(n):
    out = b""
    while n >= 0x80:
        out += bytes([n & 0x7F | 0x80])
        n >>= 7
    return out + bytes([n])


def field(number, content):
    return varint(number << 3 | 2) + varint(len(content)) + content


# A sample type "a" in "a", and the strings that it needs.
HEAD = field(1, b"\x08\x01\x10\x01") + field(6, b"") + field(6, b"a")


def pprof(name, message, size):
    (folder / name).write_bytes(gzip.compress(HEAD + message * (size // len(message)), 9))


pprof("samples.pb.gz", field(2, b""), 500 * MB)
pprof("locations.pb.gz", field(4, b""), 500 * MB)
pprof("strings.pb.gz", field(6, b""), 500 * MB)
pprof("functions.pb.gz", field(5, b""), 500 * MB)
OTLP = (Path(__file__).parent.parent / "fuzz/corpus/import/otlp").read_bytes()
MILLIONS = 28 * MB
(folder / "otlp-rows.gz").write_bytes(gzip.compress(OTLP + field(2, field(4, b"") * MILLIONS), 9))
(folder / "otlp-profiles.gz").write_bytes(gzip.compress(OTLP + field(1, field(2, field(2, b"") * MILLIONS)), 9))
(folder / "zeros.txt.gz").write_bytes(gzip.compress(b"main;work 1\n" * (400 * MB // 12), 9))

TEXT = b"main;work 1\n" * (12 * MB // 12)
(folder / "zeros.txt.bz2").write_bytes(bz2.compress(TEXT[:MB]) * 600)
(folder / "zeros.txt.xz").write_bytes(lzma.compress(TEXT, preset=0) * 40)
CHUNK = (Path(__file__).parent.parent / "fuzz/corpus/import/flight.jfr").read_bytes()
(folder / "flight.jfr.gz").write_bytes(gzip.compress(CHUNK * 20000, 9))
(folder / "blocks.out").write_text("mode: count\n" + "m/a.go:1.1,4000000000.1 1 1\n" * 1000)


def member(name, content):
    return f"{name:<16}{0:<12}{0:<6}{0:<6}{644:<8}{len(content):<10}`\n".encode() + content + b"\n" * (len(content) % 2)


nested = b""
for _ in range(5000):
    nested = b"!<arch>\n" + member("a/", nested)
(folder / "nested.a").write_bytes(nested)
(folder / "many.a").write_bytes(b"!<arch>\n" + member("a/", b"") * 140000)


def zeros(size):
    z = zlib.compressobj(9)
    return b"".join(z.compress(bytes(MB)) for _ in range(size // MB)) + z.flush()


def with_sections(name, sections):
    """The program with sections (name, flags, content) behind its own, in a new table."""
    elf = bytearray(program.read_bytes())
    shoff, = struct.unpack_from("<Q", elf, 0x28)
    entry, count, names_at = struct.unpack_from("<HHH", elf, 0x3A)
    table = bytearray(elf[shoff:shoff + entry * count])
    # Their names replace those of the program's table of names: it is written anew.
    fields = list(struct.unpack_from("<IIQQQQIIQQ", table, names_at * entry))
    names = bytes(elf[fields[4]:fields[4] + fields[5]])
    for section, flags, content in sections:
        table += struct.pack("<IIQQQQIIQQ", len(names), 1, flags, 0, len(elf), len(content), 0, 0, 1, 0)
        names += section.encode() + b"\0"
        elf += content
        count += 1
    fields[4], fields[5] = len(elf), len(names)
    struct.pack_into("<IIQQQQIIQQ", table, names_at * entry, *fields)
    elf += names
    struct.pack_into("<Q", elf, 0x28, len(elf))
    struct.pack_into("<H", elf, 0x3C, count)
    (folder / name).write_bytes(elf + table)
    (folder / name).chmod(0o755)


SHF_COMPRESSED = 0x800
packed = zeros(2000 * MB)
chdr = struct.pack("<IIQQ", 1, 0, 2000 * MB, 1)
debug = [".debug_info", ".debug_abbrev", ".debug_line", ".debug_str"]
with_sections("section.elf", [(name, SHF_COMPRESSED, chdr + packed) for name in debug[:1]] +
              [(name, 0, bytes(16)) for name in debug[1:]])
with_sections("frame.elf", [(".debug_frame", SHF_COMPRESSED, chdr + packed)])
with_sections("zdebug.elf", [(".zdebug_info", 0, b"ZLIB" + struct.pack(">Q", 2000 * MB) + packed)] +
              [(name, 0, bytes(16)) for name in debug[1:]])
small, chdr = zeros(90 * MB), struct.pack("<IIQQ", 1, 0, 90 * MB, 1)
with_sections("many.elf", [(name, SHF_COMPRESSED, chdr + small) for name in debug * 6])
