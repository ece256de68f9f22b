#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""cover_formats.py ASSAY: holds what 'assay cover formats' lists to what the readers take.

A header of every version, and of those around the ones that are listed, is refused for its
version when it is not listed and not when it is; a format is written when it is listed.
"""
import json
import re
import struct
import subprocess
import sys

assay = sys.argv[1]
wrong = []


def run(*words):
    return subprocess.run([assay, "cover", *words], capture_output=True, text=True, errors="replace")


with open("known.proftext", "w", encoding="utf-8") as f:
    f.write("main\n1\n1\n5\n")
listed = json.loads(run("formats", "--json").stdout)


def versions(name):
    form = next(f for f in listed["read"] if f["name"] == name)
    return {n for v in form["versions"] for n in range(v["first"], v["last"] + 1)}


def is_refused(data, name):
    with open(name, "wb") as f:
        f.write(data)
    words = ["merge", name, "-f", "-o", "sum.profdata"] if "prof" in name else ["report", name, "known.proftext"]
    said = run(*words).stderr
    if "is neither an object nor a profile" in said:
        wrong.append(f"{name}: not recognised")
    return re.search(r"(version|gcc) \S+, known are", said) is not None


def hold(form, name, numbers, header):
    known = versions(form)
    for number in numbers:
        refused = is_refused(header(number), name)
        if refused == (number in known):
            wrong.append(f"{form} {number}: {'refused' if refused else 'taken'}, formats says otherwise")
    if not known or not known < set(numbers):
        wrong.append(f"{form}: {sorted(known)} are not within what is tried")


def covmap(number):
    """The second test form: sizes, names, and one header of a mapping."""
    section = struct.pack("<4I", 0, 0, 0, (number - 1) & 0xFFFFFFFF)
    head = b"llvmcovm" + struct.pack("<Q", 1) + bytes([0, 0, len(section)])
    return head + bytes(-len(head) % 8) + section


def gcov(number):
    major, minor = divmod(number, 100)
    text = f"{major}{minor:02}" if major < 5 else chr(ord("A") + major // 10) + f"{major % 10}{minor}"
    return b"oncg" + f"*{text[::-1]}".encode() + bytes(4)


hold("raw profile", "a.profraw", range(0, 24), lambda n: b"\x81rforpl\xff" + struct.pack("<Q", n) + bytes(160))
hold("indexed profile", "a.profdata", range(0, 24), lambda n: b"\xfflprofi\x81" + struct.pack("<Q", n) + bytes(160))
hold("object in test form", "a.covmapping", range(1, 24), covmap)
numbers = [*range(400, 410), *(100 * m + k for m in range(5, 18) for k in range(10))]
known = versions("notes of gcc")
for number in numbers:
    if is_refused(gcov(number), "a.gcno") == (number in known):
        wrong.append(f"notes of gcc {number}: formats says otherwise")
for number in range(0, 8):
    text = json.dumps({"data": [{"files": [], "functions": []}], "type": "llvm.coverage.json.export", "version": f"{number}.0.1"})
    with open("a.json", "w", encoding="utf-8") as f:
        f.write(text)
    if (run("report", "a.json").returncode != 0) == (number in versions("llvm-cov export")):
        wrong.append(f"llvm-cov export {number}: formats says otherwise")

for number in range(0, 8):
    text = json.dumps({"format_version": f"{number}", "files": []})
    with open("b.json", "w", encoding="utf-8") as f:
        f.write(text)
    if (run("report", "b.json").returncode != 0) == (number in versions("gcov's JSON")):
        wrong.append(f"gcov's JSON {number}: formats says otherwise")

# What is written, and what is taken by the options.
listing = re.search(r"^formats\n((?:  .*\n)+)", run("export", "--help").stdout, re.M)
choices = re.findall(r"^  (\S+)  ", listing[1], re.M)
names = [f["name"] for f in listed["written"]]
if sorted(choices) != sorted(names):
    wrong.append(f"export --format has {choices}, formats lists {names}")
written = {v["first"] for f in listed["read"] if f["name"] == "indexed profile" for v in f["versions"] if v["written"]}
for number in range(1, 24):
    ok = run("merge", "known.proftext", "-f", "-o", "b.profdata", "--profdata-version", str(number)).returncode == 0
    if ok != (number in written):
        wrong.append(f"--profdata-version {number}: formats says otherwise")

print("\n".join(wrong))
sys.exit(bool(wrong))
