#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Names that drive terminals, spoof markup or are 1 MB long stay text.
. "$TOP/tests/golden/report/profile.inc"
make hostile
"$ASSAY" report hostile.assay
"$ASSAY" report hostile.assay --by line --limit 4
"$ASSAY" report hostile.assay --by thread
"$ASSAY" report hostile.assay --tree --percent-limit 5
