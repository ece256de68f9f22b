#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Wrong usage and unreadable files.
. "$TOP/tests/golden/report/profile.inc"
make plain
"$ASSAY" report; echo $?
"$ASSAY" report a b; echo $?
"$ASSAY" report none.assay; echo $?
: >nothing; "$ASSAY" report nothing; echo $?
"$ASSAY" report plain.assay --sort colour; echo $?
"$ASSAY" report plain.assay --focus "("; echo $?
"$ASSAY" report plain.assay --time 3..1; echo $?
"$ASSAY" report plain.assay --time x; echo $?
"$ASSAY" report plain.assay -e branches; echo $?
"$ASSAY" report plain.assay --around nothing; echo $?
"$ASSAY" report plain.assay --json --csv; echo $?
"$ASSAY" report plain.assay --tid x; echo $?
echo old >out; "$ASSAY" report plain.assay -o out; echo $?; cat out
"$ASSAY" report plain.assay -o out --force; echo $?; wc -l <out
