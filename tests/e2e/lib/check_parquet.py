# SPDX-License-Identifier: Apache-2.0
"""check_parquet.py FOLDER JSON: DuckDB reads every table of an export to FOLDER and gets what the JSON
export of the same recording has: samples, stacks, runs, series, lines.
check_parquet.py --queries PAGE LAKE OLD NEW FUNCTION: every query of the page runs over the recordings in
LAKE; prints name and rows of each."""
import collections
import json
import math
import re
import sys

import duckdb

duckdb.sql("SET memory_limit='2GB'")  # a query that joins all with all must fail, not swap


def table(folder, name):
    return duckdb.sql("SELECT * FROM '%s/%s.parquet'" % (folder, name))


def rows(folder, name):
    relation = table(folder, name)
    return [dict(zip(relation.columns, row)) for row in relation.fetchall()]


def text(value):
    return value.encode("utf-8", "replace").decode().replace("\0", "\ufffd")


def same(what, ours, theirs):
    if ours != theirs:
        print("%s: parquet %s, json %s" % (what, str(ours)[:500], str(theirs)[:500]))
        same.ok = False


same.ok = True


def columns(data, name, *keys):
    return list(zip(*(data[name][key] for key in keys)))


def number(value):
    return None if value is None or (isinstance(value, float) and math.isnan(value)) else value


def compare(folder, path):
    with open(path, encoding="utf-8", errors="replace") as file:
        data = json.load(file)
    strings = [text(s) for s in data["strings"]]
    samples = data["samples"]
    # Samples, by metric, thread id, time and CPU: counted, with sums.
    want = collections.Counter()
    tids = data["threads"]["tid"]
    for metric, values in enumerate(samples["values"]):
        for at, value in enumerate(values):
            if value > 0:
                cpu = samples["cpu"][at]
                want[metric + 1, tids[samples["thread"][at]], samples["time_ns"][at],
                     None if cpu == 2**32 - 1 else cpu, value] += 1
    got = collections.Counter()
    threads = {row["thread"]: row for row in rows(folder, "threads")}
    for row in rows(folder, "samples"):
        got[row["metric"], threads[row["thread"]]["tid"], row["time_ns"], row["cpu"], row["value"]] += 1
    same("samples", len(got), len(want))
    same("sums of samples", got - want, want - got)
    # The address of each stack's frames, root first, with its own value. A stack of the tables has a row for each inlined call.
    frames = {row["frame"]: row for row in rows(folder, "frames")}
    stacks = {row["stack"]: row for row in rows(folder, "stacks")}
    paths, json_paths = {None: ()}, {0: ()}
    for stack, row in sorted(stacks.items()):
        if row["depth"] != len(paths[row["parent"]]):
            same("depth of stack %d" % stack, row["depth"], len(paths[row["parent"]]))
        frame = frames[row["frame"]]
        paths[stack] = paths[row["parent"]] + ((frame["address"], frame["line"]),)
    has_inlined = any(data["frame places"]["inlined_in"]) if "frame places" in data else False
    lines = data["frame places"]["line"]
    for stack in range(1, len(data["stacks"]["parent"])):
        frame = data["stacks"]["frame"][stack]
        address = data["frames"]["address"][frame]
        is_cut = data["frames"]["flags"][frame] & 4
        key = None if is_cut else address - 2**64 if address >= 2**63 else address, lines[frame] or None
        json_paths[stack] = json_paths[data["stacks"]["parent"][stack]] + (key,)
    for metric, values in enumerate(samples["values"]):
        if has_inlined:
            break
        want = collections.Counter()
        for at, value in enumerate(values):
            if value > 0 and samples["stack"][at]:
                want[json_paths[samples["stack"][at]]] += value
        got = {paths[row["stack"]]: row["self"] for row in rows(folder, "stack_values")
               if row["metric"] == metric + 1 and row["self"]}
        got = collections.Counter(got)
        same("self of metric %d" % metric, sorted(got.values()), sorted(want.values()))
        same("stacks of metric %d" % metric, got, want)
        total = sum(row["total"] for row in rows(folder, "stack_values")
                    if row["metric"] == metric + 1 and stacks[row["stack"]]["parent"] is None)
        same("total of metric %d" % metric, total, sum(want.values()))
    same("metrics", [(row["name"], row["unit"]) for row in rows(folder, "metrics")],
         [(strings[a], strings[b]) for a, b in columns(data, "metrics", "name", "unit")])
    same("facts", sorted((row["key"], row["value"]) for row in rows(folder, "facts")),
         sorted((strings[a], strings[b]) for a, b in columns(data, "facts", "key", "value")))
    same("runs", [(row["name"], row["command"], row["wall_ns"], row["round"]) for row in rows(folder, "runs")],
         [(strings[a], strings[b], c, d) for a, b, c, d in columns(data, "runs", "name", "command", "wall_ns", "round")])
    same("run values", [(row["run"] - 1, row["metric"] - 1, row["value"]) for row in rows(folder, "run_values")],
         [(a, b, number(c)) for a, b, c in columns(data, "run values", "run", "metric", "value")])
    same("series", [(row["metric"] - 1, row["time_ns"], row["value"], row["running_ns"]) for row in rows(folder, "series")],
         [(a, b, number(c), d) for a, b, c, d in columns(data, "series", "metric", "time_ns", "value", "running_ns")])
    same("lines", sorted((row["file"], row["line"], row["executions"]) for row in rows(folder, "lines")
                         if row["executions"] is not None),
         sorted((strings[a], b, c) for a, b, c in columns(data, "line counts", "file", "line", "count")))
    same("calls", [(row["call"] - 1, threads[row["thread"]]["tid"], row["begin_ns"], row["end_ns"], row["depth"],
                    row["late"] + 2 * row["open"] + 4 * row["work"]) for row in rows(folder, "calls")],
         [(i, tids[a], b, c, d, e) for i, (a, b, c, d, e) in
          enumerate(columns(data, "calls", "thread", "begin_ns", "end_ns", "depth", "flags"))] if "calls" in data else [])
    same("values of calls", [(row["call"] - 1, row["name"], row["value"]) for row in rows(folder, "call_values")],
         [(a, strings[b], c) for a, b, c in columns(data, "call values", "call", "name", "value")]
         if "call values" in data else [])
    same("waits", [(threads[row["thread"]]["tid"], row["object"] or "", row["count"], row["blocked_ns"],
                    row["runnable_ns"], row["longest_ns"]) for row in rows(folder, "waits")],
         [(tids[a], strings[b], *c) for a, b, *c in
          columns(data, "waits", "thread", "object", "count", "blocked_ns", "runnable_ns", "longest_ns")]
         if "waits" in data else [])
    numbers = {row["recording"] for name in ("recordings", "samples", "frames", "lines") for row in rows(folder, name)}
    same("numbers of the recording", len(numbers), 1)
    print("%d samples, %d stacks, %d runs, %d points, %d lines" % (
        len(rows(folder, "samples")), len(stacks), len(rows(folder, "runs")), len(rows(folder, "series")),
        len(rows(folder, "lines"))))


def ask(page, lake, old, new, function):
    with open(page, encoding="utf-8") as file:
        found = re.findall(r"```sql duckdb (\w+)\n(.*?)```", file.read(), re.S)
    for name, sql in found:
        for a, b in (("lake/", lake + "/"), ("'OLD'", "'%s'" % old), ("'NEW'", "'%s'" % new), ("FUNCTION", function)):
            sql = sql.replace(a, b)
        print(name, *duckdb.sql(sql).fetchall(), sep="\t")


if sys.argv[1] == "--queries":
    ask(*sys.argv[2:])
else:
    compare(*sys.argv[1:])
sys.exit(not same.ok)
