// SPDX-License-Identifier: Apache-2.0
// Coverage as the page holds it: files with their totals; lines and text of a file when it is asked for.

import { Block, packedText, readBlock, Texts } from "./blocks";

/** Covered and all of: lines, functions, branches, conditions. */
export type Tally = [number, number];
export const CRITERIA = ["lines", "functions", "branches", "MC/DC"];

/** What a change made of a line, by the letter that the block has: class, whether it is for the worse, meaning. */
export const CLASSES: Record<string, [string, string, string]> = {
  u: ["UNC", "w", "new, did not run"], l: ["LBC", "w", "ran in the baseline, does not now"], i: ["UIC", "w", "counted only now, did not run"],
  g: ["GBC", "g", "did not run in the baseline, ran now"], j: ["GIC", "g", "counted only now, ran"], n: ["GNC", "g", "new, ran"],
};

/** One file's lines. */
export interface FileLines {
  line: Float64Array; // ascending
  count: Float64Array;
  taken: Uint32Array;
  branches: Uint32Array;
  classes: Uint8Array | undefined;
  functions: [number, number, string][]; // line, count, name
  decisions: Map<number, any[]>; // by the line on which they end
  text: string[]; // lines, "\r" at their ends left out
  row: Map<number, number>; // line -> index of the columns
}

export interface CoverFile { path: string; tally: Tally[]; before: Tally[] | null; classes: number[]; gone: boolean; index: number; }

const tallies = (column: ArrayLike<number>, at: number): Tally[] => [0, 1, 2, 3].map(k => [column[at + 2 * k], column[at + 2 * k + 1]]);

/** Conditions of a decision: key, whether counts of it are known, whether it was shown to decide alone. */
function conditionsOf(d: any): [string, boolean, boolean][] {
  if (d.length === 2) return d[1].map((c: any, i: number) => [i + ":" + c[0], true, c[1] > 0 && c[2] > 0]);
  return d[4].map((c: number[]) => [c.slice(0, 2).join(), c.length > 4, c[4] > 0]);
}

/** Conditions that were shown to decide alone, and all; instances of a template are taken together. */
export function decided(decisions: any[]): Tally {
  const shown = new Map<string, boolean>();
  for (const d of decisions)
    for (const [key, counts, is] of conditionsOf(d)) {
      const place = d.slice(0, d.length === 2 ? 1 : 4).join() + "/" + key;
      if (counts) shown.set(place, shown.get(place) || is);
    }
  return [[...shown.values()].filter(is => is).length, shown.size];
}

export class Coverage {
  about: any;
  files: CoverFile[] = [];
  beside: boolean;
  criteria: number; // how many columns of shares
  total: Tally[];
  before: Tally[] | null;
  wrong: string[] = [];
  ready = false; // its blocks are here
  private later: (Element | null)[] = [];
  private known: (Promise<FileLines | null> | undefined)[] = [];
  loaded: (FileLines | null | undefined)[] = [];
  private byPath = new Map<string, number>();

  constructor(block: Block) {
    const get = (name: string) => block.columns.get(name) as any, a = (this.about = block.about);
    this.beside = a.beside;
    this.criteria = a.conditions ? 4 : 3;
    this.total = tallies(a.total, 0);
    this.before = a.before ? tallies(a.before, 0) : null;
    const paths = new Texts(get("path.len"), get("path.text")), tally = get("tally"), before = get("before"), classes = get("classes"), gone = get("gone");
    for (let i = 0; i < paths.count; i++) {
      const path = paths.get(i);
      this.byPath.set(path, i);
      this.files.push({ path, index: i, tally: tallies(tally, i * 8), before: before ? tallies(before, i * 8) : null, classes: classes ? [...classes.subarray(i * 4, i * 4 + 4)] : [0, 0, 0, 0], gone: gone ? gone[i] > 0 : false });
    }
    this.checkSums();
  }

  /** The files must add up to the total that assay made. */
  private checkSums() {
    const sum = new Array(8).fill(0);
    for (const f of this.files) f.tally.forEach((t, k) => { sum[2 * k] += t[0]; sum[2 * k + 1] += t[1]; });
    if (sum.join() !== this.about.total.join()) this.wrong.push(`coverage: the files on this page add up to ${sum.join(" ")}, the total is ${this.about.total.join(" ")}`);
  }

  /** Takes the blocks of its files from those that the page has left; gives how many it took. */
  take(elements: Element[], from: number): number {
    const count = this.files.filter(f => !f.gone).length;
    this.ready = true;
    this.later = elements.slice(from, from + count);
    return count;
  }

  /** The lines of a file; null: they are not in the page. */
  load(index: number): Promise<FileLines | null> {
    return (this.known[index] ??= this.read(index).then(lines => (this.loaded[index] = lines)));
  }

  private async read(index: number): Promise<FileLines | null> {
    const element = this.later[index];
    if (!element || !packedText(element)) return null;
    const { about, columns } = await readBlock(element), get = (name: string) => columns.get(name) as any;
    const decisions = new Map<number, any[]>();
    for (const d of about.decisions) {
      const at = d.length === 2 ? d[0] : d[2];
      decisions.set(at, [...(decisions.get(at) ?? []), d]);
    }
    const text = new TextDecoder().decode(get("text")).split("\n").map(t => (t.endsWith("\r") ? t.slice(0, -1) : t));
    if (text[text.length - 1] === "") text.pop();
    const line: Float64Array = get("line"), row = new Map<number, number>();
    line.forEach((l, i) => row.set(l, i));
    return { line, count: get("count"), taken: get("taken"), branches: get("branches"), classes: get("class"), functions: about.functions, decisions, text, row };
  }

  /** The number of a file; -1: there is none of this path. */
  find(path: string): number {
    return this.byPath.get(path) ?? -1;
  }
}

/** A share with two digits: 100 only when all of them ran. */
export const shareOf = (t: Tally) => (t[0] === t[1] ? 100 : Math.min(Math.round((t[0] / t[1]) * 1e4) / 100, 99.99));
