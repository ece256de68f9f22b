#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Opens pages in a headless Chromium, and says what names in them did.

page_in_browser.py BROWSER MARKER PAGE...
page_in_browser.py --touch DRIVER BROWSER MARKER PAGE...

--touch also moves the mouse over every element, clicks it and gives it the focus, opens what folds, presses the keys
that a page may know, types a name into its fields and changes the part of its address behind #, by a chromedriver.

Names in the pages contain scripts, which set the attribute data-pwned of the document, and images of
a server of ours. Status 1 with the reason when a page
  - has run such a script, or has an element or an attribute that is part of a name,
  - does not contain MARKER, which is part of a name, after its own scripts have run.

page_in_browser.py serve

Serves on the loopback until it is killed. Its address is in the file `server`; the file `requests`
gets a line for each request.
"""
import contextlib
import http.server
import json
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

OPTIONS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
           "--disable-background-networking"]

# Runs in the page: touches everything, and gives how many elements it touched. At most LIMIT elements of a page,
# spread over it. A page that leaves its address by a click is brought back by the caller.
TOUCH = r"""
const [marker, limit] = arguments;
const hostile = marker + "<img src=x onerror=document.documentElement.setAttribute('data-pwned','typed')>";
for (const folded of document.querySelectorAll("details")) folded.open = true;
const all = [...document.querySelectorAll("body *, svg *")];
const step = Math.max(1, Math.ceil(all.length / limit));
window.prompt = () => hostile;
window.alert = window.confirm = () => true;
let touched = 0;
const send = (to, Kind, name, more) => to.dispatchEvent(new Kind(name, {bubbles: true, cancelable: true, view: window, ...more}));
const keys = ["Enter", " ", "Escape", "/", "?", "n", "p", "j", "k", "r", "ArrowDown", "ArrowUp", "ArrowLeft", "ArrowRight", "Tab"];
document.addEventListener("click", (event) => { if (event.target.closest?.("a")) event.preventDefault(); });
for (let i = 0; i < all.length; i += step) {
    const one = all[i];
    for (const name of ["mouseover", "mouseenter", "mousemove", "mousedown", "mouseup", "click", "dblclick", "mouseout"])
        send(one, MouseEvent, name, {clientX: 5, clientY: 5});
    if (one.focus) one.focus();
    send(one, FocusEvent, "focusin");
    send(one, KeyboardEvent, "keydown", {key: keys[touched % keys.length]});
    touched++;
}
for (const key of keys) send(document.activeElement || document, KeyboardEvent, "keydown", {key});
for (const box of document.querySelectorAll("input, select")) {
    if (box.type === "checkbox") box.click(); else box.value = hostile;
    for (const name of ["input", "change"]) send(box, Event, name);
    if (box.type !== "checkbox") { box.value = "marker"; send(box, Event, "input"); }
}
location.hash = hostile;
window.dispatchEvent(new Event("resize"));
return touched;
"""
LIMIT = 2000


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
            [browser, *OPTIONS, f"--user-data-dir={profile}", "--virtual-time-budget=5000", "--dump-dom",
             pathlib.Path(page).resolve().as_uri()],
            capture_output=True, timeout=100, check=False)
    return done.stdout.decode("utf-8", "replace")


def resolves(name):
    try:
        return bool(socket.getaddrinfo(name, None))
    except OSError:
        return False


class Driver:
    """A session of a chromedriver, by the W3C WebDriver protocol."""

    def __init__(self, driver, browser, profile):
        self.browser = None
        self.process = subprocess.Popen([driver, "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        for line in self.process.stdout:
            port = re.search(r"on port (\d+)", line)
            if port and "started successfully" in line:
                break
        else:
            sys.exit("chromedriver does not start")
        self.base = f"http://127.0.0.1:{port.group(1)}"
        args = [*OPTIONS, f"--user-data-dir={profile}", "--window-size=1200,900"]
        options = {"binary": browser, "args": args}
        if not resolves("localhost"): # by this name the driver reaches a browser that it starts
            options = {"debuggerAddress": self.start(browser, args, profile)}
        # The default of 30 s is too short for a busy machine.
        wish = {"browserName": "chrome", "timeouts": {"script": 180000}, "goog:chromeOptions": options}
        session = self.ask("POST", "/session", {"capabilities": {"alwaysMatch": wish}})
        self.base += "/session/" + session["sessionId"]

    def start(self, browser, args, profile):
        """Starts the browser; the address at which it takes commands."""
        self.browser = subprocess.Popen([browser, *args, "--remote-debugging-port=0", "about:blank"],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        port = pathlib.Path(profile) / "DevToolsActivePort"
        until = time.monotonic() + 100
        while not (port.exists() and "\n" in port.read_text()):
            if self.browser.poll() is not None or time.monotonic() > until:
                self.end()
                sys.exit("the browser does not start")
            time.sleep(0.05)
        return f"127.0.0.1:{port.read_text().split()[0]}"

    def ask(self, method, path, body=None):
        request = urllib.request.Request(self.base + path, method=method, headers={"Content-Type": "application/json"},
                                         data=None if body is None else json.dumps(body).encode())
        try:
            with urllib.request.urlopen(request, timeout=200) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as refused:
            sys.exit(f"{method} {path}: {refused.read().decode('utf-8', 'replace')[:2000]}")

    def run(self, script, *arguments):
        return self.ask("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def close(self):
        with contextlib.suppress(OSError):
            self.ask("DELETE", "")
        self.end()

    def end(self):
        for process in filter(None, (self.process, self.browser)):
            process.terminate()
            process.wait()


def touched_document_of(driver, browser, page, marker):
    """The document after every element was touched, and how many were."""
    with tempfile.TemporaryDirectory() as profile:
        session = Driver(driver, browser, profile)
        try:
            address = pathlib.Path(page).resolve().as_uri()
            session.ask("POST", "/url", {"url": address})
            before = session.run("return document.documentElement.outerHTML")
            touched = session.run(TOUCH, marker, LIMIT)
            if not session.ask("GET", "/url").startswith(address):
                sys.exit(f"{page}: a click leaves the page")
            after = session.run("return document.documentElement.outerHTML")
            return before, after, touched
        finally:
            session.close()


def judge(page, text, when):
    if len(text) < 200:
        sys.exit(f"{page}: the browser shows nothing {when}: {text}")
    root = re.search(r"<(html|svg)\b[^>]*>", text)
    if not root or "data-pwned" in root.group():
        sys.exit(f"{page}: a script of a name has run {when}: {root and root.group()}")
    element = re.search(r"<img[^>]*\bx[^>]*>|<[^>]*\sonerror=", text)
    if element:
        sys.exit(f"{page}: a name is an element {when}: {element.group()[:200]}")


def main():
    if sys.argv[1:] == ["serve"]:
        serve()
    arguments = sys.argv[1:]
    driver = arguments[1] if arguments[0] == "--touch" else None
    browser, marker, *pages = arguments[2:] if driver else arguments
    for page in pages:
        touched = 0
        if driver:
            text, after, touched = touched_document_of(driver, browser, page, marker)
            judge(page, after, "after it was touched")
            if touched < 3:
                sys.exit(f"{page}: only {touched} elements were touched")
        else:
            text = document_of(browser, page)
        judge(page, text, "when it was opened")
        if marker not in text:
            sys.exit(f"{page}: the name with {marker} is not shown")
        print(f"{page}: {len(text)} characters, {touched} elements touched")


if __name__ == "__main__":
    main()
