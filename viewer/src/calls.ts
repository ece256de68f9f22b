// SPDX-License-Identifier: Apache-2.0
// Trees of calls: the recording's nodes merged by function under the user's transforms, weighed by
// what is selected, and looked at from the root down, from the callees up, or around one function.

import { firstAtOrAfter, Recording, SamplePart } from "./recording";

/** How a tree differs from what was recorded; shown as chips. */
export interface Transform { kind: "focus" | "merge" | "drop" | "collapse" | "recursion" | "module"; name: string; }

export const transformWords: Record<Transform["kind"], string> = {
  focus: "only inside", merge: "without", drop: "no stacks with", collapse: "nothing below", recursion: "recursion joined:", module: "module as one:",
};

/** What is selected: values of one metric, in a span of time, of some threads. */
export interface Selection { metric: number; from: number; to: number; threads: Set<number> | null; }

const OUTSIDE = -2, DROPPED = -1;

/** Functions by their names at one length: functions that read alike are one. */
export class Names {
  of: Uint32Array; // [function] key
  first: number[] = []; // [key] a function
  private byText = new Map<string, number>();
  constructor(public rec: Recording, public length: number) {
    const column = rec.fnNames[length], ids = new Map<number, number>();
    this.of = new Uint32Array(column.length);
    for (let f = 0; f < column.length; f++) {
      const id = length === 0 ? -f - 1 : column[f];
      let key = ids.get(id);
      if (key === undefined) {
        key = this.first.length;
        ids.set(id, key);
        this.first.push(f);
      }
      this.of[f] = key;
    }
  }
  text(key: number): string {
    return key < this.first.length ? this.rec.strings.get(this.rec.fnNames[this.length][this.first[key]]) : this.modules[key - this.first.length];
  }
  full(key: number): string {
    return key < this.first.length ? this.rec.strings.get(this.rec.fnNames[0][this.first[key]]) : this.text(key);
  }
  /** The key of a name; -1: no function has it. */
  find(text: string): number {
    if (this.byText.size === 0) for (let k = 0; k < this.first.length; k++) this.byText.set(this.text(k), k);
    return this.byText.get(text) ?? -1;
  }
  private modules: string[] = [];
  /** The key that stands for all functions of a module. */
  moduleKey(name: string): number {
    let at = this.modules.indexOf(name);
    if (at < 0) at = this.modules.push(name) - 1;
    return this.first.length + at;
  }
}

/** The recording's nodes merged by name, before any weights. A parent comes before its children. */
export class Shape {
  of: Int32Array; // [node of the recording] node here; OUTSIDE, DROPPED
  count = 1;
  parent: Int32Array;
  key: Uint32Array;
  place: Uint32Array; // of the first node that was merged here
  flags: Uint8Array;
  outermost: Uint8Array; // no caller has the same key
  childStart: Uint32Array;
  children: Uint32Array;
  depth: Uint16Array;
  keys = 0; // all keys are below
  private index: Int32Array; // hash of parent and key -> node

  constructor(public rec: Recording, public names: Names, public transforms: Transform[]) {
    const n = rec.nodes;
    let slots = 1;
    while (slots < n * 2) slots *= 2;
    this.index = new Int32Array(slots);
    this.of = new Int32Array(n);
    this.parent = new Int32Array(n);
    this.key = new Uint32Array(n);
    this.place = new Uint32Array(n);
    this.flags = new Uint8Array(n);
    this.parent[0] = -1;
    this.flags[0] = 255;
    if (transforms.length) this.mergeChanged(transforms);
    else this.merge();
    this.index = new Int32Array(0);
    const { count } = this;
    this.parent = this.parent.slice(0, count);
    this.key = this.key.slice(0, count);
    this.place = this.place.slice(0, count);
    this.flags = this.flags.slice(0, count);
    for (let i = 1; i < count; i++) if (this.key[i] >= this.keys) this.keys = this.key[i] + 1;
    this.childStart = new Uint32Array(count + 2);
    this.children = new Uint32Array(count);
    this.depth = new Uint16Array(count);
    this.outermost = new Uint8Array(count);
    this.linkChildren();
    this.findOutermost();
  }

  /** The node of a call below another one, a new one when there is none yet. */
  private enter(at: number, key: number, place: number): number {
    const { index, parent, flags } = this, mask = index.length - 1, flag = this.rec.placeFlags[place];
    let slot = Math.imul(Math.imul(at, 0x9e3779b1) ^ key, 0x85ebca6b);
    slot = (slot ^ (slot >>> 15)) & mask;
    for (let node = index[slot]; node; node = index[slot]) {
      if (parent[node] === at && this.key[node] === key) {
        flags[node] &= flag | ~2;
        return node;
      }
      slot = (slot + 1) & mask;
    }
    const node = (index[slot] = this.count++);
    parent[node] = at;
    this.key[node] = key;
    this.place[node] = place;
    flags[node] = flag;
    return node;
  }

  private merge() {
    const { of, rec } = this, { parent, place, placeFn } = rec, keys = this.names.of;
    for (let i = 1; i < of.length; i++) {
      const p = place[i];
      of[i] = this.enter(of[parent[i]], keys[placeFn[p]], p);
    }
  }

  private mergeChanged(transforms: Transform[]) {
    const { rec, names } = this, n = rec.nodes;
    const rules = transforms.map(t => ({ kind: t.kind, key: t.kind === "module" ? names.moduleKey(t.name) : names.find(t.name), name: t.name }));
    const focuses = rules.filter(r => r.kind === "focus").map(r => r.key), rest = rules.filter(r => r.kind !== "focus");
    const met = new Uint8Array(focuses.length ? n : 0), closed = new Uint8Array(rest.length ? n : 0);
    const modules = rest.some(r => r.kind === "module");
    if (focuses.length) this.of[0] = OUTSIDE;
    for (let i = 1; i < n; i++) {
      const up = rec.parent[i];
      let at = this.of[up];
      if (at === DROPPED) {
        this.of[i] = DROPPED;
        continue;
      }
      const place = rec.place[i];
      let key = names.of[rec.placeFn[place]];
      if (focuses.length) {
        met[i] = met[up];
        if (met[i] < focuses.length && key === focuses[met[i]]) met[i]++;
        if (at === OUTSIDE) {
          if (met[i] < focuses.length) {
            this.of[i] = OUTSIDE;
            continue;
          }
          at = 0;
        }
      }
      if (rest.length) {
        if (closed[up]) {
          closed[i] = 1;
          this.of[i] = at;
          continue;
        }
        let done = false;
        for (const rule of rest) {
          if (rule.kind === "module") {
            if (modules && rec.moduleName(place) === rule.name) key = rule.key;
          } else if (key !== rule.key) continue;
          if (rule.kind === "drop") this.of[i] = DROPPED;
          else if (rule.kind === "merge" || ((rule.kind === "recursion" || rule.kind === "module") && key === rule.key && at > 0 && this.key[at] === key)) this.of[i] = at;
          else {
            if (rule.kind === "collapse") closed[i] = 1;
            continue;
          }
          done = true;
          break;
        }
        if (done) continue;
      }
      this.of[i] = this.enter(at, key, place);
    }
  }

  private linkChildren() {
    const { count, parent, childStart, children, depth } = this;
    for (let i = 1; i < count; i++) childStart[parent[i] + 2]++;
    for (let i = 2; i < count + 2; i++) childStart[i] += childStart[i - 1];
    for (let i = 1; i < count; i++) {
      children[childStart[parent[i] + 1]++] = i;
      depth[i] = depth[parent[i]] + 1;
    }
  }

  /** Walks the tree with the number of open calls of each key. */
  private findOutermost() {
    const { key, parent, childStart, children, outermost } = this, open = new Uint32Array(this.keys), next = childStart.slice();
    for (let node = 0; node >= 0; ) {
      if (next[node] < childStart[node + 1]) {
        node = children[next[node]++];
        outermost[node] = open[key[node]]++ ? 0 : 1;
      } else {
        if (node) open[key[node]]--;
        node = parent[node];
      }
    }
  }
}

function addCounts(sums: Float64Array, rank: SamplePart["rank"], value: number, from: number, to: number) {
  for (let i = from; i < to; i++) sums[rank[i]] += value;
}

/** Adds the values of samples to the sums of their ranks. */
function addValues(sums: Float64Array, part: SamplePart, metric: number, from: number, to: number) {
  const { rank } = part, value = part.values[metric], n = rank.length;
  if (typeof value !== "number") {
    for (let i = from; i < to; i++) sums[rank[i]] += value[i];
    return;
  }
  // Of much of a part, what is outside is taken from the whole: these sums are exact below 2^53.
  if ((to - from) * 2 < n || sums.length * 4 > n) return addCounts(sums, rank, value, from, to);
  if (!part.counts) {
    part.counts = new Uint32Array(sums.length);
    for (let i = 0; i < n; i++) part.counts[rank[i]]++;
  }
  const { counts } = part;
  for (let r = 1; r < counts.length; r++) sums[r] += counts[r] * value;
  addCounts(sums, rank, -value, 0, from);
  addCounts(sums, rank, -value, to, n);
}

/** Values of the recording's nodes for a selection. Without a selection of time and threads they are those of the file. */
export function selfValues(rec: Recording, s: Selection): Float64Array {
  const all = rec.selfAll[s.metric];
  if ((s.from === -Infinity && s.to === Infinity && !s.threads) || !all) return all ?? new Float64Array(rec.nodes);
  const sums = new Float64Array(rec.rankNode.length + 1), self = new Float64Array(rec.nodes), { rankNode } = rec;
  rec.threads.forEach((thread, t) => {
    if (!thread.samples || (s.threads && !s.threads.has(t))) return;
    for (const part of thread.samples.parts) {
      if (part.end < s.from || part.start >= s.to) continue;
      const from = firstAtOrAfter(part, s.from);
      addValues(sums, part, s.metric, from, firstAtOrAfter(part, s.to, from));
    }
  });
  for (let i = 0; i < rankNode.length; i++) self[rankNode[i]] = sums[i + 1] / rec.runs;
  return self;
}

/** A shape with the values of a selection. */
export class Weighed {
  self: Float64Array;
  total: Float64Array;
  raw: Float64Array; // [node of the recording] self
  keySelf: Float64Array;
  keyTotal: Float64Array;
  private order: Uint32Array | null = null; // the shape's children; sorted where somebody looked
  private sorted: Uint8Array;
  constructor(public shape: Shape, public selection: Selection) {
    const { rec, of, parent, key, outermost, count } = shape;
    const raw = (this.raw = selfValues(rec, selection)), self = (this.self = new Float64Array(count)), keySelf = (this.keySelf = new Float64Array(shape.keys)), keyTotal = (this.keyTotal = new Float64Array(shape.keys));
    this.sorted = new Uint8Array(count);
    for (let i = 0; i < raw.length; i++) if (raw[i] && of[i] >= 0) self[of[i]] += raw[i];
    const total = (this.total = self.slice());
    for (let i = count - 1; i > 0; i--) {
      const sum = total[i], k = key[i];
      if (!sum) continue;
      total[parent[i]] += sum;
      keySelf[k] += self[i];
      if (outermost[i]) keyTotal[k] += sum;
    }
  }

  /** The i-th greatest child of a node; 0: it has no more with a value. */
  child(node: number, i: number): number {
    const { childStart, children, key } = this.shape, { total } = this, from = childStart[node], to = childStart[node + 1];
    const order = (this.order ??= children.slice());
    if (!this.sorted[node]) {
      this.sorted[node] = 1;
      const before = (a: number, b: number) => total[b] - total[a] || key[a] - key[b];
      for (let k = from + 1; k < to; k++)
        if (before(order[k - 1], order[k]) > 0) {
          order.subarray(from, to).sort(before);
          break;
        }
    }
    return from + i < to && total[order[from + i]] ? order[from + i] : 0;
  }
}

/** A box of a picture or a row of a tree. Made when it is looked at. */
export interface Call {
  key: number;
  total: number;
  self: number;
  place: number;
  flags: number;
  depth: number;
  parent: Call | null;
  kids: Call[]; // those that were looked at, greatest first
  whole: boolean; // `kids` has all
  nodes: number[]; // of the shape, that this call stands for
  at: number[] | null; // going up: where each of `nodes` has got to, and
  weight: number[] | null; // what each brings
}

const call = (key: number, parent: Call | null): Call => ({ key, total: 0, self: 0, place: 0, flags: 0, depth: parent ? parent.depth + 1 : 0, parent, kids: [], whole: false, nodes: [], at: null, weight: null });

/** The tree from the root down. */
export function rootDown(w: Weighed): Call {
  const root = call(0, null);
  root.nodes = [0];
  root.total = w.total[0];
  root.self = w.self[0];
  root.flags = 255;
  return root;
}

/** The tree from the functions that ran up to their callers. */
export function calleesUp(w: Weighed): Call {
  const root = call(0, null);
  root.total = w.total[0];
  root.flags = 255;
  root.at = [];
  root.weight = [];
  for (let i = 1; i < w.self.length; i++) {
    if (!w.self[i]) continue;
    root.nodes.push(i);
    root.at.push(i);
    root.weight.push(w.self[i]);
  }
  return root;
}

/** The callers of one function, from it upwards, or its callees, from it downwards. */
export function around(w: Weighed, key: number, up: boolean): Call {
  const top = call(key, null), { shape } = w;
  for (let i = 1; i < shape.count; i++) {
    if (shape.key[i] !== key || !shape.outermost[i] || !w.total[i]) continue;
    top.nodes.push(i);
    top.total += w.total[i];
    top.place = shape.place[i];
    top.flags = shape.flags[i];
  }
  top.self = w.keySelf[key];
  if (up) {
    top.at = top.nodes.map(n => shape.parent[n]);
    top.weight = top.nodes.map(n => w.total[n]);
  }
  return top;
}

/** The call with the i-th greatest value below (or, going up, above) a call; null: there are fewer. */
export function kidAt(w: Weighed, c: Call, i: number): Call | null {
  if (i < c.kids.length) return c.kids[i];
  if (c.whole || c.at || c.nodes.length !== 1) return kidsOf(w, c)[i] ?? null;
  const { shape } = w;
  for (let k = c.kids.length; k <= i; k++) {
    const node = w.child(c.nodes[0], k);
    if (!node) {
      c.whole = true;
      return null;
    }
    c.kids.push({ key: shape.key[node], total: w.total[node], self: w.self[node], place: shape.place[node], flags: shape.flags[node], depth: c.depth + 1, parent: c, kids: [], whole: false, nodes: [node], at: null, weight: null });
  }
  return c.kids[i];
}

/** The calls below (or, going up, above) a call, greatest first. */
export function kidsOf(w: Weighed, c: Call): Call[] {
  if (c.whole) return c.kids;
  if (!c.at && c.nodes.length === 1) {
    for (let i = c.kids.length; kidAt(w, c, i); i++);
    return c.kids;
  }
  const { shape } = w, found = new Map<number, Call>();
  const take = (node: number) => {
    const key = shape.key[node];
    let kid = found.get(key);
    if (!kid) {
      kid = call(key, c);
      kid.place = shape.place[node];
      kid.flags = shape.flags[node];
      found.set(key, kid);
    }
    return kid;
  };
  if (c.at) {
    for (let i = 0; i < c.nodes.length; i++) {
      const node = c.at[i];
      if (node <= 0) continue;
      const kid = take(node);
      (kid.at ??= []).push(shape.parent[node]);
      (kid.weight ??= []).push(c.weight![i]);
      kid.nodes.push(c.nodes[i]);
      kid.total += c.weight![i];
      if (shape.parent[node] === 0) kid.self += c.weight![i];
    }
  } else {
    for (const parent of c.nodes)
      for (let i = shape.childStart[parent]; i < shape.childStart[parent + 1]; i++) {
        const node = shape.children[i];
        if (!w.total[node]) continue;
        const kid = take(node);
        kid.nodes.push(node);
        kid.total += w.total[node];
        kid.self += w.self[node];
      }
  }
  c.whole = true;
  return (c.kids = [...found.values()].sort((a, b) => b.total - a.total || a.key - b.key));
}

/** Self and total of source lines: "the place of the innermost call", and every call on the way, once for each stack. */
export class Lines {
  file: number[] = []; // string
  line: number[] = [];
  self: number[] = [];
  total: number[] = [];
  private rows = new Map<number, Map<number, number>>();
  of: Int32Array; // [place] row, -1: no line
  constructor(public w: Weighed) {
    const { rec } = w.shape, { placeFile, placeLine } = rec;
    this.of = new Int32Array(placeFile.length).fill(-1);
    for (let p = 0; p < placeFile.length; p++) {
      if (!placeFile[p] || !placeLine[p]) continue;
      let lines = this.rows.get(placeFile[p]);
      if (!lines) this.rows.set(placeFile[p], (lines = new Map()));
      let row = lines.get(placeLine[p]);
      if (row === undefined) {
        row = this.file.length;
        lines.set(placeLine[p], row);
        this.file.push(placeFile[p]);
        this.line.push(placeLine[p]);
        this.self.push(0);
        this.total.push(0);
      }
      this.of[p] = row;
    }
    const total = new Float64Array(rec.nodes), { raw } = w, kept = w.shape.of;
    for (let i = rec.nodes - 1; i > 0; i--) {
      if (kept[i] >= 0) total[i] += raw[i];
      total[rec.parent[i]] += total[i];
    }
    // Nodes are depth first: `open` has the rows of the callers of the present one.
    const open = new Int32Array(this.file.length), depth = new Uint32Array(rec.nodes), path: number[] = [];
    for (let i = 1; i < rec.nodes; i++) {
      depth[i] = depth[rec.parent[i]] + 1;
      while (path.length >= depth[i]) {
        const left = path.pop()!;
        if (left >= 0) open[left]--;
      }
      const row = this.of[rec.place[i]];
      path.push(row);
      if (row < 0) continue;
      if (kept[i] >= 0) this.self[row] += raw[i];
      if (open[row]++ === 0) this.total[row] += total[i];
    }
  }
  row(file: number, line: number): number {
    return this.rows.get(file)?.get(line) ?? -1;
  }
  /** Line -> row of one file. */
  inFile(file: number): Map<number, number> {
    return this.rows.get(file) ?? new Map();
  }
  files(): number[] {
    return [...this.rows.keys()];
  }
}
