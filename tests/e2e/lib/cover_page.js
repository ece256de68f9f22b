// SPDX-License-Identifier: Apache-2.0
// cover_page.js PAGE TRACEFILE SOURCE: runs the script of a coverage page over as
// much of a document as it asks for, opens every file, and compares the lines that
// it builds with the counts of a tracefile and the text of the source.
"use strict";
const fs = require("fs");
const [page, tracefile, source] = process.argv.slice(2).map((path) => fs.readFileSync(path, "utf8"));

class Element {
  constructor(name) {
    Object.assign(this, { name, children: [], className: "", dataset: {}, listeners: {}, hidden: false, value: "" });
    this.classList = { toggle: (name, on) => { this.marked = on; } };
  }
  append(...parts) { this.children.push(...parts.filter((p) => p !== undefined)); }
  addEventListener(name, f) { this.listeners[name] = f; }
  querySelector(name) { return this.children.find((c) => c.name === name); }
  get textContent() { return this.children.map((c) => (typeof c === "string" ? c : c.textContent)).join(""); }
  set textContent(text) { this.children = [text]; }
}

const files = [...page.matchAll(/<details data-z="([^"]*)">.*?<code>(.*?)<\/code>/g)].map(([, z, path]) => {
  const details = new Element("details");
  details.dataset.z = z;
  details.open = true;
  const code = new Element("code");
  code.append(path.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&quot;", '"').replaceAll("&amp;", "&"));
  details.append(code, new Element("pre"));
  return details;
});
const box = new Element("input");
const output = new Element("output");
globalThis.document = {
  querySelector: (name) => (name === "input" ? box : output),
  querySelectorAll: () => files,
  createElement: (name) => new Element(name),
};

function fail(text) {
  console.error(text);
  process.exit(1);
}

(async () => {
  if ((page.match(/<script/g) || []).length !== 1) fail("a script that is not the page's");
  new Function(page.match(/<script>\n([^]*?)<\/script>/)[1])();
  let checked = 0;
  for (const details of files) {
    await details.listeners.toggle();
    const name = details.querySelector("code").textContent;
    const record = tracefile.split("end_of_record\n").find((r) => r.includes("SF:" + name + "\n"));
    if (!record) fail("the tracefile has no " + name);
    const counts = new Map([...record.matchAll(/^DA:(\d+),(\d+)/gm)].map(([, line, count]) => [Number(line), count]));
    const lines = details.querySelector("pre").children;
    const text = source.split("\n");
    for (const line of lines) {
      const [number, count, content] = [line.children[0].textContent, line.children[1].textContent, line.children[2]];
      if (count !== (counts.get(Number(number)) || "")) fail(`${name}:${number}: count '${count}'`);
      if (name.endsWith(".cc") && content !== text[number - 1]) fail(`${name}:${number}: text '${content}'`);
      counts.delete(Number(number));
      checked++;
    }
    if (counts.size) fail(name + ": lines without a row");
  }
  box.value = "return";
  await box.listeners.input();
  if (!files.some((d) => !d.hidden && d.querySelector("pre").children.some((l) => l.marked))) fail("nothing found");
  box.value = "no such text anywhere";
  await box.listeners.input();
  if (output.textContent !== "0 of " + files.length + " files") fail(output.textContent);
  console.log(checked + " lines");
})();
