// SPDX-License-Identifier: Apache-2.0
// Spends its argument in milliseconds of processor time: 3 of 4 parts in heavy, 1 in light, both
// called by outer. Writes the part of heavy that it measured to the file SHARES_TRUTH. Prints how NODE_OPTIONS and its folder look to it.

'use strict';
const fs = require('fs');

let sum = 0;
function heavy(n) {
    let s = 0;
    for (let i = 0; i < n; i++) s = (s * 31 + i) % 1000003;
    return s;
}
function light(n) {
    let s = 1;
    for (let i = 0; i < n; i++) s = (s * 17 + i) % 1000003;
    return s;
}
function used() {
    const u = process.cpuUsage();
    return (u.user + u.system) / 1000;
}
function outer(until, isHeavy) {
    while (used() < until) for (let i = 0; i < 10; i++) sum += isHeavy ? heavy(20000) : light(20000);
}
const spent = { heavy: 0, light: 0 };
const part = Number(process.argv[2]) / 40;
for (let i = 0; i < 10; i++) {
    const start = used();
    outer(start + 3 * part, true);
    const middle = used();
    outer(start + 4 * part, false);
    spent.heavy += middle - start;
    spent.light += used() - middle;
}
if (process.env.SHARES_TRUTH)
    fs.writeFileSync(process.env.SHARES_TRUTH, `${spent.heavy / (spent.heavy + spent.light)}\n`);
console.log(sum !== 42, process.env.NODE_OPTIONS, process.execArgv.length);
console.log(fs.readdirSync('.').filter((f) => f.endsWith('.log')).length);
