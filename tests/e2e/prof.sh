#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Sampled time beside what coverage counted: report --prof and annotate.
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

# Without --prof too: calls beside functions, executions beside lines.
beside_time() {
    "$ASSAY" report time.assay "$@" >table.txt && cat table.txt &&
        grep -Eq '% +8000 .*step ' table.txt && grep -q '#Calls  *function' table.txt &&
        grep -Eq '% +1600[0-9]{5} .*prof_calls.c:[89] ' table.txt &&
        "$ASSAY" report --json time.assay "$@" | python3 -c '
import json, sys
report = json.load(sys.stdin)
assert {row["name"]: row.get("calls") for row in report["rows"]}["step"] == 8000, report["rows"]
assert {160000000, 160008000} & {line.get("executions") for line in report["lines"]}, report["lines"]' &&
        "$ASSAY" report --csv time.assay "$@" | grep -Eq 'step,.*,8000.?$' &&
        "$ASSAY" report --by line time.assay "$@" | grep -Eq ' 1600[0-9]{5} .*prof_calls.c:[89] .*x'
}
[ -x counted ] && check "a report has calls and executions of clang's coverage" beside_time ./counted c.profraw
check "a report has calls and executions of gcc's coverage" beside_time gcov
no_columns() { "$ASSAY" report --tree time.assay gcov 2>err.txt; [ $? -eq 2 ] && grep -q 'files with counts are for tables' err.txt; }
check "a tree has no column for counts" no_columns

two_recordings_need_prof() {
    "$ASSAY" report time.assay time.assay >out.txt 2>err.txt
    [ $? -eq 2 ] && grep -q 'every file must contain counts' err.txt
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

sorted_as_asked() {
    "$ASSAY" report --prof --sort calls --limit 0 time.assay gcov >table.txt && cat table.txt &&
        [ "$(awk '/ (step|twice|main)$/ { printf "%s ", $NF }' table.txt)" = 'step twice main ' ] &&
        "$ASSAY" report --prof --sort name --never-called --limit 0 time.assay gcov >table.txt && cat table.txt &&
        [ "$(awk '/ (step|twice|main|never)$/ { printf "%s ", $NF }' table.txt)" = 'main never step twice ' ] &&
        "$ASSAY" report --prof --sort address --limit 0 time.assay gcov >table.txt &&
        ! "$ASSAY" report --never-called time.assay 2>err.txt && grep -q 'needs --prof' err.txt
}
check "prof's orders, and functions that were never called" sorted_as_asked

# ---- Counts that do not belong
no_doubts() { "$ASSAY" report --prof time.assay gcov >table.txt && ! grep '^! ' table.txt; }
check 'counts of the same source raise no doubt' no_doubts
another_program() {
    mkdir -p life && (cd life && gcc -w --coverage -g -O0 -o counted "$TOP/tests/programs/cover_life.c" && ./counted >/dev/null) &&
        "$ASSAY" report --prof time.assay life >table.txt && cat table.txt &&
        grep -q 'the counts are of another program' table.txt
}
check 'counts of another program are said' another_program
only_hits() {
    "$ASSAY" cover run --engine ptrace -q -f -o hits -- ./timed >/dev/null 2>hits.log || { cat hits.log; grep -q 'cannot trace' hits.log; return; }
    "$ASSAY" report --prof time.assay hits >table.txt 2>err.txt && cat table.txt err.txt &&
        [ -z "$(calls step table.txt)" ] && grep -q 'not how often' err.txt
}
check 'lines of breakpoints are not calls' only_hits
another_version() {
    mkdir -p version && { for _ in $(seq 40); do echo; done; cat "$src"; } >version/prof_calls.c &&
        (cd version && gcc --coverage -g -O0 -o counted prof_calls.c && ./counted >/dev/null) &&
        "$ASSAY" report --prof time.assay version >table.txt && cat table.txt &&
        grep -q 'of another version of the source' table.txt
}
check 'counts of another version of the source are said' another_version

# ---- Lines

# executions LINE FILE: the counts column of one line of annotate's listing.
executions() { sed -n 's/^.\{14\} *\([0-9]*\) .* '"$1"' [|>].*/\1/p' "$2"; }

lines_counted() {
    "$ASSAY" annotate time.assay step "$@" >listing.txt || return 1
    cat listing.txt
    loop=$(grep -n 'x = x \* 6364' "$src" | cut -d: -f1)
    [ "$(executions "$loop" listing.txt)" = 160000000 ] && grep -q '^called 8 000 times: a call used ' listing.txt
}
[ -x counted ] && check "annotate has the executions of clang's coverage" lines_counted ./counted c.profraw
check "annotate has the executions of gcc's coverage" lines_counted gcov
"$ASSAY" cover merge -o counts.assay gcov >/dev/null 2>&1
check 'and those of a recording of counts' lines_counted counts.assay

without_counts() {
    "$ASSAY" annotate time.assay step >listing.txt && ! grep -q 'executions\|called' listing.txt
}
check 'without counts there is no column of them' without_counts

# A file of a function's name does not hide the function, and counts may follow the recording at once.
names() {
    : >step
    "$ASSAY" annotate time.assay step gcov >listing.txt && grep -q '^step$' listing.txt &&
        "$ASSAY" annotate time.assay gcov >listing.txt && grep -q '^step$' listing.txt && grep -q executions listing.txt
}
check 'a file is counts only where no function has its name' names

# The same source elsewhere, then one whose counts contradict the samples.
moved() {
    mkdir -p far && cp "$src" far/ && (cd far && gcc --coverage -g -O0 -o counted prof_calls.c && ./counted >/dev/null) &&
        lines_counted far
}
check 'counts of the same source in another folder' moved
contradicted() {
    mkdir -p other && sed 's/i < 4000/i < 0/' "$src" >other/prof_calls.c &&
        (cd other && gcc --coverage -g -O0 -o counted prof_calls.c && ./counted >/dev/null) &&
        "$ASSAY" annotate time.assay step other >listing.txt && cat listing.txt &&
        grep -q '^! .* ran by the samples and never by the counts' listing.txt
}
check 'lines that only the samples saw run are said' contradicted

only_counts() {
    "$ASSAY" report counts.assay >out.txt && cat out.txt && grep -q "executions of .* lines: 'assay cover report'" out.txt &&
        ! "$ASSAY" flame -o none.svg counts.assay 2>err.txt && grep -q "counts of lines: 'assay cover show'" err.txt
}
check 'a recording of counts alone says who shows them' only_counts

lines_as_json() {
    "$ASSAY" annotate --json time.assay step gcov | python3 -c '
import json, sys
d = json.load(sys.stdin)
assert d["calls"] == 8000
assert max(line.get("executions", 0) for line in d["lines"]) >= 160000000, d["lines"]'
}
check 'executions and calls as JSON' lines_as_json
finish
