#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Each export format.
cd "$TOP/tests/golden/cover" || exit 1
# Not changed since the program was built.
mkdir "$SCRATCH/sources" && cp "$TOP"/tests/programs/cover.{cc,h} "$SCRATCH/sources" &&
    touch -d 2000-01-01 "$SCRATCH"/sources/* || exit 1
for format in lcov json cobertura codecov sonarqube coveralls jacoco clover markdown; do
    "$ASSAY" cover export --root /src --format $format --include "*.h" cover.covmapping cover.proftext |
        sed -E 's/(timestamp|generated)="[1-9][0-9]*"/\1="…"/g' # when the profile was checked out
done
"$ASSAY" cover export --format html -I "$SCRATCH/sources" cover.covmapping cover.proftext |
    sed -n "/<h1>/,/<.table>/p"
# A column for conditions (MC/DC) where there are any.
printf '%s\n' SF:/src/m.c DA:3,2 MCDC:3,2,t,1,0,a MCDC:3,2,f,1,0,a MCDC:3,2,t,0,1,b MCDC:3,2,f,1,1,b \
    end_of_record SF:/src/n.c DA:1,1 end_of_record >"$SCRATCH/mcdc.info"
"$ASSAY" cover export --format markdown "$SCRATCH/mcdc.info"
"$ASSAY" cover export --format html -I "$SCRATCH" "$SCRATCH/mcdc.info" |
    sed -n "/<h1>/,/<.table>/p"
"$ASSAY" cover export --format llvm-json --include "*.h" cover.covmapping cover.proftext
echo
"$ASSAY" cover export "$TOP/tests/fuzz/corpus/tracefile/lcov1" --format llvm-json
