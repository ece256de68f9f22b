// SPDX-License-Identifier: Apache-2.0
// Starts the page: what stands before the viewer is drawn as soon as it is here, the rest follows.

import { App } from "./app";
import { readBlock, Room } from "./blocks";
import { Parts } from "./parts";

const selector = "template.assay";

/** Lets the browser draw, or read more of the file. */
const turn = () => new Promise<void>(done => setTimeout(done, 5));

/** When the browser has drawn; pages that nobody sees are not drawn. */
const drawn = () => Promise.race([new Promise<void>(done => requestAnimationFrame(() => setTimeout(done))), new Promise<void>(done => setTimeout(done, 200))]);

/** Takes in the blocks that are here whole, each as soon as the next part of the page follows it, so that few are held packed. */
async function takeBlocks(parts: Parts) {
  const room = new Room();
  for (;;) {
    const isWhole = document.readyState !== "loading";
    let element: Element | null;
    while ((element = document.querySelector(selector)) && (isWhole || element.nextSibling)) parts.add(await readBlock(element, room));
    if (isWhole) return;
    await turn();
  }
}

function say(text: string) {
  const p = document.createElement("p");
  p.className = "wrong";
  p.textContent = text;
  document.body.prepend(p);
}

async function start() {
  if (typeof DecompressionStream === "undefined")
    return say("This browser cannot unpack the page's data (DecompressionStream is missing): only the summary below is shown. Firefox 113, Chrome 80, Safari 16.4 and later can.");
  const root = document.documentElement, parts = new Parts();
  for (const element of document.querySelectorAll(selector)) parts.add(await readBlock(element));
  const app = new App(parts);
  await drawn();
  root.dataset.first = String(Math.round(performance.now()));
  await takeBlocks(parts);
  parts.addLater([...document.querySelectorAll("template.assay-later")]);
  app.loaded();
  root.dataset.loaded = String(Math.round(performance.now()));
}

start().catch(error => {
  say("The page's data cannot be shown: " + error + ". The summary below was written by assay and stands.");
  throw error;
});
