#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""view_in_browser.py DRIVER BROWSER PAGE REPORT.json

Opens a page of assay view by a chromedriver and walks through its views by keys. Status 1 with the reason when
  - the page does not load, says that its sums are wrong, or an error was thrown,
  - the table of functions has other values than the report,
  - a view stays empty.
view_in_browser.py DRIVER BROWSER --joined PAGE MOVED OTHER: pages of a recording of CPU time, one of the heap, and coverage,
of work.c in view.sh; in MOVED the coverage has another folder, in OTHER it is of another program. Each value must stand on its line.
view_in_browser.py DRIVER BROWSER --runs BENCH VIEWED EXPORT.json COUNTS: pages of a bench, of its recording, of counted events.
view_in_browser.py DRIVER BROWSER --diff PAGE DIFF.json LINES: the page of a comparison, and of one of two builds of moved.c in view.sh.
view_in_browser.py DRIVER BROWSER --sets PAGE DIFF.json: the page of a comparison of sets of recordings.
view_in_browser.py DRIVER BROWSER --first-look RUNS SOURCE: a page of one run with a long name; one whose lines only call, of shop.c.
view_in_browser.py DRIVER BROWSER --gap PAGE: the page of main that calls something, of which only the call inner is known.

view_in_browser.py DRIVER BROWSER --large PAGE PART FROM TO ...: PART is a page of the seconds FROM to TO of the same recording.

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

driver, browser, page, *more = sys.argv[1:]
wanted = {}
if page not in ("--joined", "--runs", "--diff", "--sets", "--gap", "--first-look", "--large"):
    with open(more[0], encoding="utf-8") as text:
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


def shares(row):
    """The cells of a row of the report: its own share and that with its callees, as the page writes them."""
    return "" if row["self"] == 0 else f"{100 * row['self_share']:.1f}%", f"{100 * row['total_share']:.1f}%"


def lightest_drawn(rows):
    """The value of the last row that the page has drawn; -1 when it has drawn all of them, so that none may be missing."""
    count = len(wanted["rows"])
    if count != wanted["row_count"]:
        sys.exit(f"the report has {count} of {wanted['row_count']} rows")
    if len(rows) >= count:
        return -1
    last = rows[-1]
    same = [r["self"] for r in wanted["rows"] if (r["name"], *shares(r)) == (last[3].removesuffix(" inlined"), last[0], last[1])]
    if not same:
        sys.exit(f"the page's last row {last} is not in the report")
    return max(same)


def check_functions(session):
    open_page(session, page, "#tab=functions&names=0")
    rows = session.run(ROWS)
    lightest = lightest_drawn(rows)
    # Two programs can have functions of one name, _start for one: the page has to have each of the report's rows.
    value = {}
    for r in rows:
        value.setdefault(r[3].removesuffix(" inlined"), []).append((r[0], r[1]))
    checked = 0
    for row in wanted["rows"][:8]:
        # Rows of one value stand in any order: of those, the last ones may lie below the window.
        if row["name"] not in value and row["self"] <= lightest:
            continue
        if row["name"] not in value:
            sys.exit(f"function '{row['name']}' of the report is not among the page's first rows: {list(value)[:20]}")
        if shares(row) not in value[row["name"]]:
            if row["self"] <= lightest:
                continue  # another function of this name stands there
            sys.exit(f"'{row['name']}': the page has {value[row['name']]}, the report {shares(row)}")
        checked += 1
    if not checked:
        sys.exit("the report has no rows, or the page none of them")


# Columns by their titles of each line of the source view, by its number.
JOINED = """const t = document.querySelector('#view .file > .table'), heads = [...t.querySelectorAll('.head > div')].map(d => d.textContent);
return Object.fromEntries([...t.querySelectorAll('.space .row')].map(r => [r.children[heads.indexOf('line')].textContent,
    Object.fromEntries([...r.children].map((c, i) => [heads[i], c.textContent]))]))"""


def expect(page_name, lines, line, column, value):
    got = lines.get(str(line), {}).get(column)
    if got is None or (got != value if isinstance(value, str) else not value(got)):
        sys.exit(f"{page_name}: line {line}, '{column}': {got!r}; {json.dumps(lines.get(str(line)))}")


def check_joined(session, joined, moved, other):
    hot, malloc, taken = 6, 10, "30\u202f000\u202f000"
    size = {"width": 1280, "height": 900, "deviceScaleFactor": 1, "mobile": False}  # all columns have room
    session.ask("POST", "/goog/cdp/execute", {"cmd": "Emulation.setDeviceMetricsOverride", "params": size})
    for name in (joined, moved):
        open_page(session, name, "#tab=source")
        wait_for(session, "return [...document.querySelectorAll('#view .file > .table .head > div')].some(d => d.textContent === 'executions')")
        lines = session.run(JOINED)
        expect(name, lines, hot, "executions", taken)
        expect(name, lines, hot, "CPU self", lambda share: float(share.rstrip("%") or 0) > 50)
        expect(name, lines, hot, "bytes", "")
        expect(name, lines, 5, "branches", "1/2")
        expect(name, lines, malloc, "allocs", "1")
        expect(name, lines, malloc, "bytes", "1000 B")
        expect(name, lines, malloc, "at peak", "1000 B")
        expect(name, lines, malloc, "executions", "1")
    # The heap's recording as the one that is shown: the CPU's columns stand beside it.
    open_page(session, joined, "#tab=source&rec=1")
    wait_for(session, "return [...document.querySelectorAll('#view .file > .table .head > div')].some(d => d.textContent === 'executions')")
    expect(joined, session.run(JOINED), hot, "CPU self", lambda share: float(share.rstrip("%") or 0) > 50)
    open_page(session, other, "#tab=source&rec=1")
    said = session.run("return document.querySelector('#view .file').textContent")
    if "coverage: nothing is known of this file" not in said:
        sys.exit(f"{other}: that the coverage is of other files is not said: {said[:300]}")
    expect(other, session.run(JOINED), malloc, "bytes", "1000 B")
    check_narrow(session, joined)


def check_narrow(session, joined):
    """Columns go where the window is narrow, so that 300 pixels of the lines' text are on the screen; no title is cut."""
    for width in (800, 1024, 1440):
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        session.ask("POST", "/goog/cdp/execute", {"cmd": "Emulation.setDeviceMetricsOverride", "params": size})
        open_page(session, joined, "#tab=source")
        heads = session.run("""return [...document.querySelectorAll('#view .file > .table .head > div')].map(
            d => [d.textContent, d.clientWidth, d.scrollWidth])""")
        text = [shown for title, shown, _ in heads if title == "source"][0]
        cut = [title for title, shown, whole in heads if whole > shown]
        if text < 300 or cut:
            sys.exit(f"{joined}: in {width} pixels, the text of the lines has {text}; cut titles: {cut}")
    session.ask("POST", "/goog/cdp/execute", {"cmd": "Emulation.clearDeviceMetricsOverride", "params": {}})


def check_heap(session, joined):
    open_page(session, joined, "#tab=heap")
    rows = session.run("""const t = document.querySelector('#view .heap .table'), heads = [...t.querySelectorAll('.head > div')].map(d => d.textContent);
return [...t.querySelectorAll('.space .row')].map(r => Object.fromEntries([...r.children].map((c, i) => [heads[i], c.textContent])))""")
    block = [r for r in rows if r["allocated by"] == "main work.c:10"]
    if len(block) != 1 or [block[0][k] for k in ("at peak", "at end", "total", "blocks")] != ["1000 B"] * 3 + ["1"]:
        sys.exit(f"{joined}: the block of 1000 bytes is not in the heap view: {rows}")
    sizes = session.run("return [...document.querySelectorAll('.sizes tbody tr')].map(r => r.textContent)")
    if not any(s.startswith("512 B") and "1023 B" in s for s in sizes):
        sys.exit(f"{joined}: the block of 1000 bytes is not among the sizes: {sizes}")


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


def hottest(session, path, hash_part):
    """The rows of the functions that are on the screen: their shares and names."""
    open_page(session, path, hash_part)
    if session.run(FAILED):
        sys.exit(f"{path}: {session.run(FAILED)}")
    return session.run(ROWS)


def check_large(session, whole, *parts):
    """A selection of time has the values of a page that assay made of that time alone: PAGE FROM TO, in seconds."""
    open_page(session, whole)
    wait_for(session, "return document.querySelector('aside .hot button')")
    for part, start, end in zip(parts[::3], parts[1::3], parts[2::3]):
        selected = hottest(session, whole, f"#tab=functions&from={int(start) * 10**6}&to={int(end) * 10**6}")
        alone = hottest(session, part, "#tab=functions")
        differ = [x for x in zip(selected, alone) if x[0] != x[1]][:3]
        if len(selected) < 15 or len(alone) < 15 or differ:
            sys.exit(f"{start} to {end} s of {whole}: {len(selected)} and {len(alone)} rows, {differ}")


TABLE = """const t = document.querySelector('#view .table'), heads = [...t.querySelectorAll('.head > div')].map(d => d.textContent);
return [...t.querySelectorAll('.space .row')].map(r => Object.fromEntries([...r.children].map((c, i) => [heads[i], c.textContent])))"""
SECONDS = {"s": 1, "ms": 1e-3, "\u00b5s": 1e-6, "ns": 1e-9}


def check_runs(session, bench, viewed, export, counts):
    results = json.loads(pathlib.Path(export).read_text(encoding="utf-8"))["results"]
    for name in (bench, viewed):
        open_page(session, name)
        rows = session.run(TABLE)
        if [r["command"] for r in rows] != [r["command"] for r in results]:
            sys.exit(f"{name}: other commands than the export's: {rows}")
        for row, result in zip(rows, results):
            number, unit = row["median"].split(" ")
            if abs(float(number) * SECONDS[unit] / result["median"] - 1) > 0.001 or row["runs"] != str(len(result["times"])):
                sys.exit(f"{name}: {row} is not {result['median']} of {len(result['times'])} runs")
        if "%" not in rows[1]["change"] or rows[1]["verdict"] not in ("faster", "slower", "equal", "same", "inconclusive"):
            sys.exit(f"{name}: no comparison: {rows[1]}")
        titles = session.run("return [...document.querySelectorAll('.chart h2')].map(e => e.textContent)")
        for wanted_title in ("Distribution", "Runs in their order", "Pairs"):
            if not any(t.startswith(wanted_title) for t in titles):
                sys.exit(f"{name}: no picture '{wanted_title}': {titles}")
        drawn = """const c = [...document.querySelectorAll('.chart canvas')]; return c.length > 2 && c.every(c => c.width &&
c.getContext('2d').getImageData(0, 0, c.width, c.height).data.some(v => v))"""
        wait_for(session, drawn)
        # Keys go from mark to mark, each of which is said; t shows the runs as a table.
        session.run("document.querySelectorAll('.chart canvas')[1].focus()")
        key(session, "ArrowRight")
        wait_for(session, "return document.querySelector('[role=status]').textContent.startsWith('run 1 of')")
        key(session, "t")
        wait_for(session, "return location.hash.includes('table') && document.querySelector('[aria-label=runs]')")
        shown = int(session.run("return document.querySelector('[aria-label=runs]').getAttribute('aria-rowcount')")) - 1
        if shown != sum(len(r["times"]) for r in results):
            sys.exit(f"{name}: the table has {shown} runs")
    open_page(session, counts)
    rows = session.run(TABLE)
    if not any(r["event"] == "page-faults" and float(r["count"].replace(",", "")) > 10 for r in rows):
        sys.exit(f"{counts}: no page-faults: {rows}")
    wait_for(session, "return document.querySelectorAll('.chart canvas').length >= 2")
    check_tampered(session, bench, lambda about: about["sets"][0]["commands"][0].update(total=1))
    check_tampered(session, counts, lambda about: about["rows"][0].update(sum=1))


def check_compared(session, compared, report):
    """Values and verdicts of the page are those of the report, which are returned, with the rows of the page."""
    rows = json.loads(pathlib.Path(report).read_text(encoding="utf-8"))["rows"]
    open_page(session, compared)
    shown = {r["function"]: r for r in session.run(TABLE)}
    for row in rows:
        name, value = row["name"], next(iter(row["values"].values()))
        got = {k: v.replace("\u202f", "") for k, v in shown.get(name, {}).items()}
        if got.get("before") != str(value["old"] or "") or got.get("after") != str(value["new"] or ""):
            sys.exit(f"{compared}: {name}: {got}, the report has {value}")
        word = got.get("verdict", "")
        if "change" in row and not word.endswith(row["change"]["verdict"]):
            sys.exit(f"{compared}: {name}: verdict '{word}', the report's is {row['change']['verdict']}")
    return rows, shown


def select_call(session, path, hash_part, steps):
    """Goes to a call of the flame graph by keys; the facts of it that stand beside the picture."""
    open_page(session, path, hash_part)
    session.run("document.querySelector('.flame canvas').focus()")
    for name in steps:
        key(session, name)
    return session.run("""return Object.fromEntries([...document.querySelectorAll('aside dt')].map(
        d => [d.textContent, d.nextElementSibling.textContent]).concat([['name', document.querySelector('aside h2').textContent]]))""")


def check_sets(session, compared, report):
    rows, _ = check_compared(session, compared, report)
    if not any(r["change"]["verdict"] in ("more", "less", "slower", "faster") for r in rows):
        sys.exit(f"{report}: nothing is called changed")
    # The views of either side have the means of its recordings, too.
    for recording, own, other in ((0, "new", "old"), (1, "old", "new")):
        open_page(session, compared, f"#tab=functions&rec={recording}")
        if session.run(FAILED):
            sys.exit(f"{compared}: {session.run(FAILED)}")
        shown = {r["function"]: r for r in session.run(TABLE)}
        for row in rows:
            value = next(iter(row["values"].values()))
            got = {k: v.replace("\u202f", "") for k, v in shown.get(row["name"], {}).items()}
            there = {"old": "before", "new": "after"}[other]
            if value[own] and (got.get("samples self"), got.get(there)) != (str(value[own]), str(value[other] or "")):
                sys.exit(f"{compared}: recording {recording}, {row['name']}: {got}, the report has {value}")
    facts = select_call(session, compared, "#tab=flame", ["ArrowDown"] * 3)
    verdict = {r["name"]: r["change"]["verdict"] for r in rows}.get(facts["name"])
    if not verdict or not facts.get("function", "").endswith(", " + verdict):
        sys.exit(f"{compared}: beside the picture stands {facts}, the verdict is '{verdict}'")


def check_first_look(session, runs, source):
    open_page(session, runs)
    said = session.run("return document.querySelector('#view strong').textContent")
    if "too few to be sure" not in said or ",;" in said:
        sys.exit(f"{runs}: the heading is '{said}'")
    # The first file is one with text, where all of the time passes, not the first name of those without a value.
    open_page(session, source, "#tab=source")
    path = session.run("return document.querySelector('#view .path').textContent")
    if not path.endswith("/shop.c"):
        sys.exit(f"{source}: the first file is {path}")


def check_gap(session, path):
    facts = select_call(session, path, "", ["ArrowDown"] * 3)
    if facts["name"] != "[stack cut: middle not copied]" or "not copied" not in facts["kind"] or "last complete stack" not in facts["kind"]:
        sys.exit(f"{path}: {facts}")


def check_diff(session, compared, report, moved, lines, pair):
    _, shown = check_compared(session, compared, report)
    for name, wanted_text in (("fresh", "new"), ("gone", "gone")):
        if shown[name]["change"] != wanted_text:
            sys.exit(f"{compared}: {name}: {shown[name]}")
    # The picture has the colour of the change, on each side.
    colours = """const c = document.querySelector('.flame canvas'), d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data, seen = new Set();
for (let i = 0; i < d.length; i += 4) seen.add((d[i] > d[i + 2] + 40 ? 'more' : d[i + 2] > d[i] + 40 ? 'less' : 'same')); return [...seen]"""
    for recording, wanted_colour in ((0, "more"), (1, "less")):
        open_page(session, compared, f"#tab=flame&rec={recording}")
        wait_for(session, f"return (() => {{ {colours} }})().includes('{wanted_colour}')")
    open_page(session, compared, "#tab=functions")
    by_name = {r["function"]: r for r in session.run(TABLE)}
    if by_name["fresh"]["change"] != "new" or by_name["warm"]["before"] != "500":
        sys.exit(f"{compared}: functions: {by_name}")
    check_tampered(session, compared, lambda about: about["tables"][0].update(after=1))
    # A line that moved is found by its text.
    open_page(session, moved, "#tab=source")
    line = session.run(JOINED).get("5", {})
    if not line.get("before") or not line.get("change") or line["change"].startswith("new"):
        sys.exit(f"{moved}: line 5 was line 2 before: {line}")
    # Of coverage, the lines that ran before and do not now; a row of what changed leads there.
    open_page(session, lines)
    session.run("document.querySelector('#view .space .row').dispatchEvent(new MouseEvent('dblclick', {bubbles: true}))")
    wait_for(session, "return location.hash.includes('tab=coverage') && [...document.querySelectorAll('#view .row')].some(r => r.textContent.includes('LBC'))")
    # Two programs of one name are told apart by their folders.
    open_page(session, pair)
    names = session.run("return [...document.querySelectorAll('select[aria-label=recording] option')].map(o => o.textContent)")
    if names != ["before/moved", "after/moved"]:
        sys.exit(f"{pair}: the recordings are called {names}")


def raise_totals(about):
    for metric in about["metrics"]:
        metric["total"] += 1


def check_tampered(session, original, change):
    text = pathlib.Path(original).read_text(encoding="utf-8")
    found = re.search(r'<template class="assay">([^<]*)</template>', text)  # of a comparison, what changed
    data = gzip.decompress(base64.b64decode(found.group(1)))
    size = struct.unpack("<I", data[:4])[0]
    head = json.loads(data[4:4 + size])
    change(head["about"])
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
        if page == "--joined":
            check_joined(open_session, *more)
            check_heap(open_session, more[0])
        elif page == "--diff":
            check_diff(open_session, *more)
        elif page == "--sets":
            check_sets(open_session, *more)
        elif page == "--first-look":
            check_first_look(open_session, *more)
        elif page == "--gap":
            check_gap(open_session, *more)
        elif page == "--runs":
            check_runs(open_session, *more)
        elif page == "--large":
            check_large(open_session, *more)
        else:
            check_functions(open_session)
            check_views(open_session)
            check_tampered(open_session, page, raise_totals)
    finally:
        open_session.close()
