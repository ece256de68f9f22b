#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a small Java Flight Recording: make_flight_recording.py FILE.

Two chunks, each with two threads and three samples: main/hot twice, main once, and in the second
chunk a cut stack. Texts stand in each of the encodings.
"""
import struct
import sys


def varint(v):
    out = b""
    for i in range(9):
        if i == 8:
            return out + bytes([v & 0xFF])
        if v < 0x80:
            return out + bytes([v])
        out += bytes([v & 0x7F | 0x80])
        v >>= 7
    return out


def text(s, encoding=3):
    if encoding == 3:
        raw = s.encode()
        return b"\x03" + varint(len(raw)) + raw
    if encoding == 4:
        units = struct.unpack(f"<{len(s.encode('utf-16-le')) // 2}H", s.encode("utf-16-le"))
        return b"\x04" + varint(len(units)) + b"".join(map(varint, units))
    if encoding == 5:
        raw = s.encode("latin-1")
        return b"\x05" + varint(len(raw)) + raw
    return bytes([encoding])


def event(kind, body):
    for size_bytes in range(1, 9):
        size = size_bytes + len(varint(kind)) + len(body)
        if len(varint(size)) == size_bytes:
            return varint(size) + varint(kind) + body
    raise ValueError


LONG, INT, BOOL, STRING, THREAD, TRACE, FRAME, METHOD, CLASS, SYMBOL, KIND, SAMPLE, FLOAT, DOUBLE = range(20, 34)
CLASSES = [
    ("long", LONG, []), ("int", INT, []), ("boolean", BOOL, []), ("float", FLOAT, []), ("double", DOUBLE, []),
    ("java.lang.String", STRING, []),
    ("java.lang.Thread", THREAD, [("osName", STRING, 0, 0), ("osThreadId", LONG, 0, 0), ("javaName", STRING, 0, 0)]),
    ("jdk.types.StackTrace", TRACE, [("truncated", BOOL, 0, 0), ("frames", FRAME, 0, 1)]),
    ("jdk.types.StackFrame", FRAME, [("method", METHOD, 1, 0), ("lineNumber", INT, 0, 0), ("type", KIND, 1, 0)]),
    ("jdk.types.Method", METHOD, [("type", CLASS, 1, 0), ("name", SYMBOL, 1, 0), ("hidden", BOOL, 0, 0)]),
    ("java.lang.Class", CLASS, [("name", SYMBOL, 1, 0)]),
    ("jdk.types.Symbol", SYMBOL, [("string", STRING, 0, 0)]),
    ("jdk.types.FrameType", KIND, [("description", STRING, 0, 0)]),
    ("jdk.ExecutionSample", SAMPLE, [("startTime", LONG, 0, 0), ("weight", FLOAT, 0, 0), ("load", DOUBLE, 0, 1),
                                     ("sampledThread", THREAD, 1, 0), ("stackTrace", TRACE, 1, 0)]),
]


def metadata():
    words = []

    def word(s):
        if s not in words:
            words.append(s)
        return varint(words.index(s))

    def element(name, attributes, children):
        out = word(name) + varint(len(attributes))
        for k, v in attributes.items():
            out += word(k) + word(v)
        return out + varint(len(children)) + b"".join(children)

    classes = []
    for name, number, fields in CLASSES:
        rows = []
        for field, of, pooled, array in fields:
            attributes = {"name": field, "class": str(of)}
            if pooled:
                attributes["constantPool"] = "true"
            if array:
                attributes["dimension"] = "1"
            rows.append(element("field", attributes, []))
        classes.append(element("class", {"name": name, "id": str(number)}, rows))
    tree = element("root", {}, [element("metadata", {}, classes), element("region", {}, [])])
    body = varint(1) + varint(0) + varint(7) + varint(len(words)) + b"".join(text(w) for w in words) + tree
    return event(0, body)


def pools(is_second):
    frame = lambda method, line, kind: varint(method) + varint(line) + varint(kind)
    values = {
        THREAD: {1: text("java") + varint(4711) + text("main", 5), 2: text("w\u00e9", 4) + varint(4712) + text("", 0)},
        TRACE: {1: b"\0" + varint(2) + frame(2, 12, 1) + frame(1, 5, 2),
                2: (b"\1" if is_second else b"\0") + varint(1) + frame(1, 6, 2)},
        METHOD: {1: varint(1) + varint(2) + b"\0", 2: varint(3) + varint(3) + b"\0"},
        CLASS: {1: varint(1), 3: varint(4)},
        SYMBOL: {1: text("shop/Main"), 2: text("main"), 3: text("hot", 4), 4: text("shop/\u00c4rger", 5)},
        KIND: {1: text("JIT compiled"), 2: text("Interpreted")},
    }
    body = varint(1) + varint(0) + varint(0) + b"\1" + varint(len(values))
    for number, rows in values.items():
        body += varint(number) + varint(len(rows)) + b"".join(varint(k) + v for k, v in rows.items())
    return event(1, body)


def chunk(start_ns, is_second):
    sample = lambda ticks, thread, trace: event(
        SAMPLE, varint(ticks) + struct.pack(">f", 1) + varint(2) + struct.pack(">dd", 1, 2) + varint(thread) + varint(trace))
    events = sample(1100, 1, 1) + sample(1200, 1, 1) + sample(1300, 2, 2)
    start = 68
    at_pools = start + len(events)
    at_metadata = at_pools + len(pools(is_second))
    body = events + pools(is_second) + metadata()
    return b"FLR\0" + struct.pack(">HHQQQQQQQI", 2, 1, start + len(body), at_pools, at_metadata, start_ns, 10**9,
                                  1000, 10**6, 1) + body


open(sys.argv[1], "wb").write(chunk(1_700_000_000 * 10**9, False) + chunk(1_700_000_001 * 10**9, True))
