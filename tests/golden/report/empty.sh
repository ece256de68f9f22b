#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# No samples, no names, nothing selected: words instead of empty tables.
. "$TOP/tests/golden/report/profile.inc"
make empty
make nameless
make plain
"$ASSAY" report empty.assay
"$ASSAY" report empty.assay --tree
"$ASSAY" report empty.assay --csv
"$ASSAY" report nameless.assay
"$ASSAY" report nameless.assay --by line
"$ASSAY" report plain.assay --focus "^no such function$"
