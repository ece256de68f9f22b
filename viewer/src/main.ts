// SPDX-License-Identifier: Apache-2.0
// Starts the page: what stands before the viewer is drawn as soon as it is here, the rest follows.

import { App } from "./app";
import { readBlock } from "./blocks";
import { Parts } from "./parts";

const selector = 'script[type="application/x-assay"]';

/** When the whole file is here. */
const parsed = () => new Promise<void>(done => (document.readyState === "loading" ? addEventListener("DOMContentLoaded", () => done()) : done()));

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
  root.dataset.first = String(Math.round(performance.now()));
  await parsed();
  for (const element of document.querySelectorAll(selector)) parts.add(await readBlock(element));
  parts.addLater([...document.querySelectorAll('script[type="application/x-assay-later"]')]);
  app.loaded();
  root.dataset.loaded = String(Math.round(performance.now()));
}

start().catch(error => {
  say("The page's data cannot be shown: " + error + ". The summary below was written by assay and stands.");
  throw error;
});
