# SPDX-License-Identifier: Apache-2.0
"""compare_gcov.py ASSAY GCOV UNIT ...: every line, branch and function of the
units' .gcda files against gcov's JSON. Instances of a template, which gcov lists
one by one, are added up."""
import json
import os
import subprocess
import sys
from collections import Counter, defaultdict

assay, gcov, *units = sys.argv[1:]
files = [unit + ".gcda" for unit in units]


def add(into, more):
    for i, value in enumerate(more):
        if i < len(into):
            into[i] += value
        else:
            into.append(value)


def ours():
    lines, branches, functions = {}, defaultdict(list), Counter()
    text = subprocess.run([assay, "cover", "export", "--format", "json", *files],
                          capture_output=True, check=True).stdout
    for file in json.loads(text)["files"]:
        for line, count in file["lines"]:
            lines[file["path"], line] = count
        for line, _, _, count in file["branches"]:
            branches[file["path"], line].append(count)
        for line, count, name in file["functions"]:
            functions[file["path"], line, name] += count
    return lines, branches, functions


def instance_lines(file):
    starts = Counter((f["start_line"], f["start_column"]) for f in file["functions"])
    return {line for f in file["functions"] if starts[f["start_line"], f["start_column"]] > 1
            for line in range(f["start_line"], f["end_line"] + 1)}


def theirs():
    lines, branches, functions = {}, defaultdict(list), Counter()
    for name in files:
        out = subprocess.run([gcov, "-j", "-b", "-t", name], capture_output=True, check=True).stdout
        for document in map(json.loads, out.splitlines()):
            for file in document["files"]:
                path = os.path.join(document["current_working_directory"], file["file"])
                of_instances, unit = instance_lines(file), defaultdict(list)
                for line in file["lines"]:
                    number = line["line_number"]
                    lines[path, number] = lines.get((path, number), 0) + line["count"]
                    instance = line.get("function_name") if number in of_instances else None
                    unit[number, instance] += [b["count"] for b in line["branches"]]
                for (number, _), counts in unit.items():
                    add(branches[path, number], counts)
                for f in file["functions"]:
                    functions[path, f["start_line"], f["name"]] += f["execution_count"]
    return lines, branches, functions


differing = 0
sizes = []
for what, a, b in zip(("line", "branch", "function"), ours(), theirs()):
    a = {k: v for k, v in a.items() if v != []}
    b = {k: v for k, v in b.items() if v != []}
    sizes.append(len(b))
    for key in sorted(set(a) | set(b)):
        if a.get(key) != b.get(key):
            differing += 1
            print(what, key, "ours", a.get(key), "gcov", b.get(key))
if sizes[0] == 0:
    sys.exit("gcov gave no lines")
if not differing:
    print("%d lines, %d lines with branches, %d functions" % tuple(sizes))
sys.exit(differing != 0)
