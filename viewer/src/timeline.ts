// SPDX-License-Identifier: Apache-2.0
// Activity over time: one row for each thread, series, spans and marks. Dragging selects a span of time.

import { Shape } from "./calls";
import { css, h } from "./dom";
import { BOX, fitted, Palette } from "./flame";
import { firstAtOrAfter, Recording, SamplePart } from "./recording";
import { amount, seconds, shown } from "./text";

export interface TimeHost {
  rec: Recording;
  metric: () => number;
  selection: () => { from: number; to: number };
  onSelect: (from: number, to: number) => void;
}

/** Sums of the metric in `bins` equal parts of the time, for one thread. */
export function histogram(rec: Recording, thread: number, metric: number, from: number, to: number, bins: number): Float64Array {
  const out = new Float64Array(bins), wide = (to - from) / bins;
  if (to <= from) return out;
  for (const part of rec.threads[thread].samples?.parts ?? []) {
    const value = part.values[metric], last = Math.min(bins - 1, Math.floor((part.end - from) / wide));
    for (let b = Math.max(0, Math.floor((part.start - from) / wide)), at = 0; b <= last; b++) {
      const end = b === bins - 1 ? part.rank.length : firstAtOrAfter(part, from + (b + 1) * wide, at);
      if (typeof value === "number") out[b] += (end - at) * value;
      else for (let i = at; i < end; i++) out[b] += value[i];
      at = end;
    }
  }
  return out;
}

const LANE = 30, AXIS = 20;

interface Lane { label: string; height: number; thread?: number; draw: (g: CanvasRenderingContext2D, y: number, width: number, x: (us: number) => number) => void; }

export class Timeline {
  element: HTMLElement;
  canvas: HTMLCanvasElement;
  private anchor: number | null = null;
  private cache = new Map<string, Float64Array>();
  private layer = h("canvas");
  private layerKey = "";
  private layerHeight = 0;
  constructor(private host: TimeHost, private whole: boolean) {
    this.canvas = h("canvas", { tabindex: 0, role: "application", "aria-roledescription": "timeline", "aria-label": "Activity over time: left and right move the selected span, shift with them makes it longer or shorter, Escape selects all; the fields above take numbers" });
    this.element = h("div", { class: whole ? "timeline whole" : "timeline" }, this.canvas);
    const at = (e: PointerEvent) => this.time(e.clientX - this.canvas.getBoundingClientRect().left);
    this.canvas.addEventListener("pointerdown", e => {
      this.anchor = at(e);
      this.canvas.setPointerCapture(e.pointerId);
    });
    this.canvas.addEventListener("pointermove", e => {
      this.canvas.title = seconds(at(e));
      if (this.anchor !== null) host.onSelect(Math.min(this.anchor, at(e)), Math.max(this.anchor, at(e)));
    });
    this.canvas.addEventListener("pointerup", e => {
      const [from, to] = [Math.min(this.anchor ?? 0, at(e)), Math.max(this.anchor ?? 0, at(e))];
      this.anchor = null;
      if (to - from < (host.rec.end - host.rec.start) / 400) host.onSelect(-Infinity, Infinity);
    });
    this.canvas.addEventListener("keydown", e => this.onKey(e));
    new ResizeObserver(() => this.draw()).observe(this.element);
  }

  private get margin() { return this.whole ? 190 : 0; }
  private time(x: number): number {
    const { rec } = this.host, width = this.element.clientWidth - this.margin;
    return rec.start + Math.min(1, Math.max(0, (x - this.margin) / width)) * (rec.end - rec.start);
  }

  private onKey(e: KeyboardEvent) {
    const { rec } = this.host, step = (rec.end - rec.start) / 50, s = this.host.selection(), all = s.from === -Infinity;
    let { from, to } = all ? { from: rec.start, to: rec.start + step * 5 } : s;
    const by = e.key === "ArrowRight" ? step : e.key === "ArrowLeft" ? -step : 0;
    if (e.key === "Escape" && !all) this.host.onSelect(-Infinity, Infinity);
    else if (by && all) this.host.onSelect(from, to);
    else if (by) this.host.onSelect(e.shiftKey ? from : from + by, Math.max(to + by, from + step));
    else return;
    e.preventDefault();
    e.stopPropagation();
  }

  private bars(key: string, thread: number[], width: number): Float64Array {
    const { rec } = this.host, samples = thread.reduce((sum, t) => sum + (rec.threads[t].samples?.count ?? 0), 0);
    // With fewer than some twelve samples in a bar, bars show chance.
    const bins = Math.max(20, Math.min(600, Math.floor(width / 2), Math.floor(samples / 12))), id = key + bins + ":" + this.host.metric();
    let sum = this.cache.get(id);
    if (!sum) {
      sum = new Float64Array(bins);
      for (const t of thread) histogram(rec, t, this.host.metric(), rec.start, rec.end, bins).forEach((v, i) => (sum![i] += v));
      this.cache.set(id, sum);
    }
    return sum;
  }

  private lanes(): Lane[] {
    const { rec } = this.host, lanes: Lane[] = [];
    const withSamples = rec.threads.map((t, i) => ({ t, i })).filter(x => x.t.samples?.count);
    const lane = (label: string, key: string, threads: number[], height: number): Lane => ({
      label, height,
      draw: (g, y, width, x) => {
        const bars = this.bars(key, threads, width), most = Math.max(...bars) || 1, step = (rec.end - rec.start) / bars.length;
        g.fillStyle = css("--accent");
        for (let i = 0; i < bars.length; i++) {
          const high = (bars[i] / most) * (height - 4);
          if (high > 0) g.fillRect(x(rec.start + i * step), y + height - high, Math.max(1, x(rec.start + (i + 1) * step) - x(rec.start + i * step) - (width > bars.length * 4 ? 0.5 : 0)), high);
        }
      },
    });
    if (!this.whole) return withSamples.length ? [lane("", "all", withSamples.map(x => x.i), 36)] : [];
    for (const s of rec.series) {
      const metric = rec.metrics[s.metric];
      lanes.push({
        label: shown(metric.name + (s.part ? " " + s.part : ""), 60), height: 56,
        draw: (g, y, _width, x) => {
          let most = 0;
          for (const v of s.value) if (v > most) most = v;
          g.beginPath();
          g.moveTo(x(s.time[0] ?? 0), y + 54);
          let last = 0;
          for (let i = 0; i < s.time.length; i++) {
            const high = y + 54 - ((s.value[i] || 0) / (most || 1)) * 46;
            if (metric.is_level || metric.unit === "bytes") g.lineTo(x(s.time[i]), y + 54 - (last / (most || 1)) * 46);
            g.lineTo(x(s.time[i]), high);
            last = s.value[i] || 0;
          }
          g.lineTo(x(s.time[s.time.length - 1] ?? 0), y + 54);
          g.fillStyle = css("--accent-soft");
          g.fill();
          g.strokeStyle = css("--accent");
          g.lineWidth = 1.5;
          g.stroke();
          g.fillStyle = css("--fg");
          g.fillText("most " + amount(most, metric.unit), x(rec.start) + 4, y + 8);
        },
      });
    }
    rec.threads.forEach((t, i) => {
      const label = `${shown(t.name || t.process, 40)} ${t.tid}`, spans = rec.spansOf[i], samples = t.samples?.count;
      if (samples) lanes.push(lane(label, "t" + i, [i], LANE));
      if (spans.length && (samples || spans.some(s => s >= rec.about.states))) lanes.push({ ...this.spanLane(spans), label: samples ? "" : label, thread: i });
    });
    return lanes;
  }

  private spanLane(rows: number[]): Lane {
    const { rec } = this.host, { spans } = rec;
    return {
      label: "", height: BOX,
      draw: (g, y, _width, x) => {
        for (const i of rows) {
          const from = x(spans.start[i] / 1000), wide = Math.max(1.5, x(spans.end[i] / 1000) - from);
          g.fillStyle = css("--hue" + (1 + (spans.name[i] % 8)));
          g.fillRect(from, y + 1, wide, BOX - 3);
          g.fillStyle = css("--box-text");
          const label = fitted(shown(rec.strings.get(spans.name[i]) + " " + rec.strings.get(spans.detail[i]), 200), wide);
          if (label) g.fillText(label, from + 3, y + BOX / 2);
        }
      },
    };
  }

  private toX = (us: number, width: number) => this.margin + ((us - this.host.rec.start) / (this.host.rec.end - this.host.rec.start || 1)) * (width - this.margin);

  /** Arrows from the thread that ended a wait to the one that waited; so many are left out that what is behind them can be read. */
  private arrows(g: CanvasRenderingContext2D, width: number, at: number[]) {
    const { from, to, time } = this.host.rec.wakes, last = new Map<string, number>();
    g.strokeStyle = css("--fg");
    g.lineWidth = 1;
    g.globalAlpha = 0.5;
    g.beginPath();
    time.forEach((ns, i) => {
      const a = at[from[i]], b = at[to[i]], x = this.toX(ns / 1000, width), key = from[i] + " " + to[i], head = b > a ? 4 : -4;
      if (!a || !b || Math.abs(x - last.get(key)!) < 7 + 4 * last.size) return;
      last.set(key, x);
      g.moveTo(x, a);
      g.lineTo(x, b);
      g.moveTo(x - 3, b - head);
      g.lineTo(x, b);
      g.lineTo(x + 3, b - head);
    });
    g.stroke();
    g.globalAlpha = 1;
  }

  /** Draws what no selection changes, when it is not as it was. */
  private drawLayer(width: number, ratio: number): number {
    const { rec } = this.host, samples = rec.threads.reduce((sum, t) => sum + (t.samples?.count ?? 0), 0);
    const key = [width, ratio, this.host.metric(), rec.start, rec.end, samples, css("--fg")].join();
    if (key === this.layerKey) return this.layerHeight;
    this.layerKey = key;
    const lanes = this.lanes(), height = (this.layerHeight = Math.max(this.whole ? 80 : 56, AXIS + lanes.reduce((sum, l) => sum + l.height + 4, 0)));
    this.layer.width = Math.round(width * ratio);
    this.layer.height = Math.round(height * ratio);
    const g = this.layer.getContext("2d")!;
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    g.font = "12px ui-monospace, 'DejaVu Sans Mono', monospace";
    g.textBaseline = "middle";
    this.axis(g, width, us => this.toX(us, width), height);
    let y = AXIS;
    const at: number[] = [];
    for (const l of lanes) {
      if (l.thread !== undefined) at[l.thread] = y + l.height / 2;
      g.fillStyle = css("--fg");
      if (l.label) g.fillText(fitted(l.label, this.margin - 8), 4, y + l.height / 2);
      l.draw(g, y, width - this.margin, us => this.toX(us, width));
      y += l.height + 4;
    }
    this.arrows(g, width, at);
    return height;
  }

  draw() {
    const width = this.element.clientWidth, ratio = devicePixelRatio || 1, c = this.canvas;
    if (!width) return;
    const height = this.drawLayer(width, ratio), g = c.getContext("2d")!;
    if (c.width !== this.layer.width || c.height !== this.layer.height) {
      c.width = this.layer.width;
      c.height = this.layer.height;
      c.style.height = height + "px";
    }
    g.setTransform(1, 0, 0, 1, 0, 0);
    g.clearRect(0, 0, c.width, c.height);
    g.drawImage(this.layer, 0, 0);
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    const s = this.host.selection(), from = this.toX(s.from, width), to = this.toX(s.to, width);
    if (s.from === -Infinity && s.to === Infinity) return;
    g.fillStyle = css("--veil");
    g.fillRect(this.margin, 0, Math.max(0, from - this.margin), height);
    g.fillRect(to, 0, Math.max(0, width - to), height);
    g.fillStyle = css("--focus");
    g.fillRect(from - 1, 0, 2, height);
    g.fillRect(to - 1, 0, 2, height);
  }

  private axis(g: CanvasRenderingContext2D, width: number, x: (us: number) => number, height: number) {
    const { rec } = this.host, span = rec.end - rec.start;
    let step = 10 ** Math.floor(Math.log10(span / 4 || 1));
    if (span / step > 10) step *= 2;
    if (span / step > 10) step *= 2.5;
    for (let at = Math.ceil(rec.start / step) * step; at <= rec.end; at += step) {
      g.fillStyle = css("--rule");
      g.fillRect(x(at), 0, 1, height);
      g.fillStyle = css("--soft");
      const label = (at / 1e6).toFixed(Math.max(0, Math.ceil(-Math.log10(step / 1e6)))) + " s";
      if (x(at) + label.length * 7.3 < width) g.fillText(label, x(at) + 3, 9);
    }
  }
}

/** The calls of one thread in the order of time: at each pixel the stack that was sampled there. */
export class TimeChart {
  element: HTMLElement;
  canvas: HTMLCanvasElement;
  private runs: { x: number; w: number; depth: number; node: number }[] = [];
  thread = 0;
  palette!: Palette;
  constructor(private host: TimeHost, private shape: () => Shape, private name: (key: number) => string, private onNode: (node: number) => void) {
    this.canvas = h("canvas", { tabindex: 0, role: "img", "aria-label": "Calls of one thread in the order of time; the call tree has the same calls as a table" });
    this.element = h("div", { class: "flame" }, this.canvas);
    const hit = (e: MouseEvent) => {
      const r = this.canvas.getBoundingClientRect(), x = e.clientX - r.left, depth = Math.floor((e.clientY - r.top) / BOX);
      return this.runs.find(b => b.depth === depth && x >= b.x && x < b.x + b.w);
    };
    this.canvas.addEventListener("click", e => { const b = hit(e); if (b) this.onNode(b.node); });
    this.canvas.addEventListener("pointermove", e => { const b = hit(e); this.canvas.title = b ? shown(this.name(this.shape().key[b.node]), 600) : ""; });
    this.canvas.addEventListener("wheel", e => {
      e.preventDefault();
      const s = this.span(), at = s.from + ((e.clientX - this.canvas.getBoundingClientRect().left) / this.canvas.clientWidth) * (s.to - s.from), f = Math.exp(e.deltaY * 0.002);
      const from = Math.max(host.rec.start, at - (at - s.from) * f), to = Math.min(host.rec.end, at + (s.to - at) * f);
      host.onSelect(from <= host.rec.start && to >= host.rec.end ? -Infinity : from, from <= host.rec.start && to >= host.rec.end ? Infinity : to);
    }, { passive: false });
    new ResizeObserver(() => this.draw()).observe(this.element);
  }
  private span() {
    const s = this.host.selection(), { rec } = this.host;
    return s.from === -Infinity ? { from: rec.start, to: rec.end } : { from: Math.max(s.from, rec.start), to: Math.min(s.to, rec.end) };
  }
  draw() {
    const width = this.element.clientWidth, height = this.element.clientHeight, ratio = devicePixelRatio || 1, samples = this.host.rec.threads[this.thread]?.samples;
    if (!width || !height || !samples) return;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    const g = this.canvas.getContext("2d")!, shape = this.shape(), { from, to } = this.span();
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    g.font = "12px ui-monospace, 'DejaVu Sans Mono', monospace";
    g.textBaseline = "middle";
    const open: { x: number; node: number }[] = [];
    this.runs = [];
    const close = (depth: number, x: number) => {
      while (open.length > depth) {
        const o = open.pop()!;
        this.runs.push({ x: o.x, w: x - o.x, depth: open.length, node: o.node });
      }
    };
    const { parts } = samples, { rec } = this.host, step = (to - from) / width, stack: number[] = [], usual = parts.length && samples.count > 1 ? (parts[parts.length - 1].end - parts[0].start) / samples.count : 0;
    let p = 0, i = 0;
    for (let x = 0; x < width; x++) {
      const t = from + x * step;
      while (p < parts.length && parts[p].end < t) {
        p++;
        i = 0;
      }
      const part: SamplePart | undefined = parts[p];
      if (part) i = firstAtOrAfter(part, t, i);
      // A sample stands for the time since the one before it; a longer gap is a time without one.
      if (!part || part.start + part.time.at(i) - t > Math.max(step, usual * 3)) {
        close(0, x);
        continue;
      }
      stack.length = 0;
      for (let n = shape.of[rec.rankNode[part.rank[i] - 1]]; n > 0; n = shape.parent[n]) stack.push(n);
      stack.reverse();
      let same = 0;
      while (same < open.length && same < stack.length && open[same].node === stack[same]) same++;
      close(same, x);
      for (let d = same; d < stack.length; d++) open.push({ x, node: stack[d] });
    }
    close(0, width);
    for (const b of this.runs) {
      if (b.depth * BOX > height) continue;
      g.fillStyle = this.palette.of(shape.flags[b.node], shape.place[b.node]);
      g.fillRect(b.x, b.depth * BOX, Math.max(0.7, b.w - (b.w > 4 ? 1 : 0)), BOX - 1);
      const label = fitted(shown(this.name(shape.key[b.node]), 400), b.w);
      if (!label) continue;
      g.fillStyle = this.palette.text;
      g.fillText(label, b.x + 4, b.depth * BOX + BOX / 2);
    }
  }
}
