#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""cover_page_in_browser.py DRIVER BROWSER PAGE [--lines FILE… | SCREENSHOT]: opens a page of coverage in a headless Chromium and prints its
rows as it shows them: depth, name and shares, folders with a slash at their end. Then sorts it by lines, searches, and follows
a link to a line. With --lines it prints, of files by their names in the page, the lines that a change made, then the files
that are left when only lost and new lines are asked for."""
import base64
import pathlib
import sys
import tempfile

from page_in_browser import Driver

ROWS = """
return [...document.querySelectorAll("#files .dir, #files .file")].filter((d) => d.checkVisibility()).map((d) =>
    [getComputedStyle(d).getPropertyValue("--d"), d.firstChild.firstChild.textContent, ...[...d.firstChild.children].slice(1).map((s) =>
        s.textContent)].join(" "));
"""

LINES = """
const file = [...document.querySelectorAll(".file")].find((d) => d.firstChild.firstChild.textContent === arguments[0]);
return [...file.querySelectorAll("pre span")].map((l) => [l.children[0], l.children[1], l.children[3]].map((e) => e && e.textContent))
    .filter((l) => l[2]).map((l) => l.join(" "));
"""

# Until the lines of the file are there.
SHOWN = """
const file = [...document.querySelectorAll(".file")].find((d) => d.firstChild.firstChild.textContent === arguments[0]);
const timer = setInterval(() => { if (file.querySelector("pre span")) { clearInterval(timer); arguments[1](); } }, 20);
"""

driver, browser, page, *more = sys.argv[1:]
lines = more[1:] if more[:1] == ["--lines"] else []
screenshot = [] if lines else more
with tempfile.TemporaryDirectory() as profile:
    session = Driver(driver, browser, profile)
    try:
        address = pathlib.Path(page).resolve().as_uri()
        session.ask("POST", "/url", {"url": address})
        if screenshot:
            pathlib.Path(screenshot[0]).write_bytes(base64.b64decode(session.ask("GET", "/screenshot")))
        print("\n".join(session.run(ROWS)))
        session.run("document.querySelector('button[data-k=l]').click()")
        print("--- by lines", *session.run(ROWS), sep="\n")
        session.run("document.querySelector('button[data-k=path]').click()")
        session.run("const box = document.querySelector('#search'); box.value = arguments[0]; box.dispatchEvent(new Event('input'))", "two.c")
        session.ask("POST", "/execute/async", {"script": "setTimeout(arguments[0], 500)", "args": []})
        print("--- two.c", *session.run(ROWS), sep="\n")
        roles = session.run("return [...document.querySelectorAll('#files .dir, #files .file')].every((d) => d.getAttribute('role') === 'group' && "
                            "document.getElementById(d.getAttribute('aria-labelledby')).textContent)")
        print("--- labelled", roles)
        session.run("const box = document.querySelector('#search'); box.value = ''; box.dispatchEvent(new Event('input'))")
        for name in lines:
            session.run("[...document.querySelectorAll('.file')].find((d) => d.firstChild.firstChild.textContent === arguments[0]).open = true", name)
            session.ask("POST", "/execute/async", {"script": SHOWN, "args": [name]})
            print("--- lines of " + name, *session.run(LINES, name), sep="\n")
        if lines:
            session.run("document.querySelector('#changed').click()")
            print("--- changed", " ".join(session.run("return [...document.querySelectorAll('.file')].filter((d) => !d.hidden).map((d) => "
                                                      "(d.closest('.dir')?.firstChild.firstChild.textContent || '') + d.firstChild.firstChild.textContent)")),
                  sep="\n")
    finally:
        session.close()
