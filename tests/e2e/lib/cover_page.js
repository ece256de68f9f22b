// SPDX-License-Identifier: Apache-2.0
// cover_page.js PAGE TRACEFILE SOURCE [MCDC]: runs the script of a coverage page over as
// much of a document as it asks for, opens every file, and compares the lines, branches
// and functions that it shows with those of a tracefile and the text of the source; then
// searches, sorts, steps and follows a link to a line. MCDC is what llvm-cov show --show-mcdc
// prints of the source: the page's decisions are to have its vectors and pairs. Without it
// those of a page that was made of the tracefile are to have its conditions.
"use strict";
const fs = require("fs");
const [page, tracefile, source, listed] = process.argv.slice(2).map((path) => fs.readFileSync(path, "utf8"));

class Element {
  constructor(name) {
    Object.assign(this, { name, children: [], className: "", dataset: {}, listeners: {}, hidden: false, value: "", parentNode: null });
    this.style = { setProperty() {} };
    const words = new Set();
    this.marks = words;
    this.classList = { toggle: (word, on) => {
      words[on ? "add" : "delete"](word);
      this.className = [this.className.split(" ")[0], ...words].join(" ");
    } };
  }
  append(...parts) {
    for (const part of parts.filter((p) => p !== undefined && p !== null)) {
      if (part.parentNode) part.parentNode.children = part.parentNode.children.filter((c) => c !== part);
      if (part instanceof Element) part.parentNode = this;
      this.children.push(part);
    }
  }
  setAttribute() {}
  addEventListener(name, f) { this.listeners[name] = f; }
  querySelector(name) {
    for (const child of this.children) {
      if (child.name === name) return child;
      const found = child instanceof Element && child.querySelector(name);
      if (found) return found;
    }
    return null;
  }
  matches(selector) { return this.className.split(" ").includes(selector.slice(1)); } // ".c" is all that the page asks
  scrollIntoView() { shown = this; }
  focus() {}
  blur() {}
  get firstChild() { return this.children[0]; }
  get lastChild() { return this.children[this.children.length - 1]; }
  get textContent() { return this.children.map((c) => (typeof c === "string" ? c : c.textContent)).join(""); }
  set textContent(text) { this.children = text === "" ? [] : [text]; }
}

let shown = null;
const list = new Element("div");
const files = [...page.matchAll(/<details ([^>]*)><summary><code>(.*?)<\/code>(.*?)<\/summary>/g)].map(([, data, path, shares]) => {
  const details = new Element("details");
  for (const [, key, value] of data.matchAll(/data-(\w)="([^"]*)"/g)) details.dataset[key] = value;
  details.open = true;
  const code = new Element("code");
  code.append(path.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&quot;", '"').replaceAll("&amp;", "&"));
  const summary = new Element("summary");
  summary.append(code);
  for (const [, share] of shares.matchAll(/<span[^>]*>(?:-|[^<]*<small>(\d+\/\d+)<\/small>)<\/span>/g)) {
    const span = new Element("span"), small = new Element("small");
    if (share) { small.append(share); span.append(small); } else span.append("-");
    summary.append(span);
  }
  code.path = code.textContent;
  details.append(summary, new Element("div"));
  list.append(details);
  return details;
});
const named = { "#search": new Element("input"), "#bad": new Element("input"), output: new Element("output"), "#files": list };
const buttons = [...page.matchAll(/<button data-k="(\w+)"/g)].map(([, key]) => {
  const button = new Element("button");
  button.dataset.k = key;
  return button;
});
const listeners = {};
globalThis.location = { hash: "" };
globalThis.addEventListener = (name, f) => { listeners[name] = f; };
globalThis.document = {
  querySelector: (name) => named[name],
  querySelectorAll: (name) => (name === "button" ? buttons : files),
  createElement: (name) => new Element(name),
  addEventListener: (name, f) => { listeners[name] = f; },
};

function fail(text) {
  console.error(text);
  process.exit(1);
}

const name = (details) => details.querySelector("code").path; // the whole one; the text of a row is short
const content = (details) => details.querySelector("div").children;
const lines = (details) => content(details)[content(details).length - 1].children.flatMap((chunk) => chunk.children).filter((e) => e.name === "span");
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

// What a tracefile says of a file.
function expected(path) {
  const record = tracefile.split("end_of_record\n").find((r) => r.includes("SF:" + path + "\n"));
  if (!record) fail("the tracefile has no " + path);
  const taken = new Map();
  for (const [, line, count] of record.matchAll(/^BRDA:(\d+),\d+,\d+,(\d+|-)/gm)) {
    const [hit, all] = taken.get(line) || [0, 0];
    taken.set(line, [hit + (Number(count) > 0), all + 1]);
  }
  return {
    counts: new Map([...record.matchAll(/^DA:(\d+),(\d+)/gm)].map(([, line, count]) => [line, count])),
    branches: new Map([...taken].map(([line, [hit, all]]) => [line, hit + "/" + all])),
    functions: [...record.matchAll(/^FN:(\d+),/gm)].map(([, line]) => line).sort().join(),
  };
}

function compare(details, text) {
  const path = name(details), truth = expected(path);
  for (const line of lines(details)) {
    const [number, count, branches] = line.children.map((c) => c.textContent), content = line.lastChild.textContent;
    if (count !== (truth.counts.get(number) || "")) fail(`${path}:${number}: count '${count}'`);
    if (branches !== (truth.branches.get(number) || "")) fail(`${path}:${number}: branches '${branches}'`);
    if (/\.cc?$/.test(path) && content !== text[number - 1]) fail(`${path}:${number}: text '${content}'`);
    truth.counts.delete(number);
  }
  if (truth.counts.size) fail(path + ": lines without a row");
  const functions = content(details)[0].children[1].children.map((f) => f.children[0].textContent).sort().join();
  if (functions !== truth.functions) fail(`${path}: functions at ${functions}, not ${truth.functions}`);
  return lines(details).length;
}

// "9:9 to 9:30", its vectors as "TF-=T" and its pairs as "1,3", in one text for each decision.
function listedDecisions() {
  return listed.split("MC/DC Decision Region ").slice(1).map((text) => {
    const place = text.match(/\((\d+:\d+)\) to \((\d+:\d+)\)/).slice(1).join(" to ");
    const vectors = [...text.matchAll(/\{ ([^=]*)= (\w)/g)].map((v) => v[1].replace(/[ ,]/g, "") + "=" + v[2]);
    const pairs = [...text.matchAll(/-Pair: (.*)/g)].map((p) => p[1].replace(/covered: \((.*)\)/, "$1").replace("constant folded", "constant").replace("not covered", "not shown"));
    return [place, ...vectors, ...pairs].join(" ");
  }).sort();
}

function shownDecisions(details) {
  const chunks = content(details)[content(details).length - 1].children;
  const boxes = chunks.flatMap((chunk) => chunk.children).filter((e) => e.className === "d");
  return boxes.flatMap((box) => box.children.slice(1)).map((table) => {
    const [caption, , ...rows] = table.children;
    const cells = rows.map((row) => row.children.slice(1).map((c) => c.textContent));
    const vectors = cells.slice(0, -1).filter((v) => v[v.length - 1] !== "-");
    return [caption.textContent.replace(/, .*/, ""), ...vectors.map((v) => v.slice(0, -1).join("") + "=" + v[v.length - 1]), ...cells[cells.length - 1].slice(0, -1).map((p) => p.replace(", ", ","))].join(" ");
  }).sort();
}

// "text true false" of each condition of a tracefile.
function tracedConditions() {
  const senses = new Map();
  for (const [, line, group, sense, count, index, text] of tracefile.matchAll(/^MCDC:(\d+),(\d+),([tf]),(\d+),(\d+),(.*)$/gm)) {
    const key = [line, group, index].join();
    senses.set(key, { ...senses.get(key), text, [sense]: count });
  }
  return Array.from(senses.values(), (s) => [s.text, s.t, s.f].join(" ")).sort();
}

function shownConditions(details) {
  const boxes = content(details)[content(details).length - 1].children.flatMap((c) => c.children).filter((e) => e.className === "d");
  return boxes.flatMap((box) => box.children.slice(1)).flatMap((table) => table.children.slice(1).map((row) => row.children.map((c) => c.textContent).join(" ")));
}

// Decisions are those of llvm-cov, a key opens and closes them, and a step to a line opens its own.
function checkDecisions() {
  const theirs = listedDecisions(), ours = files.flatMap(shownDecisions);
  if (!theirs.length || theirs.join("\n") !== ours.join("\n")) fail("decisions:\n" + ours.join("\n") + "\nnot\n" + theirs.join("\n"));
  const boxes = files.flatMap((d) => content(d)[content(d).length - 1].children.flatMap((c) => c.children)).filter((e) => e.className === "d");
  if (!boxes.some((b) => b.open)) fail("no step opened a decision");
  press("m");
  if (!boxes.every((b) => b.open)) fail("m opens not all");
  press("m");
  if (boxes.some((b) => b.open)) fail("m closes not all");
}

async function search(text) {
  named["#search"].value = text;
  named["#search"].listeners.input();
  await wait(400);
}

function press(key) {
  listeners.keydown({ key, preventDefault() {} });
}

(async () => {
  if ((page.match(/<script/g) || []).length !== 1) fail("a script that is not the page's");
  new Function(page.match(/<script>\n([^]*?)<\/script>/)[1])();
  let checked = 0;
  for (const details of files) {
    await details.listeners.toggle();
    checked += compare(details, source.split("\n"));
  }
  const all = files.flatMap(lines);
  const missed = all.filter((l) => /^[up]/.test(l.className));
  if (!missed.length) fail("no line that did not run");
  for (let i = 0; i <= missed.length; i++) {
    press("n");
    if (shown !== missed[i % missed.length]) fail("n leads to the wrong line");
  }
  press("p");
  if (shown !== missed[missed.length - 1]) fail("p leads to the wrong line");
  if (listed !== undefined) checkDecisions();
  else if (tracefile.includes("MCDC:") && tracedConditions().join("\n") !== files.flatMap(shownConditions).sort().join("\n")) fail("conditions");
  await search("return");
  if (!all.some((l) => l.marks.has("m"))) fail("nothing found");
  press("n");
  if (!shown.marks.has("m")) fail("n leads to no line that was found");
  await search("no such text anywhere");
  if (!named.output.textContent.startsWith("0 of " + files.length + " file")) fail(named.output.textContent);
  await search("");
  buttons.find((b) => b.dataset.k === "l").listeners.click();
  const order = list.children.map((d) => Number(d.dataset.l));
  if (order.some((share, i) => i && share < order[i - 1])) fail("lines sort to " + order);
  named["#bad"].checked = true;
  await named["#bad"].listeners.change();
  if (files.some((d) => d.hidden !== (d.dataset.l === "100"))) fail("files that ran whole are to be hidden");
  const target = files[files.length - 1];
  location.hash = lines(target)[1].children[0].href;
  await listeners.hashchange();
  if (shown !== lines(target)[1] || target.hidden) fail("the link of a line leads elsewhere");
  console.log(checked + " lines");
})();
