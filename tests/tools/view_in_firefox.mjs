// SPDX-License-Identifier: Apache-2.0
// view_in_firefox.mjs FIREFOX PAGE ...: opens pages of assay view in Firefox and goes through their tabs. Status 1 with the reason
// when a page is not loaded, says that its sums are wrong, throws, asks for something, or a tab stays empty. The flame graph must
// have pixels of more than one colour.
import path from "node:path";
import { pathToFileURL } from "node:url";
import puppeteer from "puppeteer-core";

const [firefox, ...pages] = process.argv.slice(2), limit = Number(process.env.LIMIT_MS ?? 60000);
const browser = await puppeteer.launch({ browser: "firefox", executablePath: firefox, headless: true });
const fail = text => {
  console.error(text);
  process.exitCode = 1;
};
for (const page of pages) {
  const tab = await browser.newPage();
  await tab.setViewport({ width: 1440, height: 900 });
  tab.on("pageerror", e => fail(`${page}: ${e}`));
  tab.on("console", m => m.type() === "error" && fail(`${page}: ${m.text()}`));
  tab.on("request", r => /^(file|data|about):/.test(r.url()) || fail(`${page} asks for ${r.url()}`));
  await tab.goto(pathToFileURL(path.resolve(page)).href, { timeout: limit });
  await tab.waitForFunction(() => document.documentElement.dataset.loaded, { timeout: limit }).catch(e => fail(`${page}: never loaded: ${e.message}`));
  const wrong = await tab.evaluate(() => document.querySelector(".wrong:not([hidden])")?.textContent ?? "");
  if (wrong) fail(`${page}: ${wrong}`);
  const colours = await tab.evaluate(async () => {
    await new Promise(done => setTimeout(done, 300));
    const c = document.querySelector("#view .flame canvas");
    return c ? new Set(new Uint32Array(c.getContext("2d").getImageData(0, 0, c.width, Math.min(c.height, 60)).data.buffer)).size : 0;
  });
  if (colours < 3) fail(`${page}: the flame graph has ${colours} colours`);
  for (const id of await tab.evaluate(() => [...document.querySelectorAll("[role=tab]")].map(t => t.id))) {
    const shown = await tab.evaluate(async name => {
      document.getElementById(name).click();
      await new Promise(done => setTimeout(done, 200));
      const view = document.getElementById("view"), summary = document.getElementById("summary");
      return view.querySelectorAll(".row, canvas").length + (summary.hidden ? 0 : summary.textContent.length);
    }, id);
    if (!shown) fail(`${page}: ${id} is empty`);
  }
  await tab.close();
}
await browser.close();
