#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A source has one row and one path, however its units and tracefiles spell it.
# beside others: 8 s
set -u
cd "$SCRATCH" || exit 1
# shellcheck source=lib/cover.sh
. "$TOP/tests/e2e/lib/cover.sh"
mkdir -p p/tests p/deep/er || exit 1
ln -s p link && ln -s ../deep/er p/tests/jump || exit 1
cd p || exit 1
cat >lib.c <<'END'
static int pick(int x)
{
    if (x > 3)
        return 1;
    return 0;
}
int use(int x)
{
    return pick(x);
}
END
printf '#include "lib.c"\nint main(void) { return use(5) != 1; }\n' >one.c
printf '#include "../lib.c"\nint main(void) { return use(1); }\n' >tests/two.c
printf 'int other(void) { return 1; }\n' >deep/lib.c
printf '#include "../deep/lib.c"\nint main(void) { return other() != 1; }\n' >deep/three.c

# Each writer has lib.c once, and no "..".
one_row() { # one_row INPUT...
    local format
    "$ASSAY" cover report --full-paths "$@" >table || return 1
    [ "$(grep -c '[^p]/lib\.c ' table)" -eq 0 ] && [ "$(grep -c 'p/lib\.c ' table)" -eq 1 ] || return 1
    for format in lcov json html cobertura coveralls codecov sonarqube jacoco clover markdown; do
        "$ASSAY" cover export --format $format "$@" >out.$format || return 1
        ! grep -n '\.\./' out.$format || return 1
    done
    [ "$(grep -c '^SF:.*lib\.c$' out.lcov)" -eq 1 ] && [ "$(grep -c 'filename=.*lib\.c' out.cobertura)" -eq 1 ] &&
        [ "$(grep -c 'file path=.*lib\.c' out.sonarqube)" -eq 1 ]
}

# Both ways out of pick, of two programs that each took one.
both_ways() { # both_ways INPUT...
    "$ASSAY" cover export "$@" | sed -n '/lib\.c$/,/end_of_record/p' >rows
    grep -q '^DA:4,1$' rows && grep -q '^DA:5,1$' rows
}

if command -v gcc >/dev/null; then
    (gcc --coverage one.c -o one && ./one && cd tests && gcc --coverage two.c -o two && ./two) || exit 1
    check "gcc: one row for lib.c and ../lib.c" one_row one.gcno tests/two.gcno
    check "gcc: their counts are added" both_ways one.gcno tests/two.gcno
    check "gcc: a folder gives the same" one_row .
    (cd ../link && gcc --coverage "$PWD/one.c" -o one.link && ./one.link) || exit 1
    check "gcc: a folder behind a link is the same" one_row one.link-one.gcno one.gcno tests/two.gcno
    # Behind a link ".." leads elsewhere: that lib.c is another source.
    mkdir -p apart && (cd apart && gcc --coverage ../tests/jump/../three.c -o three && ./three) || exit 1
    "$ASSAY" cover report --full-paths apart/three*.gcno one.gcno >table
    check "gcc: behind a link, .. is followed" grep -q '/p/deep/lib\.c ' table
    rm -rf apart ./*.gc* tests/*.gc*
fi
for llvm in 14 16 19; do
    if ! clang-$llvm -fprofile-instr-generate -fcoverage-mapping one.c -o one 2>build.log ||
        ! (cd tests && clang-$llvm -fprofile-instr-generate -fcoverage-mapping two.c -o two 2>../build.log); then
        skip "clang $llvm" "no clang-$llvm with its profile runtime"
        continue
    fi
    LLVM_PROFILE_FILE=one.profraw ./one && LLVM_PROFILE_FILE=two.profraw tests/two || exit 1
    check "clang $llvm: one row for lib.c and ../lib.c" one_row one tests/two one.profraw two.profraw
    check "clang $llvm: their counts are added" both_ways one tests/two one.profraw two.profraw
    # Static functions of a source that was compiled under two absolute paths.
    clang-$llvm -w -fprofile-instr-generate -fcoverage-mapping -c "$PWD/lib.c" -Duse=use_a -o a.o &&
        clang-$llvm -w -fprofile-instr-generate -fcoverage-mapping -c "$PWD/tests/../lib.c" -Duse=use_b -o b.o &&
        printf 'int use_a(int), use_b(int);\nint main(void) { return use_a(5) + use_b(1) != 1; }\n' >main.c &&
        clang-$llvm -fprofile-instr-generate main.c a.o b.o -o both && LLVM_PROFILE_FILE=both.profraw ./both || exit 1
    check "clang $llvm: one source under two absolute paths" both_ways both both.profraw
done

# A build folder beside the sources, without a repository: Cobertura is relative to the sources.
if command -v gcc >/dev/null; then
    mkdir -p "$SCRATCH/out/src/lib" "$SCRATCH/out/build" && cd "$SCRATCH/out" || exit 1
    cp "$SCRATCH/p/one.c" src/ && cp "$SCRATCH/p/lib.c" src/lib/ && sed -i 's|"lib.c"|"lib/lib.c"|' src/one.c &&
        cd build && gcc --coverage ../src/one.c -o one && ./one || exit 1
    before=$(date +%s)
    relative() { # relative ROOT
        "$ASSAY" cover export --format cobertura -f -o ../c.xml . &&
            grep -q "<source>$1</source>" ../c.xml && grep -q 'filename="lib/lib.c"' ../c.xml &&
            grep -q 'filename="one.c"' ../c.xml
    }
    check "out of tree: relative to the sources" relative "$SCRATCH/out/src"
    stamp=$(sed -n 's/.*timestamp="\([0-9]*\)[0-9][0-9][0-9]".*/\1/p' ../c.xml)
    check "out of tree: the time of the counts" test "$stamp" -ge $((before - 600)) -a "$stamp" -le "$(date +%s)"
    check "the same twice" cmp ../c.xml <("$ASSAY" cover export --format cobertura .)
    mkdir -p ../src/lib/gen && mv ../src/lib/gen gen && echo 'int gen(void) { return 1; }' >gen/gen.c
    gcc --coverage gen/gen.c ../src/one.c -o one && ./one
    echo "CMAKE_HOME_DIRECTORY:INTERNAL=$SCRATCH/out" >CMakeCache.txt
    "$ASSAY" cover export --format cobertura . >../c.xml
    check "a CMake build: relative to its sources" grep -q 'filename="src/lib/lib.c"' ../c.xml
    check "and what is generated too" grep -q 'filename="build/gen/gen.c"' ../c.xml
    rm CMakeCache.txt && mkdir ../.git && "$ASSAY" cover export --format cobertura . >../c.xml
    check "a repository: relative to it" grep -q 'filename="src/lib/lib.c"' ../c.xml
    cd "$SCRATCH/p" || exit 1
fi

printf 'SF:%s\nDA:1,1\nend_of_record\n' "$PWD/lib.c" >a.info
printf 'SF:tests/../lib.c\nDA:1,2\nend_of_record\n' >b.info
printf 'SF:./gone/../lib.c\nDA:1,4\nend_of_record\n' >c.info
check "tracefiles: their counts are added" test "$("$ASSAY" cover add a.info b.info c.info | grep -c '^SF:')" -eq 1
check "tracefiles: one line of all" test "$("$ASSAY" cover add a.info b.info c.info | grep '^DA:1,')" = DA:1,7
printf 'SF:/not/here/x/../lib.c\nDA:1,2\nend_of_record\nSF:/not/here/lib.c\nDA:1,1\nend_of_record\n' >d.info
check "sources that are not here: by the text" test "$("$ASSAY" cover add d.info | grep '^SF:\|^DA:' | tr '\n' ' ')" = \
    "SF:/not/here/lib.c DA:1,3 "
finish
