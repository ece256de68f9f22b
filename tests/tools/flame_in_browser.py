#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Opens a flame graph in a headless Chromium, by a chromedriver, and judges what is on the screen.

flame_in_browser.py DRIVER BROWSER PAGE [--screenshot FILE] [--deep] [--time]

Judged: the picture opens at its root; title, buttons, details and legend are on the screen and stay there when the page
is scrolled; each box is reached by `hottest` and by the arrow keys. --deep: of a recursion that is folded, the first
round is on the screen with what it leads to; a click unfolds it, and Escape folds it. --time prints how long the page
took until the boxes were on the screen, by the clock and by processor time.
"""
import argparse
import base64
import contextlib
import os
import pathlib
import sys
import tempfile
import time

from page_in_browser import Driver

STATE = """
const on = (e) => { const r = e.getBoundingClientRect(); return r.bottom > 0 && r.top < innerHeight; };
const boxes = [...document.querySelectorAll("#frames > g")];
const text = (g) => g.textContent;
return {height: innerHeight, scroll: scrollY, page: document.documentElement.scrollHeight,
    boxes: boxes.filter(on).map((g) => [text(g), Math.round(g.getBoundingClientRect().top), Math.round(g.getBoundingClientRect().width)]),
    folded: boxes.filter((g) => on(g) && g.classList.contains("folded")).map(text),
    elements: boxes.length, details: document.getElementById("details").textContent,
    head: ["title", "search", "details"].every((id) => { const r = document.getElementById(id).getBoundingClientRect();
        return r.top >= 0 && r.bottom < 100; }),
    legend: [...document.querySelectorAll(".legend")].every((e) => e.getBoundingClientRect().top < 100),
    focus: document.activeElement && document.activeElement.frame !== undefined ? text(document.activeElement) : "",
    focused: document.activeElement && document.activeElement.frame !== undefined && on(document.activeElement)};
"""


def cpu_of(pid):
    """Processor time in seconds of a process and all that it started."""
    children, times = {}, {}
    for entry in pathlib.Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            words = entry.read_text().rpartition(")")[2].split()
            children.setdefault(int(words[1]), []).append(int(entry.parent.name))
            times[int(entry.parent.name)] = int(words[11]) + int(words[12])
    todo, ticks = [pid], 0
    while todo:
        one = todo.pop()
        ticks += times.get(one, 0)
        todo += children.get(one, [])
    return ticks / os.sysconf("SC_CLK_TCK")


def judge(holds, words, state):
    if not holds:
        state["boxes"] = state["boxes"][:20]
        sys.exit(f"{words}: {state}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("driver")
    parser.add_argument("browser")
    parser.add_argument("page")
    parser.add_argument("--screenshot")
    parser.add_argument("--deep", action="store_true")
    parser.add_argument("--time", action="store_true")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as profile:
        session = Driver(args.driver, args.browser, profile)
        try:
            visit(session, args)
        finally:
            session.close()


def visit(session, args):
    session.ask("POST", "/url", {"url": "data:text/html,warm"})
    start, used = time.monotonic(), cpu_of(session.process.pid)
    session.ask("POST", "/url", {"url": pathlib.Path(args.page).resolve().as_uri()})
    # A reading of a box's place makes the browser lay out what the script drew.
    state = session.run(STATE)
    if args.time:
        print(f"{args.page}: {time.monotonic() - start:.2f} s, {cpu_of(session.process.pid) - used:.2f} s of CPU in all of the "
              f"browser's processes, {state['elements']} elements")
    if args.screenshot:
        pathlib.Path(args.screenshot).write_bytes(base64.b64decode(session.ask("GET", "/screenshot")))
    names = [name for name, _, _ in state["boxes"]]
    judge("all" in names, "it does not open at its root", state)
    judge(state["head"] and state["legend"], "title, buttons, details or legend are not on the screen", state)

    def key(name):
        session.run("(document.activeElement || document.body || document.documentElement).dispatchEvent("
                    "new KeyboardEvent('keydown', {key: arguments[0], bubbles: true, cancelable: true}))", name)
        return session.run(STATE)

    if args.deep:
        judge(state["folded"], "no recursion is folded on the screen", state)
        session.run("document.querySelector('#frames > g.folded').dispatchEvent(new MouseEvent('click', {bubbles: true}))")
        unfolded = session.run(STATE)
        judge(unfolded["page"] > state["page"] and "×" not in unfolded["focus"], "a click does not unfold", unfolded)
        judge(unfolded["focused"], "the box that was clicked left the screen", unfolded)
        folded = key("Escape")
        judge(folded["page"] == state["page"] and folded["folded"], "Escape does not fold", folded)
    hot = key("h")
    judge(hot["focused"] and "self" in hot["details"], "the hottest box is not reached", hot)
    judge(hot["head"], "the head does not stay on the screen", hot)
    seen = [hot["focus"]]
    back = session.run("return document.documentElement.dataset.icicle") == "1" and "ArrowUp" or "ArrowDown"
    while hot["details"].split(" ")[0] != "all" and len(seen) < 5000:
        hot = key(back)
        judge(hot["focused"], "an arrow key leads to a box that is not on the screen", hot)
        seen.append(hot["details"].split(" ")[0])
    judge(seen[-1] == "all", "the arrow keys do not lead to the root", hot)
    print(f"{args.page}: {len(seen)} boxes from the hottest to the root")


main()
