// SPDX-License-Identifier: Apache-2.0
// Blocks of the page: base64 of gzip of one JSON object and columns of numbers.
// Format: docs/formats/view.md.

export type Column = Uint32Array | Float64Array | Uint8Array;

export interface Block {
  about: any;
  columns: Map<string, Column>;
}

const utf8 = new TextDecoder();

/** LEB128 below 2^32. */
function readU32(bytes: Uint8Array, at: number, count: number): Uint32Array {
  const out = new Uint32Array(count);
  for (let i = 0; i < count; i++) {
    let byte = bytes[at++], value = byte & 127, shift = 7;
    while (byte > 127) {
      byte = bytes[at++];
      value |= (byte & 127) << shift;
      shift += 7;
    }
    out[i] = value;
  }
  return out;
}

/** LEB128 of any size; above 2^53 the nearest double. */
function readU64(bytes: Uint8Array, at: number, count: number): Float64Array {
  const out = new Float64Array(count);
  for (let i = 0; i < count; i++) {
    let byte = bytes[at++], value = byte & 127, scale = 128;
    while (byte > 127) {
      byte = bytes[at++];
      value += (byte & 127) * scale;
      scale *= 128;
    }
    out[i] = value;
  }
  return out;
}

/** The number that a zigzag code stands for. */
export const unzigzag = (code: number) => (code % 2 ? -(code + 1) / 2 : code / 2);

/** Differences, added up modulo 2^32. */
function readSteps(bytes: Uint8Array, at: number, count: number): Uint32Array {
  const out = readU32(bytes, at, count);
  for (let i = 0, last = 0; i < count; i++) out[i] = last += (out[i] >>> 1) ^ -(out[i] & 1);
  return out;
}

function readDelta(bytes: Uint8Array, at: number, count: number): Float64Array {
  const out = readU64(bytes, at, count);
  let last = 0;
  for (let i = 0; i < count; i++) out[i] = last += unzigzag(out[i]);
  return out;
}

function readColumn(kind: string, bytes: Uint8Array, at: number, count: number, length: number, isCopy: boolean): Column {
  if (kind === "u") return readU32(bytes, at, count);
  if (kind === "s") return readSteps(bytes, at, count);
  if (kind === "U") return readU64(bytes, at, count);
  if (kind === "d") return readDelta(bytes, at, count);
  if (kind === "D") return new Float64Array(bytes.slice(at, at + length).buffer);
  return isCopy ? bytes.slice(at, at + length) : bytes.subarray(at, at + length);
}

/** Memory in which blocks are unpacked one after the other, so that the browser need not collect it for each. */
export class Room {
  private packed = new Uint8Array(0);
  private bytes = new Uint8Array(0);
  packedOf(size: number) { return this.packed.length < size ? (this.packed = new Uint8Array(size * 1.2)) : this.packed; }
  bytesOf(size: number) { return this.bytes.length < size ? (this.bytes = new Uint8Array(size * 1.2)) : this.bytes; }
}

function fromBase64(text: string, room?: Room): Uint8Array {
  const direct = (Uint8Array as any).fromBase64;
  if (direct && room) {
    const out = room.packedOf(text.length * 0.75);
    return out.subarray(0, (out as any).setFromBase64(text).written);
  }
  if (direct) return direct.call(Uint8Array, text);
  const raw = atob(text), out = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) out[i] = raw.charCodeAt(i);
  return out;
}

/** The base64 of a block. */
export const packedText = (element: Element) => (element as HTMLTemplateElement).content.textContent ?? "";

/** Unpacks gzip. Without a Blob, whose bytes would go through another process of the browser and back. */
async function gunzip(packed: Uint8Array, room?: Room): Promise<Uint8Array> {
  const stream = new DecompressionStream("gzip"), writer = stream.writable.getWriter(), reader = stream.readable.getReader();
  // The last four bytes are the unpacked size.
  const size = new DataView(packed.buffer, packed.byteOffset).getUint32(packed.length - 4, true), out = room ? room.bytesOf(size) : new Uint8Array(size);
  const written = Promise.all([writer.write(packed as BufferSource), writer.close()]);
  written.catch(() => {}); // reading fails, too
  for (let at = 0; ; ) {
    const { done, value } = await reader.read();
    if (done) return out;
    out.set(value, at);
    at += value.length;
  }
}

/** Decodes the block that an element holds, and removes the element. In a `room`, columns of samples stay whole until the next block alone. */
export async function readBlock(element: Element, room?: Room): Promise<Block> {
  const packed = fromBase64(packedText(element), room);
  element.remove();
  const bytes = await gunzip(packed, room);
  const head = new DataView(bytes.buffer).getUint32(0, true);
  const { about, columns } = JSON.parse(utf8.decode(bytes.subarray(4, 4 + head)));
  const block: Block = { about, columns: new Map() };
  let at = 4 + head;
  for (const [name, kind, count, length] of columns) {
    block.columns.set(name, readColumn(kind, bytes, at, count, length, !!room && about.kind !== "samples"));
    at += length;
  }
  return block;
}

/** The numbers whose bytes are the columns NAME.0, NAME.1, ...; 0 stands for the number before. */
export function readPlanes(block: Block, name: string): Uint8Array | Uint16Array | Uint32Array {
  const [a, b, c, d] = [0, 1, 2, 3].map(i => block.columns.get(name + "." + i) as Uint8Array | undefined), n = a!.length;
  if (!c) return readTwo(a!, b ?? new Uint8Array(n), b ? new Uint16Array(n) : new Uint8Array(n));
  const out = new Uint32Array(n), highest = d ?? new Uint8Array(n);
  for (let i = 0, last = 0; i < n; i++) out[i] = last = a![i] | (b![i] << 8) | (c[i] << 16) | (highest[i] << 24) || last;
  return out;
}

function readTwo<T extends Uint8Array | Uint16Array>(low: Uint8Array, high: Uint8Array, out: T): T {
  for (let i = 0, last = 0; i < out.length; i++) out[i] = last = low[i] | (high[i] << 8) || last;
  return out;
}

/** Cuts a column of text into pieces; each is decoded when it is asked for. */
export class Texts {
  private start: Float64Array;
  private known: (string | undefined)[] = [];
  constructor(lengths: Uint32Array, private bytes: Uint8Array) {
    this.start = new Float64Array(lengths.length + 1);
    for (let i = 0; i < lengths.length; i++) this.start[i + 1] = this.start[i] + lengths[i];
  }
  get count() { return this.start.length - 1; }
  get(i: number): string {
    return (this.known[i] ??= utf8.decode(this.bytes.subarray(this.start[i], this.start[i + 1])));
  }
}
