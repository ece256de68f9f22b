#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The small formats as they are written.
. "$TOP/tests/golden/report/profile.inc"
make plain
make hostile
make two-metrics
echo "-- folded"
"$ASSAY" export plain.assay
"$ASSAY" export plain.assay --suffixes --names short --ignore quick_sort
"$ASSAY" export hostile.assay --names short | cut -c 1-100
echo "-- perf script"
"$ASSAY" export two-metrics.assay -f perf-script --time 0.0..0.002
echo "-- callgrind"
"$ASSAY" export two-metrics.assay -f callgrind -e page-faults --strip-paths
echo "-- csv"
"$ASSAY" export two-metrics.assay -f csv
echo "-- speedscope"
"$ASSAY" export two-metrics.assay -f speedscope
echo "-- chrome"
"$ASSAY" export two-metrics.assay -f chrome --time 0.0..0.002
echo "-- firefox"
"$ASSAY" export two-metrics.assay -f firefox --time 0.0..0.002
