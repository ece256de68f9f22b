// SPDX-License-Identifier: Apache-2.0
// Benchmarks and counted events as columns; compares their sums with those of assay.

import { Block } from "./blocks";

export interface Compared { pairs: number; ratio: number; interval: [number | null, number | null]; differs: boolean; verdict: string; text: string; }
export interface Command {
  name: string; command: string; runs: number; warmups: number; total: number;
  mean: number; deviation: number | null; median: number; interval: [number | null, number | null]; min: number; max: number; user: number | null; system: number | null; memory?: number;
  causes: [string, number][]; comparison?: Compared;
  /** Seconds: of each run, as comparisons take it, when it began. */
  time: Float64Array; compared: Float64Array; start: Float64Array; density: ArrayLike<number>;
  set: CommandSet; index: number;
}
export interface CommandSet { reference: number; grouped: boolean; cpu_clock: boolean; without_waiting: boolean; from: number; to: number; commands: Command[]; }

export interface Event { part: string; event: string; value: string; derived: string; spread: string; share: string; mean: number | null; low: number | null; high: number | null; is_time: boolean; points: number; sum: number; x: Float64Array; y: Float64Array; of: Runs; }

export class Runs {
  about: any;
  sets: CommandSet[] = [];
  events: Event[] = [];
  wrong: string[] = [];

  constructor(block: Block) {
    const about = (this.about = block.about), column = (name: string) => block.columns.get(name) as Float64Array;
    if (about.form === "bench") this.readBench(about, column("time"), column("compared") ?? column("time"), column("start"), block.columns.get("density")!);
    else if (about.form === "counts") this.readCounts(about, column("x"), column("y"));
  }

  get isBench() { return this.about.form === "bench"; }

  private readBench(about: any, time: Float64Array, compared: Float64Array, start: Float64Array, density: ArrayLike<number> & { subarray: any }) {
    let at = 0, number = 0;
    const seconds = (column: Float64Array, n: number, parts: number) => column.subarray(at, at + n).map(v => v / parts);
    for (const set of about.sets as CommandSet[]) {
      set.commands.forEach((c, index) => {
        let total = 0;
        for (let i = at; i < at + c.runs; i++) total += time[i];
        if (Math.abs(total) < 2 ** 53 && total !== c.total) this.wrong.push(`times of ${c.name}: ${total}, not ${c.total}`);
        Object.assign(c, { set, index, time: seconds(time, c.runs, about.parts), compared: seconds(compared, c.runs, about.parts), start: seconds(start, c.runs, 1e9), density: density.subarray(number * about.density_points, ++number * about.density_points) });
        at += c.runs;
      });
      this.sets.push(set);
    }
    if (at !== time.length) this.wrong.push(`${time.length} runs, not ${at}`);
  }

  private readCounts(about: any, x: Float64Array, y: Float64Array) {
    let at = 0;
    for (const row of about.rows as Event[]) {
      Object.assign(row, { x: x.subarray(at, at + row.points), y: y.subarray(at, at + row.points), of: this });
      at += row.points;
      let sum = 0;
      for (const v of row.y) sum += v;
      if (sum !== row.sum) this.wrong.push(`${row.event}: ${sum}, not ${row.sum}`);
      this.events.push(row);
    }
  }
}
