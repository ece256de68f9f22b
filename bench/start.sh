#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# How long the program itself takes to start, and how large it is.
# shellcheck source=lib/common.sh
. "$TOP/bench/lib/common.sh"

cost -n 50 "$ASSAY" --version
ours=$wall
peer='no perf here'
if command -v perf >/dev/null; then
    cost -n 20 perf --version
    peer="perf --version: $(calc "$wall*1000" .1f) ms"
fi
row 'start-up' "$peer" '< 20 ms' "$(calc "$ours*1000" .1f) ms" 'assay --version'

if make -s -C "$TOP" static >/dev/null 2>&1; then
    size=$(stat -c %s "$TOP/build/assay-static")
    row 'one static file' '' '< 3 MB' "$(calc "$size/1e6" .2f) MB" 'make static'
fi
