// SPDX-License-Identifier: Apache-2.0
// The page: what is looked at and how, the tabs, the keys.

import { around, Call, calleesUp, kidsOf, Lines, Names, rootDown, Selection, Shape, Transform, transformWords, Weighed } from "./calls";
import { css, fill, forgetStyles, h } from "./dom";
import { Against, changed } from "./diff";
import { changeText, diffView } from "./diffview";
import { Flame, Palette } from "./flame";
import { CUT, INLINED, KERNEL, Recording } from "./recording";
import { CRITERIA } from "./coverage";
import { CoverView } from "./coverview";
import { heapView, isHeap } from "./heapview";
import { Joins, sameFile } from "./join";
import { Parts } from "./parts";
import { benchView, countsView } from "./runsview";
import { bar, coloured, SourceHost, sourceTable } from "./source";
import { Table } from "./table";
import { amount, baseName, count, distinct, endOf, percent, shown } from "./text";
import { TimeChart, TimeHost, Timeline } from "./timeline";

interface State {
  tab: string;
  metric: number;
  names: number; // 0 full, 1 without arguments, 2 short
  order: string; // of the flame graph: heavy, time, up
  search: string;
  from: number;
  to: number;
  thread: number; // -1: all
  transforms: Transform[];
  fn: string; // the function that callers and callees are shown of
  file: string;
  line: number;
  table: boolean; // the picture as a table
  rec: number; // which recording
  only: string; // of coverage: which files
  sort: string; // of coverage
  by: string; // of what changed
  shares: boolean; // the flame graph compares shares of the totals
}

const tabs: [string, string][] = [["diff", "What changed"], ["flame", "Flame graph"], ["tree", "Call tree"], ["functions", "Functions"], ["source", "Source"], ["timeline", "Timeline"], ["heap", "Heap"], ["coverage", "Coverage"], ["bench", "Benchmarks"], ["counts", "Counted events"], ["summary", "Summary"]];

const keys: [string, string][] = [
  ["1 … 9", "go to a tab"], ["/", "search"], ["Escape", "leave the search; zoom out; select all of the time"], ["arrows", "from call to call, from row to row"],
  ["Enter", "zoom to a call; open a row"], ["+ -", "zoom the picture in and out"], ["Backspace", "zoom out to everything"], ["t", "the picture as a table, and back"],
  ["o", "order of the flame graph: heaviest first, by time, callers above"], ["s", "source of the selected call"], ["c", "callers and callees of the selected function"],
  ["f", "only inside the selected function"], ["m", "without the function: its callees go to its callers"], ["d", "no stacks with the function"],
  ["l", "nothing below the function"], ["r", "the function's recursion joined"], ["M", "the function's module as one"], ["u", "take the last change back"],
  ["n", "names: short, without arguments, in full"], ["e", "next metric"], ["n p", "coverage: next and previous line that did not run, or not all of its branches, or that the search found"], ["m", "coverage: all decisions (MC/DC)"], ["?", "this list"],
];

/** The tabs of runs. */
const isRuns = (tab: string) => tab === "bench" || tab === "counts";

/** Recordings by their collectors. */
const kindNames: Record<string, string> = { sampling: "CPU", heap: "heap" };

export class App {
  private state: State;
  private names!: Names;
  private shape!: Shape;
  private weighed!: Weighed;
  private lineTable: Lines | null = null;
  private shapeKey = "";
  private weighKey = "";
  private main = h("div", { id: "view" });
  private frame = h("main", {}, this.main);
  private chips = h("div", { class: "chips" });
  private tabBar = h("div", { class: "tabs", role: "tablist", "aria-label": "views" });
  private bar = h("div", { class: "tools" });
  private live = h("div", { class: "status", role: "status" });
  private truth = h("p", { class: "soft" });
  private searchBox = h("input", { type: "search", placeholder: "search names, lines", "aria-label": "search" });
  private matchText = h("output", { class: "soft" });
  private strip: Timeline | null = null;
  private flame: Flame | null = null;
  private selectedKey = -1;
  private selectedCall: Call | null = null;
  private side = h("aside", { "aria-label": "selected call" });
  private pattern: RegExp | null = null;
  private matched = new Map<number, boolean>();
  private moduleOrder = new Map<number, number>();
  private summary: HTMLElement;
  private help: HTMLDialogElement;
  private palette!: Palette;

  private rec: Recording;
  private cover: CoverView | null = null;
  private joins: Joins;
  private complete = false; // all blocks are here

  constructor(private parts: Parts) {
    this.rec = parts.first();
    this.joins = new Joins(parts, r => this.partName(r));
    this.state = this.initial();
    this.readHash();
    this.summary = document.getElementById("summary")!;
    this.summary.tabIndex = 0; // it scrolls
    this.help = h("dialog", { "aria-label": "keys" }, h("h2", {}, "Keys"), h("dl", {}, ...keys.flatMap(([key, what]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, what)])), h("button", { onclick: () => this.help.close() }, "close"));
    this.searchBox.value = this.state.search;
    let timer = 0;
    this.searchBox.addEventListener("input", () => {
      clearTimeout(timer);
      timer = window.setTimeout(() => this.set({ search: this.searchBox.value }), 120);
    });
    this.searchBox.addEventListener("keydown", e => {
      if (e.key === "Escape") { this.searchBox.value = ""; this.set({ search: "" }); (this.main.querySelector("[tabindex]") as HTMLElement)?.focus(); }
      e.stopPropagation();
    });
    this.rankModules(this.state.metric);
    const title = h("div", { class: "title" }, h("h1", {}, shown(document.title, 200)), this.truth);
    this.showTruth();
    const wrong = h("p", { class: "wrong", role: "alert", hidden: true });
    document.body.prepend(h("div", { id: "app" }, h("header", {}, h("div", { class: "top" }, title, h("div", { class: "search", role: "search" }, this.searchBox, this.matchText), h("button", { "aria-label": "keys", onclick: () => this.help.showModal() }, "?")), wrong, h("div", { class: "top" }, this.tabBar, this.bar), this.chips), this.frame, this.live, this.help));
    addEventListener("hashchange", () => { this.readHash(); this.searchBox.value = this.state.search; this.render(); });
    addEventListener("keydown", e => this.onKey(e));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { forgetStyles(); this.cover = null; this.palette = this.newPalette(); this.render(); });
    document.documentElement.classList.add("ready");
    this.palette = this.newPalette();
    this.render();
    this.showWrong();
  }

  private newPalette = () => new Palette(place => this.moduleOrder.get(this.rec.placeModule[place]) ?? 7, this.rec.placeModule.length);

  /** Modules by their self value: the greatest get the first colours. */
  private rankModules(metric: number) {
    const { rec } = this, sums = new Map<number, number>(), self = rec.selfAll[metric] ?? [];
    for (let i = 1; i < rec.nodes; i++) if (self[i]) sums.set(rec.placeModule[rec.place[i]], (sums.get(rec.placeModule[rec.place[i]]) ?? 0) + self[i]);
    [...sums.entries()].sort((a, b) => b[1] - a[1]).forEach(([module], i) => this.moduleOrder.set(module, Math.min(i, 7)));
  }

  private initial(): State {
    return { rec: 0, only: "", sort: "", by: "function", shares: false, tab: this.tabs()[0], metric: this.rec.about.metric ?? 0, names: 2, order: "heavy", search: "", from: -Infinity, to: Infinity, thread: -1, transforms: [], fn: "", file: "", line: 0, table: false };
  }

  /** Which tabs the page has. */
  private tabs(): string[] {
    const { parts } = this, has = new Set<string>(["summary"]);
    if (parts.diff) has.add("diff");
    if (parts.recordings.length) for (const id of ["flame", "tree", "functions", "source"]) has.add(id);
    if (this.rec.series.length || (this.rec.threads.length && (!this.complete || this.hasTime()))) has.add("timeline");
    if (parts.recordings.some(isHeap)) has.add("heap");
    if (parts.coverages.length) has.add("coverage");
    for (const r of parts.runs) has.add(r.isBench ? "bench" : "counts");
    return tabs.map(([id]) => id).filter(id => has.has(id));
  }

  /** Turns to another recording of the page. */
  private pick(index: number) {
    const next = this.parts.recordings[index];
    if (!next || next === this.rec) return;
    this.rec = next;
    this.names = undefined!;
    this.shapeKey = this.weighKey = "";
    this.strip = null;
    this.flame = null;
    this.selectedKey = -1;
    this.selectedCall = null;
    this.moduleOrder.clear();
    this.rankModules(next.about.metric ?? 0);
    this.palette = this.newPalette();
    this.showTruth();
  }

  private showTruth() {
    const text = this.parts.recordings.length ? this.rec.about.truth : "";
    this.truth.textContent = shown(text, 400);
    this.truth.title = shown(text);
  }

  // ---- The state in the address ------------------------------------------------------

  private readHash() {
    const s = this.initial();
    try {
      const p = new URLSearchParams(location.hash.slice(1));
      const number = (key: string, least: number, most: number, other: number) => { const v = p.has(key) ? Number(p.get(key)) : NaN; return v >= least && v <= most ? v : other; };
      s.rec = Math.floor(number("rec", 0, this.parts.recordings.length - 1, 0));
      this.pick(s.rec);
      s.metric = this.rec.about.metric ?? 0;
      if (this.tabs().includes(p.get("tab")!)) s.tab = p.get("tab")!;
      if (["missed", "changed"].includes(p.get("only")!)) s.only = p.get("only")!;
      if ([...CRITERIA, "since"].includes(p.get("sort")!)) s.sort = p.get("sort")!;
      s.metric = Math.floor(number("metric", 0, this.rec.metrics.length - 1, s.metric));
      if (["function", "line", "module"].includes(p.get("by")!)) s.by = p.get("by")!;
      s.shares = p.has("shares");
      s.names = Math.floor(number("names", 0, 2, s.names));
      if (["heavy", "time", "up"].includes(p.get("order")!)) s.order = p.get("order")!;
      s.search = p.get("search") ?? "";
      s.from = number("from", 0, Infinity, s.from);
      s.to = number("to", 0, Infinity, s.to);
      s.thread = Math.floor(number("thread", 0, this.rec.threads.length - 1, -1));
      s.fn = p.get("fn") ?? "";
      s.file = p.get("file") ?? "";
      s.line = Math.floor(number("line", 0, 4294967295, 0));
      s.table = p.has("table");
      for (const t of p.getAll("change")) {
        const at = t.indexOf(":"), kind = t.slice(0, at) as Transform["kind"];
        if (Object.hasOwn(transformWords, kind)) s.transforms.push({ kind, name: t.slice(at + 1) });
      }
    } catch { /* an address that cannot be read shows the start */ }
    this.state = s;
  }

  private writeHash() {
    const s = this.state, i = this.initial(), p = new URLSearchParams();
    for (const key of ["tab", "metric", "names", "order", "search", "from", "to", "thread", "fn", "file", "line", "rec", "only", "sort", "by"] as const)
      if (s[key] !== i[key]) p.set(key, String(typeof s[key] === "number" ? Math.round(s[key] as number) : s[key]));
    if (s.table) p.set("table", "");
    if (s.shares) p.set("shares", "");
    for (const t of s.transforms) p.append("change", t.kind + ":" + t.name);
    const hash = "#" + p;
    if (hash !== location.hash && !(hash === "#" && !location.hash)) history.replaceState(null, "", hash);
  }

  private set(change: Partial<State>, keep = false) {
    Object.assign(this.state, change);
    this.writeHash();
    this.render(keep);
  }

  // ---- What the views show -----------------------------------------------------------

  private selection(): Selection {
    const s = this.state;
    return { metric: s.metric, from: s.from, to: s.to, threads: s.thread >= 0 ? new Set([s.thread]) : null };
  }

  private compute() {
    const s = this.state, shapeKey = s.names + JSON.stringify(s.transforms);
    if (shapeKey !== this.shapeKey) {
      if (!this.names || this.names.length !== s.names) {
        this.names = new Names(this.rec, s.names);
        this.selectedKey = -1;
        this.matched.clear();
        this.labels = [];
      }
      this.shape = new Shape(this.rec, this.names, s.transforms);
      this.shapeKey = shapeKey;
      this.weighKey = "";
    }
    const weighKey = [s.metric, s.from, s.to, s.thread].join();
    if (weighKey !== this.weighKey) {
      this.weighed = new Weighed(this.shape, this.selection());
      this.weighKey = weighKey;
      this.lineTable = null;
    }
    const words = s.search.trim();
    const source = words.startsWith("/") && words.length > 1 ? words.slice(1).replace(/\/$/, "") : words.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
    let pattern: RegExp | null = null;
    try { pattern = words ? new RegExp(source, "i") : null; } catch { pattern = null; }
    if (String(pattern) !== String(this.pattern)) this.matched.clear();
    this.pattern = pattern;
  }

  private lines = () => (this.lineTable ??= new Lines(this.weighed));
  private name = (key: number) => this.names.text(key) || "[unknown]";
  private labels: string[] = [];
  private label = (key: number) => (this.labels[key] ??= shown(this.name(key), 400));
  /** The metrics that add up: all but texts, which the summary shows. */
  private summed = () => this.rec.metrics.map((_, i) => i).filter(i => this.rec.metrics[i].unit !== "text");
  private metric = () => this.rec.metrics[this.state.metric] ?? { name: "samples", unit: "", event: "", is_level: false };

  private matches = (key: number): boolean | null => {
    if (!this.pattern) return null;
    let known = this.matched.get(key);
    if (known === undefined) this.matched.set(key, (known = this.pattern.test(this.name(key))));
    return known;
  };

  private describe = (c: Call) => {
    const whole = this.weighed.total[0], unit = this.metric().unit;
    const name = c.flags === 255 ? "all" : this.names.full(c.key);
    if (this.rec.about.preview) return `${name} · ${percent(c.total, whole) || "0%"} total`;
    return `${name} · ${percent(c.total, whole) || "0%"} total, ${amount(c.total, unit)}; ${percent(c.self, whole) || "0%"} self, ${amount(c.self, unit)}`;
  };

  /** The share of the whole in stacks with a function that the search finds. */
  private searchShare(): string {
    if (!this.pattern || this.rec.about.preview) return "";
    const { shape, total } = this.weighed, inside = new Uint8Array(shape.count);
    let sum = 0, functions = 0;
    for (let i = 1; i < shape.count; i++) {
      if (inside[shape.parent[i]]) inside[i] = 1;
      else if (this.matches(shape.key[i])) {
        inside[i] = 1;
        sum += total[i];
      }
    }
    for (const v of this.matched.values()) if (v) functions++;
    return `${count(functions)} functions, ${percent(sum, total[0]) || "0%"}`;
  }

  // ---- The frame ---------------------------------------------------------------------

  private render(keep = false) {
    this.compute();
    const s = this.state;
    const have = this.tabs();
    fill(this.tabBar, ...tabs.filter(([id]) => have.includes(id)).map(([id, name]) =>
      h("button", { role: "tab", id: "tab-" + id, "aria-selected": s.tab === id, "aria-controls": "view", tabindex: s.tab === id ? 0 : -1, onclick: () => this.set({ tab: id }), onkeydown: (e: KeyboardEvent) => this.tabKey(e) }, name)));
    this.renderTools();
    this.renderChips();
    if (s.tab !== "coverage") this.matchText.textContent = isRuns(s.tab) ? "" : this.searchShare();
    if (!keep) this.renderView();
    else if (s.tab === "timeline" && this.belowTime?.isConnected) {
      // What is selected is counted again below the picture.
      const below = this.functionsView();
      this.belowTime.replaceWith(below);
      this.belowTime = below;
    }
    this.strip?.draw();
  }

  private tabKey(e: KeyboardEvent) {
    const by = e.key === "ArrowRight" ? 1 : e.key === "ArrowLeft" ? -1 : 0;
    if (!by) return;
    const all = [...this.tabBar.children] as HTMLElement[], next = all[(all.findIndex(t => t.getAttribute("aria-selected") === "true") + by + all.length) % all.length];
    this.set({ tab: next.id.slice(4) });
    document.getElementById(next.id)!.focus();
    e.stopPropagation();
    e.preventDefault();
  }

  private select(label: string, value: string, options: [string, string][], onchange: (value: string) => void) {
    const element = h("select", { "aria-label": label, title: label, onchange: () => onchange(element.value) }, ...options.map(([v, text]) => h("option", { value: v, selected: v === value }, shown(text, 80))));
    return element;
  }

  private renderTools() {
    const s = this.state, { rec } = this, items: (Node | false)[] = [], all = this.parts.recordings;
    if (isRuns(s.tab)) return fill(this.bar, h("button", { "aria-pressed": s.table, onclick: () => this.set({ table: !s.table }) }, "as a table"));
    if (s.tab === "coverage" || s.tab === "summary" || s.tab === "heap" || s.tab === "diff") return fill(this.bar);
    if (all.length > 1) items.push(this.select("recording", String(s.rec), all.map((r, i) => [String(i), this.partName(r)]), v => this.turnTo(Number(v))));
    if (this.summed().length > 1) items.push(this.select("metric", String(s.metric), this.summed().map(i => [String(i), rec.metrics[i].name]), v => this.set({ metric: Number(v) })));
    const threads = rec.threads.map((t, i) => ({ t, i })).filter(x => x.t.samples?.count);
    if (threads.length > 1) items.push(this.select("thread", String(s.thread), [["-1", `all ${threads.length} threads`], ...threads.map(({ t, i }): [string, string] => [String(i), `${t.name || t.process} ${t.tid}`])], v => this.set({ thread: Number(v) })));
    if (s.tab === "flame") items.push(this.select("order of the flame graph", s.order, [["heavy", "heaviest first"], ...(this.hasTime() ? [["time", "in the order of time"] as [string, string]] : []), ["up", "callers above (inverted)"]], v => this.set({ order: v })));
    if (s.tab !== "source" && s.tab !== "summary") items.push(this.select("names", String(s.names), [["2", "short names"], ["1", "without arguments"], ["0", "full names"]], v => this.set({ names: Number(v) })));
    if (s.tab === "flame" && this.parts.against(rec)) items.push(this.select("what is compared", s.shares ? "shares" : "amounts", [["amounts", "amounts"], ["shares", "shares"]], v => this.set({ shares: v === "shares" })));
    if (s.tab === "flame") items.push(h("button", { "aria-pressed": s.table, onclick: () => this.set({ table: !s.table }) }, "as a table"));
    fill(this.bar, ...items);
  }

  /** What a recording is called beside others: by what was recorded and, of several, by their programs. */
  private partName(r: Recording): string {
    const side = this.parts.sideOf(r);
    if (side >= 0) return ["before", "after"][side];
    const same = this.parts.recordings.filter(x => x.about.collector === r.about.collector), of = same.length > 1 ? shown(distinct(same.map(x => x.about.title))[same.indexOf(r)], 24) : "", kind = kindNames[r.about.collector] ?? r.about.collector ?? "samples";
    return of && kind === "CPU" ? of : of ? of + " " + kind : kind;
  }

  private turnTo(index: number) {
    this.pick(index);
    this.set({ rec: index, metric: this.rec.about.metric ?? 0, from: -Infinity, to: Infinity, thread: -1, fn: "", transforms: [] });
  }

  private renderChips() {
    const s = this.state, items: Node[] = s.transforms.map((t, i) => h("span", { class: "chip" }, `${transformWords[t.kind]} `, h("code", {}, shown(t.name, 60)), h("button", { "aria-label": `take back: ${transformWords[t.kind]} ${shown(t.name, 60)}`, onclick: () => this.set({ transforms: s.transforms.filter((_, k) => k !== i) }) }, "×")));
    if (s.from !== -Infinity) {
      const field = (label: string, value: number, change: (us: number) => void) => {
        const input = h("input", { type: "number", step: "any", "aria-label": label, value: (value / 1e6).toFixed(4), onchange: () => change(Number(input.value) * 1e6) });
        input.addEventListener("keydown", e => e.stopPropagation());
        return input;
      };
      items.push(h("span", { class: "chip" }, "from ", field("from, in seconds", s.from, v => this.set({ from: v })), " to ", field("to, in seconds", s.to, v => this.set({ to: v })), ` s: ${percent(this.weighed.total[0], this.rec.sums[s.metric]) || "0%"} of all`, h("button", { "aria-label": "select all of the time", onclick: () => this.set({ from: -Infinity, to: Infinity }) }, "×")));
    }
    fill(this.chips, ...items);
    this.chips.hidden = items.length === 0;
  }

  private hasTime = () => this.rec.end > this.rec.start && (this.rec.about.states >= 0 || this.rec.threads.some(t => t.samples?.count));

  private timeHost(): TimeHost {
    return {
      rec: this.rec, metric: () => this.state.metric, selection: () => ({ from: this.state.from, to: this.state.to }),
      onSelect: (from, to) => {
        if (this.pending) cancelAnimationFrame(this.pending);
        this.pending = requestAnimationFrame(() => { this.pending = 0; this.set({ from, to }, this.state.tab === "timeline"); if (this.state.tab === "timeline") this.wholeTime?.draw(); });
      },
    };
  }
  private pending = 0;
  private wholeTime: Timeline | null = null;
  private belowTime: HTMLElement | null = null;

  /** Called when the samples are here. */
  loaded() {
    this.complete = true;
    this.pick(this.state.rec); // of a large recording, a preview was shown
    this.strip = null; // may have been made of a part of the samples
    this.weighKey = "";
    if (!this.tabs().includes(this.state.tab)) this.state.tab = this.tabs()[0];
    this.cover = null;
    this.render();
    this.showWrong();
  }

  private showWrong() {
    const wrong = document.querySelector(".wrong") as HTMLElement;
    const found = this.parts.wrong();
    wrong.hidden = found.length === 0;
    wrong.textContent = found.length ? "This page's sums differ from the recording's: do not trust it. " + shown(found.join("; ")) : "";
  }

  private renderView() {
    const s = this.state;
    this.summary.hidden = s.tab !== "summary";
    this.frame.hidden = s.tab === "summary";
    this.main.className = "view-" + s.tab;
    this.main.setAttribute("role", "tabpanel");
    this.main.setAttribute("aria-labelledby", "tab-" + s.tab);
    this.wholeTime = null;
    if (s.tab === "coverage") return this.coverView();
    if (isRuns(s.tab)) return this.runsView();
    if (s.tab === "diff") return this.diffView();
    this.cover = null;
    if (this.hasTime() && s.tab !== "summary" && s.tab !== "timeline") this.strip ??= new Timeline(this.timeHost(), false);
    const strip = s.tab !== "timeline" && this.strip ? this.strip.element : null;
    if (this.rec.about.preview && (s.tab !== "flame" || s.table || s.order !== "heavy") && s.tab !== "summary") return fill(this.main, h("p", { class: "empty" }, "Reading the rest of this page …"));
    if (s.tab === "heap") return fill(this.main, this.heapView());
    if (s.tab === "flame") fill(this.main, strip, h("div", { class: "split" }, this.flameView(), this.sideView()));
    else if (s.tab === "tree") fill(this.main, strip, this.fn() >= 0 ? this.aroundView() : this.treeView(rootDown(this.weighed), "call tree"));
    else if (s.tab === "functions") fill(this.main, strip, this.functionsView());
    else if (s.tab === "source") fill(this.main, strip, this.sourceView());
    else if (s.tab === "timeline") fill(this.main, (this.wholeTime = new Timeline(this.timeHost(), true)).element, (this.belowTime = this.functionsView()));
    else fill(this.main);
    this.strip?.draw();
  }

  private heapView(): HTMLElement {
    const rec = isHeap(this.rec) ? this.rec : this.parts.recordings.find(isHeap)!, names = new Names(rec, 2);
    // Frames of the allocator and of the standard libraries are not the user's.
    const user = (place: number) => {
      const module = rec.moduleName(place), file = rec.strings.get(rec.placeFile[place]);
      return !/^(libc|libstdc\+\+|libc\+\+|libassay|ld-linux|libm|libpthread)\b/.test(module) && !/(^|\/)(rustc\/|c\+\+\/|bits\/|ext\/|stl_)/.test(file) && !(rec.placeFlags[place] & KERNEL);
    };
    const pattern = this.pattern;
    return heapView({
      rec, name: key => names.text(key) || "[unknown]", keyOf: fn => names.of[fn], isUser: user, matches: key => (pattern ? pattern.test(names.text(key)) : null),
      open: place => { this.pick(this.parts.recordings.indexOf(rec)); this.set({ rec: this.parts.recordings.indexOf(rec), metric: rec.about.metric ?? 0 }); this.goToSource(place, 0); },
    }, rec.series.length ? h("div", { class: "heap-time" }, new Timeline({ rec, metric: () => rec.about.metric ?? 0, selection: () => ({ from: -Infinity, to: Infinity }), onSelect: () => {} }, true).element) : null);
  }

  private diffView() {
    const { state: s, pattern } = this, after = this.parts.recordings.findIndex(r => this.parts.sideOf(r) === 1), before = this.parts.recordings.findIndex(r => this.parts.sideOf(r) === 0);
    this.cover = null;
    fill(this.main, diffView({
      diff: this.parts.diff!, by: s.by, onlyChanged: s.only === "changed", matches: name => !pattern || pattern.test(name), set: (by, only) => this.set({ by, only: only ? "changed" : "" }),
      open: row => {
        const rec = row.after || before < 0 ? after : before;
        const [file, line] = rec === after && rec >= 0 ? [row.file, row.line] : [row.oldFile || row.file, row.oldFile ? row.oldLine : row.line], counted = this.parts.coverages.length > 0;
        if (rec < 0 && !counted) return this.say("the page has no samples of it");
        if (rec >= 0) this.turnTo(rec);
        if (file || rec < 0) this.set({ tab: rec < 0 ? "coverage" : "source", file, line });
        else this.say(`no source line is known of ${row.name}`);
      },
    }));
  }

  /** The other side of a comparison, under the same changes of the tree and in the same metric; null: there is none. */
  private otherSide(): Weighed | null {
    const other = this.parts.against(this.rec), s = this.state;
    if (!other) return null;
    const metric = other.metrics.findIndex(m => m.name === this.metric().name), key = this.shapeKey + metric;
    if (metric < 0) return null;
    if (this.otherKey !== key || this.otherWeighed?.shape.rec !== other) {
      this.otherWeighed = new Weighed(new Shape(other, new Names(other, s.names), s.transforms), { metric, from: -Infinity, to: Infinity, threads: null });
      this.otherKey = key;
    }
    return this.otherWeighed;
  }
  private otherKey = "";
  private otherWeighed: Weighed | null = null;
  private against: Against | null = null;

  private newAgainst(root: Call, up: boolean): Against | null {
    const other = this.otherSide(), w = this.weighed, about = this.parts.diff?.about, [, low, high] = about?.total_change ?? [];
    const step = ({ shape: { rec }, selection }: Weighed) => (rec.about.sampled && rec.about.samples ? (rec.sums[selection.metric] ?? 0) / rec.about.samples : about.metric.sampled && !this.metric().unit ? 1 / rec.runs : 0);
    return other && new Against(other, w, root, up ? calleesUp(other) : rootDown(other), this.state.shares, step(w), step(other), this.parts.sideOf(this.rec) === 1, high > low ? (high - low) / 2 : 0);
  }

  /** More in orange, less in blue, the stronger the larger the change; no colour where chance may have made it. */
  private diffColour(c: Call): string | null {
    if (!this.against) return null;
    if (c.flags === 255) return css("--root");
    const change = this.against.change(c), step = Math.min(4, Math.ceil(Math.abs(change) * 4));
    return this.diffColours[change > 0 ? step : change < 0 ? step + 4 : 0];
  }
  private diffColours: string[] = [];

  private runsView() {
    const { state: s, pattern } = this, isBench = s.tab === "bench";
    this.cover = null;
    fill(this.main, (isBench ? benchView : countsView)({
      runs: this.parts.runs.filter(r => r.isBench === isBench), asTable: s.table, matches: name => !pattern || pattern.test(name), say: text => this.say(text),
      selected: s.fn, select: name => { s.fn = name; this.writeHash(); },
    }));
  }

  private coverView() {
    const cover = this.parts.coverages[0];
    if (this.cover) return void this.cover.update();
    if (!this.complete) return fill(this.main, h("p", { class: "empty" }, "…"));
    this.cover = new CoverView({
      cover, file: () => this.state.file, line: () => this.state.line, only: () => this.state.only, sort: () => this.state.sort, pattern: () => this.pattern,
      open: (file, line) => this.set({ file, line }), set: change => this.set(change), say: text => this.say(text),
      remember: line => { this.state.line = line; if (!this.state.file) return; this.writeHash(); }, found: text => { this.matchText.textContent = text; },
    });
    fill(this.main, this.cover.element);
  }

  // ---- Views -------------------------------------------------------------------------

  private flameView(): HTMLElement {
    const s = this.state, root = s.order === "up" ? calleesUp(this.weighed) : rootDown(this.weighed);
    if (s.table) return this.treeView(root, s.order === "up" ? "callers above" : "flame graph as a table");
    if (s.order === "time" && this.hasTime()) {
      const chart = new TimeChart(this.timeHost(), () => this.shape, this.name, node => this.showSide(this.shape.key[node], this.shape.place[node], null));
      chart.palette = this.palette;
      const busiest = this.rec.threads.map((t, i) => ({ i, n: t.samples?.count ?? 0 })).sort((a, b) => b.n - a.n)[0];
      chart.thread = s.thread >= 0 ? s.thread : busiest.i;
      requestAnimationFrame(() => chart.draw());
      return chart.element;
    }
    this.against = this.newAgainst(root, s.order === "up");
    this.diffColours = ["--same", ...[1, 2, 3, 4].map(i => "--more" + i), ...[1, 2, 3, 4].map(i => "--less" + i)].map(css);
    this.flame ??= new Flame({
      colour: c => this.diffColour(c), note: c => (this.against && c.parent ? this.against.note(c) : ""),
      weighed: () => this.weighed, label: this.label, matches: this.matches, describe: this.describe,
      onSelect: c => this.showCall(c), onFocus: c => this.say(this.describe(c)), onKey: (e, c) => this.callKey(e, c),
    }, "flame graph");
    this.flame.palette = this.palette;
    const kept = this.flame.selected && this.path(this.flame.selected);
    this.flame.show(root);
    if (kept) this.flame.selected = this.follow(root, kept);
    return this.flame.element;
  }

  private path(c: Call): number[] {
    return c.parent ? [...this.path(c.parent), c.key] : [];
  }
  private follow(root: Call, path: number[]): Call | null {
    let at: Call | undefined = root;
    for (const key of path) at = at && kidsOf(this.weighed, at).find(k => k.key === key);
    return at ?? null;
  }

  private callKey(e: KeyboardEvent, c: Call): boolean {
    const root = c.flags === 255;
    if (root) return false;
    return this.keyOn(e.key, c.key, c.place);
  }

  /** A key that acts on a function. */
  private keyOn(key: string, fn: number, place: number): boolean {
    const kind = ({ f: "focus", m: "merge", d: "drop", l: "collapse", r: "recursion", M: "module" } as Record<string, Transform["kind"]>)[key];
    if (kind) this.change(kind, fn, place);
    else if (key === "s") this.goToSource(place, fn);
    else if (key === "c") this.set({ tab: "tree", fn: this.name(fn) });
    else return false;
    return true;
  }

  private change(kind: Transform["kind"], fn: number, place: number) {
    const name = kind === "module" ? this.rec.moduleName(place) : this.name(fn);
    this.set({ transforms: [...this.state.transforms, { kind, name }] });
  }

  private goToSource(place: number, fn: number) {
    const { rec } = this, f = rec.placeFn[place];
    const file = rec.placeFile[place] || rec.fnFile[f], line = rec.placeFile[place] ? rec.placeLine[place] : rec.fnLine[f];
    if (file) this.set({ tab: "source", file: rec.strings.get(file), line });
    else this.say(`no source line is known of ${this.name(fn)}`);
  }

  private say(text: string) {
    this.live.textContent = shown(text, 400);
  }

  private showCall(c: Call | null) {
    // A preview has no self values: the calls that it leaves out are in those above them.
    if (this.rec.about.preview) return fill(this.side, h("p", { class: "soft" }, "Reading the rest of this page …"));
    this.selectedCall = c && c.flags !== 255 ? c : null;
    if (!c || c.flags === 255) {
      this.selectedKey = -1;
      fill(this.side, ...this.legend());
      return;
    }
    this.showSide(c.key, c.place, c);
    this.say(this.describe(c) + ", depth " + c.depth);
  }

  /** Which place of a call to show: where its time is. */
  private hotPlace(c: Call): number {
    const { rec } = this, sums = new Map<number, number>(), wanted = new Set(c.nodes), { raw, shape } = this.weighed;
    if (c.at || !c.self) return c.place;
    for (let i = 1; i < rec.nodes; i++) if (raw[i] && wanted.has(shape.of[i])) sums.set(rec.place[i], (sums.get(rec.place[i]) ?? 0) + raw[i]);
    let best = c.place;
    for (const [place, sum] of sums) if (sum > (sums.get(best) ?? 0)) best = place;
    return best;
  }

  private sideView(): HTMLElement {
    const c = this.flame?.selected ?? null;
    if (this.state.order !== "time") this.showCall(c);
    else fill(this.side, ...this.legend());
    return this.side;
  }

  private legend(): Node[] {
    const modules = [...this.moduleOrder.entries()].sort((a, b) => a[1] - b[1]).slice(0, 8);
    const swatch = (colour: string, text: string) => { const s = h("i", { class: "swatch" }); s.style.background = colour; return h("li", {}, s, text); };
    const w = this.weighed, hot: [number, number][] = [], { rec } = this, kernels = new Set<number>();
    for (let key = 0; key < w.keySelf.length; key++) {
      const v = w.keySelf[key];
      if (!v || (hot.length === 10 && v <= hot[9][1])) continue;
      let at = hot.length;
      while (at > 0 && hot[at - 1][1] < v) at--;
      hot.splice(at, 0, [key, v]);
      hot.length = Math.min(hot.length, 10);
    }
    for (let p = 0; p < rec.placeModule.length; p++) if (rec.placeFlags[p] & KERNEL) kernels.add(rec.placeModule[p]);
    const compared = this.against ? [h("h2", {}, "Colours: change"), h("ul", { class: "legend" }, swatch(css("--more4"), "new, or much more"), swatch(css("--more2"), "more"), swatch(css("--same"), "the same, or chance"), swatch(css("--less2"), "less"), swatch(css("--less4"), "gone, or much less")), h("p", { class: "soft" }, this.parts.sideOf(this.rec) ? "Widths are those after. Functions that are gone are in the picture of before: choose it above." : "Widths are those before. New functions are in the picture of after: choose it above.")] : null;
    return [
      h("h2", {}, "Hottest functions"),
      h("ol", { class: "hot" }, ...hot.map(([key, v]) => h("li", {}, h("span", { class: "n" }, percent(v, w.total[0])), h("button", { class: "link", onclick: () => this.set({ tab: "tree", fn: this.name(key) }) }, shown(this.name(key), 120))))),
      ...(compared ?? [h("h2", {}, "Colours: modules"),
      h("ul", { class: "legend" }, ...modules.map(([module, rank]) => swatch(kernels.has(module) ? css("--kernel") : css("--hue" + (rank + 1)), shown(baseName(this.rec.strings.get(module)) || "unknown", 60))))]),
      h("p", { class: "soft" }, "A click selects a call and shows its source line here. A double click zooms; the wheel zooms and scrolls; dragging moves. ", h("kbd", {}, "?"), " lists the keys."),
    ];
  }

  private showSide(key: number, firstPlace: number, c: Call | null) {
    const { rec, weighed: w } = this, place = c ? this.hotPlace(c) : firstPlace, whole = w.total[0], unit = this.metric().unit;
    this.selectedKey = key;
    const isModule = key >= this.names.first.length, f = rec.placeFn[place], file = rec.placeFile[place] || rec.fnFile[f], line = rec.placeFile[place] ? rec.placeLine[place] : rec.fnLine[f];
    const fact = (label: string, value: string | Node) => [h("dt", {}, label), h("dd", {}, value)];
    const flags = rec.placeFlags[place], kind = flags & CUT ? (/middle/.test(this.name(key)) ? "a gap: the calls in the middle of the stack were not copied; the outer calls are those of the thread's last complete stack" : "the stack is cut here: the outer calls are missing") : flags & KERNEL ? "kernel" : flags & INLINED ? "inlined" : "";
    const action = (text: string, key1: string, run: () => void) => h("button", { onclick: run }, text, " ", h("kbd", {}, key1));
    const path = file ? rec.strings.get(file) : "";
    fill(this.side,
      h("h2", { class: "name" }, shown(isModule ? this.name(key) : this.names.full(key), 1200)),
      h("dl", { class: "facts" },
        ...(c ? fact("here", `${percent(c.total, whole) || "0%"} total · ${percent(c.self, whole) || "0%"} self`) : []),
        ...fact("everywhere", `${percent(w.keyTotal[key], whole) || "0%"} total · ${percent(w.keySelf[key], whole) || "0%"} self`),
        ...(c ? fact("value", amount(c.total, unit)) : []),
        ...(c && this.against ? this.comparedFacts(c, unit, fact) : []),
        ...fact("module", shown(rec.moduleName(place) || "unknown", 80)),
        ...(kind ? fact("kind", kind) : []),
        ...(file ? fact("at", h("button", { class: "link", title: shown(path), onclick: () => this.set({ tab: "source", file: path, line }) }, shown(endOf(path, 44), 50) + ":" + line)) : [])),
      file > 0 && this.excerpt(file, line),
      h("div", { class: "actions" }, action("callers and callees", "c", () => this.keyOn("c", key, place)), action("only inside", "f", () => this.change("focus", key, place)), action("without", "m", () => this.change("merge", key, place)), action("drop stacks", "d", () => this.change("drop", key, place)), action("nothing below", "l", () => this.change("collapse", key, place)), action("join recursion", "r", () => this.change("recursion", key, place)), action("module as one", "M", () => this.change("module", key, place))));
  }

  private comparedFacts(c: Call, unit: string, fact: (label: string, value: string) => Node[]): Node[] {
    const [before, after] = this.against!.values(c), isLess = after < before, chance = before !== after && !this.against!.change(c);
    const diff = this.parts.diff!, name = this.names.full(c.key), row = diff.table("function").rows.find(r => r.name === name);
    return [...fact("change", `${amount(before, unit)} → ${amount(after, unit)}, ${changed(before, after)}${before === after ? "" : isLess ? " less" : " more"}${chance ? " (chance may have made it)" : ""}`),
      ...(row?.verdict ? fact("function", `${changeText(row)}, ${diff.about.verdicts[row.verdict]}`) : [])];
  }

  /** The lines around a line, with their values. */
  private excerpt(file: number, line: number): HTMLElement {
    const { rec } = this, path = rec.strings.get(file), lines = this.lines(), whole = this.weighed.total[0], rows: Node[] = [];
    for (let at = Math.max(1, line - 9); at <= line + 9; at++) {
      const text = rec.lineText(path, at), row = lines.row(file, at);
      if (text === undefined && row < 0) continue;
      rows.push(h("tr", { class: at === line ? "at" : "" }, h("td", { class: "n" }, row < 0 ? "" : percent(lines.self[row], whole)), h("td", { class: "n" }, row < 0 ? "" : percent(lines.total[row], whole)), h("td", { class: "n soft" }, String(at)), h("td", {}, coloured(text ?? ""))));
    }
    return h("div", { class: "excerpt", tabindex: 0, role: "region", "aria-label": "source" }, h("table", {}, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "self"), h("th", { scope: "col" }, "total"), h("th", { scope: "col" }, "line"), h("th", { scope: "col" }, "source"))), h("tbody", {}, ...rows)));
  }

  private treeView(root: Call, label: string): HTMLElement {
    const w = this.weighed, whole = w.total[0] || 1, rows: Call[] = [], open = new Set<Call>();
    const add = (c: Call, at: number) => { const kids = kidsOf(w, c); rows.splice(at, 0, ...kids); return kids; };
    const base = root.depth + 1;
    if (root.key || root.nodes[0] !== 0) { rows.push(root); }
    else add(root, 0);
    const startLevel = rows[0] === root ? root.depth : base;
    // Opens the heaviest way down as long as one callee has most of it.
    const openHeavy = (c: Call) => {
      for (let at: Call | undefined = c, steps = 0; at && steps < 40; steps++) {
        const kids: Call[] = kidsOf(w, at);
        if (!kids.length) break;
        open.add(at);
        add(at, rows.indexOf(at) + 1);
        at = kids[0].total > at.total * 0.5 ? kids[0] : undefined;
      }
    };
    if (rows.length) openHeavy(rows[0]);
    const toggle = (c: Call) => {
      const at = rows.indexOf(c);
      if (open.delete(c)) {
        let end = at + 1;
        while (end < rows.length && rows[end].depth > c.depth) open.delete(rows[end++]);
        rows.splice(at + 1, end - at - 1);
      } else {
        open.add(c);
        add(c, at + 1);
      }
      table.update();
    };
    const unit = this.metric().unit;
    const table: Table<Call> = new Table<Call>({
      label, rows,
      columns: [
        { name: "total", width: 84, number: true, cell: c => bar(c.total, whole) },
        { name: "self", width: 84, number: true, cell: c => bar(c.self, whole) },
        { name: this.metric().name, width: 110, number: true, cell: c => amount(c.total, unit) },
        {
          name: "function", width: 0,
          cell: c => {
            const kids = c.at ? c.at.some(n => n > 0) : c.total > c.self;
            const cell = h("span", { class: "indent" }, kids ? h("button", { class: "fold", tabindex: -1, "aria-label": open.has(c) ? "fold" : "unfold", onclick: (e: Event) => { e.stopPropagation(); toggle(c); } }, open.has(c) ? "▾" : "▸") : h("span", { class: "fold" }), h("code", { class: this.matches(c.key) ? "match" : "" }, shown(this.name(c.key), 400)), c.flags !== 255 && c.flags & INLINED ? h("span", { class: "soft" }, " inlined") : null, c.flags !== 255 && c.flags & KERNEL ? h("span", { class: "soft" }, " kernel") : null);
            cell.style.setProperty("--level", String(Math.min(60, c.depth - startLevel)));
            return cell;
          },
        },
        ...(innerWidth < 900 ? [] : [{ name: "declared at", width: 190, cell: (c: Call) => shown(this.placeText(c), 60) }]),
      ],
      tree: { level: c => c.depth - startLevel + 1, open: c => ((c.at ? c.at.some(n => n > 0) : c.total > c.self) ? open.has(c) : null), toggle, parent: c => rows.indexOf(c.parent!) },
      onSelect: c => { this.selectedKey = c.key; this.selectedCall = c; },
      onOpen: c => this.goToSource(this.hotPlace(c), c.key),
      empty: "nothing is selected",
    });
    return table.element;
  }

  private placeText(c: Call): string {
    const { rec } = this, f = rec.placeFn[c.place];
    if (c.key >= this.names.first.length) return "";
    return rec.fnFile[f] ? baseName(rec.strings.get(rec.fnFile[f])) + (rec.fnLine[f] ? ":" + rec.fnLine[f] : "") : rec.moduleName(c.place);
  }

  private fn = () => (this.state.fn ? this.names.find(this.state.fn) : -1);

  /** Callers above, callees below. */
  private aroundView(): HTMLElement {
    const key = this.fn(), w = this.weighed;
    return h("div", { class: "around" },
      h("p", { class: "line" }, h("button", { onclick: () => this.set({ fn: "" }) }, "whole call tree"), " ", h("strong", {}, shown(this.name(key), 300)), ` ${percent(w.keyTotal[key], w.total[0]) || "0%"} total, ${percent(w.keySelf[key], w.total[0]) || "0%"} self`),
      h("h2", {}, "Callers"), this.treeView(around(w, key, true), "callers"),
      h("h2", {}, "Callees"), this.treeView(around(w, key, false), "callees"));
  }

  private functionsView(): HTMLElement {
    const w = this.weighed, { shape, rec } = { shape: this.shape, rec: this.rec }, whole = w.total[0], rows: Call[] = [], seen = new Map<number, Call>();
    for (let i = 1; i < shape.count; i++) {
      const key = shape.key[i];
      if (!w.total[i] || (this.pattern && !this.matches(key))) continue;
      const row = seen.get(key);
      if (row) { row.flags &= shape.flags[i] | ~INLINED; if (w.self[i] > row.depth) { row.depth = w.self[i]; row.place = shape.place[i]; } }
      else {
        const made: Call = { key, total: w.keyTotal[key], self: w.keySelf[key], place: shape.place[i], flags: shape.flags[i], depth: w.self[i], parent: null, kids: [], whole: true, nodes: [], at: null, weight: null };
        seen.set(key, made);
        rows.push(made);
      }
    }
    const unit = this.metric().unit, against = this.newAgainst(rootDown(w), false);
    const place = (c: Call) => { const text = this.placeText(c); return text === rec.moduleName(c.place) ? "" : text; }; // the module has a column of its own
    return new Table<Call>({
      label: "functions", rows, sort: 0,
      columns: [
        { name: "self", width: 84, number: true, cell: c => bar(c.self, whole), sort: c => c.self },
        { name: "total", width: 84, number: true, cell: c => bar(c.total, whole), sort: c => c.total },
        { name: this.metric().name + " self", width: 120, number: true, cell: c => amount(c.self, unit), sort: c => c.self },
        ...(against ? [
          { name: this.parts.sideOf(rec) ? "before" : "after", title: "self, of the other recording", width: 84, number: true, cell: (c: Call) => { const v = against.keySelf(c.key); return v ? amount(v, unit) : ""; }, sort: (c: Call) => against.keySelf(c.key) },
          { name: "change", title: "of self, from before to after", width: 90, number: true, cell: (c: Call) => (this.parts.sideOf(rec) ? changed(against.keySelf(c.key), c.self) : changed(c.self, against.keySelf(c.key))), sort: (c: Call) => Math.abs(c.self - against.keySelf(c.key)) },
        ] : []),
        { name: "function", width: 0, cell: c => h("span", {}, h("code", {}, shown(this.name(c.key), 400)), c.flags & INLINED ? h("span", { class: "soft" }, " inlined") : null), sort: c => this.name(c.key) },
        ...(innerWidth < (against ? 1200 : 900) ? [] : [{ name: "module", width: 160, cell: (c: Call) => shown(rec.moduleName(c.place), 60), sort: (c: Call) => rec.moduleName(c.place) }]),
        { name: "declared at", width: 190, cell: c => shown(place(c), 60), sort: place },
      ],
      onSelect: c => { this.selectedKey = c.key; this.selectedCall = c; },
      onOpen: c => this.set({ tab: "tree", fn: this.name(c.key) }),
      empty: this.pattern ? "no function matches" : "nothing is selected",
    }).element;
  }

  private sourceHost(path: string): SourceHost {
    const joined = this.joins.of(path, this.rec);
    if (joined.pending && this.complete) void joined.pending.then(() => { if (this.state.tab === "source") this.render(); });
    return { joined, kind: this.parts.recordings.length > 1 ? this.partName(this.rec) : "", rec: this.rec, weighed: () => this.weighed, lines: this.lines, unit: this.metric().unit, name: this.name, onFunction: key => this.set({ tab: "tree", fn: this.name(key) }), hasTime: this.hasTime() };
  }

  private sourceView(): HTMLElement {
    const { rec, state } = this, lines = this.lines(), whole = this.weighed.total[0];
    if (this.pattern) return this.lineMatches();
    interface Listed { path: string; file: number; self: number; total: number; }
    const files = new Map<string, Listed>();
    const listed = (path: string, file: number) => {
      let row = files.get(path);
      if (!row) files.set(path, (row = { path, file, self: 0, total: 0 }));
      return row;
    };
    for (let i = 0; i < lines.file.length; i++) {
      const row = listed(rec.strings.get(lines.file[i]), lines.file[i]);
      row.self += lines.self[i];
      row.total = Math.max(row.total, lines.total[i]);
    }
    for (const file of rec.executions.keys()) listed(rec.strings.get(file), file);
    // Files that only other recordings touch; one that is the same under another path is in the list already.
    for (const other of this.parts.recordings)
      if (other !== rec) for (const path of this.joins.filesOf(other).keys()) if (!files.has(path) && ["", "?"].includes(sameFile(path, files.keys()))) listed(path, -1);
    const list = [...files.values()].sort((a, b) => b.self - a.self || b.total - a.total || (a.path < b.path ? -1 : 1));
    const hasText = (f: Listed) => { const known = rec.file(f.path); return known.text !== undefined || known.kept !== undefined || f.file < 0; };
    const wanted = list.find(f => f.path === state.file) ?? list.find(f => sameFile(state.file, [f.path]) === f.path) ?? list.find(f => f.file >= 0 && hasText(f)) ?? list.find(hasText) ?? list[0];
    if (!wanted) return h("p", { class: "empty" }, "No source line is known. A build with -g has them.");
    const { path } = wanted, known = rec.file(path), host = this.sourceHost(path);
    const pick = new Table<Listed>({
      label: "files", rows: list, selected: list.indexOf(wanted),
      columns: [{ name: "self", width: 52, number: true, cell: f => bar(f.self, whole) }, { name: "file", width: -90, cell: f => h("span", { title: shown(f.path) }, shown(baseName(f.path), 80)) }],
      rowClass: f => (hasText(f) ? "" : "sub"),
      onSelect: f => { if (f !== wanted) this.set({ file: f.path, line: 0 }); },
    });
    let trouble = known.trouble;
    if (!known.text && host.joined.text) trouble = undefined;
    else if (!known.text && !trouble) trouble = rec.about.no_source ? "the page was written without source text" : "its text is not in the page";
    const note = trouble && h("p", { class: "note" }, `The text of this file is ${known.text ? "in doubt" : known.kept ? "only in part here" : "not here"}: ${shown(trouble)}. `, h("code", {}, "assay view --source-path OLD=NEW"), " finds moved sources; a file that is dropped here is shown.");
    const view = h("div", { class: "file" }, h("p", { class: "line path" }, shown(path)), note || null, host.joined.missing.length ? h("p", { class: "line soft" }, "Not beside it: " + shown(host.joined.missing.join("; ")) + ".") : null, sourceTable(host, path, wanted.file, state.file === path ? state.line : 0, line => { this.state.file = path; this.state.line = line; this.writeHash(); }));
    view.addEventListener("dragover", e => e.preventDefault());
    view.addEventListener("drop", async e => {
      e.preventDefault();
      const file = e.dataTransfer?.files[0];
      if (!file) return;
      known.text = await file.text();
      known.lines = undefined;
      known.trouble = `this is '${file.name}', dropped here`;
      this.render();
    });
    return h("div", { class: "files" }, pick.element, view);
  }

  /** Lines whose text the search finds, and lines of functions that it finds, hottest first. */
  private lineMatches(): HTMLElement {
    const { rec } = this, lines = this.lines(), whole = this.weighed.total[0], rows: { file: number; line: number; text: string; self: number; total: number }[] = [];
    const files = new Set([...lines.files(), ...rec.executions.keys()]);
    for (const file of files) {
      const path = rec.strings.get(file), known = rec.file(path);
      if (known.text !== undefined) known.lines ??= known.text.split("\n");
      const all: Iterable<[number, string]> = known.lines ? known.lines.map((t, i): [number, string] => [i + 1, t]) : known.kept ?? [];
      for (const [line, text] of all) {
        if (!this.pattern!.test(text) || rows.length >= 50000) continue;
        const row = lines.row(file, line);
        rows.push({ file, line, text, self: row < 0 ? 0 : lines.self[row], total: row < 0 ? 0 : lines.total[row] });
      }
    }
    return new Table({
      label: "lines that match", rows, sort: 0,
      columns: [
        { name: "self", width: 72, number: true, cell: r => bar(r.self, whole), sort: r => r.self },
        { name: "total", width: 72, number: true, cell: r => bar(r.total, whole), sort: r => r.total },
        { name: "line", width: 220, cell: r => h("button", { class: "link", onclick: () => this.openLine(r) }, shown(baseName(rec.strings.get(r.file)), 40) + ":" + r.line), sort: r => baseName(rec.strings.get(r.file)) + ":" + String(r.line).padStart(9) },
        { name: "source", width: 0, cell: r => coloured(r.text) },
      ],
      onOpen: r => this.openLine(r),
      empty: "no line matches",
    }).element;
  }

  private openLine(r: { file: number; line: number }) {
    this.searchBox.value = "";
    this.set({ search: "", file: this.rec.strings.get(r.file), line: r.line });
  }

  // ---- Keys --------------------------------------------------------------------------

  private onKey(e: KeyboardEvent) {
    if (e.ctrlKey || e.metaKey || e.altKey || this.help.open) return;
    const target = e.target as HTMLElement;
    if (target.tagName === "SELECT" || target.tagName === "INPUT") return;
    if (this.cover?.key(e)) return e.preventDefault();
    const s = this.state, open = [...this.tabBar.children].map(t => t.id.slice(4)), tab = open[Number(e.key) - 1];
    if (tab) { this.set({ tab }); this.focusView(); }
    else if (e.key === "/") this.searchBox.focus();
    else if (e.key === "?") this.help.showModal();
    else if (e.key === "u" && s.transforms.length) this.set({ transforms: s.transforms.slice(0, -1) });
    else if (e.key === "n") this.set({ names: (s.names + 2) % 3 });
    else if (e.key === "e" && this.summed().length > 1) this.set({ metric: this.summed().find(m => m > s.metric) ?? this.summed()[0] });
    else if (e.key === "t" && (s.tab === "flame" || isRuns(s.tab))) { this.set({ table: !s.table }); this.focusView(); }
    else if (e.key === "o" && s.tab === "flame") { const all = this.hasTime() ? ["heavy", "time", "up"] : ["heavy", "up"]; this.set({ order: all[(all.indexOf(s.order) + 1) % all.length] }); this.focusView(); }
    else if (e.key === "Escape" && s.from !== -Infinity) this.set({ from: -Infinity, to: Infinity });
    else if (this.selectedKey >= 0 && this.keyOn(e.key, this.selectedKey, this.selectedCall ? this.hotPlace(this.selectedCall) : this.rec.place[0])) this.focusView();
    else return;
    e.preventDefault();
  }

  private focusView() {
    const first = (this.main.querySelector(".flame canvas, .table") ?? this.main.querySelector("[tabindex='0']")) as HTMLElement | null;
    first?.focus({ preventScroll: true });
  }
}
