#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""perf_script_fields.py ASSAY PERF_DATA [--with-default | --others] [--part N/M]

Writes the text of perf script for every pair of 14 fields, with stacks and with -G, and reads it
with assay. What assay does not refuse must hold what the fields say: the number of samples, the
sums of periods by event, the comms, the ids, the times, the symbols and objects of every stack.
--with-default adds each pair to perf's own choice of fields instead; --others pairs each with fields that
assay does not import, which it passes over or names. --part takes each M-th text. The truth is perf's own text
with all fields. Prints a line for each wrong text.
"""
import collections
import concurrent.futures
import itertools
import json
import os
import re
import subprocess
import sys

FIELDS = "comm tid pid time cpu event period ip sym dso symoff srcline addr misc".split()
OTHERS = ("insn insnlen flags trace iregs uregs brstack brstacksym brstackoff callindent synth phys_addr "
          "metric ipc tod data_page_size code_page_size ins_lat machine_pid vcpu cgroup").split()


def perf(data, *args):
    done = subprocess.run(["perf", "script", "-i", data, *args], capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else ""


def truth(data):
    """The samples: dicts of fields, with the stack as (symbol, object) pairs, leaf first."""
    samples = []
    for block in perf(data, "-F", "comm,pid,tid,cpu,time,event,period,ip,sym,dso").split("\n\n"):
        lines = [line for line in block.split("\n") if line.strip()]
        if not lines:
            continue
        m = re.match(r"(.*?)\s+(\d+)/(\d+)\s+\[(\d+)\]\s+([\d.]+):\s+(\d+)\s+(\S+):\s*$", lines[0])
        assert m, lines[0]
        stack = []
        for line in lines[1:]:
            f = re.match(r"\s+([0-9a-f]+) (.*) \((.*)\)$", line)
            stack.append((f[2], f[3]))
        samples.append({"comm": m[1].strip(), "pid": int(m[2]), "tid": int(m[3]), "cpu": int(m[4]),
                        "time": round(float(m[5]) * 1e6), "period": int(m[6]), "event": m[7], "stack": stack})
    return samples


def count(values):
    return sorted(collections.Counter(values).items(), key=str)


def stacks_of(p):
    """A tuple of (symbol, object), leaf first, for each row of stacks."""
    strings, frames, functions = p["strings"], {**p["frames"], **p["frame places"]}, p["functions"]
    found = [()]
    for row in range(1, len(p["stacks"]["frame"])):
        frame = p["stacks"]["frame"][row]
        name = strings[functions["name"][frames["function"][frame]]] or "[unknown]"
        module = strings[p["modules"]["path"][frames["module"][frame]]] or "[unknown]"
        found.append(((name, module),) + found[p["stacks"]["parent"][row]])
    return found


def check(p, fields, want, in_line):
    """What is wrong with the profile, or nothing."""
    samples, strings = p["samples"], p["strings"]
    rows = len(samples["stack"])
    if rows != len(want):
        return f"{rows} samples, not {len(want)}"
    threads, processes = p["threads"], p["processes"]
    for field, got in (
            ("comm", [strings[threads["name"][t]] for t in samples["thread"]]),
            ("tid", [threads["tid"][t] for t in samples["thread"]]),
            ("pid", [processes["pid"][threads["process"][t]] for t in samples["thread"]]),
            ("cpu", samples["cpu"]),
            ("time", [t and round(t / 1000) for t in samples["time_ns"]])):
        if field not in fields:
            continue
        expected = [s[field] for s in want]
        if field == "time":
            first = min(expected)
            got, expected = [t - min(got) for t in got], [t - first for t in expected]
        if count(got) != count(expected):
            return f"{field}: {count(got)[:4]}, not {count(expected)[:4]}"
    sums = collections.Counter()
    for metric, values in enumerate(samples["values"]):
        sums[strings[p["metrics"]["event"][metric]]] += sum(values)
    expected = collections.Counter()
    for s in want:
        expected[s["event"] if "event" in fields else ""] += s["period"] if "period" in fields else 1
    if sums != expected:
        return f"sums {dict(sums)}, not {dict(expected)}"
    if "event" in fields and "period" not in fields and any(
            strings[u] for u in p["metrics"]["unit"]):
        return "numbers of samples have a unit"
    if "ip" not in fields:
        return "" if not any(samples["stack"]) else "stacks out of nothing"
    rename = lambda o: "[kernel]" if o == "[kernel.kallsyms]" else o
    stacks = stacks_of(p)
    got = [stacks[s] for s in samples["stack"]]
    expected = [tuple((f[0] if "sym" in fields else "[unknown]", rename(f[1]) if "dso" in fields else "[unknown]")
                      for f in (s["stack"][:1] if in_line else s["stack"])) for s in want]
    if count(got) != count(expected):
        bad = sorted(set(got) ^ set(expected), key=str)
        return f"stacks: {bad[:2]}"
    return ""


def one(assay, data, fields, want, in_line):
    """(whether it is as it must be, what came, a line to print or nothing) of one text."""
    option = ("+" if fields[0] == "default" else "") + ",+".join(fields[1:]) if fields[0] == "default" else ",".join(fields)
    text = perf(data, *(["-G"] if in_line else []), "-F", option)
    if not text.strip():
        return True, "perf prints nothing", ""
    done = subprocess.run([assay, "export", "-", "--format", "json"], input=text, capture_output=True, text=True,
                          check=False)
    what = f"-F {option}{' -G' * in_line}: "
    if done.returncode:
        return re.search("field '[a-z_-]+' is not read", done.stderr) is not None, "refused", f"{what}refused: {done.stderr.splitlines()[0]}"
    has = set(fields)
    if fields[0] == "default":
        has |= {"comm", "tid", "time", "event", "period", "ip", "sym", "dso"}
    wrong = check(json.loads(done.stdout), has, want, in_line)
    return not wrong, "wrong" if wrong else "right", what + wrong if wrong else ""


def main():
    assay, data = sys.argv[1:3]
    want = truth(data)
    assert len(want) > 20
    tally, ok = collections.Counter(), True
    nth, of = map(int, sys.argv[sys.argv.index("--part") + 1].split("/")) if "--part" in sys.argv else (0, 1)
    pairs = itertools.combinations(FIELDS, 2)
    if "--others" in sys.argv:
        pairs = [(other,) for other in OTHERS] + list(itertools.product(FIELDS, OTHERS))
    texts = list(itertools.product(pairs, (False, True)))[nth::of]
    default = ["default"] if "--with-default" in sys.argv else []
    # perf waits for addr2line most of the time.
    with concurrent.futures.ThreadPoolExecutor(max_workers=2 * (os.cpu_count() or 1)) as pool:
        for right, kind, line in pool.map(lambda t: one(assay, data, default + list(t[0]), want, t[1]), texts):
            ok = ok and right
            tally[kind] += 1
            if line:
                print(line)
    print(dict(tally))
    sys.exit(not ok or tally["right"] < 100 // of)


main()
