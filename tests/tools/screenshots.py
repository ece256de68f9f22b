#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""screenshots.py DRIVER BROWSER FOLDER NAME:SCHEME:WIDTHxHEIGHT:PAGE[#STATE]...

Writes FOLDER/NAME.png for each page of assay view: light or dark, in a window of that size, in the state of its
address. Status 1 when a page says that its data are wrong, or when a picture has one colour only.
"""
import base64
import pathlib
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from page_in_browser import Driver  # noqa: E402

COLOURS = """const c = [...document.querySelectorAll('#view canvas')].find(e => e.width && e.height);
if (!c) return document.querySelectorAll('#view .row, #summary:not([hidden]) tr').length;
return new Set(new Uint32Array(c.getContext('2d').getImageData(0, 0, c.width, c.height).data.buffer)).size"""


def take(session, folder, wanted):
    name, scheme, size, page = wanted.split(":", 3)
    path, _, state = page.partition("#")
    width, height = map(int, size.split("x"))
    for command, params in (
            ("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]}),
            ("Emulation.setDeviceMetricsOverride", {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})):
        session.ask("POST", "/goog/cdp/execute", {"cmd": command, "params": params})
    session.ask("POST", "/url", {"url": "about:blank"})
    session.ask("POST", "/url", {"url": pathlib.Path(path).resolve().as_uri() + ("#" + state if state else "")})
    end = time.monotonic() + 60
    while not session.run("return document.documentElement.dataset.loaded !== undefined"):
        if time.monotonic() > end:
            sys.exit(f"{path} is never loaded")
        time.sleep(0.05)
    time.sleep(0.3)  # the picture is drawn at the next frame
    wrong = session.run("return [...document.querySelectorAll('.wrong')].map(e => e.textContent).join(' ')")
    if wrong:
        sys.exit(f"{path}: {wrong}")
    colours = session.run(COLOURS)
    if colours < 2:
        sys.exit(f"{path}#{state}: nothing is drawn")
    (folder / (name + ".png")).write_bytes(base64.b64decode(session.ask("GET", "/screenshot")))


driver, browser, target, *all_wanted = sys.argv[1:]
with tempfile.TemporaryDirectory() as profile:
    open_session = Driver(driver, browser, profile)
    try:
        for one in all_wanted:
            take(open_session, pathlib.Path(target), one)
    finally:
        open_session.close()
