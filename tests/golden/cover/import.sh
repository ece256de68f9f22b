#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Coverage that another tool has brought to lines: reported, listed, summed with
# what a program left, and written again.
cd "$TOP/tests/golden/cover" || exit 1
"$ASSAY" cover export -o "$SCRATCH/a.info" cover.covmapping cover.proftext
"$ASSAY" cover report "$SCRATCH/a.info" --missing
"$ASSAY" cover show -I "$TOP/tests/programs" -r cover.h "$SCRATCH/a.info" cover.covmapping cover.proftext
diff <(sort "$SCRATCH/a.info") <("$ASSAY" cover export "$SCRATCH/a.info" | sort) && echo "the same again"
printf 'SF:x.c\nFNL:1,3\nFNA:1,2,f\nDA:3,2\nDA:4,-1\nend_of_record\nSF:y.c\nDA:1' >"$SCRATCH/cut.info"
"$ASSAY" cover export --format json "$SCRATCH/cut.info"
"$ASSAY" cover export --llvm-rules -o "$SCRATCH/instances.info" cover.covmapping cover.proftext
for format in cobertura llvm-json; do
    "$ASSAY" cover export --format $format -o "$SCRATCH/a.$format" cover.covmapping cover.proftext
    "$ASSAY" cover report "$SCRATCH/a.$format"
    # LLVM's JSON has each instance of a template.
    like=a
    [ $format = cobertura ] || like=instances
    diff <(grep -E "^(DA|FNDA)" "$SCRATCH/$like.info" | sort) \
        <("$ASSAY" cover export "$SCRATCH/a.$format" | grep -E "^(DA|FNDA)" | sort) | head -n 4
done
printf '<coverage line-rate="1"><packages><class filename="a"></package></coverage>' >"$SCRATCH/bad.xml"
printf '{"data":[{"files":[{"segments":[[1,2,3' >"$SCRATCH/bad.json"
(cd "$SCRATCH" && "$ASSAY" cover report bad.xml; "$ASSAY" cover report bad.json)
printf 'SF:x.c\nOOPS:1\n' >"$SCRATCH/bad.info"
cd "$SCRATCH" && "$ASSAY" cover report bad.info
