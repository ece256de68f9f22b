#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Lines, branches and functions equal those of 'gcov --json-format'.
set -u
if ! command -v g++ gcov python3 >/dev/null || ! gcov --help | grep -q json-format; then
    echo "no g++ with a gcov that writes JSON"
    exit 77
fi
cd "$SCRATCH" || exit 1
cp "$TOP"/tests/programs/cover.cc "$TOP"/tests/programs/cover.h "$TOP"/tests/programs/cover_jumps.c .
count=0
failed=0
for level in O0 O2; do
    rm -f ./*.o ./*.gcda ./*.gcno
    g++ -$level -w --coverage -c cover.cc -o cover.o && g++ --coverage cover.o -o one &&
        gcc -$level -w --coverage -c cover_jumps.c -o cover_jumps.o &&
        gcc --coverage cover_jumps.o -o two || exit 1
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
done
echo "1..$count"
exit $failed
