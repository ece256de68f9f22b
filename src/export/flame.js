// SPDX-License-Identifier: Apache-2.0
// The flame graph's behaviour: zoom, search, details, keys. Reads names from the
// picture's own text nodes and writes text nodes only; loads nothing.
(function () {
  "use strict";
  var svg = document.documentElement;
  var CHAR = 7.25; // of the 12 px monospace font
  var frames = [];
  var zoomed = null;
  var details = document.getElementById("details");
  var found = document.getElementById("found");
  var reset = document.getElementById("reset");
  var idle = details.textContent;
  var icicle = svg.getAttribute("data-icicle") === "1";

  function number(element, name) { return parseFloat(element.getAttribute(name)); }

  Array.prototype.forEach.call(document.getElementById("frames").children, function (g) {
    var rect = g.querySelector("rect");
    var lines = g.querySelector("title").textContent.split("\n");
    frames.push({
      g: g, rect: rect, text: g.querySelector("text"), name: lines[0],
      short: g.getAttribute("data-s") || lines[0], about: lines.slice(1).join(" · "),
      x: number(rect, "x"), w: number(rect, "width"), y: number(rect, "y"),
    });
  });
  frames.forEach(function (f, i) {
    f.index = i;
    f.level = icicle ? f.y : -f.y;
    f.g.setAttribute("tabindex", i === 0 ? "0" : "-1");
  });

  function label(f, percent) {
    var room = Math.floor((percent / 100 * svg.clientWidth - 6) / CHAR);
    var text = f.name;
    if (text.length > room) text = f.short;
    for (var at = 0; text.length > room && (at = f.short.indexOf("::", at)) >= 0; at += 2)
      text = f.short.slice(at + 2);
    if (text.length > room) text = room < 3 ? "" : text.slice(0, room - 1) + "…";
    if (f.text.textContent !== text) f.text.textContent = text;
  }

  function place(f, x, w) {
    f.rect.setAttribute("x", x + "%");
    f.rect.setAttribute("width", Math.max(w, 0.01) + "%");
    f.text.setAttribute("x", x + "%");
    f.shown = w;
    label(f, w);
  }

  // Frames above the zoomed one fill the width, those in it are stretched, the
  // rest is hidden.
  function zoom(target) {
    var from = target ? target.x : 0, width = target ? target.w : 100;
    var slack = 1e-6;
    zoomed = target && target.w < 100 ? target : null;
    frames.forEach(function (f) {
      var above = f.level < (target ? target.level : 0) && f.x <= from + slack &&
          f.x + f.w >= from + width - slack;
      var inside = (!target || f.level >= target.level) && f.x >= from - slack &&
          f.x + f.w <= from + width + slack;
      f.hidden = !above && !inside;
      f.g.style.display = f.hidden ? "none" : "";
      f.g.classList.toggle("above", above && zoomed !== null);
      if (above) place(f, 0, 100);
      else if (inside) place(f, (f.x - from) / width * 100, f.w / width * 100);
    });
    reset.style.display = zoomed ? "" : "none";
  }

  function search(pattern) {
    var re = null;
    if (pattern) {
      try { re = new RegExp(pattern, "i"); } catch (e) { found.textContent = "bad pattern: " + e.message; return; }
    }
    var hits = [];
    frames.forEach(function (f) {
      var hit = re !== null && re.test(f.name);
      f.g.classList.toggle("hit", hit);
      if (hit) hits.push(f);
    });
    if (!re) { found.textContent = ""; return; }
    // A stack counts once: only hits that are not inside an earlier, wider one.
    hits.sort(function (a, b) { return a.x - b.x || b.w - a.w; });
    var end = -1, sum = 0;
    hits.forEach(function (f) {
      if (f.x + 1e-9 >= end) { sum += f.w; end = f.x + f.w; }
    });
    found.textContent = "matched " + sum.toFixed(1) + "% in " + hits.length + " frames";
  }

  function ask() {
    var pattern = window.prompt("regular expression", "");
    if (pattern !== null) search(pattern);
  }

  function tell(f) { details.textContent = f ? f.name + " · " + f.about : idle; }

  function frameOf(node) {
    while (node && node !== svg && node.parentNode && node.parentNode.id !== "frames") node = node.parentNode;
    if (!node || node === svg) return null;
    for (var i = 0; i < frames.length; i++) if (frames[i].g === node) return frames[i];
    return null;
  }

  function focus(f) {
    frames.forEach(function (o) { if (o.g.getAttribute("tabindex") === "0") o.g.setAttribute("tabindex", "-1"); });
    f.g.setAttribute("tabindex", "0");
    f.g.focus();
    tell(f);
  }

  // The nearest frame in a direction: levels are rows, `side` moves along one.
  function neighbour(f, up, side) {
    var best = null;
    frames.forEach(function (o) {
      if (o.hidden || o === f) return;
      var rows = (o.level - f.level) / 16, ok;
      if (side) ok = rows === 0 && (side > 0 ? o.x > f.x : o.x < f.x);
      else if (up < 0) ok = rows === -1 && o.x <= f.x + 1e-6 && o.x + o.w >= f.x + f.w - 1e-6;
      else ok = rows === 1 && o.x >= f.x - 1e-6 && o.x + o.w <= f.x + f.w + 1e-6;
      if (!ok) return;
      if (!best || (side ? Math.abs(o.x - f.x) < Math.abs(best.x - f.x) : o.w > best.w)) best = o;
    });
    return best;
  }

  svg.addEventListener("click", function (e) {
    if (e.target.id === "reset") { zoom(null); return; }
    if (e.target.id === "search") { ask(); return; }
    var f = frameOf(e.target);
    if (f) { zoom(f); focus(f); }
  });
  svg.addEventListener("mouseover", function (e) { var f = frameOf(e.target); if (f) tell(f); });
  svg.addEventListener("mouseout", function () { tell(null); });
  svg.addEventListener("focusin", function (e) { var f = frameOf(e.target); if (f) tell(f); });
  window.addEventListener("keydown", function (e) {
    var id = e.target && e.target.id;
    if (e.key === "/" || ((e.ctrlKey || e.metaKey) && e.key === "f")) { e.preventDefault(); ask(); return; }
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    if (e.key === "Escape") { search(""); zoom(null); return; }
    if (e.key === "Enter" && id === "search") { ask(); return; }
    if (e.key === "Enter" && id === "reset") { zoom(null); return; }
    var f = frameOf(document.activeElement) || (e.key.indexOf("Arrow") === 0 ? frames[0] : null);
    if (!f) return;
    var away = icicle ? "ArrowDown" : "ArrowUp", back = icicle ? "ArrowUp" : "ArrowDown", next = null;
    if (e.key === "Enter" || e.key === " ") { e.preventDefault(); zoom(f); focus(f); return; }
    if (e.key === away) next = neighbour(f, 1, 0);
    else if (e.key === back) next = neighbour(f, -1, 0);
    else if (e.key === "ArrowRight") next = neighbour(f, 0, 1);
    else if (e.key === "ArrowLeft") next = neighbour(f, 0, -1);
    else return;
    e.preventDefault();
    if (next) focus(next);
  });
  window.addEventListener("resize", function () {
    frames.forEach(function (f) { if (!f.hidden) label(f, f.shown === undefined ? f.w : f.shown); });
  });
  document.getElementById("search").style.display = "";
  zoom(null);
})();
