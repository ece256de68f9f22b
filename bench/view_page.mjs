// SPDX-License-Identifier: Apache-2.0
// view_page.mjs BROWSER PAGE: figures of one page in a headless browser, as JSON in one line. Those in ..._cpu_ms are
// processor time: of all processes of the browser, or of the page's process, until the page is loaded, else of the page's own
// thread. On a busy machine only they can be compared. mib is the resident memory of the page's process, heap_mib what its
// script holds: objects and arrays.
import fs from "node:fs";
import path from "node:path";
import puppeteer from "puppeteer-core";

const [browserPath, page] = process.argv.slice(2);
const browser = await puppeteer.launch({ executablePath: browserPath, args: ["--no-sandbox", "--disable-gpu", "--enable-precise-memory-info"], headless: true });
const tab = await browser.newPage();
const session = await tab.createCDPSession();
await session.send("Performance.enable", { timeDomain: "threadTicks" });
const thread = async () => (await session.send("Performance.getMetrics")).metrics.find(m => m.name === "TaskDuration").value;
// The browser's processes: [pid, processor seconds, resident MiB].
const processes = () => {
  const parents = new Map(), found = [], root = browser.process().pid;
  for (const pid of fs.readdirSync("/proc").filter(name => /^\d+$/.test(name)))
    try {
      const fields = fs.readFileSync(`/proc/${pid}/stat`, "utf8").replace(/^.*\) /, "").split(" ");
      parents.set(Number(pid), { up: Number(fields[1]), cpu: (Number(fields[11]) + Number(fields[12])) / 100, mib: Number(fields[21]) / 256 });
    } catch { /* it has ended */ }
  for (const [pid, p] of parents) {
    let up = pid;
    while (up && up !== root) up = parents.get(up)?.up ?? 0;
    if (up) found.push([pid, p.cpu, p.mib]);
  }
  return found;
};
const cpuOfAll = () => processes().reduce((sum, p) => sum + p[1], 0);
// The browser's own window is still being made: it would take part of the processors from the page.
const settled = async () => {
  for (let quiet = 0, i = 0, last = cpuOfAll(); quiet < 3 && i < 100; i++) {
    await new Promise(done => setTimeout(done, 200));
    const now = cpuOfAll();
    quiet = now - last < 0.02 ? quiet + 1 : 0;
    last = now;
  }
};
await tab.setViewport({ width: 1440, height: 900 });
await settled();
const before = cpuOfAll();
// The page's process is the one that needs most from here on.
const cpuBefore = new Map(processes().map(([pid, cpu]) => [pid, cpu]));
await tab.goto("file://" + path.resolve(page), { timeout: 300000 });
await tab.waitForFunction(() => document.documentElement.dataset.loaded, { timeout: 300000 });
const loaded = cpuOfAll() - before, [own] = processes().map(([pid, cpu, mib]) => [cpu - (cpuBefore.get(pid) ?? 0), mib]).sort((a, b) => b[0] - a[0]);
const heap = await session.send("Runtime.getHeapUsage"), data = await tab.evaluate(() => ({ ...document.documentElement.dataset }));
// The thread's processor time, in seconds, while `act` runs and its pictures are drawn.
const cpu = async act => {
  const start = await thread();
  await act();
  await tab.evaluate(() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done))));
  return (await thread()) - start;
};
const frames = [];
for (let i = 0; i < 60; i++)
  frames.push(1000 * (await cpu(() => session.send("Input.dispatchMouseEvent", { type: "mouseWheel", x: 200 + i * 5, y: 400, deltaX: 0, deltaY: i % 12 < 6 ? -40 : 40, modifiers: 1 }))));
frames.sort((a, b) => a - b);
const select = [];
// Spans of several lengths: from a tenth to nine tenths of the time that `end` microseconds are.
const end = 1.25e9;
for (let i = 0; i < 15; i++)
  select.push(1000 * (await cpu(() => tab.evaluate((from, to) => { location.hash = `#from=${from}&to=${to}`; }, Math.round(end * 0.02 * i), Math.round(end * (0.02 * i + 0.1 + 0.2 * (i % 4)))))));
select.sort((a, b) => a - b);
const round = (value, digits) => Number(value.toFixed(digits));
console.log(JSON.stringify({
  first_ms: Number(data.first), loaded_ms: Number(data.loaded), loaded_cpu_ms: round(loaded * 1000, 0), loaded_own_cpu_ms: round(own[0] * 1000, 0),
  mib: round(own[1], 0), heap_mib: round((heap.usedSize + (heap.embedderHeapUsedSize ?? 0) + (heap.backingStorageSize ?? 0)) / 1048576, 0),
  frame_median_cpu_ms: round(frames[30], 1), frame_p95_cpu_ms: round(frames[57], 1), select_cpu_ms: round(select[7], 1),
}));
await browser.close();
