#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The first screen: 23 lines of at most 80 columns.
. "$TOP/tests/golden/report/profile.inc"
make plain
"$ASSAY" report plain.assay
