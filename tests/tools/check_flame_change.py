#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_flame_change.py PICTURE NAME=CLASS,BEFORE...

The differential flame graph of assay diff --flame has a frame of each NAME with a class that begins with CLASS and the
value BEFORE; "NAME=" has none.
"""
import sys
import xml.etree.ElementTree as tree

SVG = "{http://www.w3.org/2000/svg}"
frames = {}
for group in tree.parse(sys.argv[1]).iter(SVG + "g"):
    title = group.find(SVG + "title")
    if title is not None:
        frames[title.text.split("\n")[0]] = (group.find(SVG + "rect").get("class"), title.text)
for wish in sys.argv[2:]:
    name, wanted = wish.split("=")
    if not wanted:
        if name in frames:
            sys.exit(f"a frame of {name}: {frames[name]}")
        continue
    colour, before = wanted.split(",")
    if name not in frames or not frames[name][0].startswith(colour) or f", before {before}" not in frames[name][1]:
        sys.exit(f"{name} is not {wanted}: {frames}")
