#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Inputs that cannot be used, each with its reason.
cd "$TOP/tests/golden/cover" || exit 1
"$ASSAY" cover report cover.covmapping
"$ASSAY" cover report cover.proftext
: >"$SCRATCH/empty"
cd "$SCRATCH" && cp "$TOP"/tests/golden/cover/cover.* . || exit 1
"$ASSAY" cover report cover.covmapping empty
sed s/^2007167206463000/1/ cover.proftext >stale.proftext
"$ASSAY" cover report --explain cover.covmapping stale.proftext
"$ASSAY" cover report --llvm-rules cover.covmapping stale.proftext
"$ASSAY" cover report --fail-under 1 cover.covmapping stale.proftext
echo "status $?"
"$ASSAY" cover report --llvm-rules --fail-under 1 cover.covmapping stale.proftext
echo "status $?"
"$ASSAY" cover merge -w 18446744073709551615 -o full.proftext cover.proftext
"$ASSAY" cover report --explain cover.covmapping full.proftext
"$ASSAY" cover merge --profdata-version 8 -o x cover.proftext
"$ASSAY" cover merge --weighted-input 3,stale.proftext --sparse --text cover.proftext | head -n 12
CFLAGS=$("$ASSAY" cover flags gcc) && echo "$CFLAGS"
"$ASSAY" cover flags cc
