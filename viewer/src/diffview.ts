// SPDX-License-Identifier: Apache-2.0
// What changed, by function, line or module: before, after, change with its interval, verdict.

import { changed, Diff, DiffRow, LESS, MORE, UNSURE } from "./diff";
import { h } from "./dom";
import { ColumnOf, Table } from "./table";
import { amount, baseName, shown } from "./text";

export interface DiffHost { diff: Diff; by: string; onlyChanged: boolean; matches: (name: string) => boolean; set: (by: string, onlyChanged: boolean) => void; open: (row: DiffRow) => void; }

const titles: Record<string, string> = { function: "functions", line: "lines", module: "programs and libraries" };

/** "+5.0 % ±1.2": without what all rows share, where rows were judged. */
export function changeText(r: { before: number; after: number; ratio: number; low: number; high: number }): string {
  if (!r.before || !r.after || isNaN(r.ratio) || r.ratio >= 10) return changed(r.before, r.after);
  const half = Math.max(r.high - r.ratio, r.ratio - r.low);
  return (r.ratio >= 1 ? "+" : "−") + Math.abs((r.ratio - 1) * 100).toFixed(1) + " %" + (isFinite(half) && half < 1 ? " ±" + (half * 100).toFixed(1) : "");
}

const kind = (verdict: number) => (verdict === MORE ? "w" : verdict === LESS ? "g" : "soft");
const arrows = ["", "▾ ", "▴ ", "= ", ""];

/** A difference as a bar to the left or to the right. */
function reach(d: number, most: number, verdict: number): Node {
  const line = h("i", { class: "reach " + (d > 0 ? "more" : "less") + (verdict === UNSURE ? " unsure" : "") }), wide = (50 * Math.min(1, Math.abs(d) / (most || 1)));
  line.style.left = (d > 0 ? 50 : 50 - wide) + "%";
  line.style.width = wide + "%";
  return h("span", { class: "forest" }, line);
}

export function diffView(host: DiffHost): HTMLElement {
  const { diff } = host, { metric, sides, verdicts } = diff.about, table = diff.table(host.by), unit = metric.unit, judged = !diff.about.exact;
  const rows = table.rows.filter(r => host.matches(r.name) && (!host.onlyChanged || (judged ? r.verdict === LESS || r.verdict === MORE : r.before !== r.after)));
  const most = Math.max(...table.rows.map(r => Math.abs(r.after - r.before)), 1), value = (v: number, side: number) => (sides[side].known ? (v ? amount(v, unit) : "") : "?");
  const columns: ColumnOf<DiffRow>[] = [
    { name: "before", width: 84, number: true, cell: r => value(r.before, 0), sort: r => r.before },
    { name: "after", width: 84, number: true, cell: r => value(r.after, 1), sort: r => r.after },
    { name: "difference", width: 92, number: true, cell: r => (r.after === r.before ? "" : (r.after > r.before ? "+" : "−") + amount(Math.abs(r.after - r.before), unit)), sort: r => Math.abs(r.after - r.before) },
    { name: "− 0 +", width: 90, cell: r => reach(r.after - r.before, most, r.verdict), sort: r => r.after - r.before },
    { name: "change", title: judged ? "with its 95 % interval, without what all rows share" : "", width: 116, number: true, cell: changeText, sort: r => (isNaN(r.ratio) ? r.after / (r.before || 1e-9) : r.ratio) },
  ];
  if (judged) columns.push({ name: "verdict", title: "all verdicts hold together", width: 76, cell: r => h("span", { class: kind(r.verdict) }, arrows[r.verdict] + verdicts[r.verdict]), sort: r => [9, 1, 0, 3, 2][r.verdict] });
  columns.push({ name: table.by, width: 0, cell: r => h("span", {}, h("code", {}, shown(table.by === "line" ? r.name.replace(/^[^:]*: ?/, "") : r.name, 300))), sort: r => r.name });
  if (table.by !== "module" && innerWidth > 1100) columns.push({ name: "at", width: 190, cell: r => shown(r.file ? baseName(r.file) + ":" + r.line : r.oldFile ? baseName(r.oldFile) + ":" + r.oldLine + " before" : "", 60), sort: r => baseName(r.file || r.oldFile) });
  const by = h("select", { "aria-label": "what is compared", title: "what is compared", onchange: () => host.set(by.value, host.onlyChanged) }, ...diff.tables.map(t => h("option", { value: t.by, selected: t === table }, titles[t.by] ?? t.by)));
  const only = h("input", { type: "checkbox", onchange: () => host.set(table.by, only.checked) });
  only.checked = host.onlyChanged;
  return h("div", { class: "runs" },
    h("p", { class: "line" }, totals(diff), others(diff), h("br", {}), h("span", { class: "soft" }, ...sides.flatMap((s: any, i: number) => [i ? "after: " : "before: ", shown(s.label, 200) + (s.recordings > 1 ? ` (${s.shown > 1 ? "means of " : ""}${s.recordings} recordings${s.shown > 1 ? "" : "; pictures show the first"})` : "") + (i ? "" : " · ")]))),
    h("p", { class: "line tools" }, by, h("label", {}, only, " only what changed"), judged && h("span", { class: "soft" }, diff.about.repeated ? "Repeated recordings show how much each row differs from run to run." : "One recording of a side: how much it differs from run to run is assumed; assay record --repeat 5 measures it.")),
    new Table<DiffRow>({ label: "what changed", rows, columns, onOpen: host.open, empty: host.onlyChanged ? "nothing is called changed" : "nothing matches" }).element);
}

/** The totals of the other metrics. */
function others(diff: Diff): HTMLElement | null {
  const texts = (diff.about.others as [string, string, number, number][]).map(([name, unit, a, b]) => `${shown(name, 80)}: ${amount(a, unit)} → ${amount(b, unit)}, ${changed(a, b)}`);
  return texts.length ? h("span", {}, h("br", {}), texts.join(" · ")) : null;
}

function totals(diff: Diff): HTMLElement {
  const { metric, sides, total_change: total, verdicts } = diff.about, [a, b] = [sides[0].total, sides[1].total];
  const change = total ? changeText({ before: a, after: b, ratio: total[0], low: total[1], high: total[2] }) + ", " + verdicts[total[3]] : changed(a, b);
  return h("strong", {}, `all ${shown(metric.name, 80)}: ${sides[0].known ? amount(a, metric.unit) : "?"} → ${sides[1].known ? amount(b, metric.unit) : "?"}, ${change}`);
}
