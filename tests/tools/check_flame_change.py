#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_flame_change.py PICTURE NAME=CLASS,BEFORE...

The differential flame graph of assay diff --flame has a frame of each NAME with a class that begins with CLASS and the
value BEFORE, maybe beside others of that name; "NAME=" has none.
"""
import sys
import xml.etree.ElementTree as tree

SVG = "{http://www.w3.org/2000/svg}"
frames = {}
for group in tree.parse(sys.argv[1]).iter(SVG + "g"):
    title = group.find(SVG + "title")
    if title is not None:
        frames.setdefault(title.text.split("\n")[0], []).append((group.find(SVG + "rect").get("class"), title.text))
for wish in sys.argv[2:]:
    name, wanted = wish.split("=")
    if not wanted:
        if name in frames:
            sys.exit(f"a frame of {name}: {frames[name]}")
        continue
    colour, before = wanted.split(",")
    if not any(c.startswith(colour) and f", before {before}" in text for c, text in frames.get(name, [])):
        sys.exit(f"{name} is not {wanted}: {frames}")
