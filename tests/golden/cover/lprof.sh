#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# lprof's letters, without a command: a listing, one function, shares, merging.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$TOP/tests/golden/cover/cover.covmapping" "$TOP/tests/golden/cover/cover.proftext" "$work"
cd "$work" || exit 1
"$ASSAY" cover -x -I "$TOP/tests/programs" -r cover.h -c cover.proftext -o cover.covmapping 2>/dev/null
"$ASSAY" cover -C -F pick -I "$TOP/tests/programs" -c cover.proftext -o cover.covmapping 2>/dev/null
"$ASSAY" cover -s -F 'Shape::*' -c cover.proftext -o cover.covmapping
"$ASSAY" cover -s -F nowhere -c cover.proftext -o cover.covmapping
echo "status $?"
"$ASSAY" cover -m cover.proftext cover.proftext -T -d sum.profdata
"$ASSAY" cover -p -F pick -I "$TOP/tests/programs" -c sum.profdata -o cover.covmapping 2>/dev/null
"$ASSAY" cover -z
echo "status $?"
"$ASSAY" cover show
echo "status $?"
