#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What rows can be, and how they are ordered.
. "$TOP/tests/golden/report/profile.inc"
make plain
for by in line module thread process comm; do
    echo "-- by $by"
    "$ASSAY" report plain.assay --by $by
done
echo "-- children"
"$ASSAY" report plain.assay --children --limit 5
"$ASSAY" report plain.assay --sort name --limit 5
"$ASSAY" report plain.assay --sort dso --limit 1
"$ASSAY" report plain.assay --wide --limit 3
