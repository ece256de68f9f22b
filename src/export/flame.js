// SPDX-License-Identifier: Apache-2.0
// The flame graph's behaviour: zoom, search, details, keys, folded recursion. Reads names and
// numbers from the picture's own text nodes, draws the frames that are on the screen, and writes
// text nodes and attributes only; loads nothing.
(function () {
  "use strict";
  const SVG = "http://www.w3.org/2000/svg";
  const CHAR = 7.25, ROW = 16, HEAD = 94, FOOT = 8; // as in flame.c
  const HUES = 8, LETTERS = "uikjcgrldnso";
  const NARROWEST = 0.3; // px; narrower frames are not seen
  const NARROW = 2.5; // px; narrower ones of a row are one path for each colour
  const svg = document.documentElement;
  const byId = (id) => document.getElementById(id);
  const box = byId("frames"), head = byId("head"), details = byId("details"), found = byId("found");
  const idle = details.textContent;
  const icicle = svg.getAttribute("data-icicle") === "1";
  const unit = svg.getAttribute("data-unit");
  const lines = (id) => byId(id).textContent.split("\n").slice(1, -1);

  // ---- The frames, callers before what they call, columns side by side
  const names = lines("names").map((line) => line.split("\t"));
  const periods = lines("recursions").map(Number);
  const rows = lines("rows");
  const count = rows.length;
  const column = () => new Float64Array(count);
  const depth = new Uint32Array(count), name = new Uint32Array(count), total = column(), self = column();
  const samples = column(), colour = new Uint8Array(count), flags = new Uint8Array(count), chain = new Uint32Array(count), before = column();
  const parent = new Int32Array(count), from = column(), place = new Uint32Array(count); // place: in its chain
  const lengths = new Uint32Array(periods.length + 1);
  (function read() {
    const path = [], used = []; // of each depth: the frame, and the value of its children so far
    rows.forEach((row, i) => {
      const numbers = row.split(" ");
      const d = depth[i] = +numbers[0];
      name[i] = +numbers[1]; total[i] = +numbers[2]; self[i] = +numbers[3]; samples[i] = +numbers[4];
      colour[i] = +numbers[5]; flags[i] = +numbers[6]; chain[i] = +numbers[7]; before[i] = numbers.length > 8 ? +numbers[8] : -1;
      const up = parent[i] = d ? path[d - 1] : -1;
      from[i] = d ? from[up] + used[d - 1] : 0;
      if (d) used[d - 1] += total[i];
      path[d] = i; used[d] = 0;
      if (chain[i]) {
        place[i] = up >= 0 && chain[up] === chain[i] ? place[up] + 1 : 0;
        lengths[chain[i]] = Math.max(lengths[chain[i]], place[i] + 1);
      }
    });
  })();
  rows.length = 0;
  const whole = total[0] || 1;

  // ---- Rows of the picture: they depend on which recursions are unfolded
  const unfolded = new Uint8Array(periods.length + 1);
  const level = new Int32Array(count), hidden = new Uint8Array(count);
  let shown = []; // of each level its frames, from left to right
  function isFolded(i) { return chain[i] > 0 && !unfolded[chain[i]]; }
  function rounds(i) { // of a folded recursion whose first round the frame is part of, else 0
    if (!isFolded(i) || hidden[i]) return 0;
    return Math.ceil((lengths[chain[i]] - place[i]) / periods[chain[i] - 1]);
  }
  function layOut() {
    shown = [];
    for (let i = 0; i < count; i++) {
      hidden[i] = isFolded(i) && place[i] >= periods[chain[i] - 1] ? 1 : 0;
      level[i] = parent[i] < 0 ? 0 : level[parent[i]] + (hidden[i] ? 0 : 1);
      if (!hidden[i]) (shown[level[i]] ||= []).push(i);
    }
    for (const row of shown) row.sort((a, b) => from[a] - from[b]);
    svg.setAttribute("height", HEAD + shown.length * ROW + FOOT);
  }
  function top(i) { return HEAD + (icicle ? level[i] : shown.length - 1 - level[i]) * ROW; }

  // ---- Drawing: elements exist only for the rows that are on the screen
  let zoomed = 0, current = -1, hits = null;
  let drawn = new Map(); // a level to its elements
  function label(i, width) {
    const times = rounds(i) ? " ×" + rounds(i) : "";
    const room = Math.floor((width - 6) / CHAR) - times.length;
    let text = names[name[i]][0];
    const short = names[name[i]][1] || text;
    if (text.length > room) text = short;
    for (let at = 0; text.length > room && (at = short.indexOf("::", at)) >= 0; at += 2) text = short.slice(at + 2);
    if (text.length > room) text = room < 3 ? "" : text.slice(0, room - 1) + "…";
    return text && text + times;
  }
  function className(i) { return LETTERS[Math.floor(colour[i] / HUES)] + colour[i] % HUES; }
  function element(i, x, width, px, above) {
    const g = document.createElementNS(SVG, "g");
    const rect = g.appendChild(document.createElementNS(SVG, "rect"));
    const y = top(i);
    rect.setAttribute("x", x + "%");
    rect.setAttribute("y", y);
    rect.setAttribute("width", Math.max(width, 0.01) + "%");
    rect.setAttribute("height", 15);
    rect.setAttribute("class", className(i));
    if (above) g.classList.add("above");
    if (hits && hits[name[i]]) g.classList.add("hit");
    if (rounds(i)) g.classList.add("folded");
    const words = label(i, width / 100 * px);
    if (words) {
      const text = g.appendChild(document.createElementNS(SVG, "text"));
      text.setAttribute("x", x + "%");
      text.setAttribute("y", y + 12);
      text.textContent = words;
    }
    g.setAttribute("tabindex", i === Math.max(current, 0) ? "0" : "-1");
    g.frame = i;
    return box.appendChild(g);
  }
  // The first frame of a row that ends behind a value.
  function firstAfter(row, value) {
    let low = 0, high = row.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (from[row[middle]] + total[row[middle]] > value) high = middle; else low = middle + 1;
    }
    return low;
  }
  function drawRow(l) {
    const made = [], narrow = new Map(), px = svg.clientWidth || 1200;
    const left = from[zoomed], width = total[zoomed] || 1;
    if (l < level[zoomed]) {
      let up = zoomed;
      while (up >= 0 && (level[up] !== l || hidden[up])) up = parent[up];
      if (up >= 0) made.push(element(up, 0, 100, px, true));
    } else {
      const row = shown[l];
      for (let at = firstAfter(row, left); at < row.length; at++) {
        const i = row[at];
        if (i !== zoomed && from[i] >= left + width) break;
        if (l === level[zoomed] && i !== zoomed) continue;
        const share = i === zoomed ? 1 : total[i] / width, x = (from[i] - left) / width;
        if (share * px >= NARROW || i === current) made.push(element(i, x * 100, share * 100, px, false));
        else if (share * px >= NARROWEST) {
          const kind = hits && hits[name[i]] ? "found" : className(i);
          if (!narrow.has(kind)) narrow.set(kind, []);
          narrow.get(kind).push("M" + (x * px).toFixed(2) + " " + top(i) + "h" + (share * px).toFixed(2) + "v15h-" + (share * px).toFixed(2) + "z");
        }
      }
    }
    for (const [kind, parts] of narrow) {
      const path = document.createElementNS(SVG, "path");
      path.setAttribute("class", kind);
      path.setAttribute("d", parts.join(""));
      made.push(box.appendChild(path));
    }
    drawn.set(l, made);
  }
  function draw() {
    const height = window.innerHeight || 1000, first = window.scrollY - height / 2 - HEAD, last = window.scrollY + height * 1.5 - HEAD;
    let a = Math.floor(first / ROW), b = Math.ceil(last / ROW);
    if (!icicle) [a, b] = [shown.length - 1 - b, shown.length - 1 - a];
    a = Math.max(a, 0); b = Math.min(b, shown.length - 1);
    for (const l of [...drawn.keys()])
      if (l < a || l > b) forget(l);
    for (let l = a; l <= b; l++) if (!drawn.has(l)) drawRow(l);
    head.setAttribute("transform", "translate(0," + Math.max(window.scrollY, 0) + ")");
  }
  function redraw() {
    box.textContent = "";
    drawn = new Map();
    draw();
    byId("reset").style.display = zoomed || unfolded.includes(1) ? "" : "none";
    byId("unfold").style.display = periods.length && unfolded.indexOf(0, 1) > 0 ? "" : "none";
  }
  function forget(l) { // so that draw() makes the row anew
    (drawn.get(l) || []).forEach((g) => g.remove());
    drawn.delete(l);
  }
  function elementOf(i) { return (drawn.get(level[i]) || []).find((g) => g.frame === i); }

  // ---- What users do
  function amount(value) {
    return (unit === "ns" ? (value / 1e9).toFixed(3) + " s" : unit ? value + " " + unit : String(value)) +
        " (" + (value / whole * 100).toFixed(2) + "%)";
  }
  function about(i) {
    let text = amount(total[i]);
    if (self[i]) text += ", self " + amount(self[i]);
    if (before[i] >= 0) text += ", before " + amount(before[i]).replace(/ \(.*/, "");
    text += ", " + samples[i] + (samples[i] === 1 ? " sample" : " samples");
    if (flags[i] & 1) text += ", inlined";
    if (flags[i] & 2) text += ", kernel";
    if (rounds(i)) text += " · recursion: " + rounds(i) + " calls deep, a click unfolds it";
    const file = names[name[i]][2];
    return names[name[i]][0] + " · " + text + (file ? " · " + file : "");
  }
  function tell(i) { details.textContent = i >= 0 ? about(i) : idle; }
  function showOn(i) { // scrolls the frame's row on the screen
    const y = top(i), from = window.scrollY + HEAD, to = window.scrollY + window.innerHeight - ROW;
    if (y < from || y > to) window.scrollTo(window.scrollX, Math.max(0, y - (window.innerHeight + HEAD) / 2));
    draw();
  }
  function focus(i) {
    const old = current >= 0 && elementOf(current);
    if (old) old.setAttribute("tabindex", "-1");
    current = i;
    if (!elementOf(i)) forget(level[i]); // a narrow one gets an element of its own
    showOn(i);
    const g = elementOf(i);
    if (g) {
      g.setAttribute("tabindex", "0");
      g.setAttribute("aria-label", about(i));
      g.focus({preventScroll: true});
    }
    tell(i);
  }
  function keepPlace(i, change) { // the frame's row stays where it is on the screen
    const before = top(i) - window.scrollY;
    change();
    layOut();
    window.scrollTo(window.scrollX, top(i) - before);
    redraw();
  }
  function visible(i) { while (hidden[i]) i = parent[i]; return i; }
  function open(i) { // unfolds a recursion, else zooms
    if (rounds(i)) keepPlace(i, () => { unfolded[chain[i]] = 1; });
    else { zoomed = i; redraw(); }
    focus(i);
  }
  function unfold() { keepPlace(visible(Math.max(current, 0)), () => unfolded.fill(1, 1)); }
  function reset() {
    search("");
    zoomed = 0;
    unfolded.fill(0);
    layOut();
    if (current >= 0) current = visible(current);
    redraw();
    if (current >= 0) showOn(current);
  }
  function hottest() {
    let best = 0;
    for (let i = 1; i < count; i++) if (self[i] > self[best]) best = i;
    zoomed = 0;
    redraw();
    focus(visible(best));
  }
  function search(pattern) {
    hits = null;
    found.textContent = "";
    if (pattern) {
      let re;
      try { re = new RegExp(pattern, "i"); } catch (e) { found.textContent = "bad pattern: " + e.message; return; }
      hits = names.map((one) => re.test(one[0]));
      let sum = 0, many = 0, outer = -1; // a stack counts once: what a hit has called is part of it
      for (let i = 0; i < count; i++) {
        if (outer >= 0 && depth[i] <= depth[outer]) outer = -1;
        if (!hits[name[i]]) continue;
        many++;
        if (outer < 0) { outer = i; sum += total[i]; }
      }
      found.textContent = "matched " + (sum / whole * 100).toFixed(1) + "% in " + many + (many === 1 ? " frame" : " frames");
    }
    redraw();
  }
  function ask() {
    const pattern = window.prompt("regular expression", "");
    if (pattern !== null) search(pattern);
  }
  // The frame of an event: of the element, or by its place among those that share a path.
  function frameOf(e) {
    let node = e.target;
    while (node && node !== svg && node.frame === undefined) node = node.parentNode;
    if (node && node.frame !== undefined) return node.frame;
    if (!e.target || e.target.localName !== "path") return -1;
    const area = svg.getBoundingClientRect(), at = Math.floor((e.clientY - area.top - HEAD) / ROW);
    const row = shown[icicle ? at : shown.length - 1 - at] || [];
    const value = from[zoomed] + (e.clientX - area.left) / area.width * total[zoomed];
    const i = row[firstAfter(row, value)];
    return i !== undefined && from[i] <= value ? i : -1;
  }
  // The nearest frame in a direction.
  function neighbour(i, away, side) {
    if (away < 0) { let up = parent[i]; while (up >= 0 && hidden[up]) up = parent[up]; return up; }
    const row = shown[level[i] + away];
    if (!row) return -1;
    if (away > 0) {
      let best = -1;
      for (let at = firstAfter(row, from[i]); at < row.length && from[row[at]] < from[i] + total[i]; at++)
        if (best < 0 || total[row[at]] > total[best]) best = row[at];
      return best;
    }
    const next = row[row.indexOf(i) + side];
    return next === undefined ? -1 : next;
  }

  const buttons = {search: ask, hottest, unfold, reset};
  svg.addEventListener("click", (e) => {
    if (buttons[e.target.id]) { buttons[e.target.id](); return; }
    const i = frameOf(e);
    if (i >= 0) open(i);
  });
  svg.addEventListener("mouseover", (e) => { const i = frameOf(e); if (i >= 0) tell(i); });
  svg.addEventListener("mouseout", () => tell(-1));
  svg.addEventListener("focusin", (e) => { const i = frameOf(e); if (i >= 0) { current = i; tell(i); } });
  window.addEventListener("keydown", (e) => {
    if (e.key === "/" || ((e.ctrlKey || e.metaKey) && e.key === "f")) { e.preventDefault(); ask(); return; }
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    if (e.key === "Escape") { reset(); return; }
    if (e.key === "h") { hottest(); return; }
    if (e.key === "u") { unfold(); return; }
    const id = e.target && e.target.id;
    if (e.key === "Enter" && buttons[id]) { buttons[id](); return; }
    const arrow = e.key.indexOf("Arrow") === 0;
    const i = current >= 0 ? visible(current) : arrow ? 0 : -1;
    if (i < 0) return;
    let next = -1;
    if (e.key === "Enter" || e.key === " ") { e.preventDefault(); open(i); return; }
    if (e.key === (icicle ? "ArrowDown" : "ArrowUp")) next = neighbour(i, 1, 0);
    else if (e.key === (icicle ? "ArrowUp" : "ArrowDown")) next = neighbour(i, -1, 0);
    else if (e.key === "ArrowRight") next = neighbour(i, 0, 1);
    else if (e.key === "ArrowLeft") next = neighbour(i, 0, -1);
    else return;
    e.preventDefault();
    if (next >= 0) focus(next);
  });
  let asked = false;
  window.addEventListener("scroll", () => {
    if (asked) return;
    asked = true;
    window.requestAnimationFrame(() => { asked = false; draw(); });
  });
  window.addEventListener("resize", redraw);
  byId("search").style.display = byId("hottest").style.display = "";
  layOut();
  redraw();
  if (!icicle) { // the root is the lowest row
    window.scrollTo(0, HEAD + shown.length * ROW + FOOT);
    draw();
  }
  svg.setAttribute("data-ready", "1");
})();
