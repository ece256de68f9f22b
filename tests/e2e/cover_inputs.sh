#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Which of the files that a user names, or that a folder holds, are inputs.
# beside others: 8 s
set -u
cd "$SCRATCH" || exit 1
# shellcheck source=lib/cover.sh
. "$TOP/tests/e2e/lib/cover.sh"
mkdir -p src lib || exit 1
cat >lib/lib.c <<'END'
int twice(int x)
{
    return x > 1 ? 2 * x : 2;
}
END
cat >src/main.c <<'END'
int twice(int);
int main(void)
{
    return twice(1) + twice(3) != 8;
}
END

lines() { "$ASSAY" cover export "$@" 2>err | grep '^DA:' | sort; }
# shellcheck disable=SC2086 # lists of inputs
same_lines() { lines $1 >want && lines $2 >got && diff want got; } # err is of the second

if command -v gcc >/dev/null; then
    mkdir -p g && cd g && gcc --coverage ../src/main.c ../lib/lib.c -o prog && ./prog && cd .. || exit 1
    cp -r g both && "$ASSAY" cover export g -o both/made.info || exit 1
    check "a tracefile beside gcc's counts is left out" same_lines g both
    check "and it is named" grep -q "'both/made.info'.*is left out" err
    lines both both/made.info >rows
    check "named too, it counts, with a note" grep -q '^DA:3,4$' rows
    check "the note" grep -q "'both/made.info' is added.*count twice" err
    check "and no other" test "$(grep -c made.info err)" = 1
    rm -f both/*.gcda
    check "a tracefile beside notes without counts is an input" same_lines g both
fi
# A build folder that a run left without .gcda files, from the folder above it.
if command -v gcc >/dev/null; then
    mkdir -p tree/build tree/other && cd tree/build && gcc --coverage ../../src/main.c ../../lib/lib.c -o prog &&
        "$ASSAY" cover run -q --no-report -- ./prog && cd .. || exit 1
    "$ASSAY" cover report . >out 2>err
    check "results of a run are found from the folder above" grep -q 'TOTAL.*100.00%' out
    check "and named" grep -q "assay cover run' in './build/.assay/cover'" err
    same_counts() { same_lines build/.assay/cover .; }
    check "with the same counts" same_counts
    (cd other && gcc --coverage ../../src/main.c ../../lib/lib.c -o prog && ./prog)
    "$ASSAY" cover report . >out 2>err
    check "beside other counts they are left out" grep -q "are left out beside other counts" err
    cd ..
fi
for llvm in 14 19; do
    if ! clang-$llvm -fprofile-instr-generate -fcoverage-mapping src/main.c lib/lib.c -o prog$llvm 2>build.log; then
        skip "clang $llvm" "no clang-$llvm with its profile runtime"
        continue
    fi
    mkdir -p raw$llvm && LLVM_PROFILE_FILE=raw$llvm/p.profraw ./prog$llvm || exit 1
    cp -r raw$llvm more$llvm && "$ASSAY" cover merge -f -o more$llvm/sum.profdata raw$llvm &&
        "$ASSAY" cover merge -f -o more$llvm/sum.proftext raw$llvm &&
        "$ASSAY" cover export prog$llvm raw$llvm -o more$llvm/sum.info || exit 1
    check "clang $llvm: sums beside raw profiles are left out" same_lines "prog$llvm raw$llvm" "prog$llvm more$llvm"
    check "clang $llvm: each is named" test "$(grep -c 'is left out' err)" -eq 3
    rm -f more$llvm/p.profraw more$llvm/sum.proftext
    check "clang $llvm: an indexed profile alone is an input" same_lines "prog$llvm raw$llvm" "prog$llvm more$llvm"
    check "clang $llvm: an object without mapping is left out" \
        same_lines "prog$llvm raw$llvm" "prog$llvm /bin/true raw$llvm"
    check "clang $llvm: and it is named" grep -q "'/bin/true' has no coverage mapping" err
    "$ASSAY" cover report /bin/true /bin/false raw$llvm >out 2>err
    check "clang $llvm: none with mapping is an error" test $? -eq 1
    "$ASSAY" cover report /bin/true raw$llvm >out 2>err
    check "clang $llvm: so is one alone" test $? -eq 1
    # llvm-cov show BIN -instr-profile P SOURCE...
    for name in lib/lib.c "$PWD/lib/lib.c" src/../lib/lib.c lib lib/; do
        "$ASSAY" cover show prog$llvm raw$llvm "$name" >out 2>err
        check "clang $llvm: show BIN PROFILE $name" test "$(grep -c 'SOURCE FILE:.*lib/lib.c' out)" -eq "$(grep -c 'SOURCE FILE:' out)"
        check "clang $llvm: it has lines" grep -q 'return x > 1' out
    done
    mkdir -p below
    (cd below && "$ASSAY" cover show ../prog$llvm ../raw$llvm ../lib/lib.c >../out 2>../err)
    check "clang $llvm: a source outside the working folder, named, has its lines" grep -q 'return x > 1' out
    (cd below && "$ASSAY" cover show ../prog$llvm ../raw$llvm >../out 2>../err)
    check "clang $llvm: and is not read when it is not named" grep -q 'lies outside the project' out
    "$ASSAY" cover report prog$llvm raw$llvm src/main.c >out 2>err
    check "clang $llvm: report of one source" test "$(grep -c 'lib\.c' out)$(grep -c 'main\.c' out)" = 01
    "$ASSAY" cover show prog$llvm raw$llvm none.c >out 2>err
    check "clang $llvm: a source that is not there" test $? -eq 1
    : >empty.c
    "$ASSAY" cover show prog$llvm raw$llvm empty.c >out 2>err
    check "clang $llvm: a source without counts is named" grep -q "no source file of that name has counts" err
done
finish
