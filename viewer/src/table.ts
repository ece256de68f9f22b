// SPDX-License-Identifier: Apache-2.0
// Tables and trees of any length: only the rows on the screen are elements.

import { fill, h } from "./dom";

export interface ColumnOf<R> {
  name: string;
  title?: string;
  /** Width in pixels; 0: what is left, at least 126; below 0: what is left, at least so many. */
  width: number;
  number?: boolean;
  cell: (row: R, index: number) => Node | string;
  /** What a click on the title sorts by, greatest first; texts the other way. */
  sort?: (row: R) => number | string;
  /** What a click on the title does instead. */
  head?: () => void;
}

export interface TableOptions<R> {
  label: string;
  columns: ColumnOf<R>[];
  rows: R[];
  sort?: number; // column
  /** Of a tree: the level of a row from 1, whether it is open (null: it has nothing below). */
  tree?: { level: (row: R) => number; open: (row: R) => boolean | null; toggle: (row: R) => void; parent: (row: R) => number };
  rowClass?: (row: R) => string;
  onSelect?: (row: R) => void;
  onOpen?: (row: R) => void;
  empty?: string;
  /** The row that is selected and on the screen at first. */
  selected?: number;
  /** The rows are in their order; titles with `head` change it. `sorted` is the column that it follows. */
  keepsOrder?: boolean;
  sorted?: number;
}

const ROW = 24;
let tables = 0; // made so far: rows have ids, which differ from table to table

export class Table<R> {
  element: HTMLElement;
  private space: HTMLElement;
  private heads: HTMLElement[] = [];
  private order: number[] = [];
  private selected: number;
  private sorted: number;
  private descending = true;
  private frame = 0;
  private id = "t" + ++tables + "-";

  constructor(private o: TableOptions<R>) {
    this.selected = o.selected ?? (o.rows.length ? 0 : -1);
    this.sorted = o.sort ?? -1;
    const grid = o.columns.map(c => (c.width > 0 ? c.width + "px" : `minmax(${-c.width || 126}px,1fr)`)).join(" ");
    const head = h("div", { class: "row head", role: "row", "aria-rowindex": 1 }, ...o.columns.map((c, i) => {
      const cell = h("div", { role: "columnheader", class: c.number ? "n" : "", title: c.title }, c.head ? h("button", { onclick: c.head, "aria-pressed": o.sorted === i }, c.name) : c.sort ? h("button", { onclick: () => this.sortBy(i) }, c.name) : c.name);
      this.heads.push(cell);
      return cell;
    }));
    this.space = h("div", { class: "space", role: "rowgroup" });
    this.element = h("div", {
      class: "table", role: o.tree ? "treegrid" : "grid", tabindex: 0, "aria-label": o.label, "aria-rowcount": o.rows.length + 1,
      onscroll: () => this.later(), onkeydown: (e: KeyboardEvent) => this.onKey(e),
    }, h("div", { role: "rowgroup", class: "head-box" }, head), this.space);
    this.element.style.setProperty("--grid", grid);
    this.sortRows();
    new ResizeObserver(() => this.later()).observe(this.element);
    if (o.selected !== undefined) requestAnimationFrame(() => this.reveal(true));
  }

  /** Draws the rows again after they were changed. */
  update(rows?: R[]) {
    if (rows) this.o.rows = rows;
    this.element.setAttribute("aria-rowcount", String(this.o.rows.length + 1));
    this.sortRows();
  }

  private sortBy(column: number) {
    this.descending = this.sorted === column ? !this.descending : true;
    this.sorted = column;
    this.sortRows();
  }

  private sortRows() {
    const { rows, columns } = this.o;
    this.order = rows.map((_, i) => i);
    const by = this.sorted >= 0 ? columns[this.sorted].sort : undefined;
    if (by) {
      const keys = rows.map(by), sign = this.descending ? 1 : -1;
      this.order.sort((a, b) => {
        const x = keys[a], y = keys[b];
        if (typeof x === "string") return sign * (x < y ? -1 : x > y ? 1 : 0) || a - b;
        return sign * ((y as number) - x) || a - b;
      });
    }
    this.heads.forEach((head, i) => {
      if (i === this.sorted) head.setAttribute("aria-sort", (typeof (rows[0] && by?.(rows[0])) === "string") === this.descending ? "ascending" : "descending");
      else head.removeAttribute("aria-sort");
    });
    this.space.style.height = this.order.length * ROW + "px";
    this.draw();
  }

  private later() {
    if (!this.frame) this.frame = requestAnimationFrame(() => { this.frame = 0; this.draw(); });
  }

  private draw() {
    const { o } = this, top = this.element.scrollTop, height = this.element.clientHeight || 600;
    const from = Math.max(0, Math.floor(top / ROW) - 4), to = Math.min(this.order.length, Math.ceil((top + height) / ROW) + 4);
    const rows: HTMLElement[] = [];
    for (let i = from; i < to; i++) {
      const row = o.rows[this.order[i]], level = o.tree?.level(row), open = o.tree?.open(row);
      const element = h("div", {
        class: "row " + (o.rowClass?.(row) ?? ""), role: "row", id: this.id + i, "aria-rowindex": i + 2, "aria-selected": i === this.selected,
        "aria-level": level, "aria-expanded": open === null || open === undefined ? undefined : String(open),
        onclick: () => this.select(i), ondblclick: () => o.onOpen?.(row),
      }, ...o.columns.map(c => h("div", { role: "gridcell", class: c.number ? "n" : "" }, c.cell(row, this.order[i]))));
      element.style.top = i * ROW + "px";
      rows.push(element);
    }
    fill(this.space, ...rows, this.order.length === 0 && h("p", { class: "empty" }, o.empty ?? "nothing here"));
    if (this.selected >= from && this.selected < to) this.element.setAttribute("aria-activedescendant", this.id + this.selected);
    else this.element.removeAttribute("aria-activedescendant");
  }

  private select(i: number) {
    if (i < 0 || i >= this.order.length) return;
    this.selected = i;
    this.reveal(false);
    this.o.onSelect?.(this.o.rows[this.order[i]]);
    this.draw();
  }

  private reveal(centre: boolean) {
    const top = this.selected * ROW, height = this.element.clientHeight;
    if (centre) this.element.scrollTop = top - height / 3;
    else if (top < this.element.scrollTop) this.element.scrollTop = top;
    else if (top + 2 * ROW > this.element.scrollTop + height) this.element.scrollTop = top + 2 * ROW - height; // below the titles
    this.draw();
  }

  /** Selects a row by its number and brings it to the screen. */
  goTo(row: number) {
    const i = this.order.indexOf(row);
    if (i < 0) return;
    this.selected = i;
    this.reveal(i * ROW < this.element.scrollTop || (i + 2) * ROW > this.element.scrollTop + this.element.clientHeight);
  }

  private onKey(e: KeyboardEvent) {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const { o } = this, page = Math.max(1, Math.floor(this.element.clientHeight / ROW) - 2), row = o.rows[this.order[this.selected]];
    const open = row !== undefined && o.tree ? o.tree.open(row) : undefined;
    if (e.key === "ArrowDown") this.select(Math.min(this.selected + 1, this.order.length - 1));
    else if (e.key === "ArrowUp") this.select(Math.max(this.selected - 1, 0));
    else if (e.key === "PageDown") this.select(Math.min(this.selected + page, this.order.length - 1));
    else if (e.key === "PageUp") this.select(Math.max(this.selected - page, 0));
    else if (e.key === "Home") this.select(0);
    else if (e.key === "End") this.select(this.order.length - 1);
    else if (e.key === "ArrowRight" && o.tree && row !== undefined) open === false ? o.tree.toggle(row) : this.select(this.selected + 1);
    else if (e.key === "ArrowLeft" && o.tree && row !== undefined) open ? o.tree.toggle(row) : this.select(o.tree.parent(row));
    else if (e.key === "Enter" && row !== undefined) o.onOpen?.(row);
    else return;
    e.preventDefault();
    e.stopPropagation();
  }

  focus() {
    this.element.focus({ preventScroll: true });
  }
}
