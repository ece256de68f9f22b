// SPDX-License-Identifier: Apache-2.0
// What the other recordings of a page know of the lines of a file: columns beside those of the recording that is shown.

import { Lines, Names, Shape, Weighed } from "./calls";
import { Coverage } from "./coverage";
import { changed } from "./diff";
import { Parts } from "./parts";
import { Recording } from "./recording";
import { wide } from "./source";
import { amount, baseName, count, distinct, percent } from "./text";

export interface JoinedColumn { name: string; title: string; width: number; value: (line: number) => number; text: (line: number) => string; }

/** What could be joined to a file, and what not, with the reason. */
export interface Joined { columns: JoinedColumn[]; missing: string[]; text: string[] | undefined; lines: Set<number>; pending: Promise<unknown> | null; }

/** Columns of a recording by the names of its metrics: title of the column, whether it is a share of the whole. */
const wanted: Record<string, [string, string, boolean][]> = {
  heap: [["blocks allocated", "allocs", false], ["bytes allocated", "bytes", false], ["bytes at peak", "at peak", false]],
};

/** The file of a list that is `path`, else the only one of that name with the most folders in common; "": none, "?": more than one. */
export function sameFile(path: string, paths: Iterable<string>): string {
  const parts = path.split("/").reverse(), name = parts[0];
  let best = "", most = 0, twice = false;
  for (const other of paths) {
    if (other === path) return other;
    if (baseName(other) !== name) continue;
    const theirs = other.split("/").reverse();
    let same = 0;
    while (same < parts.length && same < theirs.length && parts[same] === theirs[same]) same++;
    // A whole relative path is enough; else a folder must be the same, too.
    if (same < 2 && same < theirs.length && same < parts.length) continue;
    if (same > most) [best, most, twice] = [other, same, false];
    else if (same === most) twice = true;
  }
  return twice ? "?" : best;
}

export class Joins {
  private lines = new Map<Recording, Map<number, Lines>>();
  private files = new Map<Recording, Map<string, number>>();
  constructor(private parts: Parts, private nameOf: (r: Recording) => string) {}

  /** Files and lines of a recording over its whole run, for one metric. */
  private linesOf(r: Recording, metric: number): Lines {
    if (!this.lines.has(r)) this.lines.set(r, new Map());
    const known = this.lines.get(r)!;
    if (!known.has(metric)) {
      const shape = new Shape(r, new Names(r, 2), []);
      known.set(metric, new Lines(new Weighed(shape, { metric, from: -Infinity, to: Infinity, threads: null })));
    }
    return known.get(metric)!;
  }

  filesOf(r: Recording): Map<string, number> {
    let known = this.files.get(r);
    if (!known) {
      this.files.set(r, (known = new Map()));
      for (let p = 0; p < r.placeFile.length; p++) if (r.placeFile[p] && r.placeLine[p]) known.set(r.strings.get(r.placeFile[p]), r.placeFile[p]);
    }
    return known;
  }

  /** Columns of all recordings but `shown`, for a file. */
  of(path: string, shown: Recording): Joined {
    const out: Joined = { columns: [], missing: [], text: undefined, lines: new Set(), pending: null };
    const other = this.parts.against(shown);
    if (other) this.addDiff(path, this.parts.sideOf(shown), out);
    for (const r of this.parts.recordings) if (r !== shown && r !== other) this.addRecording(r, path, out);
    for (const c of this.parts.coverages) this.addCoverage(c, path, out);
    return out;
  }

  /** Columns of a comparison: lines that moved are found by their text, as assay matched them. */
  private addDiff(path: string, side: number, out: Joined) {
    const diff = this.parts.diff!, lines = diff.linesOf(path, side), { unit, name } = diff.about.metric;
    const sum = (line: number, of: "before" | "after") => (lines.get(line) ?? []).reduce((s, r) => s + r[of], 0);
    for (const line of lines.keys()) out.lines.add(line);
    const own = side ? "before" : "after";
    out.columns.push({ name: own, title: `${name} of the line ${own}`, width: 76, value: l => sum(l, own), text: l => { const v = sum(l, own); return v ? amount(v, unit) : ""; } });
    out.columns.push({ name: "change", title: `${name} of the line itself, before and after, and the verdict`, width: 128, value: l => Math.abs(sum(l, "after") - sum(l, "before")), text: l => { const rows = lines.get(l); if (!rows) return ""; const worst = rows.reduce((a, r) => (Math.abs(r.after - r.before) > Math.abs(a.after - a.before) ? r : a)), word = diff.about.verdicts[worst.verdict]; return changed(sum(l, "before"), sum(l, "after")) + (word && word !== "unsure" ? " " + word : ""); } });
  }

  private refuse(out: Joined, what: string, found: string, path: string): boolean {
    if (found && found !== "?") return false;
    out.missing.push(what + (found ? `: several files are called ${baseName(path)}` : ": nothing is known of this file"));
    return true;
  }

  private addRecording(r: Recording, path: string, out: Joined) {
    const files = this.filesOf(r), found = sameFile(path, files.keys()), what = this.nameOf(r);
    if (this.refuse(out, what, found, path)) return;
    const file = files.get(found)!, known = r.file(found);
    if (known.text !== undefined) out.text ??= known.lines ??= known.text.split("\n");
    const main = r.about.metric ?? 0, of = /^(.* )heap$/.exec(what)?.[1] ?? "";
    const list = wanted[r.about.collector]?.map(([name, title]): [number, string, boolean, boolean] => [r.metrics.findIndex(m => m.name === name), of + title, false, true]).filter(([m]) => m >= 0)
      ?? [[main, what + " self", true, false], [main, what + " total", true, true]] as [number, string, boolean, boolean][];
    for (const [metric, title, share, total] of list) {
      const lines = this.linesOf(r, metric), whole = lines.w.total[0], unit = r.metrics[metric].unit;
      const value = (line: number) => { const row = lines.row(file, line); return row < 0 ? 0 : total ? lines.total[row] : lines.self[row]; };
      for (const line of lines.inFile(file).keys()) out.lines.add(line);
      out.columns.push({ name: title, title: `${what}: ${r.metrics[metric].name}, ${total ? "with all that the line calls" : "of the line itself"}`, width: wide(share ? what : of, share ? 84 : 72), value, text: line => { const v = value(line); return !v ? "" : share ? percent(v, whole) : amount(v, unit); } });
    }
  }

  private addCoverage(c: Coverage, path: string, out: Joined) {
    if (!c.ready) return;
    const paths = c.files.filter(f => !f.gone).map(f => f.path), found = sameFile(path, paths);
    if (this.refuse(out, "coverage", found, path)) return;
    const index = c.find(found), lines = c.loaded[index];
    if (lines === undefined) return void (out.pending = c.load(index));
    if (!lines) return void out.missing.push("coverage: its lines are not in the page");
    if (lines.text.length) out.text ??= lines.text;
    for (const line of lines.line) out.lines.add(line);
    const at = (line: number) => lines.row.get(line) ?? -1;
    const all = this.parts.coverages, of = all.length > 1 ? distinct(all.map(x => x.about.title))[all.indexOf(c)] + " " : "";
    out.columns.push({ name: of + "executions", title: "coverage: how often the line ran", width: wide(of, 84), value: l => (at(l) < 0 ? 0 : lines.count[at(l)]), text: l => (at(l) < 0 ? "" : count(lines.count[at(l)])) });
    if (lines.branches.some(b => b > 0))
      out.columns.push({ name: of + "branches", title: "coverage: branches that were taken, of all", width: wide(of, 64), value: l => (at(l) < 0 ? 0 : lines.branches[at(l)]), text: l => (at(l) < 0 || !lines.branches[at(l)] ? "" : lines.taken[at(l)] + "/" + lines.branches[at(l)]) });
  }
}
