// SPDX-License-Identifier: Apache-2.0
// The flame graph on a canvas: what is on the screen is drawn, and nothing else.

import { Call, kidAt, kidsOf, Weighed } from "./calls";
import { css, h } from "./dom";
import { boxFont, Raster } from "./raster";
import { CUT, INLINED, JIT, KERNEL } from "./recording";
import { shown } from "./text";

export const BOX = 19, CHAR = 7.25;
const LEAST = 0.6; // pixels: narrower boxes are not drawn

export interface FlameHost {
  weighed: () => Weighed;
  label: (key: number) => string; // the name as it is shown
  matches: (key: number) => boolean | null; // null: nothing is searched
  describe: (c: Call) => string;
  colour?: (c: Call) => string | null; // instead of the palette's
  note?: (c: Call) => string; // before the name
  onSelect: (c: Call | null) => void;
  onFocus: (c: Call) => void;
  onKey: (e: KeyboardEvent, c: Call) => boolean;
}

interface Box { x: number; w: number; y: number; call: Call; colour: number; dimmed: boolean; }

/** The colours of boxes, from the style sheet. */
export class Palette {
  fills: string[] = [];
  private ofPlace: Uint8Array; // [place and flags] colour + 1
  private cut = css("--cut");
  private kernel = css("--kernel");
  private jit = css("--jit");
  private root: number;
  text = css("--box-text");
  dim = css("--dim");
  match = css("--match");
  line = css("--bg");
  hues: string[] = [1, 2, 3, 4, 5, 6, 7, 8].map(i => css("--hue" + i));
  constructor(private moduleRank: (place: number) => number, places: number) {
    this.ofPlace = new Uint8Array(places * 8);
    this.root = this.fill(css("--root"));
    const changes = [1, 2, 3, 4].flatMap(i => [css("--more" + i), css("--less" + i)]);
    for (const colour of [this.cut, this.kernel, this.jit, ...this.hues, css("--same"), ...changes]) this.fill(colour);
  }
  /** The number of a colour in `fills`, which must have it before a picture is begun. */
  fill(colour: string): number {
    const at = this.fills.indexOf(colour);
    return at >= 0 ? at : this.fills.push(colour) - 1;
  }
  /** The number of a colour in `fills`. */
  index(flags: number, place: number): number {
    if (flags === 255) return this.root;
    const at = place * 8 + ((flags & KERNEL) | (flags >> 1 & 6)); // the flags below, in three bits
    if (!this.ofPlace[at]) this.ofPlace[at] = 1 + this.fill(flags & CUT ? this.cut : flags & KERNEL ? this.kernel : flags & JIT ? this.jit : this.hues[this.moduleRank(place) % 8]);
    return this.ofPlace[at] - 1;
  }
  of = (flags: number, place: number): string => this.fills[this.index(flags, place)];
}

/** The longest part of a name that fits, cut at its end. */
export function fitted(name: string, width: number): string {
  const room = Math.floor((width - 6) / CHAR);
  if (room < 2) return "";
  return name.length <= room ? name : name.slice(0, room - 1) + "…";
}

export class Flame {
  element: HTMLElement;
  canvas: HTMLCanvasElement;
  root!: Call;
  selected: Call | null = null;
  private boxes: Box[] = [];
  private from = 0; // of the whole width
  private to = 1;
  private scroll = 0; // pixels
  private frame = 0;
  private depth = 1;
  private drag: { x: number; y: number; from: number; to: number; scroll: number; moved: boolean } | null = null;
  private raster = new Raster();
  private cuts: string[][] = []; // [key, inlined] names by their lengths
  palette!: Palette;
  upwards = false; // the root is at the bottom

  constructor(private host: FlameHost, label: string) {
    this.canvas = h("canvas", { tabindex: 0, role: "application", "aria-roledescription": "flame graph", "aria-label": label + ": arrow keys go from call to call, Enter zooms, t shows the same as a table" });
    this.element = h("div", { class: "flame" }, this.canvas);
    const c = this.canvas;
    c.addEventListener("wheel", e => this.onWheel(e), { passive: false });
    c.addEventListener("pointerdown", e => {
      this.drag = { x: e.clientX, y: e.clientY, from: this.from, to: this.to, scroll: this.scroll, moved: false };
      c.setPointerCapture(e.pointerId);
    });
    c.addEventListener("pointermove", e => this.onMove(e));
    c.addEventListener("pointerup", e => {
      if (this.drag && !this.drag.moved) this.select(this.hit(e));
      this.drag = null;
    });
    c.addEventListener("dblclick", e => { const box = this.hit(e); if (box) this.zoom(box); });
    c.addEventListener("keydown", e => this.onKey(e));
    c.addEventListener("focus", () => this.draw());
    c.addEventListener("blur", () => this.draw());
    new ResizeObserver(() => this.draw()).observe(this.element);
  }

  show(root: Call) {
    this.root = root;
    this.selected = null;
    this.from = 0;
    this.to = 1;
    this.scroll = 0;
    this.cuts = [];
    this.later();
  }

  /** Where a call stands, of the whole width. */
  private span(c: Call): [number, number] {
    if (!c.parent) return [0, 1];
    const [start, end] = this.span(c.parent), unit = (end - start) / (c.parent.total || 1);
    let at = start;
    for (const kid of kidsOf(this.host.weighed(), c.parent)) {
      if (kid === c) break;
      at += kid.total * unit;
    }
    return [at, at + c.total * unit];
  }

  zoom(c: Call) {
    const [from, to] = this.span(c), start = [this.from, this.to, this.scroll], goal = [from, to, Math.max(0, (c.depth - 3) * BOX)];
    const began = performance.now(), still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const step = () => {
      const t = still ? 1 : Math.min(1, (performance.now() - began) / 160), e = t * (2 - t);
      this.from = start[0] + (goal[0] - start[0]) * e;
      this.to = start[1] + (goal[1] - start[1]) * e;
      this.scroll = start[2] + (goal[2] - start[2]) * e;
      this.draw();
      if (t < 1) requestAnimationFrame(step);
    };
    step();
    this.host.onFocus(c);
  }

  select(c: Call | null) {
    this.selected = c;
    this.host.onSelect(c);
    this.draw();
  }

  private hit(e: MouseEvent): Call | null {
    const r = this.canvas.getBoundingClientRect(), x = e.clientX - r.left, y = e.clientY - r.top;
    for (const b of this.boxes) if (x >= b.x && x < b.x + b.w && y >= b.y && y < b.y + BOX) return b.call;
    return null;
  }

  private onWheel(e: WheelEvent) {
    e.preventDefault();
    if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) this.pan(((e.deltaX || e.deltaY) / this.canvas.clientWidth) * (this.to - this.from));
    else if (e.ctrlKey || e.altKey || this.depth * BOX <= this.canvas.clientHeight) this.zoomAt((e.clientX - this.canvas.getBoundingClientRect().left) / this.canvas.clientWidth, Math.exp(e.deltaY * 0.002));
    else this.scroll = this.clampScroll(this.scroll + (this.upwards ? -e.deltaY : e.deltaY));
    this.later();
  }

  zoomAt(x: number, factor: number) {
    const width = Math.min(1, Math.max(1e-7, (this.to - this.from) * factor)), centre = this.from + (this.to - this.from) * x;
    this.from = Math.min(Math.max(0, centre - width * x), 1 - width);
    this.to = this.from + width;
  }

  pan(by: number) {
    const width = this.to - this.from;
    this.from = Math.min(Math.max(0, this.from + by), 1 - width);
    this.to = this.from + width;
  }

  private clampScroll = (y: number) => Math.min(Math.max(0, y), Math.max(0, this.depth * BOX - this.canvas.clientHeight + BOX));

  private onMove(e: PointerEvent) {
    const d = this.drag;
    if (!d) {
      const c = this.hit(e);
      this.canvas.title = c ? shown(this.host.describe(c), 600) : "";
      this.canvas.style.cursor = c ? "pointer" : "default";
      return;
    }
    if (!d.moved && Math.hypot(e.clientX - d.x, e.clientY - d.y) < 4) return;
    d.moved = true;
    this.from = d.from;
    this.to = d.to;
    this.pan(((d.x - e.clientX) / this.canvas.clientWidth) * (d.to - d.from));
    this.scroll = this.clampScroll(d.scroll + (this.upwards ? e.clientY - d.y : d.y - e.clientY));
    this.later();
  }

  private onKey(e: KeyboardEvent) {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const w = this.host.weighed(), at = this.selected ?? this.root, kids = kidsOf(w, at);
    const siblings = at.parent ? kidsOf(w, at.parent) : [at], place = siblings.indexOf(at);
    const [down, up] = this.upwards ? ["ArrowUp", "ArrowDown"] : ["ArrowDown", "ArrowUp"];
    let goal: Call | null = null;
    if (!this.selected && e.key.startsWith("Arrow")) goal = this.root;
    else if (e.key === down) goal = kids[0] ?? at;
    else if (e.key === up) goal = at.parent ?? at;
    else if (e.key === "ArrowLeft") goal = siblings[Math.max(0, place - 1)];
    else if (e.key === "ArrowRight") goal = siblings[Math.min(siblings.length - 1, place + 1)];
    else if (e.key === "Enter") this.zoom(at);
    else if (e.key === "Backspace" || (e.key === "Escape" && (this.from > 0 || this.to < 1))) this.zoom(this.root);
    else if (e.key === "+") this.zoomAt(0.5, 0.7);
    else if (e.key === "-") this.zoomAt(0.5, 1.4);
    else if (!this.host.onKey(e, at)) return;
    if (goal) {
      this.select(goal);
      this.reveal(goal);
    }
    this.draw();
    e.preventDefault();
    e.stopPropagation();
  }

  private reveal(c: Call) {
    const y = c.depth * BOX, [from, to] = this.span(c);
    if (y < this.scroll) this.scroll = y;
    if (y + 2 * BOX > this.scroll + this.canvas.clientHeight) this.scroll = y + 2 * BOX - this.canvas.clientHeight;
    if (to <= this.from || from >= this.to) this.pan(from - this.from);
  }

  later() {
    if (!this.frame) this.frame = requestAnimationFrame(() => { this.frame = 0; this.draw(); });
  }

  /** The text in a box: as much of the name as there is room for. */
  private label(b: Box): string {
    const { flags, key } = b.call, room = Math.floor((b.w - 6) / CHAR), inlined = flags & INLINED ? 1 : 0;
    if (room < 2) return "";
    if (flags === 255) return fitted("all", b.w);
    const text = this.host.label(key), whole = text.length + inlined, note = this.host.note?.(b.call);
    if (note) return fitted(note + " " + (inlined ? "▸" : "") + text, b.w);
    const cuts = ((this.cuts[key * 2 + inlined]) ??= []);
    return (cuts[Math.min(room, whole)] ??= fitted((inlined ? "▸" : "") + text, b.w));
  }

  draw() {
    const c = this.canvas, width = this.element.clientWidth, height = this.element.clientHeight, ratio = devicePixelRatio || 1;
    if (!width || !height || !this.root) return;
    if (c.width !== Math.round(width * ratio) || c.height !== Math.round(height * ratio)) {
      c.width = Math.round(width * ratio);
      c.height = Math.round(height * ratio);
    }
    const g = c.getContext("2d")!, w = this.host.weighed(), boxes: Box[] = (this.boxes = []), { palette, raster } = this;
    const high = Math.round((BOX - 1) * ratio), scale = width / (this.to - this.from);
    raster.begin(c.width, c.height, ratio, high, palette.fills, palette.dim, palette.text);
    const top = (y: number) => Math.round((this.upwards ? height - BOX - y : y) * ratio);
    this.depth = 1;
    // Boxes begin and end at whole pixels of the screen.
    const visit = (call: Call, x: number, span: number) => {
      const y = call.depth * BOX - this.scroll;
      if (call.depth >= this.depth) this.depth = call.depth + 1;
      if (y > -BOX && y < height) {
        const left = Math.min(Math.round(Math.max(x, 0) * ratio), c.width - 1), right = Math.min(Math.max(Math.round((x + span) * ratio), left + 1), c.width);
        const match = this.host.matches(call.key), own = this.host.colour?.(call), colour = own ? palette.fill(own) : palette.index(call.flags, call.place), dimmed = match !== null && (!match || call.flags === 255);
        raster.span(Math.max(0, top(y)), left, right - left > 3 ? right - 1 : right, colour, dimmed);
        boxes.push({ x: left / ratio, w: (right - left) / ratio, y: this.upwards ? height - BOX - y : y, call, colour, dimmed });
      }
      if (y >= height + 40 * BOX) return;
      let at = x;
      for (let i = 0; at < width; i++) {
        const kid = kidAt(w, call, i);
        if (!kid) break;
        const wide = (kid.total / call.total) * span;
        if (wide < LEAST) break; // the rest are narrower
        if (at + wide > 0) visit(kid, at, wide);
        at += wide;
      }
    };
    visit(this.root, -this.from * scale, scale);
    for (let depth = 0; depth < this.depth; depth++) {
      const y = depth * BOX - this.scroll;
      if (y > -BOX && y < height) raster.spread(Math.max(0, top(y)), Math.min(c.height, top(y) + high));
    }
    const others: [Box, string][] = []; // names that are drawn as text
    for (const b of boxes) {
      const label = b.w < 24 ? "" : this.label(b);
      if (label && !raster.name(label, (b.x + 4) * ratio, Math.round(b.y * ratio), b.colour, b.dimmed)) others.push([b, label]);
    }
    raster.show(g);
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    g.font = boxFont(12);
    g.fillStyle = palette.text;
    g.textBaseline = "middle";
    for (const [b, label] of others) g.fillText(label, b.x + 4, b.y + BOX / 2);
    if (this.selected) {
      const b = this.boxes.find(box => box.call === this.selected);
      g.strokeStyle = css("--focus");
      g.lineWidth = 2;
      if (b) g.strokeRect(b.x + 1, b.y + 1, Math.max(b.w - 3, 1), BOX - 3);
    }
  }
}
