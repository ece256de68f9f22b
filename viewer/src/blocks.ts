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

function readDelta(bytes: Uint8Array, at: number, count: number): Float64Array {
  const out = readU64(bytes, at, count);
  let last = 0;
  for (let i = 0; i < count; i++) out[i] = last += unzigzag(out[i]);
  return out;
}

function readColumn(kind: string, bytes: Uint8Array, at: number, count: number, length: number): Column {
  if (kind === "u") return readU32(bytes, at, count);
  if (kind === "U") return readU64(bytes, at, count);
  if (kind === "d") return readDelta(bytes, at, count);
  if (kind === "D") return new Float64Array(bytes.slice(at, at + length).buffer);
  return bytes.subarray(at, at + length);
}

function fromBase64(text: string): Uint8Array {
  const direct = (Uint8Array as any).fromBase64;
  if (direct) return direct.call(Uint8Array, text);
  const raw = atob(text), out = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) out[i] = raw.charCodeAt(i);
  return out;
}

/** Decodes the block that an element holds, and removes the element. */
export async function readBlock(element: Element): Promise<Block> {
  const packed = fromBase64(element.textContent!.trim());
  element.remove();
  const stream = new Blob([packed as BlobPart]).stream().pipeThrough(new DecompressionStream("gzip"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  const head = new DataView(bytes.buffer).getUint32(0, true);
  const { about, columns } = JSON.parse(utf8.decode(bytes.subarray(4, 4 + head)));
  const block: Block = { about, columns: new Map() };
  let at = 4 + head;
  for (const [name, kind, count, length] of columns) {
    block.columns.set(name, readColumn(kind, bytes, at, count, length));
    at += length;
  }
  return block;
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
