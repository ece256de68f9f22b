// SPDX-License-Identifier: Apache-2.0
// The source view: every line of a file with what is known of it.

import { Lines, Weighed } from "./calls";
import { css, h } from "./dom";
import { Joined } from "./join";
import { Recording } from "./recording";
import { ColumnOf, Table } from "./table";
import { amount, count, percent, shown } from "./text";

interface SourceRow {
  kind: "line" | "callee" | "code" | "gap";
  line: number;
  row: number; // of Lines, -1: none
  text: string;
  self: number;
  total: number;
  key?: number; // of a callee
  detail?: string;
  open?: boolean;
  folds?: boolean;
}

const words = /^(auto|bool|break|case|catch|char|class|const|continue|default|delete|do|double|else|enum|extern|false|float|fn|for|goto|if|impl|inline|int|let|long|loop|match|mod|mut|namespace|new|nullptr|NULL|operator|override|private|protected|pub|public|ref|return|self|short|signed|sizeof|static|struct|switch|template|this|throw|trait|true|try|typedef|typename|union|unsigned|use|using|virtual|void|volatile|where|while)$/;
const tokens = /(\/\/.*|\/\*.*?(?:\*\/|$)|#\s*\w+)|("(?:\\.|[^"\\])*"?|'(?:\\.|[^'\\])+')|(\b\d[\w.]*)|([A-Za-z_]\w*)/g;

/** One line of C, C++ or Rust with its comments, texts, numbers and keywords marked. */
export function coloured(text: string): HTMLElement {
  const out = h("code"), safe = shown(text, 2000);
  let at = 0;
  for (const m of safe.matchAll(tokens)) {
    const kind = m[1] !== undefined ? "c" : m[2] !== undefined ? "s" : m[3] !== undefined ? "d" : words.test(m[4]) ? "k" : "";
    if (!kind) continue;
    out.append(safe.slice(at, m.index), h("span", { class: kind }, m[0]));
    at = m.index + m[0].length;
  }
  out.append(safe.slice(at));
  return out;
}

/** A share as a number over a bar. */
export function bar(part: number, whole: number): HTMLElement {
  const cell = h("span", { class: "bar" }, percent(part, whole));
  if (part) cell.style.setProperty("--w", Math.min(100, (100 * part) / (whole || 1)) + "%");
  return cell;
}

/** The width of a column whose title begins with the name of a recording, which stands above the rest. */
export const wide = (name: string, least: number) => Math.max(least, 8 + 7 * name.length);

const BINS = 24;

/** For each line with a self value: its sums in equal parts of the run. */
function lineBins(rec: Recording, lines: Lines, metric: number, wanted: Set<number>): Map<number, Float64Array> {
  const out = new Map<number, Float64Array>(), { start, end } = rec, scale = BINS / (end - start || 1);
  const bins: (Float64Array | undefined)[] = [];
  for (const row of wanted) out.set(row, (bins[row] = new Float64Array(BINS)));
  const ofRank: (Float64Array | undefined)[] = [undefined];
  for (const node of rec.rankNode) ofRank.push(bins[lines.of[rec.place[node]]]);
  for (const part of rec.parts()) {
    const value = part.values[metric], { rank, time } = part;
    for (let i = 0, now = part.start - start; i < rank.length; i++) {
      const b = ofRank[rank[i]];
      if (i) now = time.after(now, i);
      if (b) b[Math.min(BINS - 1, (now * scale) | 0)] += typeof value === "number" ? value : value[i];
    }
  }
  return out;
}

function spark(values: Float64Array | undefined): Node | string {
  if (!values) return "";
  const c = h("canvas", { width: 96, height: 32, class: "spark", role: "img", "aria-label": "over the run" }), g = c.getContext("2d")!;
  const most = Math.max(...values) || 1;
  g.fillStyle = css("--accent");
  values.forEach((v, i) => g.fillRect(i * 4, 32 - (v / most) * 30, 3, (v / most) * 30));
  return c;
}

export interface SourceHost {
  rec: Recording;
  weighed: () => Weighed;
  lines: () => Lines;
  unit: string;
  name: (key: number) => string;
  onFunction: (key: number) => void;
  hasTime: boolean;
  joined: Joined; // what the page's other recordings know of the file
  kind: string; // what the shown recording is called beside others; "": it is alone
}

/** The calls that a line makes, and what is inlined into it, greatest first. */
function calleesOf(host: SourceHost, row: number): { key: number; total: number; inlined: boolean }[] {
  const w = host.weighed(), { rec } = w.shape, lines = host.lines(), found = new Map<number, { key: number; total: number; inlined: boolean }>();
  const total = new Float64Array(rec.nodes);
  for (let i = rec.nodes - 1; i > 0; i--) {
    total[i] += w.raw[i];
    const up = rec.parent[i];
    total[up] += total[i];
    if (up === 0 || !total[i] || lines.of[rec.place[up]] !== row) continue;
    const inlined = (rec.placeFlags[rec.place[i]] & 2) !== 0, key = w.shape.names.of[rec.placeFn[rec.place[i]]], id = key * 2 + (inlined ? 1 : 0);
    const entry = found.get(id);
    if (entry) entry.total += total[i];
    else found.set(id, { key, total: total[i], inlined });
  }
  return [...found.values()].sort((a, b) => b.total - a.total).slice(0, 12);
}

/** The table of one file. `goal` is the line to show first; 0: the hottest. */
export function sourceTable(host: SourceHost, path: string, file: number, goal: number, onLine: (line: number) => void): HTMLElement {
  const { rec } = host, w = host.weighed(), lines = host.lines(), known = rec.file(path), inFile = lines.inFile(file), { joined } = host;
  const counts = rec.executions.get(file), whole = w.total[0];
  if (known.text !== undefined) known.lines ??= known.text.split("\n");
  const rows: SourceRow[] = [];
  const add = (line: number, text: string) => {
    const row = inFile.get(line) ?? -1;
    rows.push({ kind: "line", line, row, text, self: row < 0 ? 0 : lines.self[row], total: row < 0 ? 0 : lines.total[row], folds: row >= 0 && lines.total[row] > 0 });
  };
  const allText = known.lines ?? (known.kept ? undefined : joined.text);
  if (allText) allText.forEach((text, i) => add(i + 1, text));
  else {
    const all = new Set([...inFile.keys(), ...(known.kept?.keys() ?? []), ...(counts?.keys() ?? []), ...joined.lines]);
    let last = 0;
    for (const line of [...all].sort((a, b) => a - b)) {
      if (known.kept && last && line > last + 1) rows.push({ kind: "gap", line: last + 1, row: -1, text: "", self: 0, total: 0 });
      add(line, known.kept?.get(line) ?? "");
      last = line;
    }
  }
  const hot = new Set<number>();
  for (const row of inFile.values()) if (lines.self[row] > whole * 0.001) hot.add(row);
  const bins = host.hasTime && hot.size ? lineBins(rec, lines, w.selection.metric, hot) : new Map<number, Float64Array>();
  // The hottest line; where no line computes itself, the one whose calls do.
  const byTotal = rows.every(r => r.self < whole * 0.01);
  let best = -1;
  rows.forEach((r, i) => {
    if (goal ? r.line === goal : best < 0 || (r.self > rows[best].self && !byTotal) || ((byTotal || r.self === rows[best].self) && r.total > rows[best].total)) best = goal && best >= 0 ? best : i;
  });
  if (!goal && (best < 0 || !rows[best].total) && joined.columns.length) {
    const by = joined.columns[0];
    rows.forEach((r, i) => { if (r.kind === "line" && by.value(r.line) > (best < 0 ? 0 : by.value(rows[best].line))) best = i; });
  }
  const unfold = (r: SourceRow): SourceRow[] => {
    const below: SourceRow[] = calleesOf(host, r.row).map(c => ({ kind: "callee", line: r.line, row: -1, text: (c.inlined ? "inlined " : "calls ") + host.name(c.key), self: 0, total: c.total, key: c.key }));
    for (const i of rec.code.get(path + ":" + r.line) ?? [])
      below.push({ kind: "code", line: r.line, row: -1, text: i.text, self: i.self, total: 0, detail: i.address.toString(16) + (i.inlined ? " in " + i.inlined : "") });
    return below;
  };
  const columns: ColumnOf<SourceRow>[] = [
    { name: host.kind ? host.kind + " self" : "self", width: wide(host.kind, 68), number: true, cell: r => bar(r.self, whole) },
    { name: host.kind ? host.kind + " total" : "total", width: wide(host.kind, 72), number: true, cell: r => bar(r.total, whole) },
  ];
  // The text of the lines needs room: columns without a text here go, and of many those that say least.
  const used = joined.columns.filter(j => rows.some(r => r.kind === "line" && j.text(r.line)));
  const isNarrow = innerWidth < 900, room = innerWidth - (isNarrow ? 371 : 611) - 24 - 2 * wide(host.kind, 72), widths = () => few.reduce((s, j) => s + j.width + 12, 0); // 12 pixels lie between columns
  let few = used;
  for (const least of [/(bytes|at peak|branches)$/, /total$/, /allocs$/]) if (widths() > room) few = few.filter(j => !least.test(j.name));
  while (few.length && widths() > room) few = few.slice(0, -1);
  for (const j of few) columns.push({ name: j.name, title: j.title, width: j.width, number: true, cell: r => (r.kind === "line" ? j.text(r.line) : "") });
  if (counts && !joined.columns.some(j => j.name.endsWith("executions"))) columns.push({ name: "executions", width: 110, number: true, cell: r => (r.kind === "line" && counts.has(r.line) ? count(counts.get(r.line)!) : "") });
  if (counts && host.unit === "ns" && !joined.columns.length) columns.push({ name: "self each", width: 80, number: true, cell: r => (r.kind === "line" && counts.get(r.line) && r.self ? amount(r.self / counts.get(r.line)!, "ns") : "") });
  if (bins.size && widths() + 112 <= room && !isNarrow) columns.push({ name: "over the run", width: 100, cell: r => (r.row >= 0 ? spark(bins.get(r.row)) : "") });
  columns.push({ name: "line", width: 44, number: true, cell: r => (r.kind === "line" ? String(r.line) : "") });
  columns.push({
    name: "source", width: 0,
    cell: r => {
      if (r.kind === "gap") return h("span", { class: "soft" }, "⋯");
      if (r.kind === "callee") return h("span", { class: "below" }, h("button", { class: "link", onclick: () => host.onFunction(r.key!) }, shown(r.text, 300)));
      if (r.kind === "code") return h("span", { class: "below asm" }, h("code", {}, shown(r.text, 300)), h("span", { class: "soft" }, "  " + shown(r.detail!, 120)));
      return h("span", {}, r.folds ? h("button", { class: "fold", "aria-label": r.open ? "fold line " + r.line : "unfold line " + r.line, onclick: (e: Event) => { e.stopPropagation(); toggle(r); } }, r.open ? "▾" : "▸") : h("span", { class: "fold" }), coloured(r.text));
    },
  });
  const toggle = (r: SourceRow) => {
    const at = rows.indexOf(r);
    r.open = !r.open;
    if (r.open) rows.splice(at + 1, 0, ...unfold(r));
    else {
      let end = at + 1;
      while (end < rows.length && (rows[end].kind === "callee" || rows[end].kind === "code")) end++;
      rows.splice(at + 1, end - at - 1);
    }
    table.update();
  };
  const hottest = Math.max(...[...inFile.values()].map(r => lines.self[r]), whole * 0.01);
  const table: Table<SourceRow> = new Table<SourceRow>({
    label: "lines of " + path, columns, rows, selected: Math.max(0, best),
    tree: { level: r => (r.kind === "line" || r.kind === "gap" ? 1 : 2), open: r => (r.folds ? !!r.open : null), toggle, parent: r => { let i = rows.indexOf(r); while (i > 0 && rows[i].kind !== "line") i--; return i; } },
    rowClass: r => (r.kind === "line" && r.self > hottest * 0.5 ? "hot" : r.kind === "line" && r.self > hottest * 0.1 ? "warm" : r.kind !== "line" ? "sub" : counts && r.kind === "line" && counts.get(r.line) === 0 ? "never" : ""),
    onSelect: r => onLine(r.line),
    onOpen: r => { if (r.folds) toggle(r); else if (r.key !== undefined) host.onFunction(r.key); },
    empty: "no line of this file is known",
  });
  return table.element;
}
