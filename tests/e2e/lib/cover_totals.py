#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""cover_totals.py ASSAY INPUT...: totals of lines, functions and branches are equal in every output.

Rows are summed up here as the readers of a format do it; what a format states is held to its rows.
Prints the totals.
"""
import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

assay, inputs = sys.argv[1], sys.argv[2:]
wrong = []


def run(*words):
    done = subprocess.run([assay, "cover", *words, *inputs], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(words)}: status {done.returncode}: {done.stderr}")
    return done.stdout


def ratio(pairs):
    pairs = list(pairs)
    return [sum(hit for hit, _ in pairs), sum(n for _, n in pairs)]


def report():
    total = json.loads(run("report", "--json"))["total"]
    return {k: [total[k]["covered"], total[k]["count"]] for k in ("lines", "functions", "branches")}


def lcov():
    rows = {"DA": [], "FNDA": [], "BRDA": []}
    stated = {}
    functions = {}
    for line in run("export", "--format", "lcov").splitlines():
        key, _, rest = line.partition(":")
        if key == "SF":
            functions = {}
        elif key == "FN":
            functions[rest.split(",", 1)[1]] = None
        elif key == "FNDA":
            count, name = rest.split(",", 1)
            if functions.get(name, 0) is not None:
                wrong.append(f"lcov: two counts of {name}")
            functions[name] = count
            rows[key].append((int(count) > 0, 1))
        elif key == "DA":
            rows[key].append((int(rest.split(",")[1]) > 0, 1))
        elif key == "BRDA":
            taken = rest.split(",")[3]
            rows[key].append((taken not in ("-", "0"), 1))
        elif key in ("LF", "LH", "FNF", "FNH", "BRF", "BRH"):
            stated[key] = stated.get(key, 0) + int(rest)
    sums = {"lines": ratio(rows["DA"]), "functions": ratio(rows["FNDA"]), "branches": ratio(rows["BRDA"])}
    says = {name: [stated.get(k + "H", 0), stated.get(k + "F", 0)]
            for name, k in (("lines", "L"), ("functions", "FN"), ("branches", "BR"))}
    if says != sums:
        wrong.append(f"lcov: states {says}, has {sums}")
    return sums


def cobertura():
    root = ElementTree.fromstring(run("export", "--format", "cobertura"))
    lines, branches, functions = [], [], []
    for of in root.iter("class"):
        for line in of.find("lines"):
            lines.append((int(line.get("hits")) > 0, 1))
            if line.get("branch") == "true":
                hit, n = re.search(r"\((\d+)/(\d+)\)", line.get("condition-coverage")).groups()
                branches.append((int(hit), int(n)))
        for method in of.find("methods"):
            functions.append((float(method.get("line-rate")) > 0, 1))
    sums = {"lines": ratio(lines), "functions": ratio(functions), "branches": ratio(branches)}
    for k in ("lines", "branches"):
        if [int(root.get(f"{k}-covered")), int(root.get(f"{k}-valid"))] != sums[k]:
            wrong.append(f"cobertura: states {root.attrib}, has {sums}")
    return sums


def own_json():
    files = json.loads(run("export", "--format", "json"))["files"]
    for f in files:
        if [f["lines_covered"], f["line_count"]] != ratio((n > 0, 1) for _, n in f["lines"]):
            wrong.append(f"json: lines of {f['path']}")
    return {"lines": ratio((n > 0, 1) for f in files for _, n in f["lines"]),
            "functions": ratio((x[1] > 0, 1) for f in files for x in f["functions"]),
            "branches": ratio((x[3] > 0, 1) for f in files for x in f["branches"])}


def markdown():
    sums = {"lines": [0, 0], "functions": [0, 0], "branches": [0, 0]}
    for row in run("export", "--format", "markdown").splitlines()[2:]:
        cells = [c.strip() for c in re.split(r"(?<!\\)\|", row)][2:5]
        for name, cell in zip(sums, cells):
            found = re.search(r"\((\d+)/(\d+)\)", cell)
            if found:
                sums[name][0] += int(found[1])
                sums[name][1] += int(found[2])
    return sums


def html():
    page = run("export", "--format", "html")
    total = re.search(r'<tr class="sum">(.*?)</tr>', page)[1]
    shares = [re.search(r"<small>(\d+)/(\d+)</small>", x) for x in total.split("<td")[1:4]]
    return {k: [int(s[1]), int(s[2])] if s else [0, 0]
            for k, s in zip(("lines", "functions", "branches"), shares)}


def sonarqube():
    lines = list(ElementTree.fromstring(run("export", "--format", "sonarqube")).iter("lineToCover"))
    return {"lines": ratio((x.get("covered") == "true", 1) for x in lines),
            "branches": ratio((int(x.get("coveredBranches", 0)), int(x.get("branchesToCover", 0))) for x in lines)}


def jacoco():
    root = ElementTree.fromstring(run("export", "--format", "jacoco"))

    def stated(of):
        found = {c.get("type"): [int(c.get("covered")), int(c.get("covered")) + int(c.get("missed"))]
                 for c in of.findall("counter")}
        return {name: found.get(kind, [0, 0])
                for name, kind in (("lines", "LINE"), ("functions", "METHOD"), ("branches", "BRANCH"))}

    lines = list(root.iter("line"))
    sums = {"lines": ratio((int(x.get("ci")), int(x.get("ci")) + int(x.get("mi"))) for x in lines),
            "functions": ratio((int(x.find("counter").get("covered")), 1) for x in root.iter("method")),
            "branches": ratio((int(x.get("cb")), int(x.get("cb")) + int(x.get("mb"))) for x in lines)}
    of_files = [stated(x) for x in root.iter("sourcefile")]
    of_packages = [stated(x) for x in root.iter("package")]
    for name, value in sums.items():
        for parts in (of_files, of_packages, [stated(root)]):
            if [sum(p[name][0] for p in parts), sum(p[name][1] for p in parts)] != value:
                wrong.append(f"jacoco: counters of {name} are not those of the lines")
    return sums


def clover():
    root = ElementTree.fromstring(run("export", "--format", "clover"))
    names = {"lines": "statements", "functions": "methods", "branches": "conditionals"}

    def stated(of):
        x = of.find("metrics")
        return {name: [int(x.get(f"covered{key}")), int(x.get(key))] for name, key in names.items()}

    rows = list(root.iter("line"))
    sides = [x.get(key) for x in rows for key in ("truecount", "falsecount") if x.get(key) is not None]
    sums = {"lines": ratio((int(x.get("count")) > 0, 1) for x in rows if x.get("type") == "stmt"),
            "functions": ratio((int(x.get("count")) > 0, 1) for x in rows if x.get("type") == "method"),
            "branches": ratio((int(n) > 0, 1) for n in sides)}
    of_files = [stated(x) for x in root.iter("file")]
    of_packages = [stated(x) for x in root.iter("package")]
    whole = root.find("project")
    for name, value in sums.items():
        for parts in (of_files, of_packages, [stated(whole)]):
            if [sum(p[name][0] for p in parts), sum(p[name][1] for p in parts)] != value:
                wrong.append(f"clover: metrics of {name} are not those of the lines")
    counts = [int(whole.find("metrics").get(k)) for k in ("packages", "files")]
    if counts != [len(of_packages), len(of_files)]:
        wrong.append(f"clover: {counts} packages and files, has {len(of_packages)} and {len(of_files)}")
    return sums


want = report()
for read in (lcov, cobertura, own_json, markdown, html, sonarqube, jacoco, clover):
    for name, value in read().items():
        if value != want[name]:
            wrong.append(f"{read.__name__}: {name} {value}, the report has {want[name]}")
print(" ".join(f"{name} {hit}/{n}" for name, (hit, n) in want.items()))
if wrong:
    sys.exit("\n".join(wrong))
