#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Recordings of assay stat: what that command printed, and the same as data. What only
# samples can show is refused, with what the recording holds.
. "$TOP/tests/golden/report/profile.inc"
make counts
make counts-over-time
"$ASSAY" report counts.assay
"$ASSAY" report counts.assay --notes | tail -n 2
"$ASSAY" report counts-over-time.assay
"$ASSAY" report counts.assay --json
"$ASSAY" report counts-over-time.assay --json | sed -n '/"series"/,$p'
"$ASSAY" report counts.assay --csv
"$ASSAY" export counts-over-time.assay --format csv
for way in 'report --tree' 'report --by line' 'report --focus main' flame annotate 'export --format pprof' \
    'export --format csv --pid 1'; do
    # shellcheck disable=SC2086
    "$ASSAY" $way counts.assay 2>&1
    echo "status $?"
done
