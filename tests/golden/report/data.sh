#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# JSON and CSV.
. "$TOP/tests/golden/report/profile.inc"
make plain
make two-metrics
"$ASSAY" report plain.assay --csv
"$ASSAY" report two-metrics.assay --json
"$ASSAY" report plain.assay --json --tree --limit 1 --percent-limit 30 | sed -n "/\"tree\"/,\$p"
