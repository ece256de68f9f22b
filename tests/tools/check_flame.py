#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_flame.py FILE: what every flame graph must hold, by a reader not ours."""
import sys
import xml.etree.ElementTree as ET

SVG = "{http://www.w3.org/2000/svg}"
ELEMENTS = {SVG + name for name in ("svg", "style", "text", "g", "title", "rect", "script", "metadata")}
ATTRIBUTES = {"width", "height", "data-icicle", "data-frames", "data-dropped", "data-unit", "id", "x", "y",
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

# The rows of numbers, from which the script draws: each frame is within its parent.
names = [line.split("\t") for line in root.find(f"{SVG}metadata[@id='names']").text.split("\n")[1:-1]]
if any(ord(c) < 32 or c == "\u202e" for line in names for word in line for c in word):
    fail("control character in a name")
periods = root.find(f"{SVG}metadata[@id='recursions']").text.split()
data = [list(map(int, line.split(" "))) for line in root.find(f"{SVG}metadata[@id='rows']").text.split("\n")[1:-1]]
if len(data) != int(root.get("data-frames")):
    fail(f"{len(data)} rows, not {root.get('data-frames')}")
if not len(frames) <= min(len(data), 3100) or (len(frames) < len(data) and not periods and len(frames) < 2000):
    fail(f"{len(frames)} elements for {len(data)} rows")
path = []
for depth, name, total, own, samples, colour, flags, chain in data:
    if depth > len(path) or name >= len(names) or chain > len(periods) or own > total or colour >= 48 or flags > 3:
        fail(f"row {depth} {name} {total}")
    del path[depth:]
    if path:
        path[-1][1] += total
        if path[-1][1] > path[-1][0]:
            fail("the callees of a frame have more than it has")
    path.append([total, own])

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
