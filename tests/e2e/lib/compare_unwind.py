#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""compare_unwind.py TOOL FILE: the rows of FILE's unwind table against readelf's.

Every row that readelf interprets is asked for at its first and last byte.
Prints the differences, status 1 when there are any.
"""
import re
import subprocess
import sys

ENTRY = re.compile(r"^\S+ \S+ \S+ (FDE cie=(\S+) pc=(\w+)\.\.(\w+)|CIE .*)")


def fields_of(entry_columns, words, ra_column):
    """CFA, frame pointer, return address of a line, in the tool's words."""
    by_name = dict(zip(entry_columns, words[1:]))
    fp = by_name.get("rbp", by_name.get("x29", "u"))
    ra = by_name.get("ra", "u")
    if ra_column not in ("16", "30") and ra == "u":
        ra = "x" + ra_column  # a return address that stays in an unusual register
    return by_name["CFA"], {"s": "u"}.get(fp, fp), {"s": "u"}.get(ra, ra)


def functions(path):
    """(start, end, [(pc, fields)]) for each entry, as readelf has it."""
    text = subprocess.run(["readelf", "--debug-dump=frames-interp", path], capture_output=True,
                          text=True, check=False).stdout
    ra_columns = {}
    cies, rows, columns, result, entry = {}, [], [], [], None

    def close():
        if entry and entry[0] == "CIE":
            cies[entry[1]] = rows[-1][1] if rows else None
        elif entry:
            # An entry without rows of its own has its CIE's.
            own = rows or [(entry[2], cies.get(entry[1]))]
            result.append((entry[2], entry[3], own))

    for line in text.splitlines():
        words = re.sub(r"r\d+ \((\w+)\)", r"\1", line).split()
        match = ENTRY.match(line)
        if match:
            close()
            rows = []
            if match[2]:
                entry = ("FDE", match[2], int(match[3], 16), int(match[4], 16))
            else:
                entry = ("CIE", words[0])
                ra_columns[words[0]] = words[-1].removeprefix("ra=")
        elif words[:2] == ["LOC", "CFA"]:
            columns = words[1:]
        elif entry and len(words) > 1 and re.fullmatch(r"[0-9a-f]{16}", words[0]):
            rows.append((int(words[0], 16), fields_of(columns, words, ra_columns.get(entry[1], ""))))
    close()
    return result


def expectations(path):
    entries = sorted(e for e in functions(path) if e[1] > e[0])
    for i, (start, end, rows) in enumerate(entries):
        if i + 1 < len(entries):
            end = min(end, entries[i + 1][0])
        for k, (pc, fields) in enumerate(rows):
            stop = rows[k + 1][0] if k + 1 < len(rows) else end
            if fields and start <= pc < stop <= end:
                yield pc, fields
                yield stop - 1, fields


def same(got, want):
    if got == ("*", "*", "u"):  # the end of the stack: nothing else matters
        return want[2] == "u"
    return got == want


def main():
    tool, path = sys.argv[1:]
    wanted = list(expectations(path))
    asked = "".join(f"{pc:x}\n" for pc, _ in wanted)
    answer = subprocess.run([tool, path], input=asked, capture_output=True, text=True, check=True)
    lines = answer.stdout.splitlines()
    assert len(lines) == len(wanted)
    differ = 0
    for (pc, want), line in zip(wanted, lines):
        got = tuple(line.split()[1:])
        if not same(got, want):
            differ += 1
            if differ <= 10:
                print(f"{pc:x}: table {' '.join(got)}, readelf {' '.join(want)}")
    print(f"{path}: {len(wanted)} places compared, {differ} differ; {answer.stderr.strip()}")
    return 1 if differ or not wanted else 0


if __name__ == "__main__":
    sys.exit(main())
