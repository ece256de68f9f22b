#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Totals, lines that did not run, Markdown, and a threshold that is missed.
cd "$TOP/tests/golden/cover" || exit 1
"$ASSAY" cover report cover.covmapping cover.proftext --missing
"$ASSAY" cover report cover.covmapping cover.proftext --markdown --include "*.cc"
"$ASSAY" cover report cover.covmapping cover.proftext --functions --name "*pick*"
"$ASSAY" cover report cover.covmapping cover.proftext --line-coverage-lt 90
# Marks, in sources that have moved.
mkdir -p "$SCRATCH/moved" && cd "$SCRATCH/moved" || exit 1
cp "$TOP"/tests/golden/cover/cover.{covmapping,proftext} "$TOP"/tests/programs/cover.{cc,h} .
sed -i '20s/$/ \/\/ LCOV_EXCL_START/;23s/$/ \/\/ LCOV_EXCL_STOP/;63s/$/ \/\/ GCOVR_EXCL_LINE/' cover.cc
"$ASSAY" cover report cover.covmapping cover.proftext --prefix-map /src=. --missing
"$ASSAY" cover export cover.covmapping cover.proftext --path-equivalence /src/,. | grep -E "^(SF|FN|DA:(2|6))"
"$ASSAY" cover report cover.covmapping cover.proftext --prefix-map /src
"$ASSAY" cover report cover.covmapping cover.proftext --exclude "*.cc" --fail-under-branches 80
