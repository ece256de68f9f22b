#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Call trees from both ends, and around one function.
. "$TOP/tests/golden/report/profile.inc"
make plain
"$ASSAY" report plain.assay --tree
"$ASSAY" report plain.assay --tree=callee --percent-limit 10
"$ASSAY" report plain.assay --around parse_row
"$ASSAY" report plain.assay --tree --by module
"$ASSAY" report plain.assay --tree --by thread --limit 6
