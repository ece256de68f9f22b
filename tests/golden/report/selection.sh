#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Parts of a recording.
. "$TOP/tests/golden/report/profile.inc"
make plain
make two-metrics
"$ASSAY" report plain.assay --focus quick_sort --ignore "^less"
"$ASSAY" report plain.assay --time 0.5..0.6
"$ASSAY" report plain.assay --time 90%..
"$ASSAY" report plain.assay --comm worker
"$ASSAY" report plain.assay --tid 4712,4711 --limit 1
"$ASSAY" report two-metrics.assay -e page-faults
