#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""cover_page_in_browser.py DRIVER BROWSER PAGE [--lines FILE…]: opens a page of coverage in a headless Chromium and prints its rows as it
shows them: depth, name and shares, folders with a slash at their end. Then sorts it by lines and searches. With --lines it prints, of files
by their names in the page, the lines that a change made, then the files that are left when only lost and new lines are asked for.

cover_page_in_browser.py DRIVER BROWSER PAGE --against TRACEFILE SOURCE [MCDC]: opens every file, and compares the lines, branches and
functions that the page shows with those of a tracefile and the text of the source; then steps, searches, sorts and follows an address to a
line. MCDC is what llvm-cov show --show-mcdc prints of the source: the page's decisions are to have its vectors and pairs. Without it those of
a page that was made of the tracefile are to have its conditions."""
import os
import pathlib
import re
import sys
import tempfile
import time
import urllib.parse

from page_in_browser import Driver

# The rows of a table, of which only those on the screen are elements: scrolled through.
ROWS = """
const table = document.querySelector(arguments[0]), done = arguments[arguments.length - 1], found = new Map();
if (!table) return done([]);
const frame = () => new Promise((next) => setTimeout(next, 30));
(async () => {
    for (let top = 0; ; top += 200) {
        table.scrollTop = top;
        table.dispatchEvent(new Event("scroll"));
        await frame(); await frame();
        for (const row of table.querySelectorAll(".space .row"))
            found.set(Number(row.getAttribute("aria-rowindex")), [row.className, row.getAttribute("aria-level"), ...[...row.children].map((c) => c.querySelector(".cells")
                ? [...c.querySelector(".cells").children].map((s) => s.full).join("\\t") : c.textContent)]);
        if (top + table.clientHeight >= table.scrollHeight) break;
    }
    done([...found].sort((a, b) => a[0] - b[0]).map((r) => r[1]));
})();
"""
FILES, SOURCE = ".cover-files .table", ".cover-source > .table"


def fail(text):
    sys.exit(str(text))


class Page:
    def __init__(self, session, page):
        self.session = session
        self.address = pathlib.Path(page).resolve().as_uri()
        self.open("")

    def until(self, script, *arguments):
        end = time.monotonic() + 60
        while time.monotonic() < end:
            value = self.session.run(script, *arguments)
            if value:
                return value
            time.sleep(0.05)
        return fail(f"never true: {script}")

    def open(self, hash_part):
        self.session.ask("POST", "/url", {"url": "about:blank"})
        self.session.ask("POST", "/url", {"url": self.address + hash_part})
        self.until("return document.documentElement.dataset.loaded && document.querySelector('.cover-files .table')")

    def settle(self):
        self.session.ask("POST", "/execute/async", {"script": "setTimeout(arguments[0], 400)", "args": []})

    def rows(self, table):
        return self.session.ask("POST", "/execute/async", {"script": ROWS, "args": [table]})

    def files(self):
        for row in self.rows(FILES):
            yield int(row[1] or 1) - 1, re.sub("^[▸▾] ", "", row[2]), row[3:]

    def paths(self):
        """Of all files, in the order of the table."""
        return self.session.run("return [...document.querySelectorAll('.cover-files .space .row .indent:not(.dir)')].map((e) => e.path)")

    def shown_file(self):
        return self.session.run("return document.querySelector('.cover-source .path')?.textContent")

    def choose(self, end):
        """The file whose path ends so."""
        path = next(p for p in self.paths() if p.endswith(end))
        self.session.run("[...document.querySelectorAll('.cover-files .space .row')].find((r) => r.querySelector('.indent').path === arguments[0]).click()", path)
        self.until("return document.querySelector('.cover-source .path')?.textContent === arguments[0] && document.querySelector(arguments[1])", path, SOURCE)
        return path

    def sort(self, column):
        self.session.run("[...document.querySelectorAll('.cover-files .head button')].find((b) => b.textContent === arguments[0]).click()", column)

    def search(self, text):
        self.session.run("const box = document.querySelector('.search input'); box.value = arguments[0]; box.dispatchEvent(new Event('input'))", text)
        self.settle()

    def only(self, word):
        self.session.run("document.querySelector(`[data-only=${arguments[0]}]`).click()", word)
        self.settle()

    def press(self, key):
        self.session.run("document.body.dispatchEvent(new KeyboardEvent('keydown', {key: arguments[0], bubbles: true, cancelable: true}))", key)

    def selected(self):
        """The number of the line that is gone to, and its classes."""
        return self.session.run("const r = document.querySelector(arguments[0] + ' [aria-selected=true]'); return [r.children[0].textContent, r.className]", SOURCE)


def print_page(page, lines):
    def show():
        print("\n".join(" ".join([str(depth), name, *cells]) for depth, name, cells in page.files()))
    show()
    page.sort("lines")
    print("--- by lines")
    show()
    page.sort("file")
    page.search("two.c")
    print("--- two.c")
    show()
    named = page.session.run("return [...document.querySelectorAll('.table')].every((t) => t.getAttribute('aria-label') && /grid/.test(t.getAttribute('role')))")
    print("--- labelled", named)
    page.search("")
    folder = common(page.paths()) if lines else ""
    for name in lines:
        page.choose("/" + name)
        print("--- lines of " + name)
        for row in page.rows(SOURCE):
            if row[5]:
                print(row[2], row[3], row[5])
    if lines:
        page.only("changed")
        print("--- changed", " ".join(p[len(folder):] for p in page.paths()), sep="\n")


def common(paths):
    return os.path.commonpath(paths) + "/"


def truth_of(tracefile, path):
    record = next((r for r in tracefile.split("end_of_record\n") if f"SF:{path}\n" in r), None) or fail("the tracefile has no " + path)
    taken = {}
    for line, count in re.findall(r"^BRDA:(\d+),\d+,\d+,(\d+|-)", record, re.M):
        hit, every = taken.get(line, (0, 0))
        taken[line] = (hit + (count not in "0-"), every + 1)
    return (dict(re.findall(r"^DA:(\d+),(\d+)", record, re.M)), {k: f"{h}/{a}" for k, (h, a) in taken.items()}, sorted(re.findall(r"^FN:(\d+),", record, re.M)))


def check_lines(page, path, tracefile, source):
    counts, branches, functions = truth_of(tracefile, path)
    rows = [r for r in page.rows(SOURCE) if r[2]]
    for row in rows:
        line, count, branch, text = row[2], row[3].replace("\u202f", ""), row[4], row[-1]
        if count != counts.pop(line, ""):
            fail(f"{path}:{line}: count '{count}'")
        if branch != branches.get(line, ""):
            fail(f"{path}:{line}: branches '{branch}'")
        if re.search(r"\.cc?$", path) and text != source[int(line) - 1].replace("\t", "    "):
            fail(f"{path}:{line}: text '{text}'")
    if counts:
        fail(f"{path}: lines without a row: {counts}")
    if functions:
        page.session.run("document.querySelector('.cover-source [aria-expanded]').click()")
        shown = sorted(r[2] for r in page.rows(".function-list .table"))
        if shown != functions:
            fail(f"{path}: functions at {shown}, not {functions}")
    return rows


# "9:9 to 9:30", its vectors as "TF-=T" and its pairs as "1,3", in one text for each decision.
def listed_decisions(listed):
    for text in listed.split("MC/DC Decision Region ")[1:]:
        place = " to ".join(re.search(r"\((\d+:\d+)\) to \((\d+:\d+)\)", text).groups())
        vectors = [re.sub("[ ,]", "", v) + "=" + r for v, r in re.findall(r"\{ ([^=]*)= (\w)", text)]
        pairs = [re.sub(r"covered: \((.*)\)", r"\1", p).replace("constant folded", "constant").replace("not covered", "not shown")
                 for p in re.findall(r"-Pair: (.*)", text)]
        yield " ".join([place, *vectors, *pairs])


def tables_of(rows):
    """The decisions of a file: each a list of rows of cells."""
    table = []
    for row in rows:
        cells = row[-1].split("\t")
        if "sub" in row[0].split() and not row[-1].lstrip("▾▸ ").startswith("MC/DC:"):
            if (len(cells) == 1 and " to " in cells[0]) or cells == ["condition", "true", "false"]:
                if table:
                    yield table
                table = []
            table.append(cells)
    if table:
        yield table


def shown_decision(table):
    caption, _, *rows = table
    cells = [r[1:] for r in rows]
    vectors = [v for v in cells[:-1] if v[-1] != "-"]
    return " ".join([re.sub(", .*", "", caption[0]), *("".join(v[:-1]) + "=" + v[-1] for v in vectors), *(p.replace(", ", ",") for p in cells[-1][:-1])])


def traced_conditions(tracefile):
    senses = {}
    for line, group, sense, count, index, text in re.findall(r"^MCDC:(\d+),(\d+),([tf]),(\d+),(\d+),(.*)$", tracefile, re.M):
        senses.setdefault((line, group, index), {"text": text})[sense] = count
    return sorted(f"{s['text']} {s['t']} {s['f']}" for s in senses.values())


def check_decisions(page, paths, tracefile, listed):
    tables = []
    for path in paths:
        page.choose(path)
        if any("▸" in row[-1] for row in page.rows(SOURCE)):
            page.press("m")
        rows = page.rows(SOURCE)
        if any(row[-1].startswith("▸ MC/DC") for row in rows):
            fail("m opens not all")
        tables += tables_of(rows)
        page.press("m")
        if any(row[-1].startswith("▾ MC/DC") for row in page.rows(SOURCE)):
            fail("m closes not all")
    if listed is not None:
        ours, theirs = sorted(map(shown_decision, tables)), sorted(listed_decisions(listed))
    else:
        ours, theirs = sorted(" ".join(r) for t in tables for r in t[1:]), traced_conditions(tracefile)
    if not theirs or ours != theirs:
        fail("decisions:\n" + "\n".join(ours) + "\nnot\n" + "\n".join(theirs))


def check_steps(page, path, rows):
    missed = [r[2] for r in rows if re.search(r"\b[up]\b", r[0])]
    if not missed:
        return 0
    page.open("#" + urllib.parse.urlencode({"tab": "coverage", "file": path}))
    page.until("return document.querySelector(arguments[0] + ' [aria-selected=true]')", SOURCE)
    if page.selected()[0] != missed[0]:
        fail(f"{path} is opened at line {page.selected()[0]}, not at {missed[0]}")
    for i in range(1, len(missed) + 1):
        page.press("n")
        page.settle()
        if page.selected()[0] != missed[i % len(missed)]:
            fail(f"n leads to {page.selected()[0]}, not {missed[i % len(missed)]}")
    page.press("p")
    page.settle()
    if page.selected()[0] != missed[-1]:
        fail("p leads to the wrong line")
    return len(missed)


def check_against(page, tracefile, source, listed):
    if len(re.findall("<script>", pathlib.Path(sys.argv[3]).read_text(encoding="utf-8"))) != 1:
        fail("a script that is not the page's")
    paths, checked, steps, all_rows = page.paths(), 0, 0, {}
    for path in paths:
        page.choose(path)
        all_rows[path] = check_lines(page, path, tracefile, source)
        checked += len(all_rows[path])
    for path in paths:
        steps += check_steps(page, path, all_rows[path])
    if not steps:
        fail("no line that did not run")
    if listed is not None or "MCDC:" in tracefile:
        check_decisions(page, paths, tracefile, listed)
    page.search("return")
    page.press("n")
    page.settle()
    if not page.session.run("return document.querySelector(arguments[0] + ' [aria-selected=true] .match')", SOURCE):
        fail("n leads to no line that was found")
    page.search("no such text anywhere")
    if not page.session.run("return document.querySelector('.search output').textContent").startswith(f"0 of {len(paths)} file"):
        fail("what was found is not said")
    page.search("")
    page.sort("lines")
    shares = [100.0 if c[0] == "-" else float(c[0].split("%")[0]) for _, _, c in page.files()]
    if shares != sorted(shares):
        fail(f"lines sort to {shares}")
    page.only("missed")
    left = [float(c[0].split("%")[0]) for _, _, c in page.files() if c[0] != "-"]
    if left != [s for s in shares if s < 100]:
        fail("files that ran whole are to be hidden")
    target = paths[-1]
    line = all_rows[target][1][2]
    page.open("#" + page.session.run("return new URLSearchParams({tab: 'coverage', file: arguments[0], line: arguments[1]}).toString()", target, line))
    page.until("return document.querySelector(arguments[0] + ' [aria-selected=true]')", SOURCE)
    if page.selected()[0] != line or page.shown_file() != target:
        fail("the address of a line leads elsewhere")
    print(f"{checked} lines")


def main():
    driver, browser, path, *more = sys.argv[1:]
    with tempfile.TemporaryDirectory() as profile:
        session = Driver(driver, browser, profile)
        try:
            page = Page(session, path)
            if more[:1] == ["--against"]:
                texts = [pathlib.Path(p).read_text(encoding="utf-8") for p in more[1:]]
                check_against(page, texts[0], texts[1].split("\n"), texts[2] if len(texts) > 2 else None)
            else:
                print_page(page, more[1:])
        finally:
            session.close()


main()
