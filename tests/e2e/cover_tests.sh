#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# assay cover run --per-test and assay cover tests: the lines of each test are those
# of a run of it alone.
# beside others: 8 s
set -u
cd "$SCRATCH" || exit 1
if ! command -v clang++-14 >/dev/null ||
    ! clang++-14 -w -fprofile-instr-generate -fcoverage-mapping -o prog "$TOP/tests/programs/cover.cc" 2>build.log; then
    echo "no clang++-14 with its profile runtime"
    exit 77
fi
# shellcheck source=lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
hits() { # hits DIR: FILE:LINE of lines that ran
    "$ASSAY" cover export "$1" 2>/dev/null |
        awk -F '[:,]' '/^SF:/ { n = split($2, part, "/"); file = part[n] } /^DA:/ && $3 > 0 { print file ":" $2 }' | sort -u
}

# More than 64 tests, so that sets take two words; the last is unlike the others.
for n in $(seq 0 69); do echo "./prog $((n % 9))"; done >list
echo './prog 5 && ./prog 7' >>list
"$ASSAY" cover run --tests-from list -f -o all >out 2>err
verdict "71 tests run" "$(grep -q '71 of 71 tests ran, 0 failed' err; echo $?)"
# same_as_alone WHAT: what 'all' says of each line against a run of each test alone.
same_as_alone() {
    sort -u list | while read -r line; do
        "$ASSAY" cover run -q -f -o one -- sh -c "$line" >/dev/null 2>&1
        hits one | while read -r place; do echo "$place $line"; done
    done | sort >theirs
    cut -d ' ' -f 1 theirs | sort -u | while read -r place; do
        "$ASSAY" cover tests -d all "$place" | sort -u | while read -r line; do echo "$place $line"; done
    done | sort >ours
    diff theirs ours >out
    verdict "$1: the tests of each of $(cut -d ' ' -f 1 theirs | sort -u | wc -l) lines are those that run it alone" "$([ -s theirs ] && ! [ -s out ]; echo $?)"
}
same_as_alone clang
"$ASSAY" cover tests -d all --smallest-set >out 2>err
sed 's/^ *[0-9]* //' out >chosen
"$ASSAY" cover run --tests-from chosen -q -f -o small >/dev/null 2>&1
hits all >all.hits
hits small >small.hits
verdict "the smallest set runs every line: $(wc -l <chosen) tests" "$([ "$(wc -l <chosen)" -lt 8 ] && cmp all.hits small.hits; echo $?)"
"$ASSAY" cover tests -d all cover.cc cover.cc:1-100000 | sort >out
verdict "tests of several places are named once" "$([ "$(wc -l <out)" -eq 71 ]; echo $?)"
"$ASSAY" cover tests -d all --json --list --smallest-set cover.cc >out.json
verdict "--json has the same" "$(python3 - <<'PY'
import json
d = json.load(open("out.json"))
assert d["schema"] == "assay-cover-tests-1" and len(d["tests"]) == 71 and d["smallest_set"]["minimal"]
assert len(d["smallest_set"]["tests"]) == len(open("chosen").readlines()) and len(d["found"]) == 71
PY
echo $?)"
"$ASSAY" cover tests -d all --list >out
verdict "--list" "$([ "$(wc -l <out)" -eq 71 ]; echo $?)"
printf './prog 3\ntrue\n' >list
"$ASSAY" cover run --tests-from list -f -o all >out 2>err
verdict "a test that passes without counts is named" "$(grep -q "1 test passed without any counts, 'true' first" err; echo $?)"
printf './prog 3\nfalse\n' >list
"$ASSAY" cover run --tests-from list -f -o all >out 2>err
verdict "a failing test is named and gives the status" "$([ $? -eq 1 ] && grep -q "test 'false' failed with status 1" err; echo $?)"
"$ASSAY" cover tests -d all cover.cc:100000 >out 2>err
verdict "a line without code" "$([ $? -eq 1 ] && grep -q 'no code there' err; echo $?)"
"$ASSAY" cover tests -d nowhere cover.cc:1 >out 2>err
verdict "no data: how to get it" "$([ $? -eq 1 ] && grep -q -e '--per-test' err; echo $?)"
mkdir -p bad && head -c 200 all/tests.assay-cover >bad/tests.assay-cover
"$ASSAY" cover tests -d bad --list >out 2>err
verdict "a file that was cut" "$([ $? -eq 1 ] && grep -q 'cut short' err; echo $?)"

# By gcc, whose runs all add to the same data files; and both in one run.
cp "$TOP"/tests/programs/cover.cc "$TOP"/tests/programs/cover.h .
g++ -w --coverage -o gccprog cover.cc
for n in $(seq 0 69); do echo "./gccprog $((n % 9))"; done >list
echo './gccprog 5 && ./prog 7' >>list
"$ASSAY" cover run --tests-from list -f -o all >out 2>err
same_as_alone "gcc, and clang beside it"

cat >gtest.cc <<'CC'
#include <gtest/gtest.h>
static int twice(int n)
{
    return 2 * n; // twice
}
static int thrice(int n)
{
    return 3 * n; // thrice
}
TEST(Numbers, Twice) { EXPECT_EQ(twice(2), 4); }
TEST(Numbers, Thrice) { EXPECT_EQ(thrice(2), 6); }
CC
if clang++-14 -w -std=c++17 -fprofile-instr-generate -fcoverage-mapping gtest.cc -o gtests -lgtest_main -lgtest -pthread 2>build.log; then
    "$ASSAY" cover run --per-test -f -o all -- ./gtests >out 2>err
    verdict "GoogleTest" "$([ "$("$ASSAY" cover tests -d all "gtest.cc:$(grep -n '// twice' gtest.cc | cut -d : -f 1)")" = Numbers.Twice ]; echo $?)"
    if command -v ctest >/dev/null; then
        printf 'add_test(first "%s" --gtest_filter=Numbers.Twice)\nadd_test([=[second one]=] "%s" --gtest_filter=Numbers.Thrice)\n' "$PWD/gtests" "$PWD/gtests" >CTestTestfile.cmake
        "$ASSAY" cover run --per-test -f -o all -- ctest >out 2>err
        verdict "ctest" "$([ "$("$ASSAY" cover tests -d all "gtest.cc:$(grep -n '// thrice' gtest.cc | cut -d : -f 1)")" = "second one" ]; echo $?)"
    fi
else
    skip "GoogleTest" "no GoogleTest library"
fi
if command -v rustc >/dev/null; then
    printf 'fn twice(n: i32) -> i32 {\n    n * 2\n}\n#[test]\nfn one() {\n    assert_eq!(twice(1), 2);\n}\n#[test]\nfn two() {\n}\n' >lib.rs
    if rustc --test --edition 2021 -C instrument-coverage lib.rs -o libtests 2>build.log; then
        "$ASSAY" cover run --per-test -f -o all -- ./libtests >out 2>err
        verdict "libtest" "$([ "$("$ASSAY" cover tests -d all lib.rs:2)" = one ]; echo $?)"
    else
        skip "libtest" "rustc has no profiler runtime"
    fi
fi
"$ASSAY" cover run --per-test -f -o all -- ./prog 3 >out 2>err
verdict "a program without tests: what to give" "$([ $? -eq 2 ] && grep -q -e '--tests-from' err; echo $?)"
finish
