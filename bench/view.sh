#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The page of assay view: what it costs to write, and what a browser needs for it. Needs Node, npm and Chromium.
set -eu
cd "$(dirname "$0")/.."
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || { echo 'no Chromium here' >&2; exit 1; }
assay=$PWD/build/release/src/assay make_profile=$PWD/build/dev/tests/tools/make_profile
[ -x "$assay" ] && [ -x "$make_profile" ] || make release dev >/dev/null
[ -d viewer/node_modules/puppeteer-core ] || (cd viewer && npm ci --ignore-scripts >/dev/null)
ln -sfn ../viewer/node_modules bench/node_modules
work=$(mktemp -d)
trap 'rm -rf "$work" bench/node_modules' EXIT
gzip -9c src/export/view/viewer.js src/export/view/viewer.css | wc -c | sed 's/$/ bytes of viewer, packed/'
# page NAME FILE ...: writes a page and opens it.
page() {
    local name=$1
    shift
    echo "== $name, load $(cut -d' ' -f1 /proc/loadavg)"
    TIMEFORMAT='written: %R s wall, %U s user, %S s system'
    time "$assay" view "$@" --no-open --html "$work/$name.html" 2>/dev/null
    wc -c <"$work/$name.html" | sed 's/$/ bytes/'
    node bench/view_page.mjs "$browser" "$work/$name.html"
}
for size in large huge; do
    "$make_profile" "$size" "$work/$size.assay"
    page "$size" "$work/$size.assay"
done
# 100 files of 1,000 lines of this project, of which every line has values of a recording, of the heap or of coverage.
mkdir "$work/src"
cat src/*/*.c src/*/*/*.c | awk -v dir="$work/src" 'NR <= 100000 { print > (dir "/f" int((NR - 1) / 1000) ".c") }'
awk 'BEGIN { for (f = 0; f < 100; f++) {
    print "SF:/lines/f" f ".c"
    for (l = 1; l <= 1000; l++) if (l % 5) {
        print "DA:" l "," (l * 7919 + f * 31) % 1000
        if (l % 10 == 1) print "BRDA:" l ",0,0," l % 3 "\nBRDA:" l ",0,1," l % 7
    }
    print "end_of_record"
} }' >"$work/lines.info"
"$make_profile" lines "$work/lines.assay"
"$make_profile" lines-heap "$work/heap.assay"
page lines "$work/lines.assay" "$work/heap.assay" "$work/lines.info" --source-path "/lines=$work/src"
