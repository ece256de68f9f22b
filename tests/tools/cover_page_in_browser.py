#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""cover_page_in_browser.py DRIVER BROWSER PAGE [SCREENSHOT]: opens a page of coverage in a headless Chromium and prints its
rows as it shows them: depth, name and shares, folders with a slash at their end. Then sorts it by lines, searches, and follows
a link to a line."""
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

driver, browser, page, *screenshot = sys.argv[1:]
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
    finally:
        session.close()
