// SPDX-License-Identifier: Apache-2.0
// The coverage page's behaviour: unpacks a file when it is opened or searched,
// and builds its lines from text nodes only; sorts, filters, leads from line to line; shows the
// files in their folders, whose shares it sums;
// loads nothing.
(function () {
  "use strict";
  const CHUNK = 200; // lines that the browser lays out together
  const box = document.querySelector("#search");
  const bad = document.querySelector("#bad");
  const changed = document.querySelector("#changed"); // there beside a baseline
  const out = document.querySelector("output");
  const list = document.querySelector("#files");
  const files = Array.from(document.querySelectorAll("details.file"), (details) => {
    const path = details.querySelector("code").textContent;
    return { details, path, key: path.toLowerCase(), unpacked: null, text: "", lower: "", lines: null };
  });
  const canUnpack = typeof DecompressionStream === "function";
  let query = "";
  let turn = 0; // of the search that runs; an older one gives up
  let current = null; // line that was gone to last
  const boxes = new Map(); // line -> what stands below it of its decisions

  // What a change made of a line, by the letter behind its counts.
  const CLASSES = {
    u: ["UNC", "w", "new, did not run"], l: ["LBC", "w", "ran in the baseline, does not now"], i: ["UIC", "w", "counted only now, did not run"],
    g: ["GBC", "g", "did not run in the baseline, ran now"], j: ["GIC", "g", "counted only now, ran"], n: ["GNC", "g", "new, ran"],
  };

  // "DELTA:COUNT DELTA:COUNT/TAKEN/BRANCHES …\n", "[[line, count, name], …]\n",
  // "[decision, …]\n" and the source.
  async function unpackNow(file) {
    if (!file.details.dataset.z) {
      [file.counts, file.functions, file.decisions] = ["", [], new Map()];
      return;
    }
    const packed = Uint8Array.from(atob(file.details.dataset.z), (c) => c.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
    const text = await new Response(stream).text();
    const counts = text.indexOf("\n");
    const functions = text.indexOf("\n", counts + 1);
    file.counts = text.slice(0, counts);
    file.functions = JSON.parse(text.slice(counts + 1, functions));
    const decisions = text.indexOf("\n", functions + 1);
    file.decisions = decisionsByLine(JSON.parse(text.slice(functions + 1, decisions)));
    file.text = text.slice(decisions + 1);
    file.lower = file.text.toLowerCase();
  }

  // line -> its decisions; they stand below the line on which they end.
  function decisionsByLine(all) {
    const byLine = new Map();
    for (const decision of all) {
      const line = decision.length === 2 ? decision[0] : decision[2];
      byLine.set(line, (byLine.get(line) || []).concat([decision]));
    }
    return byLine;
  }

  // [key, counts, was shown to decide alone] of each condition of a decision.
  function conditionsOf(decision) {
    if (decision.length === 2) return decision[1].map((c, i) => [i + ":" + c[0], true, c[1] > 0 && c[2] > 0]);
    return decision[4].map((c) => [c.slice(0, 2).join(), c.length > 4, c[4] > 0]);
  }

  // [shown to decide alone, conditions]; instances of a template are taken together.
  function shareOf(decisions) {
    const shown = new Map();
    for (const decision of decisions)
      for (const [key, counts, is] of conditionsOf(decision)) {
        const place = decision.slice(0, decision.length === 2 ? 1 : 4).join() + "/" + key;
        if (counts) shown.set(place, shown.get(place) || is);
      }
    return [Array.from(shown.values()).filter((is) => is).length, shown.size];
  }

  // Once, whoever asks meanwhile.
  function unpack(file) {
    file.unpacked = file.unpacked || unpackNow(file);
    return file.unpacked;
  }

  function element(name, text, kind) {
    const e = document.createElement(name);
    if (text) e.append(text);
    if (kind) e.className = kind;
    return e;
  }

  function link(file, line, text) {
    const a = element("a", text);
    a.href = "#" + encodeURIComponent(file.path) + ":" + line;
    return a;
  }

  // The bytes [from, to) of a line: columns count bytes.
  function bytesOf(text, from, to) {
    return new TextDecoder().decode(new TextEncoder().encode(text).slice(from, to));
  }

  // The text from one place of the source to another, as one line.
  function textBetween(source, line, column, endLine, endColumn) {
    if (!endLine || endLine > source.length) return "";
    const parts = [];
    for (let at = line; at <= endLine; at++)
      parts.push(bytesOf(source[at - 1], at === line ? column - 1 : 0, at === endLine ? endColumn - 1 : undefined).trim());
    return parts.join(" ");
  }

  function tableRow(kind, cells) {
    const row = element("tr");
    cells.forEach((cell, i) => {
      const e = element(i === 0 ? "th" : kind);
      if (cell) e.append(cell);
      row.append(e);
    });
    return row;
  }

  // What tracefiles know: how often each condition decided.
  function addRows(decision, table) {
    table.append(tableRow("th", ["condition", "true", "false"]));
    for (const [text, yes, no] of decision[1]) table.append(tableRow("td", [text, String(yes), String(no)]));
  }

  // The conditions across, the runs of the decision down, and the pair of runs that shows
  // that a condition decides alone.
  function addVectors(file, decision, source, table) {
    const [line, column, endLine, endColumn, conditions, vectors, name, more] = decision;
    const of = name ? ", " + name + (more ? " and " + more + " more" : "") : "";
    table.append(element("caption", line + ":" + column + " to " + endLine + ":" + endColumn + of));
    const heads = conditions.map(([l, c, el, ec], i) => {
      const head = element("span");
      const text = textBetween(source, l, c, el, ec);
      head.append(link(file, el ? l : line, "C" + (i + 1)), text ? " " + text : " " + l + ":" + c);
      return head;
    });
    table.append(tableRow("th", ["ran as", ...heads, "result"]));
    vectors.forEach((v, i) => table.append(tableRow("td", [String(i + 1), ...v])));
    if (!vectors.length) table.append(tableRow("td", ["never", ...conditions.map(() => "-"), "-"]));
    const pairs = tableRow("td", ["decides alone", ...conditions.map((c) => (c.length === 4 ? "constant" : c[4] ? c[4] + ", " + c[5] : "not shown")), ""]);
    conditions.forEach((c, i) => pairs.children[i + 1].classList.toggle(c.length === 4 || c[4] ? "h" : "u", true));
    table.append(pairs);
  }

  function decisionList(file, decisions, source) {
    const [shown, all] = shareOf(decisions);
    const box = element("details", "", "d");
    box.append(element("summary", "MC/DC: " + shown + " of " + all + (all === 1 ? " condition is" : " conditions are") + " shown to decide alone"));
    for (const decision of decisions) {
      const table = element("table");
      if (decision.length === 2) addRows(decision, table);
      else addVectors(file, decision, source, table);
      box.append(table);
    }
    return box;
  }

  // `row` is what is counted on the line: [count, branches taken, branches, letter of its class].
  function addLine(file, pre, number, row, text, source) {
    const decisions = file.decisions.get(number);
    const conditions = decisions && shareOf(decisions);
    const partial = (row && row[2] !== undefined && row[1] !== row[2]) || (conditions && conditions[0] < conditions[1]);
    const kind = !row ? "" : row[0] === "0" ? "u" : partial ? "p" : "h";
    const line = element("span", "", kind);
    const branches = element("u", row && row[2] !== undefined ? row[1] + "/" + row[2] : "");
    if (row && row[2] !== undefined) branches.title = row[1] + " of " + row[2] + " branches were taken";
    line.append(link(file, number, String(number)), element("i", row && row[0]), branches);
    if (changed) {
      const made = (row && CLASSES[row[3]]) || ["", "", ""];
      const mark = element("u", made[0], made[1]);
      mark.title = made[2];
      line.append(mark);
    }
    if (file.decisions.size) {
      const share = element("u", conditions ? conditions[0] + "/" + conditions[1] : "");
      if (conditions) share.title = conditions[0] + " of " + conditions[1] + " conditions are shown to decide alone (MC/DC)";
      line.append(share);
    }
    line.append(element("q", text.endsWith("\r") ? text.slice(0, -1) : text));
    if (file.lines.length % CHUNK === 0) pre.append(element("div"));
    pre.lastChild.append(line);
    file.lines.push(line);
    if (decisions) {
      const box = decisionList(file, decisions, source);
      pre.lastChild.append(box);
      boxes.set(line, box);
    }
  }

  function addLines(file, pre) {
    const source = file.text.split("\n");
    if (source[source.length - 1] === "") source.pop();
    let at = 0;
    let line = 0;
    file.lines = [];
    const upTo = (last) => {
      while (++at <= last) addLine(file, pre, at, null, source[at - 1], source);
    };
    for (const entry of file.counts.matchAll(/(\d+):(\d+)(?:\/(\d+)\/(\d+))?([a-z]?)/g)) {
      line += Number(entry[1]);
      upTo(Math.min(line - 1, source.length));
      at = line;
      addLine(file, pre, line, entry.slice(2), line <= source.length ? source[line - 1] : "", source);
    }
    upTo(source.length);
  }

  function functionList(file) {
    const missed = file.functions.filter((f) => f[1] === 0).length;
    const all = element("details", "", "f");
    all.append(element("summary", file.functions.length + (file.functions.length === 1 ? " function" : " functions") + (missed ? ", " + missed + " did not run" : "")));
    const pre = element("pre");
    for (const [line, count, name] of file.functions) {
      const row = element("span", "", count === 0 ? "u" : "h");
      row.append(link(file, line, String(line)), element("i", String(count)), element("q", name));
      pre.append(row);
    }
    all.append(pre);
    return all;
  }

  function build(file, into) {
    file.lines = [];
    if (!file.details.dataset.z) {
      into.textContent = "The baseline has this file, the coverage does not.";
      return;
    }
    const pre = element("pre");
    addLines(file, pre);
    if (file.functions.length) into.append(functionList(file));
    into.append(pre);
  }

  function mark(file) {
    for (const line of file.lines || [])
      line.classList.toggle("m", query.length > 1 && line.lastChild.textContent.toLowerCase().includes(query));
  }

  async function show(file) {
    const into = file.details.querySelector("div");
    if (!file.details.open) return;
    try {
      if (!canUnpack) throw new Error("this browser cannot unpack the source text");
      await unpack(file);
      if (!file.lines) build(file, into);
      mark(file);
    } catch (e) {
      into.textContent = String(e.message || e);
    }
  }

  async function search() {
    const mine = ++turn;
    query = box.value.toLowerCase();
    let hits = 0;
    if (query.length > 1 && canUnpack) {
      await Promise.all(files.map((file) => unpack(file).catch(() => {})));
      if (mine !== turn) return;
    }
    for (const file of files) {
      let hit = file.key.includes(query) || (query.length > 1 && file.lower.includes(query));
      if (bad.checked && file.details.dataset.l === "100") hit = false;
      if (changed && changed.checked && !file.details.querySelector(".c > *")) hit = false;
      file.details.hidden = !hit;
      hits += hit;
      if (hit) mark(file);
    }
    out.textContent = (hits === files.length ? "" : hits + " of ") + files.length + (files.length === 1 ? " file" : " files");
  }

  function goTo(line) {
    if (current) {
      current.classList.toggle("at", false);
      current.ariaCurrent = null;
    }
    current = line;
    line.ariaCurrent = "location";
    line.classList.toggle("at", true);
    if (boxes.has(line)) boxes.get(line).open = true;
    line.scrollIntoView({ block: "center" });
  }

  // The next line (or the one before) of the open files that a search marks, or without
  // a search that did not run whole.
  function step(by) {
    const wanted = query.length > 1 ? (l) => l.className.includes("m")
      : changed && changed.checked ? (l) => l.querySelector("u.w")
      : (l) => /^[up]\b/.test(l.className);
    const lines = [];
    for (const file of files)
      if (file.details.open && !file.details.hidden) lines.push(...(file.lines || []));
    const stops = lines.filter(wanted);
    if (!stops.length) return;
    const order = new Map(lines.map((l, i) => [l, i]));
    const from = order.has(current) ? order.get(current) : by > 0 ? -1 : lines.length;
    const next = by > 0 ? stops.find((l) => order.get(l) > from) : stops.findLast((l) => order.get(l) < from);
    goTo(next || (by > 0 ? stops[0] : stops[stops.length - 1]));
  }

  // "#path:line", or "#path"
  async function goToHash() {
    const hash = decodeURIComponent(location.hash.slice(1));
    const colon = hash.lastIndexOf(":");
    const file = files.find((f) => f.path === hash) || files.find((f) => f.path === hash.slice(0, colon));
    if (!file) return;
    file.details.hidden = false;
    for (let at = file.details; at !== list; at = at.parentNode) at.open = true;
    await show(file);
    const number = hash.slice(colon + 1);
    const line = (file.lines || []).find((l) => l.firstChild.textContent === number);
    if (line) goTo(line);
    else file.details.scrollIntoView();
  }

  // Opens what stands below lines, or closes it when all is open.
  function toggleDecisions() {
    const all = Array.from(boxes.values());
    const open = !all.every((box) => box.open);
    for (const box of all) box.open = open;
  }

  // ---- Folders
  const folderOf = (path) => path.slice(0, path.lastIndexOf("/") + 1);
  // The folder that all files are in: no name repeats it.
  const common = files.map((f) => folderOf(f.path)).reduce((a, b) => {
    while (!b.startsWith(a)) a = folderOf(a.slice(0, -1));
    return a;
  }, files.length ? folderOf(files[0].path) : "");
  const columns = ["lines", "functions", "branches", "conditions"];
  const pair = (text) => text.split("/").map(Number);
  // Covered and all of a file's lines, functions …; null where it has none.
  const shares = (details) =>
    Array.from(details.firstChild.children).slice(1).filter((e) => !e.matches(".c")).map((e) => e.querySelector("small")).map((e) => e && pair(e.textContent));
  // The same of the baseline.
  const olds = (details) => (details.dataset.o || "").split(" ").filter(Boolean).map(pair);
  const added = (a, b) => b ? [0, 1].map((n) => b[n] + (a || [0, 0])[n]) : a;
  // A share with two digits: 100 only when all of them ran, as in the rows of files.
  const percentOf = (s) => s[0] === s[1] ? 100 : Math.min(Math.round(s[0] / s[1] * 1e4) / 100, 99.99);

  function changeBox(share, old) {
    const change = old[1] ? Math.round(100 * (percentOf(share) - percentOf(old))) / 100 : 0;
    const box = element("em", !old[1] ? "new" : change ? (change > 0 ? "+" : "") + change.toFixed(2) : "", change < 0 ? "w" : change > 0 ? "g" : "");
    return box.textContent ? [" ", box] : [];
  }

  // "2 lost, 1 new missed": the sums of the files in a folder, in the order and colours of their rows.
  function classBox(details) {
    const kinds = [["w", "lost"], ["w", "new missed"], ["g", "new ran"], ["g", "gained"]];
    const box = element("span", "", "c");
    const texts = Array.from(details.querySelectorAll(".file .c > *"), (e) => e.textContent);
    for (const [kind, what] of kinds) {
      const lines = texts.filter((t) => t.endsWith(" " + what)).reduce((n, t) => n + parseInt(t, 10), 0);
      if (lines) box.append(box.firstChild ? ", " : "", element("span", lines + " " + what, kind));
    }
    if (!box.firstChild) box.append("-");
    return box;
  }

  function shareBox(column, share, old) {
    const span = document.createElement("span");
    if (!share || !share[1]) { span.textContent = "-"; return span; }
    const percent = percentOf(share);
    span.className = "b " + (percent < 75 ? "lo" : percent < 90 ? "mid" : "hi");
    span.style.setProperty("--v", percent.toFixed(2) + "%");
    span.setAttribute("role", "img");
    span.ariaLabel = column + " " + percent.toFixed(2) + "%, " + share[0] + " of " + share[1];
    const small = document.createElement("small");
    small.textContent = share.join("/");
    span.append(percent.toFixed(2) + "% ", small, ...(old ? changeBox(share, old) : []));
    return span;
  }

  // What screen readers call a folder or file is the text of its row: names stand in no attribute.
  let named = 0;
  function nameBy(details, code) {
    code.id = "name" + named++;
    details.setAttribute("role", "group");
    details.setAttribute("aria-labelledby", code.id);
  }

  function makeFolder(label, depth) {
    const details = document.createElement("details"), code = document.createElement("code");
    details.className = "dir";
    details.open = true;
    code.textContent = label;
    nameBy(details, code);
    details.style.setProperty("--d", depth);
    details.append(document.createElement("summary"));
    details.firstChild.append(code);
    return { details, sums: [], olds: [] };
  }

  // Puts the files into their folders, in the order of paths. A folder that holds one folder alone is one row with it.
  function nest() {
    const inner = new Map(); // a folder to the folders and files in it
    for (const file of files) {
      let child = file.path;
      for (let at = folderOf(child); ; child = at, at = folderOf(at.slice(0, -1))) {
        if (!inner.has(at)) inner.set(at, new Set());
        inner.get(at).add(child);
        if (at === common) break;
      }
    }
    const byPath = new Map(files.map((f) => [f.path, f]));
    const add = (into, sums, old) => {
      sums.forEach((s, i) => { into.sums[i] = added(into.sums[i], s); });
      old.forEach((s, i) => { into.olds[i] = added(into.olds[i], s); });
    };
    function put(name, into, depth, base) {
      for (let child of inner.get(name)) {
        const file = byPath.get(child);
        if (file) {
          place(file, child.slice(base.length), depth);
          into.details.append(file.details);
          add(into, shares(file.details), olds(file.details));
          continue;
        }
        while (inner.get(child).size === 1 && !byPath.has([...inner.get(child)][0])) child = [...inner.get(child)][0];
        const folder = makeFolder(child.slice(base.length), depth);
        put(child, folder, depth + 1, child);
        columns.slice(0, shares(files[0].details).length).forEach((c, i) => folder.details.firstChild.append(shareBox(c, folder.sums[i], folder.olds[i])));
        if (changed) folder.details.firstChild.append(classBox(folder.details));
        add(into, folder.sums, folder.olds);
        into.details.append(folder.details);
      }
    }
    if (files.length) put(common, { details: list, sums: [], olds: [] }, 0, common);
  }
  function place(file, label, depth) {
    const code = file.details.firstChild.firstChild;
    code.textContent = label;
    file.details.style.setProperty("--d", depth);
  }

  let sorted = "";
  function sort(key) {
    const value = (file) => (key === "path" ? file.path : Number(file.details.dataset[key]));
    const sign = sorted === key ? -1 : 1;
    sorted = sign < 0 ? "" : key;
    files.sort((a, b) => (value(a) < value(b) ? -sign : value(a) > value(b) ? sign : a.path < b.path ? -1 : 1));
    list.textContent = "";
    if (key === "path" && sign > 0) nest();
    else for (const file of files) { place(file, file.path.slice(common.length), 0); list.append(file.details); }
    for (const button of document.querySelectorAll("button")) button.ariaPressed = String(button.dataset.k === key);
  }

  function key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target === box) {
      if (event.key === "Enter") step(event.shiftKey ? -1 : 1);
      if (event.key === "Escape") { box.value = ""; box.blur(); search(); }
    } else if (event.key === "/") {
      box.focus();
      event.preventDefault();
    } else if (event.key === "n" || event.key === "p") {
      step(event.key === "n" ? 1 : -1);
    } else if (event.key === "m") {
      toggleDecisions();
    }
  }

  for (const file of files) {
    file.details.addEventListener("toggle", () => show(file));
    nameBy(file.details, file.details.firstChild.firstChild);
  }
  for (const button of document.querySelectorAll("button")) button.addEventListener("click", () => sort(button.dataset.k));
  let timer;
  box.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(search, 80);
  });
  for (const e of [bad, changed]) if (e) e.addEventListener("change", search);
  document.addEventListener("keydown", key);
  addEventListener("hashchange", goToHash);
  sort("path");
  search();
  goToHash();
})();
