// SPDX-License-Identifier: Apache-2.0
// Pictures of numbers with axes. A picture is walked through by the arrow keys: each mark is said.

import { css, fill, h } from "./dom";

/** Pixels of the margins. */
export const LEFT = 74, RIGHT = 18, TOP = 8, BOTTOM = 24;

/** A map of values to pixels. */
export interface Scale { (value: number): number; from: number; to: number; }
export function scale(from: number, to: number, low: number, high: number): Scale {
  const span = to - from;
  return Object.assign((v: number) => low + (span > 0 ? (v - from) / span : 0.5) * (high - low), { from, to });
}

/** Steps of 1, 2 or 5 times a power of ten. */
function ticks(from: number, to: number, count: number): number[] {
  const raw = (to - from) / count, base = 10 ** Math.floor(Math.log10(raw)), part = raw / base;
  const step = base * (part < 1.5 ? 1 : part < 3.5 ? 2 : part < 7.5 ? 5 : 10), out: number[] = [];
  if (!(step > 0) || !isFinite(step)) return out;
  for (let i = Math.ceil(from / step); i * step <= to && out.length < 50; i++) out.push(i * step);
  return out;
}

/** A time in seconds with four digits. */
export function time(s: number | null): string {
  if (s === null || !isFinite(s)) return "";
  const a = Math.abs(s), [by, unit] = a >= 1 || a === 0 ? [1, "s"] : a >= 1e-3 ? [1e3, "ms"] : a >= 1e-6 ? [1e6, "µs"] : [1e9, "ns"];
  return (s * by).toPrecision(4) + " " + unit;
}

/** "2.24 … 2.32 ms": two times in the unit of the second. */
export function range(low: number, high: number, between = " … "): string {
  const unit = time(high).split(" ")[1], by = { s: 1, ms: 1e3, "µs": 1e6, ns: 1e9 }[unit]!;
  const digits = Math.max(0, 3 - Math.floor(Math.log10(Math.max(1e-9, high * by))));
  return (low * by).toFixed(Math.min(digits, 3)) + between + (high * by).toFixed(Math.min(digits, 3)) + " " + unit;
}

/** A time at an axis. */
export const tick = (s: number) => (s ? time(s).replace(/^(\d+)\.?0*(?= )|(\.\d*?)0+(?= )/, "$1$2") : "0");

/** "+3.1 %" of a ratio of 1.031. */
export const change = (ratio: number) => { const p = (ratio - 1) * 100; return (p > 0 ? "+" : p < 0 ? "−" : "") + Math.abs(p).toPrecision(3) + " %"; };

/** The n-th colour of a set. */
export const colour = (n: number) => css("--plot" + ((n % 6) + 1));

let plots = 0; // made so far: headings have ids, as names do not stand in attributes

export class Plot {
  element: HTMLElement;
  canvas: HTMLCanvasElement;
  g!: CanvasRenderingContext2D;
  width = 0;
  private marks: { x: number; y: number; text: string }[] = [];
  private at = -1;
  private heading = h("h2");

  constructor(title: string, public height: number, private paint: (p: Plot) => void, private say: (text: string) => void) {
    this.canvas = h("canvas", { tabindex: 0, role: "application", "aria-roledescription": "picture", "aria-labelledby": this.heading.id = "plot" + ++plots });
    this.element = h("figure", { class: "chart" }, this.heading, this.canvas);
    this.title(title);
    this.canvas.style.height = height + "px";
    this.canvas.addEventListener("pointermove", e => {
      const box = this.canvas.getBoundingClientRect(), x = e.clientX - box.left, y = e.clientY - box.top;
      let best = -1, least = 144;
      this.marks.forEach((m, i) => { const far = (m.x - x) ** 2 + (m.y - y) ** 2; if (far < least) { least = far; best = i; } });
      if (best !== this.at) this.go(best);
    });
    this.canvas.addEventListener("pointerleave", () => this.go(-1));
    this.canvas.addEventListener("keydown", e => {
      const by = e.key === "ArrowRight" ? 1 : e.key === "ArrowLeft" ? -1 : e.key === "Home" ? -Infinity : e.key === "End" ? Infinity : 0;
      if (!by || e.ctrlKey || e.altKey || e.metaKey) return;
      this.go(Math.max(0, Math.min(this.marks.length - 1, this.at + by)));
      e.preventDefault();
    });
    new ResizeObserver(() => this.draw()).observe(this.element);
  }

  title(text: string) { fill(this.heading, text); }

  private go(i: number) {
    this.at = i;
    if (this.marks[i]) this.say(this.marks[i].text);
    this.draw();
  }

  draw() {
    if (!this.element.isConnected || !this.element.clientWidth) return;
    const ratio = devicePixelRatio || 1;
    this.width = this.canvas.clientWidth;
    this.canvas.width = Math.round(this.width * ratio);
    this.canvas.height = Math.round(this.height * ratio);
    this.g = this.canvas.getContext("2d")!;
    this.g.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.g.clearRect(0, 0, this.width, this.height);
    this.marks = [];
    this.g.font = "12px system-ui, sans-serif";
    this.paint(this);
    const m = this.marks[this.at];
    if (m) {
      this.g.strokeStyle = css("--fg");
      this.g.lineWidth = 2;
      this.g.beginPath();
      this.g.arc(m.x, m.y, 6, 0, 7);
      this.g.stroke();
    }
  }

  text(text: string, x: number, y: number, align: CanvasTextAlign = "left", max?: number) {
    let fits = text.length > 300 ? text.slice(0, 300) : text;
    if (max && this.g.measureText(fits).width > max) {
      while (fits && this.g.measureText(fits + "…").width > max) fits = [...fits].slice(0, -1).join("");
      fits += "…";
    }
    this.g.fillStyle = css("--fg");
    this.g.textAlign = align;
    this.g.fillText(fits, x, y);
  }

  line(x1: number, y1: number, x2: number, y2: number, style: string, width = 1) {
    this.g.strokeStyle = style;
    this.g.lineWidth = width;
    this.g.beginPath();
    this.g.moveTo(x1, y1);
    this.g.lineTo(x2, y2);
    this.g.stroke();
  }

  /** A vertical axis with lines over the picture. */
  yAxis(s: Scale, label: (v: number) => string) {
    for (const v of ticks(s.from, s.to, 5)) {
      this.line(LEFT, s(v), this.width - RIGHT, s(v), css("--rule"));
      this.text(label(v), LEFT - 6, s(v) + 4, "right");
    }
  }

  /** A horizontal axis below `y`. */
  xAxis(s: Scale, y: number, label: (v: number) => string) {
    let free = -Infinity;
    for (const v of ticks(s.from, s.to, 6)) {
      const text = label(v), half = this.g.measureText(text).width / 2, x = Math.min(s(v), this.width - half);
      this.line(s(v), y, s(v), y + 4, css("--soft"));
      if (x - half < free) continue;
      this.text(text, x, y + 17, "center");
      free = x + half + 12;
    }
  }

  dot(x: number, y: number, text: string, style: string) {
    this.g.fillStyle = style;
    this.g.beginPath();
    this.g.arc(x, y, 2.4, 0, 7);
    this.g.fill();
    this.mark(x, y, text);
  }

  band(y1: number, y2: number, style: string) {
    this.g.save();
    this.g.globalAlpha = 0.22;
    this.g.fillStyle = style;
    this.g.fillRect(LEFT, Math.min(y1, y2), this.width - RIGHT - LEFT, Math.max(1, Math.abs(y2 - y1)));
    this.g.restore();
  }

  /** Names a place of the picture, for the pointer and the keys. */
  mark(x: number, y: number, text: string) { this.marks.push({ x, y, text }); }
}
