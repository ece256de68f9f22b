#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""view_in_browser.py DRIVER BROWSER PAGE REPORT.json

Opens a page of assay view by a chromedriver and walks through its views by keys. Status 1 with the reason when
  - the page does not load, says that its sums are wrong, or an error was thrown,
  - the table of functions has other values than the report,
  - a view stays empty.
Then changes the total in the page's data: the page must say that its sums differ.
"""
import base64
import gzip
import json
import pathlib
import re
import struct
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from page_in_browser import Driver  # noqa: E402

driver, browser, page, report = sys.argv[1:]
with open(report, encoding="utf-8") as text:
    wanted = json.load(text)

ROWS = """return [...document.querySelectorAll('#view .space .row')].map(
    r => [...r.children].map(c => c.textContent))"""
FAILED = """const w = document.querySelector('.wrong:not([hidden])');
return w ? w.textContent : ''"""


def wait_for(session, script, seconds=60):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = session.run(script)
        if value:
            return value
        time.sleep(0.1)
    sys.exit(f"{page}: never true: {script}")


def open_page(session, path, hash_part=""):
    session.ask("POST", "/url", {"url": "about:blank"})
    session.ask("POST", "/url", {"url": pathlib.Path(path).resolve().as_uri() + hash_part})
    wait_for(session, "return document.documentElement.dataset.loaded")


def key(session, name):
    session.run("""document.activeElement.dispatchEvent(
        new KeyboardEvent('keydown', {key: arguments[0], bubbles: true, cancelable: true}))""", name)


def check_functions(session):
    open_page(session, page, "#tab=functions&names=0")
    rows = session.run(ROWS)
    # Two programs can have functions of one name, _start for one: the page has to have each of the report's rows.
    value = {}
    for r in rows:
        value.setdefault(r[3].removesuffix(" inlined"), []).append((r[0], r[1]))
    checked = 0
    for row in wanted["rows"][:8]:
        share = "" if row["self"] == 0 else f"{100 * row['self_share']:.1f}%"
        total = f"{100 * row['total_share']:.1f}%"
        if row["name"] not in value:
            sys.exit(f"function '{row['name']}' of the report is not among the page's first rows: {list(value)[:20]}")
        if (share, total) not in value[row["name"]]:
            sys.exit(f"'{row['name']}': the page has {value[row['name']]}, the report {(share, total)}")
        checked += 1
    if not checked:
        sys.exit("the report has no rows")


def check_views(session):
    open_page(session, page)
    drawn = """const c = document.querySelector('.flame canvas'), d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
const seen = new Set(); for (let i = 0; i < d.length; i += 404) seen.add(d[i] * 65536 + d[i + 1] * 256 + d[i + 2]); return seen.size > 2"""
    wait_for(session, drawn)
    for name in "234":
        key(session, name)
        wait_for(session, "return document.querySelectorAll('#view .space .row').length > 1")
    key(session, "1")
    key(session, "t")
    wait_for(session, "return document.querySelector('#view [role=treegrid]') && location.hash.includes('table')")
    open_page(session, page, "#from=0&to=1e12")
    if session.run(FAILED):
        sys.exit(f"{page}: {session.run(FAILED)}")


def check_tampered(session):
    text = pathlib.Path(page).read_text(encoding="utf-8")
    found = re.search(r'<script type="application/x-assay">([^<]*)</script>', text)
    data = gzip.decompress(base64.b64decode(found.group(1)))
    size = struct.unpack("<I", data[:4])[0]
    head = json.loads(data[4:4 + size])
    for metric in head["about"]["metrics"]:
        metric["total"] += 1
    head = json.dumps(head).encode()
    changed = base64.b64encode(gzip.compress(struct.pack("<I", len(head)) + head + data[4 + size:])).decode()
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "changed.html"
        path.write_text(text[:found.start(1)] + changed + text[found.end(1):], encoding="utf-8")
        open_page(session, path)
        if "differ" not in session.run(FAILED):
            sys.exit("a page whose data do not add up says nothing")


with tempfile.TemporaryDirectory() as profile:
    open_session = Driver(driver, browser, profile)
    try:
        check_functions(open_session)
        check_views(open_session)
        check_tampered(open_session)
    finally:
        open_session.close()
