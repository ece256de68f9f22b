#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Small files that unpack to gigabytes: make_bombs.py FOLDER PROGRAM [all]

samples.pb.gz, locations.pb.gz, strings.pb.gz, functions.pb.gz: half a megabyte of pprof whose
messages take two bytes each before gzip. zeros.txt.gz: text. section.elf, zdebug.elf: PROGRAM with
a section of 2 MB that states and holds 2 GB; many.elf: with 24 of 90 MB. zeros.txt.bz2,
zeros.txt.xz: text. flight.jfr.gz: 20 000 chunks of Java's flight recorder. nested.a, many.a:
an archive 5 000 deep, one of 140 000 empty members. blocks.out: Go blocks of 4 000 million lines.
otlp-rows.gz, otlp-profiles.gz: 60 KB of OpenTelemetry with millions of empty functions or profiles.
rows-NAME.gz: 60 to 200 KB of another format with millions of its smallest rows; with "all" of every
kind of row, else of some.
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
CORPUS = Path(__file__).parent.parent / "fuzz/corpus/import"
# Numbers of rows that unpack to as much as the limit lets through.
ROWS_BYTES = 60 * MB


def repeat(name, begin, unit, size, end=b""):
    """A gzip file of `begin`, `size` bytes of `unit` again and again, and `end`: a member for each MB,
    so that few are compressed."""
    block = unit * max(1, MB // len(unit))
    times, rest = divmod(size, len(block))
    with open(folder / name, "wb") as f:
        for content, count in ((begin, 1), (block, times), (unit * (rest // len(unit)), 1), (end, 1)):
            if content:
                f.write(gzip.compress(content, 6) * count)


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
for name, number in (("samples", 2), ("locations", 4), ("strings", 6), ("functions", 5)):
    repeat(f"{name}.pb.gz", HEAD, field(number, b""), 500 * MB)
OTLP = (CORPUS / "otlp").read_bytes()
EMPTY = 56 * MB
repeat("otlp-rows.gz", OTLP + varint(2 << 3 | 2) + varint(EMPTY), field(4, b""), EMPTY)
SCOPE = varint(2 << 3 | 2) + varint(EMPTY)
repeat("otlp-profiles.gz", OTLP + varint(1 << 3 | 2) + varint(len(SCOPE) + EMPTY) + SCOPE, field(2, b""), EMPTY)
# One member, as gzip itself writes.
(folder / "zeros.txt.gz").write_bytes(gzip.compress(b"main;work 1\n" * (100 * MB // 12), 1))

own, gecko = (CORPUS / "own.json").read_text().rstrip()[:-1], (CORPUS / "gecko.json").read_text().rstrip()[:-1]
heaptrack = "v 10400 3\nX ./tiny\nI 1000 10\ns 4 main\n"
dhat = ('{"dhatFileVersion":2,"mode":"heap","verb":"Allocated","bklt":true,"bkacc":true,"tu":"instrs","Mtu":"Minstr",'
        '"tuth":500,"cmd":"./tiny","pid":7,"te":1000,"tg":600,')
speedscope = '{"$schema":"https://www.speedscope.app/file-format-schema.json","shared":{"frames":[{"name":"main"}'
stackprof = ('{"version":1.2,"mode":"cpu","interval":1000,"samples":6,"gc_samples":0,"missed_samples":0,"metadata":{},'
             '"frames":{"9":{"name":"a"}')
v8 = '{"nodes":[{"id":1,"callFrame":{"functionName":"(root)"},"hitCount":0}'
ROWS = {  # name: (beginning, row, end)
    "own-numbers": (own + ',"x":[0', ",0", "]}"),
    "dhat-points": (dhat + '"pps":[{"tb":1,"tbk":1,"fs":[1]}', ",{}", '],"ftbl":["[root]","a"]}'),
    "chrome-events": ('[{"ph":"X","pid":1,"tid":1,"ts":1,"dur":1,"name":"a"}', ",{}", "]"),
    "speedscope-nested": (speedscope + ']},"x":[1', ",[[[[[[[[]]]]]]]]", "]}"),
    "stackprof-frames": (stackprof, ',"":{}', '},"raw":[1,9,1]}'),
    "heaptrack-traces": (heaptrack + "i 1 0 1\n", "t 1 0\n", "c 1\n"),
    "austin-deep": ("# austin: 3.6.0\n# interval: 100\n# mode: wall\n\nP42;T0:43", ";a:b:1", " 1\n"),
    "folded-deep": ("a", ";a", " 1\n"),
    "vtune-cells": ("Function Stack,CPU Time:Self,Module\nTotal,0.0,\n a", ",", "\n"),
}
MORE_ROWS = {
    "own-objects": (own + ',"x":[0', ",{}", "]}"),
    "dhat-names": (dhat + '"pps":[],"ftbl":["[root]"', ',""', "]}"),
    "gecko-numbers": (gecko + ',"x":[0', ",0", "]}"),
    "speedscope-frames": (speedscope, ",{}", ']},"profiles":[]}'),
    "speedscope-samples": (speedscope + ']},"profiles":[{"type":"sampled","name":"t","unit":"none","startValue":0,"endValue":3,'
                           '"weights":[1],"samples":[[0]', ",[]", "]}]}"),
    "chrome-frames": ('{"traceEvents":[],"samples":[{"cpu":1,"tid":3,"ts":5000.5,"name":"c","sf":3,"weight":2}],'
                      '"stackFrames":{"3":{"name":"a"}', ',"":{}', "}}"),
    "v8-nodes": (v8, ",{}", '],"startTime":1,"endTime":2,"samples":[1],"timeDeltas":[1]}'),
    "v8-samples": (v8 + '],"startTime":1,"endTime":2,"timeDeltas":[1],"samples":[1', ",1", "]}"),
    "stackprof-raw": (stackprof + '},"raw":[1,9,1', ",1,9,1", "]}"),
    "heaptrack-strings": (heaptrack, "s 0 \n", "c 1\n"),
    "heaptrack-places": (heaptrack, "i 1 0\n", "c 1\n"),
    "heaptrack-sizes": (heaptrack + "i 1 0 1\nt 1 0\n", "a 1 1\n", "c 1\n"),
    "folded-rows": ("a 1\n", "a;b 1\n", ""),
}
for name, (begin, row, end) in {**ROWS, **(MORE_ROWS if sys.argv[3:] == ["all"] else {})}.items():
    repeat(f"rows-{name}.gz", begin.encode(), row.encode(), ROWS_BYTES, end.encode())

TEXT = b"main;work 1\n" * (12 * MB // 12)
(folder / "zeros.txt.bz2").write_bytes(bz2.compress(TEXT[:MB]) * 600)
(folder / "zeros.txt.xz").write_bytes(lzma.compress(TEXT, preset=0) * 40)
CHUNK = (CORPUS / "flight.jfr").read_bytes()
repeat("flight.jfr.gz", b"", CHUNK, len(CHUNK) * 20000)
(folder / "blocks.out").write_text("mode: count\n" + "m/a.go:1.1,4000000000.1 1 1\n" * 1000)


def member(name, content):
    return f"{name:<16}{0:<12}{0:<6}{0:<6}{644:<8}{len(content):<10}`\n".encode() + content + b"\n" * (len(content) % 2)


nested = b""
for _ in range(5000):
    nested = b"!<arch>\n" + member("a/", nested)
(folder / "nested.a").write_bytes(nested)
(folder / "many.a").write_bytes(b"!<arch>\n" + member("a/", b"") * 140000)


def zeros(size):
    """A zlib stream of so many zero bytes. Its blocks know nothing of each other, so that one is compressed."""
    z = zlib.compressobj(9, wbits=-15)
    block = z.compress(bytes(MB)) + z.flush(zlib.Z_FULL_FLUSH)
    return b"\x78\xda" + block * (size // MB) + b"\x03\x00" + struct.pack(">HH", size % 65521, 1)


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
