// SPDX-License-Identifier: Apache-2.0
// speedscope_import.mjs PACKAGE FILE: reads FILE by speedscope's own importer, out of
// its npm package, and prints {function: self weight} for each profile as JSON.
// The package is a page; what it needs of a browser before its importer is defined
// is answered by an object that is anything.
import { readFileSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';

const [folder, file] = process.argv.slice(2);
const release = join(folder, 'dist/release');
const name = readdirSync(release).find((f) => /^speedscope-.*\.js$/.test(f));
let code = readFileSync(join(release, name), 'utf8');
const loader = /loadFileFromBase64:\((\w+),(\w+)\)=>\{this\.loadProfile\(\(\)=>(\w+)\(\1,\2\)\)\}/.exec(code);
const page = code.indexOf('console.log(`speedscope v');
if (!loader || page < 0) throw new Error(`cannot find the importer in ${name}`);
code = `${code.slice(0, page)}globalThis.importProfile=${loader[3]};})();`;

const anything = () =>
    new Proxy(function () {}, {
        get: (_, key) => (key === Symbol.toPrimitive ? () => '' : anything()),
        apply: anything,
        construct: anything,
        set: () => true,
    });
globalThis.window = globalThis;
globalThis.document = anything();
globalThis.location = { hash: '', protocol: 'http:', search: '', href: 'http://127.0.0.1/' };
globalThis.localStorage = { getItem: () => null, setItem() {} };
globalThis.matchMedia = () => ({ matches: false, addListener() {}, removeListener() {} });
globalThis.FontFace = anything();
console.log = () => {}; // it says what it imports as
(0, eval)(code);

const group = await globalThis.importProfile(basename(file), readFileSync(file).toString('base64'));
if (!group) throw new Error('speedscope reads no profile in it');
const profiles = group.profiles.map((profile) => {
    const self = {};
    profile.forEachFrame((frame) => {
        self[frame.name] = (self[frame.name] ?? 0) + frame.getSelfWeight();
    });
    return self;
});
process.stdout.write(JSON.stringify(profiles));
