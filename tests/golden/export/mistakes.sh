#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Wrong usage leaves no file behind.
. "$TOP/tests/golden/report/profile.inc"
make plain
"$ASSAY" export; echo $?
"$ASSAY" export plain.assay -f xml; echo $?
"$ASSAY" export plain.assay -o out --focus '['; echo $?
"$ASSAY" export plain.assay -f json --time 1..2 -o out; echo $?
"$ASSAY" export plain.assay -o out; echo $?
"$ASSAY" export plain.assay -o out; echo $?
"$ASSAY" export plain.assay -o /none/out; echo $?
"$ASSAY" export plain.assay -f pprof -o /dev/full; echo $?
ls
