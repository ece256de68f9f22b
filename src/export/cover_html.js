// SPDX-License-Identifier: Apache-2.0
// The coverage page's behaviour: unpacks a file when it is opened or searched,
// and builds its lines from text nodes only; loads nothing.
(function () {
  "use strict";
  const box = document.querySelector("input");
  const out = document.querySelector("output");
  const files = Array.from(document.querySelectorAll("details"), (details) => ({
    details, path: details.querySelector("code").textContent.toLowerCase(), text: null, lines: null,
  }));
  const canUnpack = typeof DecompressionStream === "function";
  let query = "";
  let turn = 0; // of the search that runs; an older one gives up

  // "DELTA:COUNT DELTA!COUNT …\n" and the source; '!' marks branches not taken.
  async function unpack(file) {
    if (file.text === null) {
      const packed = Uint8Array.from(atob(file.details.dataset.z), (c) => c.charCodeAt(0));
      const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
      file.text = await new Response(stream).text();
    }
    return file.text;
  }

  function element(name, text, kind) {
    const e = document.createElement(name);
    if (text) e.append(text);
    if (kind) e.className = kind;
    return e;
  }

  function addLine(file, pre, number, count, partial, text) {
    const kind = count === undefined ? "" : count === "0" ? "u" : partial ? "p" : "h";
    const line = element("span", "", kind);
    line.append(element("s", String(number)), element("i", count), text, "\n");
    file.lines.push(line);
    pre.append(line);
  }

  function build(file, pre) {
    const end = file.text.indexOf("\n");
    const source = file.text.slice(end + 1).split("\n");
    if (source[source.length - 1] === "") source.pop();
    let at = 0;
    let line = 0;
    file.lines = [];
    const upTo = (last) => {
      while (++at <= last) addLine(file, pre, at, undefined, false, source[at - 1]);
    };
    for (const entry of file.text.slice(0, end).matchAll(/(\d+)([:!])(\d+)/g)) {
      line += Number(entry[1]);
      upTo(Math.min(line - 1, source.length));
      at = line;
      addLine(file, pre, line, entry[3], entry[2] === "!", line <= source.length ? source[line - 1] : "");
    }
    upTo(source.length);
  }

  function mark(file) {
    for (const line of file.lines || [])
      line.classList.toggle("m", query.length > 1 && line.textContent.toLowerCase().includes(query));
  }

  async function show(file) {
    const pre = file.details.querySelector("pre");
    if (!file.details.open) return;
    try {
      if (!canUnpack) throw new Error("this browser cannot unpack the source text");
      await unpack(file);
      if (!file.lines) build(file, pre);
      mark(file);
    } catch (e) {
      pre.textContent = String(e.message || e);
    }
  }

  async function search() {
    const mine = ++turn;
    query = box.value.toLowerCase();
    let hits = 0;
    for (const file of files) {
      let hit = file.path.includes(query);
      if (!hit && query.length > 1 && canUnpack) {
        const text = await unpack(file).catch(() => "");
        if (mine !== turn) return;
        hit = text.toLowerCase().includes(query, text.indexOf("\n"));
      }
      file.details.hidden = !hit;
      hits += hit;
      if (hit) mark(file);
    }
    out.textContent = query ? hits + " of " + files.length + " files" : files.length + " files";
  }

  for (const file of files) file.details.addEventListener("toggle", () => show(file));
  box.addEventListener("input", search);
  search();
})();
