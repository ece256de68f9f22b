#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every format of the table is written; a new one needs no new test for that. Of a text its
# beginning is shown, of a binary file its first two bytes, of a folder its files and how they begin.
. "$TOP/tests/golden/report/profile.inc"
make two-metrics
for format in $("$ASSAY" __options | python3 -c '
import json, sys
commands = json.load(sys.stdin)["commands"]
export = next(c for c in commands if c["name"] == "export")
print(*(f["name"] for f in export["list"]["choices"]))'); do
    echo "-- $format"
    "$ASSAY" export two-metrics.assay -f "$format" -o "$format.out" || continue
    if [ -d "$format.out" ]; then
        for file in "$format.out"/*; do echo "${file##*/} $(head -c 4 "$file")"; done
    elif grep -qI . "$format.out"; then
        head -n 6 "$format.out" | cut -c 1-200
    else
        head -c 2 "$format.out" | od -An -tx1
    fi
    grep -q "^| \`$format\` |" "$TOP/docs/formats/export.md" || echo "docs/formats/export.md has no row for it"
    [ -s "$format.out" ] || echo "nothing in it"
done
