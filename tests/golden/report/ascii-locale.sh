#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Where the locale is not one of UTF-8 the signs of a report are ASCII, all else stays
# as it is, and JSON does not change. The first of the three variables counts.
. "$TOP/tests/golden/report/profile.inc"
make plain
LC_ALL=C "$ASSAY" report plain.assay | head -n 8
signs() { LC_ALL=C grep -c $'[\x80-\xff]'; }
"$ASSAY" report plain.assay | signs
LC_ALL='' LC_CTYPE='' LANG='' "$ASSAY" report plain.assay | signs
LC_ALL='' LC_CTYPE=POSIX LANG=C.UTF-8 "$ASSAY" report plain.assay | signs
LC_ALL='' LC_CTYPE='' LANG=de_AT.utf8 "$ASSAY" report plain.assay | signs
LC_ALL=C "$ASSAY" bench --help | signs
cmp <(LC_ALL=C "$ASSAY" report plain.assay --json) <("$ASSAY" report plain.assay --json) && echo same JSON
