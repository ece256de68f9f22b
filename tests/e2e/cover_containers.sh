#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Archives and universal binaries as objects, held to llvm-cov.
# beside others: 8 s
set -u
cd "$SCRATCH" || exit 1
# shellcheck source=lib/cover.sh
. "$TOP/tests/e2e/lib/cover.sh"
command -v llvm-cov-19 clang-19 >/dev/null || skip_all "no llvm-cov-19 or clang-19"
flags="-w -fprofile-instr-generate -fcoverage-mapping"
printf 'int twice(int x)\n{\n    return x > 1 ? 2 * x : 2;\n}\n' >twice.c
printf 'static int same(int x)\n{\n    return x;\n}\nint never(int x)\n{\n    if (x)\n        return 1;\n    return same(x);\n}\n' \
    >a_source_with_a_long_name.c
printf 'int twice(int);\nint main(void)\n{\n    return twice(1) + twice(3) != 8;\n}\n' >main.c
printf 'int none;\n' >none.c
for name in twice a_source_with_a_long_name main; do
    # shellcheck disable=SC2086 # several flags
    clang-19 $flags -c $name.c -o $name.o || skip_all "clang 19 builds nothing"
done
gcc -c none.c -o none.o 2>/dev/null || clang-19 -c none.c -o none.o
# shellcheck disable=SC2086
clang-19 $flags main.o twice.o -o prog 2>build.log || skip_all "no profile runtime of clang 19"
LLVM_PROFILE_FILE=p.profraw ./prog && llvm-profdata-19 merge p.profraw -o p.profdata || exit 1

same_lines() { # same_lines OPTIONS-OF-LLVM-COV OPTIONS OBJECT
    # shellcheck disable=SC2086
    llvm-cov-19 export -format=lcov -instr-profile=p.profdata $1 "$3" 2>theirs.err | grep -E '^(SF|DA|FNDA|BRDA):' | sort >want
    # shellcheck disable=SC2086
    "$ASSAY" cover export --llvm-rules $2 "$3" p.profraw 2>err | grep -E '^(SF|DA|FNDA|BRDA):' | sort >got
    [ -s want ] && diff want got
}
llvm-ar-19 rc gnu.a twice.o a_source_with_a_long_name.o main.o 2>/dev/null ||
    ar rc gnu.a twice.o a_source_with_a_long_name.o main.o || exit 1
check "an archive of GNU's form" same_lines "" "" gnu.a
# llvm-cov 19 refuses an archive with a member that has no mapping.
ar rc mixed.a none.o twice.o a_source_with_a_long_name.o main.o
"$ASSAY" cover export mixed.a p.profraw >mixed.info && "$ASSAY" cover export gnu.a p.profraw >gnu.info
check "members without mapping are left out" diff gnu.info mixed.info
if command -v llvm-ar-19 >/dev/null; then
    llvm-ar-19 --format=bsd -rc bsd.a twice.o a_source_with_a_long_name.o main.o
    check "an archive of BSD's form" same_lines "" "" bsd.a
    llvm-ar-19 --thin -rc thin.a twice.o main.o
    "$ASSAY" cover report thin.a p.profraw >out 2>err
    check "a thin archive is refused by name" grep -q "thin archive" err
fi
"$ASSAY" cover report prog gnu.a p.profraw --json >with 2>err
"$ASSAY" cover report gnu.a p.profraw --json >alone 2>err
check "beside the program its functions count once" cmp with alone
ar rc none.a none.o 2>/dev/null && "$ASSAY" cover report none.a p.profraw >out 2>err
check "an archive without mapping is an error" grep -q "none of the 1 objects has coverage mapping\|no coverage mapping" err
head -c 400 gnu.a >cut.a
"$ASSAY" cover report cut.a p.profraw >out 2>err
check "one that is cut is refused with its place" grep -q "archive: .* at offset 0x" err

lipo=$(command -v llvm-lipo-19 || echo /usr/lib/llvm-19/bin/llvm-lipo)
if [ -x "$lipo" ]; then
    for arch in x86_64 arm64; do
        for name in twice main; do
            # shellcheck disable=SC2086
            clang-19 $flags -target $arch-apple-macos12 -c $name.c -o $name-$arch.o || exit 1
        done
        llvm-ar-19 --format=darwin -rc lib-$arch.a twice-$arch.o main-$arch.o
    done
    "$lipo" -create twice-x86_64.o twice-arm64.o -output twice.fat && "$lipo" -create lib-x86_64.a lib-arm64.a -output lib.fat || exit 1
    for arch in x86_64 arm64; do
        check "the part for $arch of a universal binary" same_lines "-arch=$arch" "--arch $arch" twice.fat
        check "and of a universal archive" same_lines "-arch=$arch" "--arch $arch" lib.fat
    done
    "$ASSAY" cover report twice.fat p.profraw >out 2>err
    check "without --arch a note says which part counts" grep -q "has parts for x86_64, arm64, that for .* counts" err
    check "and it counts" grep -q 'TOTAL.*100.00%' out
    "$ASSAY" cover report --arch ppc64 twice.fat p.profraw >out 2>err
    check "a part that is not there is an error" grep -q "it has parts for x86_64, arm64" err
else
    skip "universal binaries" "no llvm-lipo of LLVM 19"
fi
finish
