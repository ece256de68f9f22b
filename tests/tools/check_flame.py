#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_flame.py FILE: what every flame graph must hold, by a reader not ours."""
import sys
import xml.etree.ElementTree as ET

SVG = "{http://www.w3.org/2000/svg}"
ELEMENTS = {SVG + name for name in ("svg", "style", "text", "g", "title", "rect", "script")}
ATTRIBUTES = {"width", "height", "data-icicle", "data-frames", "data-dropped", "data-s", "id", "x", "y",
              "class", "tabindex", "role", "style"}


def fail(text):
    sys.exit(f"{sys.argv[1]}: {text}")


root = ET.parse(sys.argv[1]).getroot()
scripts = 0
for element in root.iter():
    if element.tag not in ELEMENTS:
        fail(f"element {element.tag}")
    for name in element.attrib:
        if name not in ATTRIBUTES:
            fail(f"attribute {name}")
    scripts += element.tag == SVG + "script"
if scripts != 1:
    fail(f"{scripts} scripts")

frames = []
for group in root.find(f"{SVG}g[@id='frames']"):
    rect, title = group.find(SVG + "rect"), group.find(SVG + "title").text
    if any(ord(c) < 32 and c != "\n" for c in title) or "\u202e" in title:
        fail(f"control character in {title!r}")
    x, width = float(rect.get("x")[:-1]), float(rect.get("width")[:-1])
    frames.append((int(rect.get("y")), x, x + width))
if len(frames) != int(root.get("data-frames")):
    fail(f"{len(frames)} frames, not {root.get('data-frames')}")
icicle = root.get("data-icicle") == "1"
rows = {}
for y, left, right in frames:
    rows.setdefault(y, []).append((left, right))
order = sorted(rows, reverse=not icicle)
above = [(0.0, 100.0)]
for y in order:
    end = -1.0
    for left, right in sorted(rows[y]):
        if left < end - 1e-3:
            fail(f"frames overlap in row {y}")
        end = right
        if not any(a - 1e-3 <= left and right <= b + 1e-3 for a, b in above):
            fail(f"a frame of row {y} is not within its parent")
    above = rows[y]
