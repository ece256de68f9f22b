#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Sums, common parts and differences of coverage of any kind.
cd "$SCRATCH" || exit 1
cat >a.info <<'INFO'
TN:
SF:/src/one.c
FN:1,main
FN:9,only_a
FNDA:2,main
FNDA:1,only_a
DA:1,2
DA:2,5
DA:3,0
DA:9,1
BRDA:2,0,0,3
BRDA:2,0,1,0
end_of_record
SF:/src/a.c
DA:1,1
end_of_record
INFO
cat >b.info <<'INFO'
TN:
SF:/src/one.c
FN:1,main
FNDA:1,main
DA:1,1
DA:2,0
DA:3,7
DA:4,1
BRDA:2,0,0,-
BRDA:2,0,1,-
end_of_record
INFO
for command in add intersect subtract "intersect --covered" "subtract --covered"; do
    echo "== $command"
    # shellcheck disable=SC2086 # a command and its option
    "$ASSAY" cover $command a.info b.info
done
cp "$TOP/tests/golden/cover/cover.proftext" "$TOP/tests/golden/cover/cover.covmapping" .
echo "== a program's profile against a tracefile of itself"
"$ASSAY" cover export -o self.info cover.covmapping cover.proftext
"$ASSAY" cover subtract --object cover.covmapping cover.proftext self.info
"$ASSAY" cover intersect --format json --include '*.h' --object cover.covmapping cover.proftext self.info
echo "== one input"
"$ASSAY" cover intersect a.info
echo "== an object by itself"
"$ASSAY" cover intersect cover.covmapping a.info
echo "== as a recording"
"$ASSAY" cover merge -o run.assay cover.covmapping cover.proftext
"$ASSAY" cover export --include '*.h' run.assay
"$ASSAY" cover merge -o run.assay cover.covmapping cover.proftext
"$ASSAY" cover merge -w 2 -o other.assay cover.covmapping cover.proftext
"$ASSAY" cover export --include '*.h' other.assay | grep -m 3 -E '^(DA|FNDA):.*[1-9]$'
for format in markdown coveralls gcov-json; do
    "$ASSAY" cover add --root /src --format $format a.info b.info 2>/dev/null
done
