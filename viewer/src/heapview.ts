// SPDX-License-Identifier: Apache-2.0
// The heap view: where the blocks come from, sorted by what is asked; sizes of blocks; the heap over time.

import { fill, h } from "./dom";
import { Recording } from "./recording";
import { bar } from "./source";
import { ColumnOf, Table } from "./table";
import { amount, baseName, count, percent, shown } from "./text";

/** Metrics by the titles of their columns, as DHAT sorts by them. */
const sorts: [string, string, string][] = [
  ["bytes at peak", "at peak", "bytes that were live when the heap was largest"], ["bytes at end", "at end", "bytes that were never freed"],
  ["bytes allocated", "total", "bytes of all blocks"], ["blocks allocated", "blocks", "all blocks"], ["short-lived blocks", "short-lived", "blocks that lived shortly"],
  ["blocks freed by another thread", "other thread", "blocks that another thread freed"], ["bytes copied by realloc", "copied", "bytes that realloc copied"],
];

interface Site { key: number; place: number; values: number[]; blocks: number; freed: number; lifetime: number; }

export interface HeapHost { rec: Recording; name: (key: number) => string; keyOf: (fn: number) => number; isUser: (place: number) => boolean; open: (place: number) => void; matches: (key: number) => boolean | null; }

/** Whether a recording has the metrics of the heap. */
export const isHeap = (rec: Recording) => rec.metrics.some(m => m.name === "bytes allocated") && rec.metrics.some(m => m.name === "blocks allocated");

/** Sums by the place of the user's code that asks for blocks. */
function sitesOf(host: HeapHost, metrics: number[]): Site[] {
  const { rec } = host, index = (name: string) => rec.metrics.findIndex(m => m.name === name), found = new Map<string, Site>();
  const freed = index("blocks freed"), lifetime = index("lifetime"), blocks = index("blocks allocated");
  for (let i = 1; i < rec.nodes; i++) {
    if (!metrics.some(m => rec.selfAll[m][i])) continue;
    let at = i;
    while (at > 0 && !host.isUser(rec.place[at])) at = rec.parent[at];
    const place = rec.place[at || i], key = host.keyOf(rec.placeFn[place]), id = key + ":" + rec.placeFile[place] + ":" + rec.placeLine[place];
    let site = found.get(id);
    if (!site) found.set(id, (site = { key, place, values: metrics.map(() => 0), blocks: 0, freed: 0, lifetime: 0 }));
    metrics.forEach((m, k) => (site!.values[k] += rec.selfAll[m][i]));
    if (blocks >= 0) site.blocks += rec.selfAll[blocks][i];
    if (freed >= 0) site.freed += rec.selfAll[freed][i];
    if (lifetime >= 0) site.lifetime += rec.selfAll[lifetime][i];
  }
  return [...found.values()];
}

/** How many blocks there are of each size: rows of a bar chart that is a table. */
function sizes(rec: Recording): HTMLElement | null {
  const rows: [string, number, number][] = [];
  rec.metrics.forEach((m, i) => {
    const range = /^blocks of (\d+) to (\d+) bytes$/.exec(m.name);
    if (range && rec.sums[i]) rows.push([amount(Number(range[1]), "bytes") + " – " + amount(Number(range[2]), "bytes"), rec.sums[i], Number(range[1])]);
  });
  if (!rows.length) return null;
  rows.sort((a, b) => a[2] - b[2]);
  const all = rows.reduce((sum, r) => sum + r[1], 0);
  const table = h("table", { class: "sizes" }, h("caption", {}, "Sizes of blocks"), h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "bytes of a block"), h("th", { scope: "col" }, "blocks"), h("th", { scope: "col" }, "share"))));
  table.append(h("tbody", {}, ...rows.map(([text, n]) => h("tr", {}, h("th", { scope: "row" }, text), h("td", { class: "n" }, count(n)), h("td", { class: "n" }, bar(n, all))))));
  return h("div", { class: "sizes-box", tabindex: 0, role: "region", "aria-label": "sizes of blocks" }, table);
}

export function heapView(host: HeapHost, over: HTMLElement | null): HTMLElement {
  const { rec } = host, have = sorts.map(s => ({ title: s[1], what: s[2], m: rec.metrics.findIndex(m => m.name === s[0]) })).filter(s => s.m >= 0 && rec.sums[s.m] > 0);
  const rows = sitesOf(host, have.map(s => s.m)).filter(s => host.matches(s.key) !== false);
  const clock = rec.about.facts.find((f: string[]) => f[0] === "heap-clock")?.[1] ?? "allocations";
  const columns: ColumnOf<Site>[] = have.map((s, k) => ({
    name: s.title, title: s.what, width: 96, number: true, sort: (r: Site) => r.values[k],
    cell: (r: Site) => { const cell = r.values[k] ? bar(r.values[k], rec.sums[s.m]) : h("span", {}); cell.textContent = r.values[k] ? amount(r.values[k], rec.metrics[s.m].unit) : ""; cell.title = percent(r.values[k], rec.sums[s.m]); return cell; },
  }));
  if (rows.some(r => r.freed && r.lifetime)) columns.push({ name: "lives", title: "mean lifetime of freed blocks, in " + clock, width: 76, number: true, sort: r => (r.freed ? r.lifetime / r.freed : 0), cell: r => (r.freed ? (clock === "ns" ? amount(r.lifetime / r.freed, "ns") : count(r.lifetime / r.freed)) : "") });
  columns.push({ name: "allocated by", width: 0, sort: r => host.name(r.key), cell: r => h("span", {}, h("code", {}, shown(host.name(r.key), 300)), " ", h("span", { class: "soft" }, rec.placeFile[r.place] ? shown(baseName(rec.strings.get(rec.placeFile[r.place])), 60) + ":" + rec.placeLine[r.place] : shown(rec.moduleName(r.place), 60))) });
  const table = new Table<Site>({ label: "places that allocate", columns, rows, sort: 0, onOpen: r => host.open(r.place), empty: "nothing was allocated" });
  const total = h("p", { class: "line" }, ...have.flatMap(s => [h("strong", {}, s.title + " "), amount(rec.sums[s.m], rec.metrics[s.m].unit) + "   "]));
  const side = sizes(rec), body = h("div", { class: side ? "heap with-sizes" : "heap" }, table.element, side);
  const out = h("div", { class: "file" });
  fill(out, over, total, body);
  return out;
}

