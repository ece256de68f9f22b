#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""compare_perf_report.py PERF OURS: the shares of functions in one perf.data.

PERF is `perf report --stdio --no-children -g none --no-inline -s sym`, OURS is
`assay export --format perf-script`. A sample counts for the function that its innermost
frame lies in, inlined calls left out, as perf counts it. perf shows no arguments. Status 1
when a share differs by more than rounding."""
import re
import sys
from collections import Counter

ROUNDING = 0.011  # of perf's two decimals
OTHER_NAMES = 2  # per cent: cfree and free are one place


def plain(name):
    """Without arguments and their qualifiers: perf's form."""
    name = re.sub(r"(\+0x[0-9a-f]+)?$", "", name.strip())
    name = re.sub(r"( \[clone [^]]*\])+$", "", name)
    name = re.sub(r"(\.(isra|part|constprop|cold)(\.\d+)?)+$|@+[A-Z][\w.]*$", "", name)
    if not name.endswith(")") and not name.endswith(") const"):
        return name
    depth = 0
    for i in range(name.rindex(")"), -1, -1):
        depth += {")": 1, "(": -1}.get(name[i], 0)
        if depth == 0:
            return name[:i]
    return name


def unqualified(name):
    """The last part without template arguments and return type: good enough to match."""
    name, depth, out = plain(name), 0, []
    for i, char in enumerate(name):
        if char == "<" and not name[:i].endswith("operator") and not name[:i].endswith("operator<"):
            depth += 1
        elif char == ">" and depth:
            depth -= 1
        elif depth == 0:
            out.append(char)
    name = "".join(out)
    return name if "operator" in name else name.rpartition(" ")[2]


def perf_shares(path):
    shares, rows = Counter(), Counter()
    with open(path, errors="replace") as lines:
        for line in lines:
            match = re.match(r"^\s+([\d.]+)%\s+\[.\]\s+(.*?)(\s+-\s+-)?\s*$", line)
            if match:
                name = unqualified(match.group(2))
                shares[name] += float(match.group(1))
                rows[name] += 1
    return shares, rows


def our_shares(path):
    values, weight = Counter(), None
    with open(path, errors="replace") as lines:
        for line in lines:
            head = re.search(r"\s\d+\.\d+:\s+(\d+) \S+:\s*$", line)
            frame = re.match(r"^\s+([0-9a-f]+) (.*) \((.*)\)$", line.rstrip("\n"))
            if head:
                weight = int(head.group(1))
            elif frame and weight is not None and frame.group(3) != "inlined":
                values[unqualified(frame.group(2))] += weight
                weight = None
    whole = sum(values.values())
    return Counter({name: 100 * value / whole for name, value in values.items()})


def main():
    (perf, rows), ours = perf_shares(sys.argv[1]), our_shares(sys.argv[2])
    known = [name for name in perf if not re.match(r"0x|\[unknown", name)]
    other_names = sum(perf[name] for name in known if name not in ours)
    bad = 0
    for name in known:
        if name in ours and abs(perf[name] - ours[name]) > ROUNDING * rows[name]:
            print(f"perf {perf[name]:.2f} %, ours {ours[name]:.2f} %: {name[:100]}")
            bad += 1
    print(f"{len(known)} functions with {sum(perf[name] for name in known):.2f} %; {bad} differ; "
          f"{other_names:.2f} % have another name of the same address")
    return 1 if bad or not known or other_names > OTHER_NAMES else 0


sys.exit(main())
