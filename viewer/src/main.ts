// SPDX-License-Identifier: Apache-2.0
// Starts the page: the overview is drawn as soon as it is here, the rest follows.

import { App } from "./app";
import { readBlock } from "./blocks";
import { Recording } from "./recording";

const selector = 'script[type="application/x-assay"]';

/** When the whole file is here. */
const parsed = () => new Promise<void>(done => (document.readyState === "loading" ? addEventListener("DOMContentLoaded", () => done()) : done()));

async function start() {
  if (typeof DecompressionStream === "undefined") {
    const p = document.createElement("p");
    p.className = "wrong";
    p.textContent = "This browser cannot unpack the page's data (DecompressionStream is missing): only the summary below is shown. Firefox 113, Chrome 80, Safari 16.4 and later can.";
    document.body.prepend(p);
    return;
  }
  const root = document.documentElement;
  const first = await readBlock(document.querySelector(selector)!);
  const recording = new Recording(first);
  const app = new App(recording);
  root.dataset.first = String(Math.round(performance.now()));
  await parsed();
  for (const element of document.querySelectorAll(selector)) recording.add(await readBlock(element));
  recording.checkSamples();
  app.loaded();
  root.dataset.loaded = String(Math.round(performance.now()));
}

start().catch(error => {
  const p = document.createElement("p");
  p.className = "wrong";
  p.textContent = "The page's data cannot be shown: " + error + ". The summary below was written by assay and stands.";
  document.body.prepend(p);
  throw error;
});
