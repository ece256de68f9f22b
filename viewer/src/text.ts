// SPDX-License-Identifier: Apache-2.0
// Text and numbers as people read them.

// Control, bidirectional and zero-width characters, and lone surrogates.
const hidden = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** Text from outside: characters that would not be seen are written out, and no more than 4096 are shown. */
export function shown(text: string, max = 4096): string {
  const cut = text.length > max ? text.slice(0, max) + "…" : text;
  return cut.replace(hidden, c => (c === "\t" ? "    " : "\\u{" + c.charCodeAt(0).toString(16) + "}"));
}

/** Cuts a path at its start, so that its end stays. */
export const endOf = (path: string, max: number) => (path.length > max ? "…" + path.slice(path.length - max + 1) : path);

/** The last component of a path. */
export const baseName = (path: string) => path.slice(path.lastIndexOf("/") + 1);

/** Short names of commands by what is different in them: the program, a folder above it, the words after it; else numbers. */
export function distinct(commands: string[]): string[] {
  const split = commands.map(c => c.split(" ")), paths = split.map(w => w[0].split("/").filter(p => p && p !== ".").reverse()), deepest = Math.max(...paths.map(p => p.length));
  const differ = (names: string[]) => new Set(names).size === names.length;
  for (let depth = 0; depth < deepest; depth++) {
    const names = paths.map(p => [p[0], ...p.slice(depth, depth + 1)].slice(depth ? 0 : 1).reverse().join("/"));
    if (differ(names)) return names;
  }
  const names = split.map((w, i) => [paths[i][0], ...w.slice(1).filter(word => !split.every(o => o.includes(word)))].join(" "));
  return differ(names) ? names : names.map((n, i) => n + " " + (i + 1));
}

const scaled = (value: number, step: number, units: string[]) => {
  let unit = 0;
  while (Math.abs(value) >= step && unit + 1 < units.length) {
    value /= step;
    unit++;
  }
  return (unit === 0 && Number.isInteger(value) ? String(value) : value.toPrecision(3).replace(/e\+?(\d+)/, "e$1")) + (units[unit] ? " " + units[unit] : "");
};

/** A value of a metric with its unit: "1.24 s", "12.3 MiB", "4 513". */
export function amount(value: number, unit: string): string {
  if (unit === "ns") return scaled(value, 1000, ["ns", "µs", "ms", "s"]);
  if (unit === "bytes") return scaled(value, 1024, ["B", "KiB", "MiB", "GiB", "TiB"]);
  return count(value) + (unit && !unit.startsWith("1/") ? " " + unit : "");
}

/** A whole number with thin spaces between its thousands. */
export const count = (value: number) => Math.round(value).toString().replace(/\B(?=(\d{3})+$)/g, "\u202f");

/** A share of a whole: "12.3%". Nothing is shown for nothing. */
export const percent = (part: number, whole: number) => (part && whole ? ((100 * part) / whole).toFixed(1) + "%" : "");

/** A time of the run in seconds. */
export const seconds = (us: number) => (us / 1e6).toFixed(us < 1e7 ? 3 : 2) + " s";
