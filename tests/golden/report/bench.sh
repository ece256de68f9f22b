#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A recording of assay bench: the figures that bench printed, and its files.
. "$TOP/tests/golden/report/profile.inc"
make bench
make functions
"$ASSAY" report bench.assay
"$ASSAY" report bench.assay --notes
digits() { sed -E "s/([0-9]\\.[0-9]{6})[0-9]*(e-[0-9]+)?/\1\2/g"; } # the last ones are the compiler's
"$ASSAY" report bench.assay --csv | digits
"$ASSAY" report bench.assay --json | digits | sed -n '/"comparisons"/,$p'
"$ASSAY" export --format csv bench.assay | cut -d, -f2,5 | tr -d "\r" | LC_ALL=C sort | uniq -c
"$ASSAY" report functions.assay
"$ASSAY" report functions.assay --json | grep -c '"change"'
"$ASSAY" report functions.assay --csv | digits
echo "status $?"
"$ASSAY" report bench.assay --by line
echo "status $?"
"$ASSAY" bench --compare bench.assay bench.assay | head -n 3
"$ASSAY" bench --compare bench.assay functions.assay --fail-if-slower 5%
echo "status $?"
