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
# Other rows and forms; what a choice of rows leaves out still counts for the total.
cd "$TOP/tests/golden/cover" || exit 1
"$ASSAY" cover report cover.covmapping cover.proftext --sort cover --markdown --missing --instantiations
"$ASSAY" cover report cover.covmapping cover.proftext --folders --color always
"$ASSAY" cover report cover.covmapping cover.proftext --functions --missing --sort missed --line-coverage-lt 100
"$ASSAY" cover report cover.covmapping cover.proftext --json --missing --exclude "*.cc"
"$ASSAY" cover report cover.covmapping cover.proftext --fail-uncovered-lines 13 --fail-uncovered-functions 0 \
    --fail-under 79 --per-file --fail-under-branches 60 >/dev/null
echo "status $?"
"$ASSAY" cover report cover.covmapping cover.proftext --fail-uncovered-lines 13 --fail-under 79 >/dev/null
echo "status $?"
# Functions without regions have the lines up to the next one.
printf 'SF:/a.c\nFN:3,f\nFNDA:2,f\nFN:9,g\nFNDA:0,g\nDA:3,2\nDA:4,0\nDA:5,0\nDA:9,0\nBRDA:3,0,0,2\nBRDA:3,0,1,0\nend_of_record\n' >"$SCRATCH/a.info"
"$ASSAY" cover report "$SCRATCH/a.info" --functions --missing
# A narrow terminal gets percentages only.
script -qec "stty cols 80; '$ASSAY' cover report --color never cover.covmapping cover.proftext" /dev/null | tr -d '\r'
"$ASSAY" cover report "$SCRATCH/a.info" --name f
echo "status $?"
"$ASSAY" cover report cover.covmapping cover.proftext --exclude "*.cc" --fail-under-branches 80
