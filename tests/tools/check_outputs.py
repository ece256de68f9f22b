#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks an output made from hostile names: check_outputs.py KIND FILE

text  valid UTF-8 without control characters, C1 codes, bidirectional controls and line separators
csv   text that a strict reader takes, each row with as many cells as the first, no cell a formula
json  the same for JSON, and no such character escaped out of a string
xml   the same for XML
html  text, in which no tag and no attribute comes from a name
"""
import csv
import html.parser
import io
import json
import re
import sys
import xml.etree.ElementTree as ElementTree

# What a terminal or an editor obeys instead of showing it.
UNSHOWN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
NUMBER = re.compile(r"[-+]?[0-9.]+(e[-+]?[0-9]+)?%?$")


def check_text(text):
    found = UNSHOWN.search(text)
    if found:
        around = text[max(0, found.start() - 30):found.end() + 30]
        raise ValueError(f"U+{ord(found[0]):04x} stands at {found.start()}: {around!r}")


def check_csv(text):
    rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    for row in rows:
        if len(row) != len(rows[0]):
            raise ValueError(f"{len(row)} cells, the first row has {len(rows[0])}: {row}")
        for cell in row:
            if cell and cell[0] in "=+-@\t\r" and not NUMBER.match(cell):
                raise ValueError(f"a formula: {cell!r}")


class Page(html.parser.HTMLParser):
    """Finds tags that a name made."""

    def handle_starttag(self, tag, attrs):
        self.in_script = tag == "script"
        if any("pwned" in (value or "") and name.startswith("on") for name, value in attrs):
            raise ValueError(f"a name became an attribute of <{tag}>")

    def handle_data(self, data):
        if getattr(self, "in_script", False) and data.strip() == "pwned()":
            raise ValueError("a name became a script")


def check_html(text):
    Page().feed(text)


def main():
    kind, path = sys.argv[1:]
    with open(path, "rb") as file:
        text = file.read().decode("utf-8")
    if not text:
        raise ValueError("nothing was written")
    # Lines of CSV end with both (RFC 4180).
    check_text(text.replace("\r\n", "\n") if kind == "csv" else text)
    if kind == "csv":
        check_csv(text)
    elif kind == "json":
        for line in [text] if text.lstrip()[:1] in "[{" else text.splitlines():
            json.loads(line)
    elif kind == "xml":
        ElementTree.fromstring(text)
    elif kind == "html":
        check_html(text)


try:
    main()
except (ValueError, csv.Error, ElementTree.ParseError) as problem:
    sys.exit(f"{sys.argv[2]}: {problem}")
