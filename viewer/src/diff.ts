// SPDX-License-Identifier: Apache-2.0
// What changed between two recordings: tables that assay compared and judged, and the calls of one tree in the other.

import { Block, Column, Texts } from "./blocks";
import { Call, kidsOf, Weighed } from "./calls";

export const LESS = 1, MORE = 2, SAME = 3, UNSURE = 4;

export interface DiffRow {
  name: string; path: string; before: number; after: number; verdict: number;
  ratio: number; low: number; high: number; // NaN: not judged
  file: string; line: number; oldFile: string; oldLine: number;
}

export interface DiffTable { by: string; rows: DiffRow[]; }

export class Diff {
  about: any;
  tables: DiffTable[] = [];
  wrong: string[] = [];
  private lines: Map<string, Map<number, DiffRow[]>>[] = [new Map(), new Map()];

  constructor(block: Block) {
    const { about, columns } = block, texts = new Texts(columns.get("str.len") as Uint32Array, columns.get("str.text") as Uint8Array);
    this.about = about;
    for (const t of about.tables) {
      const column = (name: string) => columns.get(t.by + "." + name) as Column, c = Object.fromEntries(["name", "path", "before", "after", "verdict", "ratio", "low", "high", "file", "line", "old_file", "old_line"].map(n => [n, column(n)])), rows: DiffRow[] = [];
      let before = 0, after = 0;
      for (let i = 0; i < t.rows; i++) {
        before += c.before[i];
        after += c.after[i];
        rows.push({ name: texts.get(c.name[i]), path: texts.get(c.path[i]), before: c.before[i], after: c.after[i], verdict: c.verdict[i], ratio: c.ratio ? c.ratio[i] : NaN, low: c.low ? c.low[i] : NaN, high: c.high ? c.high[i] : NaN, file: texts.get(c.file[i]), line: c.line[i], oldFile: texts.get(c.old_file[i]), oldLine: c.old_line[i] });
      }
      for (const [what, sum, own] of [["before", before, t.before], ["after", after, t.after]]) if (sum !== own && sum < 2 ** 53) this.wrong.push(`${what}, by ${t.by}: ${sum}, not ${own}`);
      this.tables.push({ by: t.by, rows });
    }
  }

  table = (by: string) => this.tables.find(t => t.by === by) ?? this.tables[0];
  /** The side that a recording of the page is: 0 old, 1 new, -1 neither. */
  side = (recording: number) => this.about.sides.findIndex((s: any) => s.recording === recording);

  /** The rows of a file's lines, as the side has their numbers. */
  linesOf(path: string, side: number): Map<number, DiffRow[]> {
    const files = this.lines[side];
    if (!files.size)
      for (const r of this.table("line").rows) {
        const [file, line] = side ? [r.file, r.line] : [r.oldFile, r.oldLine];
        if (!file || !line) continue;
        if (!files.has(file)) files.set(file, new Map());
        const at = files.get(file)!;
        at.set(line, [...(at.get(line) ?? []), r]);
      }
    return files.get(path) ?? new Map();
  }
}

/** "+12.3 %", "new", "gone" of two values. */
export function changed(before: number, after: number): string {
  if (before === after) return before ? "=" : "";
  if (!before) return "new";
  if (!after) return "gone";
  const ratio = after / before;
  return ratio >= 10 ? "×" + ratio.toPrecision(3) : (ratio > 1 ? "+" : "−") + (Math.abs(ratio - 1) * 100).toFixed(1) + " %";
}

/** Calls of a tree, and the same calls, by their names, of another recording's. */
export class Against {
  private same = new WeakMap<Call, Call>();
  private none = new WeakSet<Call>();
  private kids = new WeakMap<Call, Map<number, Call>>();
  private keys = new Map<number, number>();

  /** `whole`: changes are of the shares, as if both had the same total. `step` and `otherStep`: the value of a sample, 0 where values are exact; `noise`: how much repeated runs differ as a whole. */
  constructor(private other: Weighed, private now: Weighed, root: Call, otherRoot: Call, private shares: boolean, private step: number, private otherStep: number, private isNew: boolean, private noise: number) {
    this.same.set(root, otherRoot);
  }

  /** The key of a function in the other recording. */
  private keyOf(key: number): number {
    let k = this.keys.get(key);
    if (k === undefined) this.keys.set(key, (k = this.other.shape.names.find(this.now.shape.names.text(key))));
    return k;
  }

  of(c: Call): Call | null {
    const known = this.same.get(c);
    if (known || this.none.has(c) || !c.parent) return known ?? null;
    const up = this.of(c.parent);
    if (up) {
      let kids = this.kids.get(up);
      if (!kids) this.kids.set(up, (kids = new Map(kidsOf(this.other, up).map(k => [k.key, k]))));
      const found = kids.get(this.keyOf(c.key));
      if (found) {
        this.same.set(c, found);
        return found;
      }
    }
    this.none.add(c);
    return null;
  }

  /** The value of a function on the other side. */
  keySelf(key: number) { const k = this.keyOf(key); return k < 0 ? 0 : this.scaled(this.other.keySelf[k] ?? 0); }

  private scaled = (value: number) => (this.shares && this.other.total[0] ? (value * this.now.total[0]) / this.other.total[0] : value);

  /** Before and after of a call. */
  values(c: Call): [number, number] {
    const other = this.scaled(this.of(c)?.total ?? 0);
    return this.isNew ? [other, c.total] : [c.total, other];
  }

  /** How much a call changed, from -1 (gone) to 1 (new); 0 also where chance alone may have made the difference. */
  change(c: Call): number {
    const [before, after] = this.values(c), most = Math.max(before, after), d = after - before;
    if (!most || Math.abs(d) < (this.step && 2.5 * Math.sqrt(c.total * this.step + this.scaled(this.of(c)?.total ?? 0) * this.otherStep)) + this.noise * Math.min(before, after)) return 0;
    return d / most;
  }

  note(c: Call): string {
    return this.change(c) ? changed(...this.values(c)) : "";
  }
}
