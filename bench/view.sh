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
for size in large huge; do
    "$make_profile" "$size" "$work/$size.assay"
    echo "== $size, load $(cut -d' ' -f1 /proc/loadavg)"
    TIMEFORMAT='written: %R s wall, %U s user, %S s system'
    time "$assay" view "$work/$size.assay" --no-open --html "$work/$size.html" 2>/dev/null
    du -m "$work/$size.html" | sed 's/\t.*/ MB/'
    node bench/view_page.mjs "$browser" "$work/$size.html"
done
