#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Lines, branches and functions equal those of 'gcov --json-format', and our gcov-json
# equals it whole.
set -u
if ! command -v g++ gcov python3 >/dev/null || ! gcov --help | grep -q json-format; then
    echo "no g++ with a gcov that writes JSON"
    exit 77
fi
cd "$SCRATCH" || exit 1
cp "$TOP"/tests/programs/cover.cc "$TOP"/tests/programs/cover.h "$TOP"/tests/programs/cover_jumps.c \
    "$TOP"/tests/programs/cover_nested.cc "$TOP"/tests/programs/cover_body.inc .
count=0
failed=0
for level in O0 O2; do
    rm -f ./*.o ./*.gcda ./*.gcno
    g++ -$level -w --coverage -c cover.cc -o cover.o && g++ --coverage cover.o -o one &&
        gcc -$level -w --coverage -c cover_jumps.c -o cover_jumps.o &&
        gcc --coverage cover_jumps.o -o two &&
        g++ -$level -w --coverage -c cover_nested.cc -o cover_nested.o &&
        g++ --coverage cover_nested.o -o three || exit 1
    ./three
    ./one 5 >/dev/null
    ./one 7 >/dev/null
    for n in 1 5 2; do ./two $n >/dev/null; done
    for unit in cover cover_jumps "cover cover_jumps"; do
        count=$((count + 1))
        # shellcheck disable=SC2086 # a list of units
        if python3 "$TOP/tests/e2e/lib/compare_gcov.py" "$ASSAY" gcov $unit >check.out 2>&1; then
            echo "ok $count - $unit at -$level: $(cat check.out)"
        else
            echo "not ok $count - $unit at -$level"
            sed 's/^/# /' check.out | head -20
            failed=1
        fi
    done
    for unit in cover cover_jumps cover_nested "cover cover_jumps cover_nested"; do
        count=$((count + 1))
        # shellcheck disable=SC2086 # a list of units
        if python3 "$TOP/tests/e2e/lib/same_gcov_json.py" "$ASSAY" gcov $unit >check.out 2>&1; then
            echo "ok $count - gcov-json of $unit at -$level: $(cat check.out)"
        else
            echo "not ok $count - gcov-json of $unit at -$level"
            sed 's/^/# /' check.out | head -20
            failed=1
        fi
    done
done
# Of a tracefile the shape holds what is known, and nothing else.
printf 'SF:/a.c\nFN:3,f\nFNDA:2,f\nDA:3,2\nDA:4,0\nBRDA:3,0,0,2\nBRDA:3,0,1,0\nend_of_record\n' >a.info
count=$((count + 1))
expected='{"format_version":"1","files":[{"file":"/a.c","functions":[{"name":"f","demangled_name":"f","start_line":3,"execution_count":2}],"lines":[{"line_number":3,"count":2,"branches":[{"count":2},{"count":0}]},{"line_number":4,"count":0,"branches":[]}]}]}'
if [ "$("$ASSAY" cover export --format gcov-json a.info)" = "$expected" ]; then
    echo "ok $count - gcov-json of a tracefile"
else
    echo "not ok $count - gcov-json of a tracefile"
    "$ASSAY" cover export --format gcov-json a.info | sed 's/^/# /'
    failed=1
fi
echo "1..$count"
exit $failed
