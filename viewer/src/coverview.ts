// SPDX-License-Identifier: Apache-2.0
// The coverage view: files in their folders with their shares, and the source of one of them.

import { CLASSES, Coverage, CoverFile, CRITERIA, decided, FileLines, shareOf, Tally } from "./coverage";
import { fill, h } from "./dom";
import { coloured } from "./source";
import { ColumnOf, Table } from "./table";
import { count, shown } from "./text";

interface FileRow { label: string; depth: number; tally: Tally[]; before: Tally[] | null; classes: number[]; file: CoverFile | null; path: string; }

export interface CoverHost {
  cover: Coverage;
  file: () => string;
  line: () => number;
  only: () => string; // "", "missed", "changed"
  sort: () => string; // "": folders; a column's name
  pattern: () => RegExp | null;
  open: (path: string, line: number) => void;
  set: (change: { only?: string; sort?: string }) => void;
  remember: (line: number) => void;
  say: (text: string) => void;
  found: (text: string) => void;
}

const folderOf = (path: string) => path.slice(0, path.lastIndexOf("/") + 1);
const missed = (f: CoverFile) => f.tally[0][1] - f.tally[0][0];
const plus = (a: Tally[], b: Tally[]): Tally[] => a.map((t, i) => [t[0] + b[i][0], t[1] + b[i][1]]);
const none = (): Tally[] => [[0, 0], [0, 0], [0, 0], [0, 0]];

/** The folder that all files are in. */
function commonFolder(files: CoverFile[]): string {
  return files.map(f => folderOf(f.path)).reduce((a, b) => {
    while (!b.startsWith(a)) a = folderOf(a.slice(0, -1));
    return a;
  }, files.length ? folderOf(files[0].path) : "");
}

/** The files of `wanted` in their folders, in the order of paths. Folders have the sums of all their files; one that holds one folder
 * alone is one row with it. */
function nested(files: CoverFile[], wanted: Set<CoverFile>, common: string, closed: Set<string>): FileRow[] {
  const inner = new Map<string, Set<string>>(), byPath = new Map(files.map(f => [f.path, f]));
  const sorted = [...files].sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
  for (const file of sorted)
    for (let child = file.path, at = folderOf(child); ; child = at, at = folderOf(at.slice(0, -1))) {
      if (!inner.has(at)) inner.set(at, new Set());
      inner.get(at)!.add(child);
      if (at === common || at === "") break;
    }
  const rows: FileRow[] = [];
  const put = (name: string, depth: number, base: string): FileRow => {
    const sum: FileRow = { label: "", depth, tally: none(), before: none(), classes: [0, 0, 0, 0], file: null, path: name };
    const add = (r: FileRow) => {
      sum.tally = plus(sum.tally, r.tally);
      sum.before = plus(sum.before!, r.before ?? none());
      sum.classes = sum.classes.map((n, i) => n + r.classes[i]);
    };
    for (let child of inner.get(name) ?? []) {
      const file = byPath.get(child);
      if (file) {
        const row: FileRow = { label: child.slice(base.length), depth, tally: file.tally, before: file.before, classes: file.classes, file, path: child };
        if (wanted.has(file)) rows.push(row);
        add(row);
        continue;
      }
      while (inner.get(child)!.size === 1 && !byPath.has([...inner.get(child)!][0])) child = [...inner.get(child)!][0];
      const at = rows.length, folder: FileRow = { label: child.slice(base.length), depth, tally: none(), before: null, classes: [], file: null, path: child };
      rows.push(folder);
      const of = put(child, depth + 1, child);
      if (rows.length === at + 1) rows.length = at; // none of its files is wanted
      else if (closed.has(child)) rows.length = at + 1;
      folder.tally = of.tally;
      folder.before = of.before;
      folder.classes = of.classes;
      add(folder);
    }
    return sum;
  };
  put(common, 0, common);
  return rows;
}

/** "97.51% 46/59 +1.25" over a bar. */
function shareCell(t: Tally, before: Tally | null, gone: boolean): Node | string {
  if (!t[1] || gone) return "-";
  const p = shareOf(t), cell = h("span", { class: "share " + (p < 75 ? "lo" : p < 90 ? "mid" : "hi") }, p.toFixed(2) + "% ", h("small", {}, t.join("/")));
  cell.style.setProperty("--w", p.toFixed(2) + "%");
  if (before) {
    const change = before[1] ? Math.round(100 * (p - shareOf(before))) / 100 : 0;
    if (!before[1]) cell.append(" ", h("em", {}, "new"));
    else if (change) cell.append(" ", h("em", { class: change < 0 ? "w" : "g" }, (change > 0 ? "+" : "") + change.toFixed(2)));
  }
  return cell;
}

const kinds: [string, string][] = [["w", "lost"], ["w", "new missed"], ["g", "new ran"], ["g", "gained"]];

function classCell(r: FileRow): Node | string {
  if (r.file?.gone) return "gone";
  const box = h("span", {});
  kinds.forEach(([kind, what], i) => {
    if (r.classes[i]) box.append(box.firstChild ? ", " : "", h("span", { class: kind }, r.classes[i] + " " + what));
  });
  return box.firstChild ? box : "-";
}

interface LineRow { line: number; at: number; text: string; kind: "line" | "mcdc" | "cells"; cells?: string[]; title?: string; state: string; decisions?: any[]; open?: boolean; }

/** The text from one place of the source to another as one line; columns count bytes. */
function textBetween(text: string[], line: number, column: number, endLine: number, endColumn: number): string {
  if (!endLine || endLine > text.length) return "";
  const parts: string[] = [];
  for (let at = line; at <= endLine; at++)
    parts.push(new TextDecoder().decode(new TextEncoder().encode(text[at - 1]).slice(at === line ? column - 1 : 0, at === endLine ? endColumn - 1 : undefined)).trim());
  return parts.join(" ");
}

/** A decision as rows of cells: its conditions across, the runs of the decision down. */
function decisionRows(d: any, text: string[]): string[][] {
  if (d.length === 2) return [["condition", "true", "false"], ...d[1].map((c: any) => [c[0], String(c[1]), String(c[2])])];
  const [line, column, endLine, endColumn, conditions, vectors, name, more] = d;
  const of = name ? ", " + name + (more ? " and " + more + " more" : "") : "";
  const heads = conditions.map(([l, c, el, ec]: number[], i: number) => "C" + (i + 1) + " " + (textBetween(text, l, c, el, ec) || l + ":" + c));
  const pairs = conditions.map((c: number[]) => (c.length === 4 ? "constant" : c[4] ? c[4] + ", " + c[5] : "not shown"));
  return [
    [line + ":" + column + " to " + endLine + ":" + endColumn + of], ["ran as", ...heads, "result"],
    ...(vectors.length ? vectors.map((v: string, i: number) => [String(i + 1), ...v]) : [["never", ...conditions.map(() => "-"), "-"]]),
    ["decides alone", ...pairs, ""],
  ];
}

export class CoverView {
  element: HTMLElement;
  private files!: Table<FileRow>;
  private source: Table<LineRow> | null = null;
  private rows: LineRow[] = [];
  private box = h("div", { class: "cover-files" });
  private tools = h("div", { class: "line tools" });
  private pane = h("div", { class: "file cover-source", role: "region", "aria-label": "source of a file" });
  private closed = new Set<string>();
  private turn = 0; // of the search that runs; an older one gives up
  private shownFiles: CoverFile[] = [];
  private current: CoverFile | null = null;
  private at = -1; // row of the source that is selected

  constructor(private host: CoverHost) {
    this.element = h("div", { class: "cover" }, h("div", { class: "cover-left" }, this.tools, this.box), this.pane);
    void this.update();
  }

  private common = () => commonFolder(this.host.cover.files);

  /** After a change of the search, of what is shown, or of the order. */
  async update() {
    const { host } = this, { cover } = host, mine = ++this.turn, pattern = host.pattern(), only = host.only();
    const wanted = cover.files.filter(f => (only === "missed" ? missed(f) > 0 : only === "changed" ? f.classes.some(n => n > 0) : true));
    this.shownFiles = wanted;
    if (pattern) {
      await Promise.all(wanted.map(f => cover.load(f.index).catch(() => null)));
      if (mine !== this.turn) return;
      this.shownFiles = wanted.filter(f => pattern.test(f.path) || cover.loaded[f.index]?.text.some(t => pattern.test(t)));
    }
    const n = this.shownFiles.length, all = cover.files.length;
    host.found((n === all ? "" : n + " of ") + all + (all === 1 ? " file" : " files"));
    this.drawTools();
    this.drawFiles();
    await this.drawSource();
  }

  private drawTools() {
    const { host } = this, { cover } = host, t = cover.total;
    const toggle = (word: string, text: string) => h("button", { "aria-pressed": host.only() === word, "data-only": word, onclick: () => host.set({ only: host.only() === word ? "" : word }) }, text);
    const sum: Node[] = [];
    for (let k = 0; k < cover.criteria; k++) sum.push(h("span", { class: "total" }, CRITERIA[k] + " ", shareCell(t[k], cover.before ? cover.before[k] : null, false)));
    fill(this.tools, h("strong", {}, "Total"), ...sum, toggle("missed", "only files with missed lines"), cover.beside && toggle("changed", "only lost and new lines"));
  }

  private drawFiles() {
    const { host } = this, { cover } = host, sort = host.sort(), common = this.common();
    let rows: FileRow[];
    if (!sort) rows = nested(cover.files, new Set(this.shownFiles), common, this.closed);
    else {
      const k = CRITERIA.indexOf(sort);
      // What has nothing to count, and what only the baseline has, stands behind.
      const key = (f: CoverFile) => (sort === "since" ? -(f.classes[0] + f.classes[1]) : f.gone || !f.tally[k][1] ? (k === 0 ? 100 : 101) : (f.tally[k][0] / f.tally[k][1]) * 100);
      rows = [...this.shownFiles].sort((a, b) => key(a) - key(b) || (a.path < b.path ? -1 : 1)).map(f => ({ label: f.path.slice(common.length), depth: 0, tally: f.tally, before: f.before, classes: f.classes, file: f, path: f.path }));
    }
    const wide = cover.beside ? 158 : cover.criteria === 4 ? 102 : 118;
    const columns: ColumnOf<FileRow>[] = [{ name: "file", width: 0, cell: r => this.nameCell(r), head: () => host.set({ sort: "" }) }];
    for (let k = 0; k < cover.criteria; k++) columns.push({ name: CRITERIA[k], width: k === 0 ? wide + 14 : wide, cell: r => shareCell(r.tally[k], cover.beside ? r.before?.[k] ?? [0, 0] : null, !!r.file?.gone), head: () => host.set({ sort: CRITERIA[k] }) });
    if (cover.beside) columns.push({ name: "since the baseline", width: 200, cell: classCell, head: () => host.set({ sort: "since" }) });
    const chosen = this.choose();
    const toggle = (r: FileRow) => {
      if (!this.closed.delete(r.path)) this.closed.add(r.path);
      this.drawFiles();
    };
    this.files = new Table<FileRow>({
      label: "files", columns, rows, selected: Math.max(0, rows.findIndex(r => r.file && r.file === chosen)), keepsOrder: true,
      sorted: sort ? columns.findIndex(c => c.name === sort || (sort === "since" && c.name.startsWith("since"))) : 0,
      tree: sort ? undefined : { level: r => r.depth + 1, open: r => (r.file ? null : !this.closed.has(r.path)), toggle, parent: r => rows.findIndex(x => !x.file && r.path.startsWith(x.path) && r !== x && x.depth === r.depth - 1) },
      onSelect: r => { if (r.file && r.file !== this.current) host.open(r.path, 0); },
      onOpen: r => { if (!r.file) toggle(r); },
      empty: "no file matches",
    });
    fill(this.box, this.files.element);
  }

  private nameCell(r: FileRow): Node {
    const cell = h("span", { class: "indent" + (r.file ? "" : " dir") }, r.file ? "" : this.closed.has(r.path) ? "▸ " : "▾ ", h("code", { class: r.file?.gone ? "gone" : "" }, shown(r.label, 300)));
    Object.assign(cell, { path: r.path }); // names stand in no attribute
    cell.style.setProperty("--level", String(Math.min(30, r.depth)));
    return cell;
  }

  /** The file to show: the one asked for, else the one with the most lines that did not run. */
  private choose(): CoverFile | null {
    const { host } = this, { cover } = host, index = cover.find(host.file());
    if (index >= 0) return cover.files[index];
    return [...this.shownFiles].filter(f => !f.gone).sort((a, b) => missed(b) - missed(a))[0] ?? null;
  }

  private async drawSource() {
    const { host } = this, file = this.choose();
    this.current = file;
    this.source = null;
    if (!file) return fill(this.pane, h("p", { class: "empty" }, "no file"));
    if (file.gone) return fill(this.pane, h("p", { class: "line path" }, shown(file.path)), h("p", { class: "empty" }, "The baseline has this file, the coverage does not."));
    let lines: FileLines | null = null;
    try { lines = await host.cover.load(file.index); } catch (e) { return fill(this.pane, h("p", { class: "empty" }, "The lines of this file cannot be shown: " + e)); }
    if (this.current !== file) return;
    if (!lines) return fill(this.pane, h("p", { class: "empty" }, "The lines of this file are not in the page."));
    this.build(file, lines);
  }

  private build(file: CoverFile, f: FileLines) {
    const { host } = this, { cover } = host, pattern = host.pattern();
    const last = Math.max(f.text.length, f.line.length ? f.line[f.line.length - 1] : 0);
    this.rows = [];
    const addLine = (line: number) => {
      const at = f.row.get(line) ?? -1, decisions = f.decisions.get(line), share = decisions && decided(decisions);
      const partial = at >= 0 && ((f.branches[at] > 0 && f.taken[at] < f.branches[at]) || (share && share[0] < share[1]));
      this.rows.push({ line, at, text: f.text[line - 1] ?? "", kind: "line", state: at < 0 ? "" : f.count[at] === 0 ? "u" : partial ? "p" : "h", decisions });
      if (decisions) this.rows.push({ line, at, kind: "mcdc", state: "", decisions, text: `MC/DC: ${share![0]} of ${share![1]} ${share![1] === 1 ? "condition is" : "conditions are"} shown to decide alone` });
    };
    // Without the text, only lines that count are rows.
    if (f.text.length) for (let line = 1; line <= last; line++) { if (line <= f.text.length || f.row.has(line)) addLine(line); }
    else for (const line of f.line) addLine(line);
    const letter = (r: LineRow) => (f.classes && r.at >= 0 && f.classes[r.at] ? CLASSES[String.fromCharCode(f.classes[r.at])] : undefined);
    const columns: ColumnOf<LineRow>[] = [
      { name: "line", width: 56, number: true, cell: r => (r.kind === "line" ? String(r.line) : "") },
      { name: "count", width: 84, number: true, cell: r => (r.kind === "line" && r.at >= 0 ? count(f.count[r.at]) : "") },
      { name: "branches", width: 68, number: true, cell: r => (r.kind === "line" && r.at >= 0 && f.branches[r.at] ? h("span", { title: `${f.taken[r.at]} of ${f.branches[r.at]} branches were taken` }, f.taken[r.at] + "/" + f.branches[r.at]) : "") },
    ];
    if (cover.beside) columns.push({ name: "change", width: 56, cell: r => { const c = r.kind === "line" ? letter(r) : undefined; return c ? h("span", { class: c[1], title: c[2] }, c[0]) : ""; } });
    if (f.decisions.size) columns.push({ name: "MC/DC", width: 56, number: true, cell: r => { if (r.kind !== "line" || !r.decisions) return ""; const s = decided(r.decisions); return h("span", { title: `${s[0]} of ${s[1]} conditions are shown to decide alone (MC/DC)` }, s.join("/")); } });
    columns.push({
      name: "source", width: 0,
      cell: r => r.kind === "line" ? h("span", { class: pattern && pattern.test(r.text) ? "match" : "" }, coloured(r.text))
        : r.kind === "mcdc" ? h("button", { class: "link", onclick: (e: Event) => { e.stopPropagation(); this.toggle(r); } }, (r.open ? "▾ " : "▸ ") + r.text)
        : h("span", { class: "cells" }, ...r.cells!.map(c => Object.assign(h("span", {}, shown(c, 200)), { full: c }))),
    });
    const goal = host.file() === file.path ? host.line() : 0;
    let selected = this.rows.findIndex(r => r.kind === "line" && (goal ? r.line === goal : this.isStop(r)));
    if (selected < 0) selected = 0;
    this.at = selected;
    this.source = new Table<LineRow>({
      label: "lines of the file", columns, rows: this.rows, selected,
      rowClass: r => (r.kind === "line" ? r.state : "sub"),
      onSelect: r => { this.at = this.rows.indexOf(r); host.remember(r.line); },
      onOpen: r => this.toggle(r),
      empty: "no line of this file counts",
    });
    if (goal) this.openBelow(selected);
    const missing = f.functions.filter(x => x[1] === 0).length, list = h("div", { class: "function-list", hidden: true });
    const button = f.functions.length > 0 && h("button", {
      "aria-expanded": false, onclick: () => {
        list.hidden = !list.hidden;
        button && button.setAttribute("aria-expanded", String(!list.hidden));
        if (!list.hidden && !list.firstChild) list.append(this.functionTable(f).element);
      },
    }, f.functions.length + (f.functions.length === 1 ? " function" : " functions") + (missing ? ", " + missing + " did not run" : ""));
    const stops = this.rows.filter(r => this.isStop(r)).length;
    fill(this.pane, h("div", { class: "line tools" }, h("span", { class: "path" }, shown(file.path)), button || null,
      h("button", { onclick: () => this.step(-1), "aria-label": "↑ p: previous line to look at" }, "↑ ", h("kbd", {}, "p")), h("button", { onclick: () => this.step(1), "aria-label": "↓ n: next line to look at" }, "↓ ", h("kbd", {}, "n")),
      h("span", { class: "soft" }, stops + (pattern ? (stops === 1 ? " line found" : " lines found") : host.only() === "changed" ? " lost or new" : " not run, or in part"))), list,
      f.text.length === 0 && h("p", { class: "note" }, "The text of this file is not in the page. ", h("code", {}, "-I DIR"), " names folders in which sources are searched."), this.source.element);
  }

  private functionTable(f: FileLines): Table<[number, number, string]> {
    const rows = [...f.functions].sort((a, b) => Number(a[1] > 0) - Number(b[1] > 0) || a[0] - b[0]);
    return new Table<[number, number, string]>({
      label: "functions", rows,
      columns: [{ name: "line", width: 56, number: true, cell: r => String(r[0]) }, { name: "count", width: 84, number: true, cell: r => count(r[1]) }, { name: "function", width: 0, cell: r => h("code", {}, shown(r[2], 400)) }],
      rowClass: r => (r[1] === 0 ? "u" : "h"), onOpen: r => this.goToLine(r[0]), onSelect: r => this.goToLine(r[0]),
    });
  }

  private goToLine(line: number) {
    const i = this.rows.findIndex(r => r.kind === "line" && r.line === line);
    if (i >= 0) this.goTo(i);
  }

  private goTo(i: number) {
    this.at = i;
    this.openBelow(i);
    this.source?.goTo(i);
  }

  /** Opens the decisions of a line that was gone to. */
  private openBelow(i: number) {
    const below = this.rows[i + 1];
    if (below?.kind === "mcdc" && !below.open) this.toggle(below);
  }

  private toggle(r: LineRow) {
    if (r.kind !== "mcdc") return;
    const at = this.rows.indexOf(r), text = this.host.cover.loaded[this.current!.index]!.text;
    r.open = !r.open;
    if (r.open) this.rows.splice(at + 1, 0, ...r.decisions!.flatMap(d => decisionRows(d, text)).map((cells): LineRow => ({ line: r.line, at: -1, text: "", kind: "cells", state: "", cells })));
    else {
      let end = at + 1;
      while (end < this.rows.length && this.rows[end].kind === "cells") end++;
      this.rows.splice(at + 1, end - at - 1);
    }
    this.source?.update();
  }

  /** Whether n and p stop at a row. */
  private isStop(r: LineRow): boolean {
    if (r.kind !== "line") return false;
    const pattern = this.host.pattern(), f = this.host.cover.loaded[this.current?.index ?? -1];
    if (pattern && pattern.test(r.text)) return true;
    if (pattern && this.rows.some(x => x.kind === "line" && pattern.test(x.text))) return false;
    if (this.host.only() === "changed") return r.at >= 0 && !!f?.classes?.[r.at] && CLASSES[String.fromCharCode(f.classes[r.at])]?.[1] === "w";
    return r.state === "u" || r.state === "p";
  }

  /** Goes to the next line to look at, or the one before; from the last to the first. */
  private step(by: number) {
    const stops = this.rows.map((r, i) => (this.isStop(r) ? i : -1)).filter(i => i >= 0);
    if (!stops.length) return this.host.say("no such line in this file");
    const next = by > 0 ? stops.find(i => i > this.at) ?? stops[0] : stops.filter(i => i < this.at).pop() ?? stops[stops.length - 1];
    this.goTo(next);
    const r = this.rows[this.at];
    this.host.say(`line ${r.line}`);
  }

  /** A key of this view; false: it is none. */
  key(e: KeyboardEvent): boolean {
    if (e.key === "n") this.step(1);
    else if (e.key === "p") this.step(-1);
    else if (e.key === "m") {
      const all = this.rows.filter(r => r.kind === "mcdc"), open = !all.every(r => r.open);
      for (const r of all) if (!!r.open !== open) this.toggle(r);
    } else return false;
    return true;
  }
}
