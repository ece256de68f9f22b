// SPDX-License-Identifier: Apache-2.0
// Benchmarks: figures, distribution, runs in their order, pairs, growth, causes. Counted events over runs or time.

import { h } from "./dom";
import { BOTTOM, change, colour, LEFT, Plot, range, RIGHT, scale, tick, time, TOP } from "./plot";
import { Command, Event, Runs } from "./runs";
import { ColumnOf, Table } from "./table";
import { amount, count, shown } from "./text";

export interface RunsHost { runs: Runs[]; asTable: boolean; matches: (name: string) => boolean; say: (text: string) => void; selected: string; select: (name: string) => void; }

const PANEL = 210, POINTS = 4000, ROW = 58, DRAWN = 100;
const name = (c: { name: string }) => shown(c.name, 300);
const thinned = (n: number, share = 1) => Math.floor((n * share) / POINTS) + 1;
/** "2.37 ± 0.39 ms". */
const spread = (mean: number, by: number) => { const [low, unit] = [range(by, mean, " "), time(mean).split(" ")[1]]; const [d, m] = low.split(" "); return `${m} ± ${d} ${unit}`; };
const isNarrow = () => innerWidth < 1180;

/** A table that is as high as its rows, up to a part of the screen. */
function sized<R>(table: Table<R>, rows: number, wide = false): HTMLElement {
  table.element.classList.add("sized");
  table.element.style.height = `min(${(rows + 1) * 24 + 4}px, ${wide ? 70 : 34}vh)`;
  return table.element;
}

// ---- Benchmarks ----------------------------------------------------------------------

/** The interval of a change on a line of its own. */
function forest(c: Command, most: number): Node {
  const k = c.comparison;
  if (!k || k.interval[0] === null || k.interval[1] === null) return h("span", {});
  const at = (ratio: number) => 50 + 50 * Math.max(-1, Math.min(1, Math.log(ratio) / most)), [low, high] = [at(k.interval[0]), at(k.interval[1])];
  const line = h("i", { class: "reach" }), point = h("i", { class: "point" }), box = h("span", { class: "forest", title: k.text }, line, point);
  line.style.left = low + "%";
  line.style.width = Math.max(0.8, high - low) + "%";
  point.style.left = at(k.ratio) + "%";
  return box;
}

function distributions(commands: Command[], say: (t: string) => void): Plot {
  const set = commands[0].set, some = commands.slice(0, DRAWN), beyond = some.reduce((n, c) => n + c.time.filter(t => t > set.to).length, 0);
  const title = "Distribution of the times, the runs under it, median with 95 % interval" + (beyond ? ` (${count(beyond)} beyond the edge)` : "") + (some.length < commands.length ? `: the first ${DRAWN} of ${count(commands.length)} commands` : "");
  return new Plot(title, some.length * ROW + TOP + BOTTOM, p => {
    const left = Math.min(190, p.width * 0.3), x = scale(set.from, set.to, left, p.width - RIGHT);
    some.forEach((c, i) => {
      const base = TOP + i * ROW + ROW - 16, tall = ROW - 22, n = c.density.length, g = p.g;
      p.text(name(c), left - 10, base - 8, "right", left - 16);
      if (!c.runs) return;
      g.beginPath();
      g.moveTo(left, base);
      // Two runs have no distribution.
      if (c.runs > 2) for (let d = 0; d < n; d++) g.lineTo(left + ((p.width - RIGHT - left) * d) / (n - 1), base - (tall * c.density[d]) / 1000);
      g.lineTo(p.width - RIGHT, base);
      g.fillStyle = g.strokeStyle = colour(c.index);
      g.save();
      g.globalAlpha = 0.35;
      g.fill();
      g.restore();
      g.lineWidth = 1;
      g.stroke();
      g.beginPath();
      for (let k = 0, step = thinned(c.runs); k < c.runs; k += step) if (c.time[k] <= set.to) { g.moveTo(x(c.time[k]), base + 2); g.lineTo(x(c.time[k]), base + 9); }
      g.stroke();
      const fg = getComputedStyle(p.canvas).color;
      p.line(x(c.median), base - tall, x(c.median), base, fg, 1.5);
      if (c.interval[0] !== null && c.interval[1] !== null) p.line(x(c.interval[0]), base - 3, x(Math.min(c.interval[1], set.to)), base - 3, fg, 4);
      p.mark(x(c.median), base - 3, `${name(c)}: median ${time(c.median)}, least ${time(c.min)}, most ${time(c.max)}, ${count(c.runs)} runs`);
    });
    p.xAxis(x, TOP + some.length * ROW, tick);
  }, say);
}

function inOrder(commands: Command[], say: (t: string) => void): Plot {
  const set = commands[0].set, first = Math.min(...commands.flatMap(c => (c.runs ? [c.start[0]] : []))), runs = commands.reduce((n, c) => n + c.runs, 0), beyond = commands.reduce((n, c) => n + c.time.filter(t => t > set.to).length, 0);
  let last = 0;
  for (const c of commands) for (const s of c.start) if (s - first > last) last = s - first;
  return new Plot("Runs in their order: time of each over when it began" + (beyond ? ` (${count(beyond)} drawn at the edge)` : ""), PANEL, p => {
    const y = scale(set.from, set.to, p.height - BOTTOM, TOP), x = scale(0, last, LEFT, p.width - RIGHT), step = thinned(runs);
    p.yAxis(y, tick);
    p.xAxis(x, p.height - BOTTOM, v => Number(v.toPrecision(3)) + " s");
    for (const c of commands) for (let i = 0; i < c.runs; i += step) p.dot(x(c.start[i] - first), y(Math.min(c.time[i], set.to)), `run ${i + 1} of ${name(c)}: ${time(c.time[i])}, ${(c.start[i] - first).toPrecision(3)} s after the first`, colour(c.index));
  }, say);
}

/** Ratios of the pairs of a command and the reference. */
function pairs(c: Command): Float64Array {
  const base = c.set.commands[c.set.reference], n = Math.min(base.runs, c.runs), out: number[] = [];
  for (let i = 0; i < n; i++) if (c.compared[i] > 0 && base.compared[i] > 0) out.push(c.compared[i] / base.compared[i]);
  return Float64Array.from(out);
}

function pairPlot(c: Command, say: (t: string) => void): Plot {
  const ratios = pairs(c), k = c.comparison!, sorted = ratios.slice().sort(), at = (q: number) => sorted[Math.floor(q * (sorted.length - 1))];
  const reach = 6 * Math.max(at(0.75) - at(0.25), 0.005), from = Math.min(1, Math.max(sorted[0], at(0.25) - reach)), to = Math.max(1, Math.min(sorted[sorted.length - 1], at(0.75) + reach)), pad = (to - from) * 0.05 || 0.01;
  const beyond = ratios.filter(r => r < from || r > to).length;
  return new Plot(`Pairs: ${name(c)} against ${name(c.set.commands[c.set.reference])}, ratio with interval: ${k.text}` + (c.set.without_waiting ? ", without the wait for a CPU" : "") + (beyond ? ` (${count(beyond)} drawn at the edge)` : ""), PANEL, p => {
    const y = scale(from - pad, to + pad, p.height - BOTTOM, TOP), x = scale(0, ratios.length + 1, LEFT, p.width - RIGHT), fg = getComputedStyle(p.canvas).color;
    p.yAxis(y, v => (Math.abs(v - 1) < 1e-9 ? "0 %" : change(v)));
    p.xAxis(x, p.height - BOTTOM, v => (Number.isInteger(v) && v ? "pair " + v : ""));
    if (k.interval[0] !== null && k.interval[1] !== null) p.band(y(Math.min(to + pad, k.interval[1])), y(Math.max(from - pad, k.interval[0])), colour(c.index));
    p.line(LEFT, y(1), p.width - RIGHT, y(1), fg);
    for (let i = 0, step = thinned(ratios.length); i < ratios.length; i += step) p.dot(x(i + 1), y(Math.max(from, Math.min(to, ratios[i]))), `pair ${i + 1}: ${change(ratios[i])}`, colour(c.index));
  }, say);
}

function growthPlot(g: any, say: (t: string) => void): Plot {
  const v = (g.points as [number, number][]).map(([x, y]) => [Math.log(x), Math.log(y)]), all = (k: number) => v.map(p => p[k]);
  return new Plot(`Time over ${shown(g.parameter, 80)}, both logarithmic: grows with its power ${g.slope.toFixed(2)} [${g.low?.toFixed(2) ?? "?"} … ${g.high?.toFixed(2) ?? "?"}]`, PANEL, p => {
    const x = scale(Math.min(...all(0)), Math.max(...all(0)), LEFT + 30, p.width - RIGHT - 30), y = scale(Math.min(...all(1)), Math.max(...all(1)), p.height - BOTTOM - 10, TOP + 24);
    p.g.setLineDash([5, 4]);
    p.line(x(x.from), y(g.intercept + g.slope * x.from), x(x.to), y(g.intercept + g.slope * x.to), getComputedStyle(p.canvas).color);
    p.g.setLineDash([]);
    g.points.forEach(([value, median]: [number, number], i: number) => {
      p.dot(x(v[i][0]), y(v[i][1]), `${shown(g.parameter, 80)} ${value}: ${time(median)}`, colour(0));
      p.text(String(Number(value.toPrecision(6))), x(v[i][0]), p.height - 8, "center");
      p.text(time(median), x(v[i][0]) - 8, y(v[i][1]) - 6, "right");
    });
  }, say);
}

/** A plain table with a caption; the first column is text. */
function small(caption: string, heads: string[], rows: string[][], texts = 1): HTMLElement {
  return h("div", { class: "chart" }, h("table", { class: "small" }, h("caption", {}, caption), h("thead", {}, h("tr", {}, ...heads.map((t, i) => h("th", { scope: "col", class: i < texts ? "" : "n" }, t)))),
    h("tbody", {}, ...rows.map(r => h("tr", {}, ...r.map((t, i) => (i === 0 ? h("th", { scope: "row" }, shown(t, 300)) : h("td", { class: i < texts ? "" : "n" }, shown(t, 300)))))))));
}

const signed = (s: number) => (s > 0 ? "+" : "") + time(s);

/** What made runs slow, and what accounts for a difference. */
function causes(of: Runs, commands: Command[]): HTMLElement[] {
  const out: HTMLElement[] = [], names = new Set(commands.map(c => c.name));
  const slow = commands.filter(c => c.causes.length);
  if (slow.length) out.push(small("Slow runs (outliers) by what was longer", ["command", "cause", "runs"], slow.flatMap(c => c.causes.map(([why, n]) => [c.name, why, count(n)])), 2));
  for (const e of (of.about.explain ?? []) as any[]) {
    if (!names.has(e.command) || !e.time) continue;
    const row = (label: string, m: any) => [label, time(m.usual_s), time(m.slow_s), signed(m.slow_s - m.usual_s)];
    const parts: [string, any][] = [["the whole run", e.time], ["computed", e.computed], ["ready, without a CPU", e.ready], ["waited", e.waited], ["waited for a disk", e.disk], ...e.others.map((o: any) => ["another program: " + o.name, o]), ...e.stacks.map((s: any) => [(s.waits ? "waits for " + s.waits_for + ": " : "computes: ") + s.at, s])];
    out.push(small(`Why ${e.slow_runs} of ${e.runs} recorded runs of ${shown(e.command, 80)} were slow`, ["part", "usual", "slow", "difference"], parts.filter(p => p[1]).map(([label, m]) => row(label, m))));
  }
  for (const p of (of.about.profile ?? []) as any[])
    if (names.has(p.command))
      for (const [key, what] of [["functions", "functions"], ["lines", "lines"]])
        if (p[key].length) out.push(small(`From ${shown(p.command, 60)} to ${shown(p.reference, 60)}: CPU time of a run by ${what} (${signed(p.cpu_change_s)} in all)`, [key === "lines" ? "line" : "function", "before", "after", "change", "share"], p[key].map((r: any) => [key === "lines" && r.file ? `${r.file.slice(r.file.lastIndexOf("/") + 1)}:${r.line} ${(r.text ?? "").trim()}` : r.function, time(r.before_s), time(r.after_s), `${signed(r.change_s)} ± ${time(1.96 * r.standard_error_s)}`, (100 * r.share).toFixed(1) + " %"])));
  return out;
}

function runsTable(commands: Command[]): HTMLElement {
  interface Row { c: Command; i: number; }
  const rows: Row[] = commands.flatMap(c => Array.from({ length: c.runs }, (_, i) => ({ c, i }))), first = Math.min(...commands.flatMap(c => (c.runs ? [c.start[0]] : [])));
  const base = (r: Row) => r.c.set.commands[r.c.set.reference], paired = !commands[0].set.grouped;
  const columns: ColumnOf<Row>[] = [
    { name: "run", width: 60, number: true, cell: r => String(r.i + 1), sort: r => r.i },
    { name: "began after", width: 96, number: true, cell: r => (r.c.start[r.i] - first).toFixed(3) + " s", sort: r => r.c.start[r.i] },
    { name: "time", width: 96, number: true, cell: r => time(r.c.time[r.i]), sort: r => r.c.time[r.i] },
    { name: "of its pair", title: "against the run of the reference in the same pair", width: 96, number: true, cell: r => (paired && r.c !== base(r) && base(r).compared[r.i] > 0 ? change(r.c.compared[r.i] / base(r).compared[r.i]) : ""), sort: r => (paired && r.c !== base(r) ? r.c.compared[r.i] / base(r).compared[r.i] || 0 : 0) },
    { name: "command", width: 0, cell: r => h("code", {}, name(r.c)), sort: r => r.c.name },
  ];
  return sized(new Table<Row>({ label: "runs", rows, columns }), rows.length, true);
}

export function benchView(host: RunsHost): HTMLElement {
  const rows = host.runs.flatMap(r => r.sets.flatMap(s => s.commands)).filter(c => host.matches(c.name)), charts = h("div", { class: "charts", tabindex: 0, role: "region", "aria-label": "pictures of the selected command" });
  const compared = rows.some(c => c.comparison), most = Math.max(0.01, ...rows.flatMap(c => (c.comparison?.interval ?? []).map(v => (v ? Math.abs(Math.log(v)) : 0))));
  const show = (c: Command) => {
    const of = host.runs.find(r => r.sets.includes(c.set))!, all = c.set.commands, some = all.slice(0, DRAWN), main = all[c.index === c.set.reference ? all.findIndex(o => o.comparison) : c.index];
    const items: HTMLElement[] = [];
    if (host.asTable) items.push(runsTable(all));
    else {
      if (all.some(o => o.runs)) items.push(distributions(all, host.say).element, inOrder(some, host.say).element);
      if (!c.set.grouped && main?.comparison && pairs(main).length) items.push(pairPlot(main, host.say).element);
      if (of.sets[0] === c.set || of.sets.length > 1) for (const g of of.about.growths.filter((_: any, i: number) => of.sets.length === 1 || i < 3)) items.push(growthPlot(g, host.say).element);
    }
    charts.replaceChildren(...items, ...causes(of, all));
  };
  const columns: ColumnOf<Command>[] = [
    { name: "median", width: 84, number: true, cell: c => (c.runs ? time(c.median) : ""), sort: c => c.median ?? 0 },
    { name: "95 % interval", width: 132, number: true, cell: c => (c.runs && c.interval[0] !== null ? range(c.interval[0], c.interval[1]!) : "") },
    { name: "mean ± deviation", width: 132, number: true, cell: c => (c.runs ? (c.deviation === null ? time(c.mean) : spread(c.mean, c.deviation)) : ""), sort: c => c.mean ?? 0 },
    { name: "runs", width: 48, number: true, cell: c => count(c.runs), sort: c => c.runs },
  ];
  if (!isNarrow()) {
    columns.splice(3, 0, { name: "least … most", width: 132, number: true, cell: c => (c.runs ? range(c.min, c.max) : ""), sort: c => c.max ?? 0 });
    if (rows.some(c => c.memory)) columns.push({ name: "memory", title: "most memory of its largest process", width: 76, number: true, cell: c => (c.memory ? amount(c.memory, "bytes") : ""), sort: c => c.memory ?? 0 });
  }
  if (compared) {
    columns.push({ name: "change", title: "against the reference, with its interval", width: isNarrow() ? 130 : 216, number: true, cell: c => c.comparison?.text ?? (c.set.commands.length > 1 ? "reference" : ""), sort: c => c.comparison?.ratio ?? 1 });
    if (!isNarrow()) columns.push({ name: "− 0 +", title: "the interval of the change", width: 96, cell: c => forest(c, most) });
    columns.push({ name: "verdict", width: 92, cell: c => h("span", { class: c.comparison?.verdict === "slower" ? "w" : c.comparison?.verdict === "faster" ? "g" : "" }, c.comparison?.verdict ?? "") });
  }
  columns.push({ name: "command", width: 0, cell: c => h("code", {}, name(c)), sort: c => c.name });
  const picked = Math.max(0, rows.findIndex(c => c.name === host.selected)), table = new Table<Command>({ label: "benchmarks", rows, columns, selected: rows.length ? picked : undefined, onSelect: c => { host.select(c.name); show(c); }, empty: "no command matches" });
  if (rows.length) show(rows[picked]);
  return h("div", { class: "runs" }, verdict(host), sized(table, Math.max(1, rows.length)), charts);
}

/** The report's first lines and the machine. */
function verdict(host: RunsHost): HTMLElement {
  const about = host.runs[0].about, lines = String(about.report).trim().split("\n"), end = lines.findIndex(l => !l.trim()), first = lines.slice(0, end < 0 || end > 3 ? 1 : end).map(l => l.trim()).join("; ").replaceAll(",;", ",");
  return h("p", { class: "line" }, h("strong", {}, shown(first, 400)), h("br", {}), h("span", { class: "soft" }, [about.command_line && about.command_line !== about.title ? shown(about.command_line, 200) : "", ...about.machine.map((m: string) => shown(m, 120)), about.cpus ? about.cpus + " CPUs" : ""].filter(Boolean).join(", ")));
}

// ---- Counted events ------------------------------------------------------------------

const ofEvent = (e: Event) => (e.part ? shown(e.part, 80) + " " : "") + shown(e.event, 120);
const value = (e: Event, v: number) => (e.is_time ? tick(v / 1e9) : Math.abs(v) >= 1e6 ? Number(v.toPrecision(4)).toExponential().replace("e+", "e") : String(Number(v.toPrecision(4))));

function eventPlot(e: Event, number: number, say: (t: string) => void): Plot {
  const over = e.of.about.over_time, text = (v: number) => (e.is_time ? time(v / 1e9) : v >= 1e4 ? count(v) : String(Number(v.toPrecision(4))));
  return new Plot(ofEvent(e) + (over ? (e.is_time ? ", of each second" : ", a second") : ", each run, mean with 95 % interval"), PANEL - 40, p => {
    const to = Math.max(...Array.from({ length: e.points }, (_, i) => e.y[i])) || 1, y = scale(0, to * 1.05, p.height - BOTTOM, TOP), x = scale(over ? 0 : 0.5, e.x[e.points - 1] + (over ? 0 : 0.5), LEFT, p.width - RIGHT);
    p.yAxis(y, v => value(e, v));
    p.xAxis(x, p.height - BOTTOM, v => (over ? Number(v.toPrecision(3)) + " s" : Number.isInteger(v) ? "run " + v : ""));
    if (!over && e.low !== null && e.high !== null) p.band(y(Math.min(to, e.high)), y(Math.max(0, e.low)), colour(number));
    const step = thinned(e.points);
    if (over) {
      p.g.beginPath();
      for (let i = 0; i < e.points; i += step) p.g.lineTo(x(e.x[i]), y(e.y[i]));
      p.g.strokeStyle = colour(number);
      p.g.lineWidth = 1;
      p.g.stroke();
    }
    for (let i = 0; i < e.points; i += step) p.dot(x(e.x[i]), y(e.y[i]), `${ofEvent(e)}, ${over ? e.x[i].toPrecision(4) + " s" : "run " + e.x[i]}: ${text(e.y[i])}`, colour(number));
  }, say);
}

export function countsView(host: RunsHost): HTMLElement {
  const rows = host.runs.flatMap(r => r.events).filter(e => host.matches(ofEvent(e))), charts = h("div", { class: "charts", tabindex: 0, role: "region", "aria-label": "pictures of the events" }), figures = new Map<Event, HTMLElement>();
  const drawn = rows.filter(e => e.points > 1);
  if (host.asTable) {
    interface Point { e: Event; i: number; }
    const points = drawn.flatMap(e => Array.from({ length: e.points }, (_, i): Point => ({ e, i })));
    charts.append(sized(new Table<Point>({ label: "values", rows: points, empty: "one run has no picture: -r counts several, -I intervals", columns: [
      { name: "at", width: 90, number: true, cell: r => (r.e.of.about.over_time ? r.e.x[r.i].toPrecision(4) + " s" : "run " + r.e.x[r.i]), sort: r => r.e.x[r.i] },
      { name: "value", width: 150, number: true, cell: r => (r.e.is_time ? time(r.e.y[r.i] / 1e9) : count(r.e.y[r.i])), sort: r => r.e.y[r.i] },
      { name: "event", width: 0, cell: r => h("code", {}, ofEvent(r.e)), sort: r => ofEvent(r.e) }] }), points.length || 2, true));
  } else drawn.slice(0, DRAWN).forEach((e, i) => { const f = eventPlot(e, i, host.say).element; figures.set(e, f); charts.append(f); });
  const parts = rows.some(e => e.part), columns: ColumnOf<Event>[] = [
    { name: "count", width: 190, number: true, cell: e => e.value, sort: e => e.mean ?? -1 },
    { name: "that is", width: 190, number: true, cell: e => e.derived },
    { name: "± error [95 % interval]", width: 280, number: true, cell: e => e.spread },
    ...(rows.some(e => e.share) ? [{ name: "counted", width: 180, number: true, cell: (e: Event) => e.share }] : []),
    ...(parts ? [{ name: "of", width: 130, cell: (e: Event) => shown(e.part, 80), sort: (e: Event) => e.part }] : []),
    { name: "event", width: 0, cell: e => h("code", {}, shown(e.event, 200)), sort: e => e.event },
  ];
  const table = new Table<Event>({ label: "events", rows, columns, onSelect: e => figures.get(e)?.scrollIntoView({ block: "nearest" }), empty: "no event matches" });
  return h("div", { class: "runs" }, verdict(host), sized(table, Math.max(1, rows.length)), charts);
}
