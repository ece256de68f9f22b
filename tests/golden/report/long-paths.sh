#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Long paths give way to what is said of them; --notes has every word.
. "$TOP/tests/golden/report/profile.inc"
make long-paths
"$ASSAY" report long-paths.assay
"$ASSAY" report long-paths.assay --notes | sed -n 1,5p
