#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The picture itself, without its script, upright and inverted.
. "$TOP/tests/golden/report/profile.inc"
make plain
"$ASSAY" flame plain.assay -o - | sed '/<script>/,/<\/script>/d'
"$ASSAY" flame plain.assay -o - --inverted --focus quick_sort --title 'sort & less' | sed -n '/id="title"/p;/id="frames"/,/^<\/g>/p'
"$ASSAY" flame plain.assay -o - --icicle --group thread --by module --colour module | sed -n '/id="frames"/,/^<\/g>/p'
