#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Each command of docs/tutorial runs, and prints the facts that the text states.
# shellcheck source=lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
need_perf
[ -e /usr/share/unicode/UnicodeData.txt ] || skip_all 'no unicode-data here (tools/install-deps)'

# A clone has examples, build/assay and demo in its top folder.
cp -r "$TOP/examples" examples
mkdir -p build demo
ln -s "$ASSAY" build/assay
"$TOP/tests/tools/tutorial.py" "$TOP"/docs/tutorial/[1-9]*.md
