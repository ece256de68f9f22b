#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""axe_in_browser.py DRIVER BROWSER AXE.js PAGE...

Opens every view of pages of assay view and runs axe-core over it, light and dark. Status 1 with what it finds. Then, in each view:
  - Tab reaches the search, the tabs and what the view shows, and what has the focus is marked;
  - with forced colours the selected tab and the selected row are told apart;
  - with reduced motion a zoom of the flame graph is at its end at once.
"""
import pathlib
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from page_in_browser import Driver  # noqa: E402

driver, browser, axe, *pages = sys.argv[1:]
axe = pathlib.Path(axe).read_text(encoding="utf-8")
RUN = """return axe.run(document, arguments[0]).then(r => r.violations.flatMap(v => v.nodes.slice(0, 3).map(
    n => v.id + ' (' + v.impact + '): ' + n.target.join(' ') + ': ' + n.html.slice(0, 160) + ' ' + n.any.map(a => a.message).join('; ').slice(0, 200))))"""
found = []


def wait_for(session, script):
    end = time.monotonic() + 60
    while not session.run(script):
        if time.monotonic() > end:
            sys.exit(f"never true: {script}")
        time.sleep(0.05)


def emulate(session, **features):
    session.ask("POST", "/goog/cdp/execute", {"cmd": "Emulation.setEmulatedMedia", "params": {
        "features": [{"name": n.replace("_", "-"), "value": v} for n, v in features.items()]}})


def walk(session):
    """The elements that Tab goes to, by their roles; those of them without a mark of the focus; whether one was in the view."""
    session.run("document.body.tabIndex = -1; document.body.focus()")
    seen, unmarked, inside = [], [], False
    for _ in range(60):
        session.ask("POST", "/actions", {"actions": [{"type": "key", "id": "keys", "actions": [
            {"type": "keyDown", "value": "\ue004"}, {"type": "keyUp", "value": "\ue004"}]}]})
        at = session.run("""const a = document.activeElement, s = getComputedStyle(a);
return [a.id || a.getAttribute('role') || a.className || a.tagName, s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) > 0, a === document.body, a.closest('#view, #summary') !== null]""")
        if at[2] or (seen and at[0] == seen[0] and len(seen) > 5):
            break
        seen.append(at[0])
        inside = inside or at[3]
        if not at[1]:
            unmarked.append(at[0])
    return seen, unmarked, inside


def check_walk(session, page, view):
    wanted = ("INPUT", "tab-" + view)
    for _ in range(3): # on a busy machine the browser's own window may take the focus in the midst
        seen, unmarked, inside = walk(session)
        if inside and all(name in seen for name in wanted):
            break
        session.ask("POST", "/goog/cdp/execute", {"cmd": "Page.bringToFront", "params": {}})
    for name in wanted:
        if name not in seen:
            found.append(f"{page} {view}: Tab does not reach {name}: {seen}")
    if not inside:
        found.append(f"{page} {view}: Tab does not reach the view: {seen}")
    if unmarked:
        found.append(f"{page} {view}: the focus is not marked: {unmarked}")


def check_view(session, page, view):
    session.run("document.getElementById('tab-' + arguments[0]).click()", view)
    wait_for(session, "return document.querySelector('#view .space .row, #view canvas, #view .empty, #summary:not([hidden])') !== null")
    # The page draws what has changed in its next frame; elements that are made anew lose the focus.
    session.run("return new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => done(1), 200))))")
    for scheme, options in (("light", {}), ("dark", {"runOnly": ["color-contrast"]})):
        emulate(session, prefers_color_scheme=scheme)
        found.extend(f"{page} {view} {scheme}: {problem}" for problem in session.run(RUN, options))
    emulate(session, prefers_color_scheme="light")
    check_walk(session, page, view)


def check_forced_colours(session, page):
    emulate(session, forced_colors="active")
    told = session.run("""const on = document.querySelector('.tabs [aria-selected=true]'), off = document.querySelector('.tabs [aria-selected=false]'), row = document.querySelector('.row[aria-selected=true]');
const border = e => getComputedStyle(e).borderBottomColor;
return [!off || border(on) !== border(off), !row || getComputedStyle(row).outlineStyle !== 'none']""")
    if told != [True, True]:
        found.append(f"{page}: with forced colours the selected tab and row look like the others: {told}")
    emulate(session)


def check_motion(session, page):
    emulate(session, prefers_reduced_motion="reduce")
    session.run("document.getElementById('tab-flame').click()")
    wait_for(session, "return document.querySelector('.flame canvas')?.width > 0")
    time.sleep(0.3)
    same = session.run("""const c = document.querySelector('.flame canvas'), send = key => c.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true}));
send('ArrowDown'); send('ArrowDown'); send('ArrowDown'); send('Enter');
const picture = () => c.getContext('2d').getImageData(0, 0, c.width, c.height).data.reduce((a, v, i) => (a * 31 + v * (i % 7 + 1)) >>> 0, 7), first = picture();
return new Promise(done => setTimeout(() => done(first === picture()), 400))""")
    if not same:
        found.append(f"{page}: a zoom moves although motion is to be reduced")
    emulate(session)


with tempfile.TemporaryDirectory() as profile:
    open_session = Driver(driver, browser, profile)
    try:
        for one in pages:
            open_session.ask("POST", "/url", {"url": "about:blank"})
            open_session.ask("POST", "/url", {"url": pathlib.Path(one).resolve().as_uri()})
            wait_for(open_session, "return document.documentElement.dataset.loaded")
            open_session.run(axe + "\nreturn 1")
            views = open_session.run("return [...document.querySelectorAll('[role=tab]')].map(t => t.id.slice(4))")
            for name in views:
                check_view(open_session, one, name)
            check_forced_colours(open_session, one)
            if "flame" in views and one == pages[0]:
                check_motion(open_session, one)
    finally:
        open_session.close()
if found:
    sys.exit("\n".join(dict.fromkeys(found)))
