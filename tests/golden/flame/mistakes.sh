#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Nothing to draw, and files that are in the way.
. "$TOP/tests/golden/report/profile.inc"
make plain
make empty
"$ASSAY" flame empty.assay; echo $?
"$ASSAY" flame plain.assay --focus '^none$'; echo $?
"$ASSAY" flame plain.assay; echo $?
"$ASSAY" flame plain.assay -o flame.svg; echo $?
"$ASSAY" flame plain.assay; echo $?
"$ASSAY" flame plain.assay --force; echo $?
"$ASSAY" flame plain.assay -o /none/flame.svg; echo $?
"$ASSAY" flame plain.assay --width 3; echo $?
ls
