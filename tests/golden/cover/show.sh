#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The listing with counts, with [U] marks, and the shares of functions.
cd "$TOP/tests/golden/cover" || exit 1
"$ASSAY" cover show -I "$TOP/tests/programs" -r cover.h -c cover.proftext -o cover.covmapping 2>/dev/null
"$ASSAY" cover show -x -I "$TOP/tests/programs" -r cover.cc cover.covmapping cover.proftext 2>/dev/null
"$ASSAY" cover show -s cover.covmapping cover.proftext
"$ASSAY" cover show -I "$TOP/tests/programs" -r cover.cc --show-branches=count --show-regions --show-expansions \
    --show-instantiations cover.covmapping cover.proftext 2>/dev/null
"$ASSAY" cover show -I "$TOP/tests/programs" -r cover.h --show-branches=percent cover.covmapping cover.proftext 2>/dev/null
# Functions by name, what did not run, colours; nothing of that name.
"$ASSAY" cover show -I "$TOP/tests/programs" --name "*pick*" --color always cover.covmapping cover.proftext 2>/dev/null
"$ASSAY" cover show -I "$TOP/tests/programs" --missing cover.covmapping cover.proftext 2>/dev/null
"$ASSAY" cover show -I "$TOP/tests/programs" --missing --name main -x cover.covmapping cover.proftext 2>/dev/null
"$ASSAY" cover show -s --name "main" cover.covmapping cover.proftext
"$ASSAY" cover show --name "nothing" cover.covmapping cover.proftext
echo "status $?"
