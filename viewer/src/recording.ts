// SPDX-License-Identifier: Apache-2.0
// A recording as the page holds it: columns, and what follows from them alone.

import { Block, Column, readPlanes, Texts, unzigzag } from "./blocks";
import { baseName } from "./text";

export const KERNEL = 1, INLINED = 2, CUT = 4, JIT = 8;

export interface Metric { name: string; unit: string; event: string; is_level: boolean; total?: number; }
export interface Thread { tid: number; pid: number; name: string; process: string; samples?: Samples; }

/** Samples of one thread in the order of time, as a block has them. */
export interface SamplePart {
  rank: Uint8Array | Uint16Array | Uint32Array; // of their nodes, from 1
  time: Times; // since `start`
  start: number;
  end: number; // the time of the last one
  values: (Float64Array | number)[]; // [metric]; a number: all have it
  counts?: Uint32Array; // [rank] samples; made when somebody selects much of the part
}

/** All samples of one thread. */
export interface Samples { count: number; parts: SamplePart[]; }

/** Samples between two marks of Times, as a power of two. */
const MARK = 6;

/**
 * Times of samples in the order of time, in microseconds since the first. They stay as they are written, as what the distance
 * of neighbours differs from `step`: mostly a byte each. Marks in between make every time reachable.
 */
export class Times {
  private marks: Float64Array;
  last = 0;
  constructor(private codes: Column, readonly count: number, private step: number) {
    this.marks = new Float64Array((count >> MARK) + 1);
    for (let i = 1; i < count; i++) {
      this.last = this.after(this.last, i);
      if (!(i & ((1 << MARK) - 1))) this.marks[i >> MARK] = this.last;
    }
  }
  /** The time of sample `i`, from that of the one before it. */
  after(before: number, i: number): number {
    return before + this.step + unzigzag(this.codes[i - 1]);
  }
  at(i: number): number {
    let now = this.marks[i >> MARK];
    for (let k = i & -(1 << MARK); k < i; ) now = this.after(now, ++k);
    return now;
  }
  /** The first index from `low` on whose time is not before `goal`; the count if there is none. */
  firstAtOrAfter(goal: number, low: number): number {
    const { marks, count } = this;
    let from = 1, to = marks.length;
    while (from < to) {
      const middle = (from + to) >> 1;
      if (marks[middle] < goal) from = middle + 1;
      else to = middle;
    }
    let i = (from - 1) << MARK;
    for (let now = marks[from - 1]; i < count && now < goal; now = this.after(now, ++i));
    return Math.max(i, low);
  }
}

/** The first index whose time is not before `at`, of a part; its length if there is none. */
export const firstAtOrAfter = (part: SamplePart, at: number, low = 0) => part.time.firstAtOrAfter(at - part.start, low);

export interface SourceFile { path: string; trouble?: string; text?: string; lines?: string[]; kept?: Map<number, string>; }

export interface Instruction { address: number; text: string; inlined: string; function: string; self: number; line: number; }

export interface Spans { thread: Uint32Array; start: Float64Array; end: Float64Array; name: Uint32Array; detail: Uint32Array; }

export interface Series { metric: number; part: string; time: Float64Array; value: Float64Array; }

const utf8 = new TextDecoder();

export class Recording {
  about: any;
  /** How many recordings these are the sum of; values are shown as means. */
  runs: number;
  metrics: Metric[];
  threads: Thread[];
  strings: Texts;
  // Functions and places; see docs/formats/view.md.
  fnNames: Uint32Array[]; // full, without arguments, short
  fnFile: Uint32Array;
  fnLine: Uint32Array;
  placeFn: Uint32Array;
  placeFile: Uint32Array;
  placeLine: Uint32Array;
  placeModule: Uint32Array;
  placeFlags: Uint32Array;
  // Nodes in depth-first order; node 0 is the root.
  nodes: number;
  parent: Uint32Array;
  place: Uint32Array;
  selfAll: Float64Array[] = []; // [metric][node]
  sums: number[] = []; // [metric] of all nodes
  series: Series[] = [];
  spans: Spans;
  /** [thread] its rows of `spans`, without the one of the thread itself. */
  spansOf: number[][];
  wakes: { from: Uint32Array; to: Uint32Array; time: Float64Array };
  /** [rank - 1] node; the nodes with the most samples come first. */
  rankNode: Uint32Array = new Uint32Array(0);
  private texts = new Map<string, SourceFile>();
  code = new Map<string, Instruction[]>(); // "path:line"
  executions = new Map<number, Map<number, number>>(); // file's string -> line -> count
  /** When the samples end, in microseconds. */
  end = 0;
  start = Infinity;
  wrong: string[] = []; // totals that the page's own sums do not meet

  /** `shared`: texts of files that are alike in several recordings of a page, where the first of them has them. */
  constructor(block: Block, private shared = new Map<string, SourceFile>()) {
    const get = (name: string) => (block.columns.get(name) ?? new Uint32Array(0)) as any;
    this.about = block.about;
    this.runs = block.about.runs ?? 1;
    this.metrics = block.about.metrics;
    this.threads = block.about.threads;
    this.strings = new Texts(get("str.len"), get("str.text"));
    this.fnNames = [get("fn.full"), get("fn.args"), get("fn.short")];
    this.fnFile = get("fn.file");
    this.fnLine = get("fn.line");
    this.placeFn = get("place.fn");
    this.placeFile = get("place.file");
    this.placeLine = get("place.line");
    this.placeModule = get("place.module");
    this.placeFlags = get("place.flags");
    const up: Uint32Array = get("node.up"), place: Uint32Array = get("node.place");
    this.nodes = up.length + 1;
    this.parent = new Uint32Array(this.nodes);
    this.place = new Uint32Array(this.nodes);
    for (let i = 1; i < this.nodes; i++) {
      this.parent[i] = i - up[i - 1];
      this.place[i] = place[i - 1];
    }
    this.metrics.forEach((metric, m) => {
      const self = new Float64Array(this.nodes), node: Float64Array = get(`self.${m}.node`), value: Float64Array = get(`self.${m}.value`);
      let sum = 0;
      for (let i = 0; i < node.length; i++) {
        self[node[i]] = value[i] / this.runs;
        sum += value[i];
      }
      this.selfAll.push(self);
      this.sums.push(sum / this.runs);
      this.compare(metric, sum, "calls");
    });
    this.spans = { thread: get("span.thread"), start: get("span.start"), end: get("span.end"), name: get("span.name"), detail: get("span.detail") };
    this.wakes = { from: get("wake.from"), to: get("wake.to"), time: get("wake.time") };
    this.spansOf = this.threads.map(() => []);
    this.spans.thread.forEach((thread, i) => {
      if (this.strings.get(this.spans.name[i]) !== "thread") this.spansOf[thread].push(i);
      if (i >= this.about.states) this.widen(this.spans.start[i] / 1000, this.spans.end[i] / 1000);
    });
    this.readSeries(get("series.metric"), get("series.part"), get("series.time"), get("series.value"));
  }

  private widen(start: number, end: number) {
    this.start = Math.min(this.start, start);
    this.end = Math.max(this.end, end);
  }

  /** Compares a sum that the page made with the one that assay made. */
  private compare(metric: Metric, sum: number, what: string) {
    if (metric.total === undefined) return;
    const differs = Math.abs(sum - metric.total) > (metric.total > 2 ** 53 ? metric.total * 1e-9 : 0);
    if (differs) this.wrong.push(`${metric.name}: the ${what} on this page add up to ${sum}, the recording to ${metric.total}`);
  }

  private readSeries(metric: Uint32Array, part: Uint32Array, time: Float64Array, value: Float64Array) {
    const groups = new Map<string, number[]>();
    for (let i = 0; i < metric.length; i++) {
      const key = metric[i] + " " + part[i];
      if (!groups.has(key)) groups.set(key, []);
      groups.get(key)!.push(i);
    }
    for (const rows of groups.values())
      this.series.push({
        metric: metric[rows[0]],
        part: this.strings.get(part[rows[0]]),
        time: Float64Array.from(rows, i => time[i] / 1000),
        value: Float64Array.from(rows, i => value[i]),
      });
    for (const s of this.series) if (s.time.length) this.end = Math.max(this.end, s.time[s.time.length - 1]);
  }

  /** Takes in a block that came after the overview. */
  add(block: Block) {
    const kind = block.about.kind;
    if (kind === "samples") this.addSamples(block);
    else if (kind === "text") this.addTexts(block);
    else if (kind === "kept") this.addKept(block);
    else if (kind === "code") this.addCode(block);
    else if (kind === "counts") this.addCounts(block);
  }

  private addSamples(block: Block) {
    const about = block.about, ranks = block.columns.get("rank.node") as Uint32Array | undefined, rank = readPlanes(block, "rank"), n = rank.length;
    if (ranks) this.rankNode = ranks;
    const codes = block.columns.get("time.0") ?? block.columns.get("time")!;
    // A copy: the column is a part of memory that the next block needs.
    const time = new Times(codes.slice(), n, about.step_us), start = about.start_us, end = start + time.last;
    const values: (Float64Array | number)[] = this.metrics.map((_, m) => about.values[m] ?? block.columns.get(`value.${m}`));
    const samples = (this.threads[about.thread].samples ??= { count: 0, parts: [] });
    if (!n) return;
    samples.count += n;
    samples.parts.push({ rank, time, start, end, values });
    this.widen(start, end);
  }

  /** All parts of the samples of all threads. */
  *parts(): Iterable<SamplePart> {
    for (const t of this.threads) if (t.samples) yield* t.samples.parts;
  }

  /** Whether each sample has a time. */
  allHaveTime(): boolean {
    let count = 0;
    for (const t of this.threads) count += t.samples?.count ?? 0;
    return count > 0 && count === this.about.samples;
  }

  /** When all blocks are here: the samples must add up to the same as the calls. */
  checkSamples() {
    if (!this.allHaveTime()) return;
    this.metrics.forEach((metric, m) => {
      let sum = 0;
      for (const { rank, values } of this.parts()) {
        const v = values[m];
        if (typeof v === "number") sum += v * rank.length;
        else for (let i = 0; i < v.length; i++) sum += v[i];
      }
      this.compare(metric, sum, "samples");
    });
  }

  private addTexts(block: Block) {
    const pieces = new Texts(block.columns.get("text.len") as Uint32Array, block.columns.get("text") as Uint8Array);
    block.about.files.forEach((file: any, i: number) => {
      const known = this.ownFile(file.path), text = pieces.get(i);
      known.trouble = file.trouble;
      if (text || !file.trouble) known.text = text;
      if (!this.shared.has(file.path)) this.shared.set(file.path, known);
    });
  }

  private addKept(block: Block) {
    const line = block.columns.get("line") as Float64Array, lengths = block.columns.get("text.len") as Uint32Array, bytes = block.columns.get("text") as Uint8Array;
    let row = 0, at = 0;
    for (const [path, count] of block.about.files) {
      const kept = (this.ownFile(path).kept ??= new Map());
      for (let i = 0; i < count; i++, row++) {
        kept.set(line[row], utf8.decode(bytes.subarray(at, at + lengths[row])));
        at += lengths[row];
      }
    }
  }

  private addCode(block: Block) {
    const get = (name: string) => block.columns.get(name) as any, strings: string[] = block.about.strings;
    const file = get("file"), line = get("line"), address = get("address"), self = get("self"), text = get("text"), inlined = get("inlined"), fn = get("function");
    for (let i = 0; i < file.length; i++) {
      const key = strings[file[i]] + ":" + line[i];
      if (!this.code.has(key)) this.code.set(key, []);
      this.code.get(key)!.push({ address: address[i], text: strings[text[i]], inlined: strings[inlined[i]], function: strings[fn[i]], self: self[i] / this.runs, line: line[i] });
    }
  }

  private addCounts(block: Block) {
    const file = block.columns.get("file") as Uint32Array, line = block.columns.get("line") as Float64Array, count = block.columns.get("count") as Float64Array;
    for (let i = 0; i < file.length; i++) {
      if (!this.executions.has(file[i])) this.executions.set(file[i], new Map());
      const lines = this.executions.get(file[i])!;
      lines.set(line[i], (lines.get(line[i]) ?? 0) + count[i]);
    }
  }

  /** What is known of a source file; a new one has neither text nor trouble. */
  file(path: string): SourceFile {
    const own = this.texts.get(path), other = this.shared.get(path);
    if (!other || own === other || own?.text !== undefined || own?.trouble !== undefined) return this.ownFile(path);
    if (own?.kept) other.kept ??= own.kept;
    return other;
  }

  private ownFile(path: string): SourceFile {
    if (!this.texts.has(path)) this.texts.set(path, { path });
    return this.texts.get(path)!;
  }

  /** The text of a line, if it is here. */
  lineText(path: string, line: number): string | undefined {
    const file = this.file(path);
    if (file.text !== undefined) file.lines ??= file.text.split("\n");
    return file.lines ? file.lines[line - 1] : file.kept?.get(line);
  }

  /** The name of a module without its folders. */
  moduleName(place: number): string {
    return baseName(this.strings.get(this.placeModule[place]));
  }
}
