#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Recordings that an older version wrote (tests/fixtures/recordings) mean what they meant to it.
cd "$TOP/tests/fixtures/recordings" || exit 1
sha256sum --quiet --check SHA256SUMS && echo "the recordings are those of the old version"
for name in sampled killed callgrind script; do
    "$ASSAY" export -f json $name.assay >"$SCRATCH/$name.json"
    echo "$name: $(./compare $name.json "$SCRATCH/$name.json")"
done
"$ASSAY" cover export --format lcov counted.assay | cmp - counted.info && echo "counted: lcov as before"
"$ASSAY" cover report --json --functions counted.assay >"$SCRATCH/counted.json"
echo "counted: $(./compare counted.json "$SCRATCH/counted.json")"
echo "-- sampled"
"$ASSAY" report sampled.assay --limit 2
"$ASSAY" report sampled.assay -e page-faults --by line --csv --limit 5
"$ASSAY" report sampled.assay --by thread --csv --percent-limit 1
"$ASSAY" annotate sampled.assay burn
echo "-- killed"
"$ASSAY" report killed.assay --notes
echo "-- imported"
"$ASSAY" report callgrind.assay --prof --limit 5
"$ASSAY" export script.assay --format perf-script --time 0.001..
echo "-- counted"
"$ASSAY" cover report counted.assay
"$ASSAY" cover export --format json counted.assay | head -c 600
echo
