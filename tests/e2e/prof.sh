#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# assay report --prof: sampled time beside calls that coverage counted.
# shellcheck source=lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
need_perf

src=$TOP/tests/programs/prof_calls.c
gcc -g -O1 -o timed "$src" || exit 1
"$ASSAY" record -q -o time.assay -- ./timed >/dev/null 2>record.log || skip_all "no recording"

# calls NAME TABLE: the calls column of one function's row.
calls() { awk -v name="$1" '$NF == name { print (NF >= 5 || NF == 2) ? $(NF == 2 ? 1 : 4) : "" }' "$2"; }

blank_without_counts() {
    "$ASSAY" report --prof time.assay >table.txt && grep -q 'calls were not counted' table.txt &&
        [ -z "$(calls step table.txt)" ] && grep -q '^ *[0-9.]* .* step$' table.txt
}
check 'without counts the calls are blank' blank_without_counts

counted() {
    "$ASSAY" report --prof time.assay "$@" >table.txt || return 1
    cat table.txt
    [ "$(calls step table.txt)" = 8000 ] && [ "$(calls twice table.txt)" = 4000 ] &&
        [ "$(calls main table.txt)" = 1 ] && ! grep -q ' never$' table.txt
}
if clang=$(compiler clang) && "$clang" -g -O1 -fprofile-instr-generate -fcoverage-mapping \
    -o counted "$src" 2>clang.log; then
    LLVM_PROFILE_FILE=c.profraw ./counted >/dev/null
    check "clang's coverage counts the calls" counted ./counted c.profraw
else
    skip "clang's coverage counts the calls" 'no clang with coverage here'
fi
mkdir gcov && (cd gcov && gcc --coverage -g -O0 -o counted "$src" && ./counted >/dev/null)
check "gcc's coverage counts the calls" counted gcov

two_recordings_need_prof() {
    "$ASSAY" report time.assay time.assay >out.txt 2>err.txt
    [ $? -eq 2 ] && grep -q 'one recording at a time' err.txt
}
check 'further files are for --prof alone' two_recordings_need_prof

as_json() {
    "$ASSAY" report --prof --json time.assay gcov | python3 -c '
import json, sys
table = json.load(sys.stdin)
rows = {row["name"]: row for row in table["rows"]}
assert table["schema"] == "assay-prof" and table["calls_counted"]
assert rows["step"]["calls"] == 8000 and rows["step"]["self"] > 0, rows'
}
check 'the table as JSON' as_json
finish
