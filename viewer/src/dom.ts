// SPDX-License-Identifier: Apache-2.0
// Elements. Everything that comes from a recording becomes a text node, never markup.

type Child = Node | string | number | null | undefined | false;

/** Makes an element. Keys that begin with "on" are listeners, "class" and the rest attributes. */
export function h<K extends keyof HTMLElementTagNameMap>(tag: K, props: Record<string, any> = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(props)) {
    if (value === undefined || value === null || (value === false && !key.startsWith("aria-"))) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value === true && !key.startsWith("aria-") ? "" : String(value));
  }
  fill(element, ...children);
  return element;
}

/** Replaces what an element holds. */
export function fill(element: Element, ...children: Child[]) {
  element.replaceChildren(...(children.filter(c => c !== null && c !== undefined && c !== false) as (Node | string)[]).map(c => (typeof c === "object" ? c : String(c))));
}

const styles = new Map<string, string>();

/** A value of the style sheet. */
export function css(name: string): string {
  let value = styles.get(name);
  if (value === undefined) styles.set(name, (value = getComputedStyle(document.documentElement).getPropertyValue(name).trim()));
  return value;
}

/** Must be called when another style holds. */
export const forgetStyles = () => styles.clear();
