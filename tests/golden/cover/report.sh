#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Totals, lines that did not run, Markdown, and a threshold that is missed.
cd "$TOP/tests/golden/cover" || exit 1
"$ASSAY" cover report cover.covmapping cover.proftext --missing
"$ASSAY" cover report cover.covmapping cover.proftext --markdown --include "*.cc"
"$ASSAY" cover report cover.covmapping cover.proftext --exclude "*.cc" --fail-under-branches 80
