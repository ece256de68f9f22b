# SPDX-License-Identifier: Apache-2.0
"""same_gcov_json.py [--any-order] ASSAY GCOV UNIT ...: 'cover export --format gcov-json'
equals 'gcov --json-format --branch-probabilities' but for the order of keys and the
folder the tools run in; with --any-order but for that of functions and lines, too: gcov's
sort leaves many functions that start at one place in an order of its own."""
import json
import os
import subprocess
import sys

any_order = sys.argv[1] == "--any-order"
assay, gcov, *units = sys.argv[1 + any_order:]


def documents(*command):
    text = subprocess.run(command, capture_output=True, check=True).stdout
    found = [json.loads(line) for line in text.splitlines()]
    for d in found:
        d.pop("current_working_directory", None)
        d["data_file"] = os.path.basename(d["data_file"])
        d["files"] = {f["file"]: f for f in d["files"]}
        for f in d["files"].values() if any_order else ():
            for part in "functions", "lines":
                f[part].sort(key=lambda row: json.dumps(row, sort_keys=True))
    return found


files = sorted(unit + ".gcda" for unit in units)
ours = documents(assay, "cover", "export", "--format", "gcov-json", *files)
theirs = documents(gcov, "-j", "-b", "-t", *files)
if not any(f["lines"] for d in theirs for f in d["files"].values()):
    sys.exit("gcov gave no lines")
if ours == theirs:
    print("%d documents, %d files" % (len(ours), sum(len(d["files"]) for d in ours)))
    sys.exit(0)
print("%d documents, gcov has %d" % (len(ours), len(theirs)))
for a, b in zip(ours, theirs):
    print({k: (a.get(k), b.get(k)) for k in set(a) | set(b) if k != "files" and a.get(k) != b.get(k)})
    print("files", sorted(set(a["files"]) ^ set(b["files"])))
    for name in set(a["files"]) & set(b["files"]):
        for part in "functions", "lines":
            x, y = a["files"][name][part], b["files"][name][part]
            if len(x) != len(y):
                print(name, part, len(x), "gcov", len(y))
            for p, q in zip(x, y):
                if p != q:
                    print(name, "ours", p, "\n  gcov", q)
                    break
sys.exit(1)
