// SPDX-License-Identifier: Apache-2.0
// Boxes and their names as pixels of one image. Browsers that draw without a graphics card need several times as long
// for thousands of rectangles and texts as for one image.

const FONT = "ui-monospace, 'DejaVu Sans Mono', monospace";
const STEPS = 4; // places of a glyph between two pixels
const BOX_TO_TEXT = 19 / 18; // the middle of a name is that of a box with the line below it

/** The font of names, in pixels. */
export const boxFont = (size: number) => `${size}px ${FONT}`;

/** A glyph at one place between two pixels: where its ink is, how dark. */
interface Glyph { x: number; y: number; w: number; h: number; ink: Uint8Array; of: (Uint32Array | undefined)[]; }

/** Red, green, blue, alpha of a colour of the style sheet. */
function parse(g: CanvasRenderingContext2D, colour: string): number[] {
  g.fillStyle = "#888";
  g.fillStyle = colour;
  const text = String(g.fillStyle), hex = /^#(..)(..)(..)$/.exec(text);
  if (hex) return [parseInt(hex[1], 16), parseInt(hex[2], 16), parseInt(hex[3], 16), 1];
  const parts = text.match(/[\d.]+/g)?.map(Number) ?? [136, 136, 136];
  return [parts[0], parts[1], parts[2], parts[3] ?? 1];
}

const over = (a: number[], b: number[], share: number) => a.map((v, i) => (i < 3 ? v * share + b[i] * (1 - share) : 1));
const little = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1;
const packed = ([r, g, b]: number[]) => (little ? (255 << 24) | (Math.round(b) << 16) | (Math.round(g) << 8) | Math.round(r) : (Math.round(r) << 24) | (Math.round(g) << 16) | (Math.round(b) << 8) | 255) >>> 0;

export class Raster {
  private image: ImageData | null = null;
  private px = new Uint32Array(0);
  width = 0;
  height = 0;
  private fills: number[][] = []; // [colour], and dimmed ones behind them
  private codes: number[] = [];
  private colours = 0;
  private text: number[] = [];
  private glyphs: (Glyph | null | undefined)[] = [];
  private scratch: CanvasRenderingContext2D;
  private cell = 0;
  advance = 0; // pixels
  private readable = false; // glyphs can be read back
  private look = "";

  constructor() {
    this.scratch = document.createElement("canvas").getContext("2d", { willReadFrequently: true })!;
  }

  /** Begins an empty picture. `high` pixels is a box. */
  begin(width: number, height: number, ratio: number, high: number, fills: string[], dim: string, text: string) {
    if (!this.image || this.width !== width || this.height !== height) {
      this.image = new ImageData(width, height);
      this.px = new Uint32Array(this.image.data.buffer);
      this.width = width;
      this.height = height;
    } else this.px.fill(0);
    const look = [ratio, high, dim, text, ...fills].join(" ");
    if (look === this.look) return;
    const g = this.scratch, veil = parse(g, dim);
    this.look = look;
    this.text = parse(g, text);
    const plain = fills.map(f => parse(g, f));
    this.fills = [...plain, ...plain.map(c => over(veil, c, veil[3]))];
    this.codes = this.fills.map(packed);
    this.colours = fills.length;
    this.glyphs = [];
    g.font = boxFont(12 * ratio);
    this.advance = g.measureText("0".repeat(20)).width / 20;
    this.cell = Math.ceil(this.advance) + 4;
    g.canvas.width = this.cell * STEPS;
    g.canvas.height = high;
    g.font = boxFont(12 * ratio);
    g.textBaseline = "middle";
    // Against reading by fingerprints some browsers give back other pixels.
    g.fillStyle = "#000";
    g.fillRect(0, 0, 2, 1);
    const [, , , a, , , , b] = g.getImageData(0, 0, 2, 1).data, far = g.getImageData(this.cell, high - 1, 1, 1).data[3];
    this.readable = a > 250 && b > 250 && far < 5;
  }

  /** Fills columns [from, to) of one line, which `spread` makes as high as a box. */
  span(line: number, from: number, to: number, colour: number, dimmed: boolean) {
    const { px } = this, code = this.codes[dimmed ? colour + this.colours : colour];
    let at = line * this.width + from;
    const end = line * this.width + to;
    if (to - from > 16) px.fill(code, at, end);
    else for (; at < end; at++) px[at] = code;
  }

  /** Copies a line to those below it, before `to`. */
  spread(line: number, to: number) {
    const from = line * this.width;
    for (let y = line + 1; y < to; y++) this.px.copyWithin(y * this.width, from, from + this.width);
  }

  /** Draws a name whose box begins at line `top`; false: it has characters that must be drawn as text. */
  name(name: string, x: number, top: number, colour: number, dimmed: boolean): boolean {
    if (!this.readable) return false;
    for (let i = 0; i < name.length; i++) {
      const c = name.charCodeAt(i);
      if (c > 126 && c !== 0x2026 && c !== 0x25b8) return false;
    }
    const fill = dimmed ? colour + this.colours : colour;
    for (let i = 0; i < name.length; i++, x += this.advance) {
      const left = Math.floor(x), step = Math.floor((x - left) * STEPS), c = name.charCodeAt(i), id = (c > 126 ? (c === 0x2026 ? 0 : 1) : c) * STEPS + step;
      if (c === 32) continue;
      let glyph = this.glyphs[id];
      if (glyph === undefined) glyph = this.glyphs[id] = this.make(name[i], step);
      if (glyph) this.blit(glyph, left - 1, top, fill);
    }
    return true;
  }

  private make(text: string, step: number): Glyph | null {
    const g = this.scratch, { cell } = this, high = g.canvas.height;
    g.clearRect(0, 0, cell, high);
    g.fillStyle = "#000";
    g.fillText(text, 1 + step / STEPS, (high * BOX_TO_TEXT) / 2);
    const data = g.getImageData(0, 0, cell, high).data;
    let x0 = cell, x1 = 0, y0 = high, y1 = 0;
    for (let y = 0; y < high; y++)
      for (let x = 0; x < cell; x++)
        if (data[(y * cell + x) * 4 + 3]) {
          x0 = Math.min(x0, x);
          x1 = Math.max(x1, x + 1);
          y0 = Math.min(y0, y);
          y1 = Math.max(y1, y + 1);
        }
    if (x1 <= x0) return null;
    const w = x1 - x0, h = y1 - y0, ink = new Uint8Array(w * h);
    for (let y = 0; y < h; y++) for (let x = 0; x < w; x++) ink[y * w + x] = data[((y + y0) * cell + x + x0) * 4 + 3];
    return { x: x0, y: y0, w, h, ink, of: [] };
  }

  /** Copies a glyph that was laid over a colour. Its empty pixels are left out: its neighbours' ink may be there. */
  private blit(glyph: Glyph, left: number, top: number, fill: number) {
    const { w, h, ink } = glyph, { px, width, height } = this;
    const over1 = (glyph.of[fill] ??= Uint32Array.from(ink, a => packed(over(this.text, this.fills[fill], (a / 255) * this.text[3]))));
    left += glyph.x;
    if (left < 0 || left + w > width) return;
    for (let y = Math.max(0, -(top + glyph.y)); y < h && top + glyph.y + y < height; y++) {
      const to = (top + glyph.y + y) * width + left;
      for (let x = 0, from = y * w; x < w; x++, from++) if (ink[from]) px[to + x] = over1[from];
    }
  }

  /** Puts the picture on a canvas of its size. */
  show(g: CanvasRenderingContext2D) {
    g.putImageData(this.image!, 0, 0);
  }
}
