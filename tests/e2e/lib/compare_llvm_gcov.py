# SPDX-License-Identifier: Apache-2.0
"""compare_llvm_gcov.py ASSAY LLVM-COV UNIT ...: the lines of the units' own sources against
'llvm-cov gcov', whose listing repeats lines function by function behind a row of dashes.
With --llvm-rules: lines that one block lists twice count twice there. (Of the library's
headers one differs, in a function whose arcs clang did not all list.)"""
import json
import os
import re
import subprocess
import sys

assay, llvm_cov, *units = sys.argv[1:]
here = (os.path.realpath(".") + "/", os.path.realpath(os.path.dirname(__file__) + "/../../programs") + "/")


def ours():
    text = subprocess.run([assay, "cover", "export", "--llvm-rules", "--format", "json", *[u + ".gcda" for u in units]],
                          capture_output=True, check=True).stdout
    return {(os.path.realpath(f["path"]), line): count for f in json.loads(text)["files"] for line, count in f["lines"]}


def theirs():
    counts = {}
    for unit in units:
        text = subprocess.run([llvm_cov, "gcov", "-b", "-c", "-t", unit + ".gcda"], capture_output=True,
                              check=True).stdout
        source, repeats, dashes = None, False, False
        for row in text.decode().splitlines():
            if row.startswith("-----"):
                dashes = True
                continue
            fields = re.match(r"\s*(-|[#=]+|\d+\*?):\s*(\d+):(.*)", row)
            if dashes:
                repeats, dashes = not fields, False
            if not fields or repeats:
                continue
            if fields[2] == "0" and fields[3].startswith("Source:"):
                source = os.path.realpath(fields[3][len("Source:"):])
            if fields[2] != "0" and fields[1] != "-":
                count = 0 if fields[1][0] in "#=" else int(fields[1].rstrip("*"))
                counts[source, int(fields[2])] = counts.get((source, int(fields[2])), 0) + count
    return counts


a, b = ({k: v for k, v in counts.items() if k[0].startswith(here)} for counts in (ours(), theirs()))
for key in sorted(set(a) | set(b)):
    if a.get(key) != b.get(key):
        print(key, "ours", a.get(key), "llvm-cov", b.get(key))
if not b:
    sys.exit("llvm-cov gave no lines")
print("%d lines" % len(b))
sys.exit(a != b)
