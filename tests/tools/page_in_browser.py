#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Opens pages in a headless Chromium, and says what names in them did.

page_in_browser.py BROWSER MARKER PAGE...

Names in the pages contain scripts, which set the attribute data-pwned of the document, and images of
a server of ours. Status 1 with the reason when a page
  - has run such a script, or has an element or an attribute that is part of a name,
  - does not contain MARKER, which is part of a name, after its own scripts have run.

page_in_browser.py serve

Serves on the loopback until it is killed. Its address is in the file `server`; the file `requests`
gets a line for each request.
"""
import http.server
import pathlib
import re
import subprocess
import sys
import tempfile


class Note(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        with open("requests", "a", encoding="utf-8") as requests:
            requests.write(self.path + "\n")
        self.send_response(204)
        self.end_headers()

    def log_message(self, *unused):
        pass


def serve():
    server = http.server.HTTPServer(("127.0.0.1", 0), Note)
    pathlib.Path("server.part").write_text(f"127.0.0.1:{server.server_port}")
    pathlib.Path("server.part").rename("server")
    server.serve_forever()


def document_of(browser, page):
    """The document as markup, after its scripts have run."""
    with tempfile.TemporaryDirectory() as profile:
        done = subprocess.run(
            [browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
             "--disable-background-networking", f"--user-data-dir={profile}", "--virtual-time-budget=5000",
             "--dump-dom", pathlib.Path(page).resolve().as_uri()],
            capture_output=True, timeout=100, check=False)
    return done.stdout.decode("utf-8", "replace")


def main():
    if sys.argv[1:] == ["serve"]:
        serve()
    browser, marker, *pages = sys.argv[1:]
    for page in pages:
        text = document_of(browser, page)
        if len(text) < 200:
            sys.exit(f"{page}: the browser shows nothing: {text}")
        root = re.search(r"<(html|svg)\b[^>]*>", text)
        if not root or "data-pwned" in root.group():
            sys.exit(f"{page}: a script of a name has run: {root and root.group()}")
        element = re.search(r"<img[^>]*\bx[^>]*>|<[^>]*\sonerror=", text)
        if element:
            sys.exit(f"{page}: a name is an element: {element.group()[:200]}")
        if marker not in text:
            sys.exit(f"{page}: the name with {marker} is not shown")
        print(f"{page}: {len(text)} characters")


main()
