#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_export.py REPORT.json FORMAT FILE [--structure]

Reads an export with readers written from the formats' own documents and compares
each function's self value with the report's. --structure only parses: hostile
names are escaped differently by each format.
"""
import collections
import csv
import gzip
import json
import re
import sqlite3
import sys
import tempfile


OBJECTS = {"[kernel.kallsyms]": "kernel"}
csv.field_size_limit(1 << 24)


def folded(data):
    for line in data.decode("utf-8", "replace").splitlines():
        stack, value = line.rsplit(" ", 1)
        yield re.sub("%([0-9A-F]{2})", lambda m: chr(int(m[1], 16)), stack.split(";")[-1]), int(value)


def perf_script(data):
    value = name = None
    for line in data.decode("utf-8", "replace").split("\n"):
        head = re.match(r"(\S+) (\d+)/(\d+) (?:\[\d+\] )?(\d+)\.(\d{6}): (\d+) (\S+): $", line)
        frame = re.match(r"\t *([0-9a-f]+) (.*) \((.*)\)$", line)
        if head:
            value, name = int(head[6]), None
        elif frame:
            assert value is not None, line
            if name is None and frame[2] == "[unknown]":
                name = f"[unknown in {OBJECTS.get(frame[3], frame[3].rsplit('/', 1)[-1])}]"
            elif name is None:
                name = frame[2]
        elif line == "":
            if value is not None:
                yield name or "[unknown]", value
            value = None
        else:
            raise ValueError(f"odd line {line!r}")


def fields(data):
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(data):
        key = varint()
        if key & 7 == 0:
            yield key >> 3, varint()
        elif key & 7 == 1:
            at += 8
            yield key >> 3, data[at - 8:at]
        elif key & 7 == 2:
            size = varint()
            assert at + size <= len(data)
            at += size
            yield key >> 3, data[at - size:at]
        else:
            raise ValueError(f"wire type {key & 7}")


def varints(data):
    return [value for _, value in fields(b"".join(b"\x08" + one for one in re.findall(rb"[\x80-\xff]*[\x00-\x7f]", data)))]


def pprof(data):
    top = collections.defaultdict(list)
    for number, value in fields(gzip.decompress(data)):
        top[number].append(value)
    strings = [s.decode("utf-8") for s in top[6]]
    assert strings[0] == ""
    functions = {d[1]: strings[d.get(2, 0)] for d in map(dict, map(fields, top[5]))}
    locations = {}
    for location in top[4]:
        lines = [dict(fields(v)) for n, v in fields(location) if n == 4]
        locations[dict(fields(location))[1]] = functions[lines[0][1]]
    types = [(strings[d[1]], strings[d[2]]) for d in map(dict, map(fields, top[1]))]
    shown = types.index(next(t for t in types if t[0] == strings[top[14][0]]))
    for sample in top[2]:
        parts = dict(fields(sample))
        values = varints(parts[2])
        assert len(values) == len(types)
        yield locations[varints(parts[1])[0]] if 1 in parts else "[unknown]", values[shown]


def firefox(data):
    profile = json.loads(data)
    shared = profile["shared"]
    for table in ("frameTable", "funcTable", "stackTable", "resourceTable", "sources"):
        for name, column in shared[table].items():
            assert name == "length" or len(column) == shared[table]["length"], (table, name)
    for row, prefix in enumerate(shared["stackTable"]["prefix"]):
        assert prefix is None or 0 <= prefix < row
    for thread in profile["threads"]:
        samples = thread["samples"]
        assert len(samples["stack"]) == len(samples["weight"]) == len(samples["time"]) == samples["length"]
        scale = 1e6 if samples["weightType"] == "tracing-ms" else 1
        for stack, weight in zip(samples["stack"], samples["weight"]):
            name = "[unknown]"
            if stack is not None:
                function = shared["frameTable"]["func"][shared["stackTable"]["frame"][stack]]
                name = shared["stringArray"][shared["funcTable"]["name"][function]]
            yield name, round(weight * scale)


def speedscope(data):
    profile = json.loads(data)
    for one in profile["profiles"]:
        assert len(one["samples"]) == len(one["weights"])
        assert sum(one["weights"]) == one["endValue"]
        for stack, weight in zip(one["samples"], one["weights"]):
            yield profile["shared"]["frames"][stack[-1]]["name"] if stack else "[unknown]", weight


def callgrind(data):
    names, function, call, total, said = {}, None, False, 0, None
    for line in data.decode("utf-8", "replace").split("\n"):
        spec = re.match(r"(fn|cfn|ob|cob|fl|cfi|fe|fi)=\((\d+)\)(?: (.*))?$", line)
        if spec:
            kind = spec[1] if spec[1] not in ("cfn",) else "fn"
            if spec[3] is not None:
                names[kind, spec[2]] = spec[3]
            if spec[1] == "fn":
                function = names["fn", spec[2]]
        elif line.startswith("calls="):
            call = True
        elif re.match(r"\d+ \d+$", line):
            if not call:
                total += int(line.split()[1])
                yield function, int(line.split()[1])
            call = False
        elif line.startswith("summary: "):
            said = int(line.split()[1])
        else:
            assert re.match(r"$|# |[a-z]+: ", line), line
    assert total == said, (total, said)


def chrome_profiles(trace):
    """What Perfetto's trace processor makes of the profiles of V8: (function, stack) of each sample. It keeps
    nodes by the profile's id, a hexadecimal text, and the process; a parent must stand before its children, and
    a chunk must have as many time deltas as samples."""
    nodes, last, all_ids = {}, {}, set()
    for event in trace["traceEvents"]:
        if event["ph"] != "P":
            continue
        key, data = (int(event["id"], 16), event["pid"]), event["args"]["data"]
        assert "v8.cpu_profiler" in event["cat"]
        if event["name"] == "Profile":
            assert key not in nodes, "two profiles of one id"
            nodes[key], last[key] = {}, data["startTime"]
            continue
        for node in data["cpuProfile"]["nodes"]:
            assert node["id"] not in all_ids, "the Firefox Profiler keeps the frames of all profiles in one table"
            all_ids.add(node["id"])
            parent = nodes[key][node["parent"]] if "parent" in node else ()
            nodes[key][node["id"]] = parent + (node["callFrame"]["functionName"],)
        assert len(data["timeDeltas"]) == len(data["cpuProfile"]["samples"])
        for sample in data["cpuProfile"]["samples"]:
            yield nodes[key][sample]


def chrome(data):
    trace = json.loads(data)
    stacks = {}
    for row, frame in trace["stackFrames"].items():
        stacks[row] = stacks.get(frame.get("parent"), ()) + (frame["name"],)
    wanted = sorted(stacks.get(s.get("sf"), ("[no stack]",)) for s in trace["samples"])
    assert sorted(chrome_profiles(trace)) == wanted, "the profiles of V8 differ from the samples"
    for sample in trace["samples"]:
        frame = trace["stackFrames"].get(sample.get("sf"), {"name": "[unknown]"})
        seen = frame
        while "parent" in seen:
            seen = trace["stackFrames"][seen["parent"]]
        yield frame["name"], sample["weight"]


def csv_rows(data):
    for row in csv.DictReader(data.decode("utf-8", "replace").splitlines(keepends=True)):
        assert None not in row and row["stack"] is not None, row
        yield row["function"], int(row["value"])


def json_tables(data):
    profile = json.loads(data)
    strings, frames, places = profile["strings"], profile["frames"], profile["frame places"]
    # Row 0 of tables that have one is part of the columns.
    for stack, value in zip(profile["samples"]["stack"], profile["samples"]["values"][0]):
        frame = profile["stacks"]["frame"][stack]
        function = places["function"][frame]
        name = strings[profile["functions"]["name"][function]]
        if not name and stack:
            module = strings[profile["modules"]["path"][frames["module"][frame]]]
            name = f"[unknown in {module.rsplit('/', 1)[-1].strip('[]')}]"
        yield name or "[unknown]", value


def otlp(data):
    tables = collections.defaultdict(list)
    top = list(fields(data))
    for number, value in fields(next(v for n, v in top if n == 2)):
        tables[number].append(value)
    strings = [s.decode("utf-8") for s in tables[5]]
    # Row 0 of every table is the empty one.
    assert all(tables[n][0] == b"" for n in (1, 2, 3, 4, 5, 6, 7)), "a table without its empty row"
    functions = [strings[dict(fields(f)).get(1, 0)] for f in tables[3]]
    leaf = [None]
    for location in tables[2][1:]:
        leaf.append(functions[dict(fields(next(v for n, v in fields(location) if n == 3)))[1]])
    stacks = [[]] + [varints(dict(fields(s))[1]) for s in tables[7][1:]]
    scope = dict(fields(next(v for n, v in top if n == 1)))[2]
    profile = next(v for n, v in fields(scope) if n == 2)  # the first metric's
    for number, sample in fields(profile):
        if number == 2:
            parts = dict(fields(sample))
            values = varints(parts[4])
            assert 5 not in parts or len(parts[5]) == 8 * len(values)
            stack = stacks[parts.get(1, 0)]
            yield leaf[stack[0]] if stack else "[unknown]", sum(values)


def sqlite(data):
    with tempfile.NamedTemporaryFile(suffix=".db") as file:
        file.write(data)
        file.flush()
        db = sqlite3.connect(file.name)
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert not db.execute("PRAGMA foreign_key_check").fetchall()
        metric, total = db.execute("SELECT name, total FROM metrics ORDER BY id LIMIT 1").fetchone()
        rows = db.execute("SELECT function, self, total FROM hottest_functions WHERE metric = ?", (metric,)).fetchall()
        for name, self, _ in rows:
            yield name, self
        unknown = total - sum(self for _, self, _ in rows)
        if unknown:
            yield "[unknown]", unknown
        if "--structure" in sys.argv:
            return
        known = {row["name"]: row["total"] for row in json.load(open(sys.argv[1]))["rows"]}
        for name, _, inclusive in rows:
            assert known[name] == inclusive, (name, known[name], inclusive)
        assert sum(v for (v,) in db.execute("SELECT value FROM by_thread WHERE metric = ?", (metric,))) == total
        for view in ("hottest_lines", "calls", "thread_functions", "over_time", "functions_over_time", "stack_paths"):
            db.execute(f"SELECT count(*) FROM {view}").fetchone()


def self_values(data):
    """What a foreign reader said: one {function: self value} for each thread."""
    for one in json.loads(data):
        yield from one.items()


READERS = {"otlp": otlp, "sqlite": sqlite, "self": self_values,
           "folded": folded, "perf-script": perf_script, "pprof": pprof, "firefox": firefox, "speedscope": speedscope,
           "callgrind": callgrind, "chrome": chrome, "csv": csv_rows, "json": json_tables}

report, kind, path = sys.argv[1:4]
got = collections.Counter()
with open(path, "rb") as file:
    for function_name, self_value in READERS[kind](file.read()):
        got[function_name] += self_value
with open(report, "rb") as file:
    rows = json.load(file)["rows"]
want = collections.Counter({})
for row in rows:
    want[row["name"]] += row["self"]
if "--structure" in sys.argv:
    if sum(got.values()) != sum(want.values()):
        sys.exit(f"{kind}: {sum(got.values())} in all, not {sum(want.values())}")
elif +got != +want:
    sys.exit(f"{kind}: {got - want} too much, {want - got} missing")
