#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Lines, branches and functions equal those of 'gcov --json-format', and our gcov-json
# equals it whole.
# beside others: 30 s
set -u
if ! command -v g++ gcov python3 >/dev/null || ! gcov --help | grep -q json-format; then
    echo "no g++ with a gcov that writes JSON"
    exit 77
fi
cd "$SCRATCH" || exit 1
cp "$TOP"/tests/programs/cover.cc "$TOP"/tests/programs/cover.h "$TOP"/tests/programs/cover_jumps.c \
    "$TOP"/tests/programs/cover_nested.cc "$TOP"/tests/programs/cover_body.inc .
# shellcheck source=lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
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
        # shellcheck disable=SC2086 # a list of units
        check "$unit at -$level" python3 "$TOP/tests/e2e/lib/compare_gcov.py" "$ASSAY" gcov $unit
    done
    for unit in cover cover_jumps cover_nested "cover cover_jumps cover_nested"; do
        # shellcheck disable=SC2086 # a list of units
        check "gcov-json of $unit at -$level" python3 "$TOP/tests/e2e/lib/same_gcov_json.py" "$ASSAY" gcov $unit
    done
done
# Names of sources as gcov spells them: without ".", doubled slashes and ".." behind what is here.
mkdir -p odd/names/deep && cp cover_jumps.c odd/names/ && ln -sfn names/deep odd/link || exit 1
for name in ./odd//names/cover_jumps.c odd/names/deep/../cover_jumps.c odd/link/../cover_jumps.c ./odd/../odd/names/./cover_jumps.c \
    "$PWD/odd/names/deep/../cover_jumps.c" ../"${PWD##*/}"/odd/names/cover_jumps.c; do
    gcc -O0 -w -I. --coverage -c "$name" -o spelt.o && gcc --coverage spelt.o -o spelt && ./spelt 2 >/dev/null
    check "gcov-json of $name" python3 "$TOP/tests/e2e/lib/same_gcov_json.py" "$ASSAY" gcov spelt
    rm -f spelt.gc*
done
# Functions on one line, exceptions, longjmp, fork and exec, as each gcc that is here has them.
cp "$TOP/tests/programs/cover_apart.cc" .
for version in "" -11; do
    command -v "g++$version" "gcov$version" >/dev/null || continue
    for level in O0 O1 O2 O3 "O0 -fprofile-update=atomic" "O2 -fprofile-arcs -ftest-coverage -flto"; do
        rm -f cover_apart.gc*
        # shellcheck disable=SC2086 # several flags
        "g++$version" -$level -std=c++17 -w --coverage -c cover_apart.cc -o cover_apart.o &&
            "g++$version" -std=c++17 --coverage cover_apart.o -o four || exit 1
        for n in 4 5 1 9 8 7; do ./four $n; done >/dev/null 2>&1
        check "cover_apart by g++$version -$level" \
            python3 "$TOP/tests/e2e/lib/compare_gcov.py" "$ASSAY" "gcov$version" cover_apart
        check "gcov-json of cover_apart by g++$version -$level" \
            python3 "$TOP/tests/e2e/lib/same_gcov_json.py" --any-order "$ASSAY" "gcov$version" cover_apart
    done
done
# Many functions of one line, and of one line and column: gcov's order of them.
{
    echo '#define F(n) static int f##n(int x) { return x ? n : x; }'
    for n in $(seq 40); do printf 'F(%d) ' "$n"; done
    echo
    echo '#define G F(41) F(42) F(43) F(44) F(45) F(46) F(47) F(48) F(49) F(50) F(51) F(52) F(53) F(54) F(55) F(56) F(57) F(58)'
    echo G
    echo 'int main(void) { return f3(1) + f44(0) + f58(2) > 999; }'
} >many.c
gcc -O0 -w --coverage -c many.c -o many.o && gcc --coverage many.o -o many && ./many
check "gcov-json of many functions of one line" python3 "$TOP/tests/e2e/lib/same_gcov_json.py" "$ASSAY" gcov many
# Names of lines behind functions in functions in functions, and a header without lines.
echo 'struct Unused { Unused(); inline int n() { return 3; } };' >deep.h
cat >deep.cc <<'EOF'
#include "deep.h"
int outer(int x)
{
    auto middle = [&](int y) {
        x += y;
        auto inner = [&](int z) {
            x += z;
            return x;
        };
        return inner(y) + 1;
    };
    x = middle(2);
    return x;
}
template <class T> T twice(T x)
{
    auto add = [](T y) { return y + y; };
    return add(x);
}
int main() { return outer(1) + twice(2) + (int)twice(3.0) > 99; }
EOF
g++ -O0 -w --coverage -c deep.cc -o deep.o && g++ --coverage deep.o -o deep && ./deep
check "gcov-json of functions in functions" python3 "$TOP/tests/e2e/lib/same_gcov_json.py" "$ASSAY" gcov deep
# clang's files have gcc 4.8's form and llvm-cov's rules.
for version in -14 -16 -19; do
    command -v "clang++$version" "llvm-cov$version" >/dev/null || continue
    for level in O0 O2; do
        rm -f cover_apart.gc* cover_jumps.gc* cover_repeats.gc*
        "clang$version" -$level -w --coverage -c cover_jumps.c -o cover_jumps.o &&
            "clang$version" --coverage cover_jumps.o -o five &&
            "clang++$version" -O0 -std=c++17 -w --coverage -c cover_apart.cc -o cover_apart.o &&
            "clang++$version" --coverage cover_apart.o -o six &&
            "clang$version" -$level -w --coverage -c "$TOP/tests/programs/cover_repeats.c" -o cover_repeats.o &&
            "clang$version" --coverage cover_repeats.o -o repeats || exit 1
        for n in 4 5 1 9 8 7; do ./five $n; ./six $n; done >/dev/null 2>&1
        ./repeats
        check "lines of clang$version -$level" \
            python3 "$TOP/tests/e2e/lib/compare_llvm_gcov.py" "$ASSAY" "llvm-cov$version" cover_jumps cover_apart cover_repeats
    done
    # Line 9 is the start of an expression that runs five times, and stands in its block three times.
    repeats() { "$ASSAY" cover export "$@" cover_repeats.gcda | grep '^DA:9,'; }
    rm -f cover_repeats.gc* && "clang$version" -O0 --coverage -c "$TOP/tests/programs/cover_repeats.c" -o cover_repeats.o &&
        "clang$version" --coverage cover_repeats.o -o repeats && ./repeats
    check "a line that a block of clang$version lists thrice ran once" \
        test "$(repeats) $(repeats --llvm-rules)" = "DA:9,5 DA:9,15"
done
# The forms of clang 3 to 10, which LLVM's gcov still reads.
if command -v clang-14 llvm-cov-14 >/dev/null; then
    for form in '402*' '407*'; do
        rm -f cover_apart.gc* cover_jumps.gc*
        clang-14 -O0 -w --coverage -Xclang "-coverage-version=$form" -c cover_jumps.c -o cover_jumps.o &&
            clang-14 --coverage cover_jumps.o -o five &&
            clang++-14 -O0 -std=c++17 -w --coverage -Xclang "-coverage-version=$form" -c cover_apart.cc -o cover_apart.o &&
            clang++-14 --coverage cover_apart.o -o six || exit 1
        for n in 4 5 1 9 8 7; do ./five $n; ./six $n; done >/dev/null 2>&1
        check "lines of clang, form $form" \
            python3 "$TOP/tests/e2e/lib/compare_llvm_gcov.py" "$ASSAY" llvm-cov-14 cover_jumps cover_apart
    done
    rm -f cover_apart.gc* cover_jumps.gc*
fi
# The forms of gcc 4.2 to 7, whose gcov gave a line the sum of its blocks.
if gcc -dumpversion | grep -qE '^1[23]$'; then
    cp "$TOP/tests/programs/cover_sums.c" . && rm -f cover_sums.gc* && gcc -O0 --coverage -c cover_sums.c -o cover_sums.o &&
        gcc --coverage cover_sums.o -o sums && ./sums || exit 1
    counts_of_sums() { "$ASSAY" cover export "$1" 2>err | sed -nE 's/^(DA:(9|1[0-3]),.*|BRF.*|BRH.*|FNDA.*)/\1/p' | tr '\n' ' '; }
    rest='FNDA:1,main BRF:10 BRH:7 '
    new=$(counts_of_sums cover_sums.gcda)
    for form in '402*' '406*' '407*' '408*' '504*' '703*'; do
        python3 "$TOP/tests/tools/old_gcov.py" "$form" cover_sums old || exit 1
        old=$(counts_of_sums old.gcda)
        echo "$form $old, now $new" >out
        verdict "form $form of gcc has sums of blocks" \
            "$([ "$(tr ' ' '\n' <<<"$old" | sort | tr -d '\n')" = \
                "$(tr ' ' '\n' <<<"DA:9,22 DA:10,10 DA:11,12 DA:12,3 DA:13,1 $rest" | sort | tr -d '\n')" ] &&
                [ "$(tr ' ' '\n' <<<"$new" | sort | tr -d '\n')" = \
                    "$(tr ' ' '\n' <<<"DA:9,11 DA:10,5 DA:11,4 DA:12,1 DA:13,1 $rest" | sort | tr -d '\n')" ]; echo $?)"
    done
    rm -f old.gc* cover_sums.gc*
fi
# However a unit spells a source, it has one row.
mkdir -p spellings && printf 'static int used(int n)\n{\n    return n;\n}\n' >spellings/used.h &&
    printf '#include "./used.h"\nint main(void) { return used(0); }\n' >spellings/spelt.c &&
    (cd spellings && gcc --coverage .//spelt.c -o spelt && ./spelt)
"$ASSAY" cover export spellings 2>err | grep '^SF:' >out
verdict "sources without dots and doubled slashes" "$([ "$(grep -c . out)" = 2 ] && ! grep -E '/\./|//' out; echo $?)"
# Counts that are not beside their notes find them by their stamp, of several runs all.
apart_lines() { "$ASSAY" cover export "$@" 2>/dev/null | grep -E '^DA:' | tr '\n' ' '; }
counts_find_notes() {
    mkdir -p apart && cd apart || return 1
    printf 'int main(void)\n{\n    return 0;\n}\n' >apart.c
    gcc --coverage apart.c -o prefix && GCOV_PREFIX=$PWD/a ./prefix && GCOV_PREFIX=$PWD/b ./prefix &&
        gcc --coverage -fprofile-dir="$PWD/c" apart.c -o dir && ./dir &&
        gcc --coverage -fprofile-note=note.gcno -c apart.c -o note-of.o && gcc --coverage note-of.o -o note-of && ./note-of
    [ "$(apart_lines .)" = "DA:1,4 DA:3,4 " ] || { apart_lines .; return 1; }
    "$ASSAY" cover report a >/dev/null 2>err && return 1
    grep 'name it, or its folder' err
}
(counts_find_notes) >out
verdict "counts that are elsewhere find their notes" $?
# Of a tracefile the shape holds what is known, and nothing else.
printf 'SF:/a.c\nFN:3,f\nFNDA:2,f\nDA:3,2\nDA:4,0\nBRDA:3,0,0,2\nBRDA:3,0,1,0\nend_of_record\n' >a.info
expected='{"format_version":"1","files":[{"file":"/a.c","functions":[{"name":"f","demangled_name":"f","start_line":3,"execution_count":2}],"lines":[{"line_number":3,"count":2,"branches":[{"count":2},{"count":0}]},{"line_number":4,"count":0,"branches":[]}]}]}'
"$ASSAY" cover export --format gcov-json a.info >out 2>err
verdict "gcov-json of a tracefile" "$([ "$(cat out)" = "$expected" ]; echo $?)"
# Marks of exception branches, whole functions and branch targets: the rows that they leave
# out are those that gcov calls so, and the others stay as they were.
cat >marks.cc <<'EOF'
#include <string>
int risky(int x) { if (x > 3) throw x; return x; }
int plain(int x) { std::string s(x, 'a'); return s.size() + risky(x); }
int quiet(int x) { std::string s(x, 'a'); return s.size() + risky(x); } // LCOV_EXCL_EXCEPTION_BR_LINE
int whole(int x) { // GCOVR_EXCL_FUNCTION
    auto inner = [&](int y) {
        return y > x ? 1 : 2;
    };
    return inner(x ? 1 : 2);
}
int straight(int x) { // GCOVR_EXCL_BR_FUNCTION
    return x ? 2 : 3;
}
int source(int x)
{
    if (x > 100)
        return 5; // GCOVR_EXCL_BR_SOURCE
    return x ? 7 : 8;
}
int main() { return plain(1) + quiet(1) + whole(1) + straight(1) + source(1) > 99; }
EOF
branches() { sed -n '/^SF:.*marks\.cc/,/^end_of_record/ s/^BRDA:\('"$1"'\),0,\([0-9]*\),\(.*\)/\2:\3/p' "$2" | tr '\n' ' '; }
lines() { sed -n '/^SF:.*marks\.cc/,/^end_of_record/ s/^DA:\([0-9]*\),.*/\1/p' "$1" | tr '\n' ' '; }
marks_hold() {
    g++ -O0 -w --coverage marks.cc -o marks && ./marks &&
        "$ASSAY" cover export -f -o all.info --no-exclusions ./*marks.gcno &&
        "$ASSAY" cover export -f -o marks.info ./*marks.gcno || return 1
    local throws
    throws=$(gcov --json-format --branch-probabilities --stdout ./*marks.gcda | python3 -c '
import json, sys
for f in json.load(sys.stdin)["files"]:
    for l in f["lines"]:
        if f["file"].endswith("marks.cc") and l["line_number"] == 4:
            print(*("%d:%d" % (i, b["count"]) for i, b in enumerate(l["branches"]) if not b["throw"]), end=" ")
')
    grep -E '^(DA|BRDA)' marks.info | head -n 60
    [ -n "$throws" ] && [ "$(branches 4 marks.info)" = "$throws" ] &&
        [ "$(branches 4 marks.info)" != "$(branches 4 all.info)" ] &&
        [ "$(branches 3 marks.info)" = "$(branches 3 all.info)" ] &&
        [ "$(lines marks.info)" = "2 3 4 6 7 8 11 12 14 16 17 18 20 " ] &&
        [ -z "$(branches 12 marks.info)" ] && [ -n "$(branches 12 all.info)" ] &&
        [ "$(branches 16 all.info)" = "0:0 1:1 " ] && [ "$(branches 16 marks.info)" = "1:1 " ] &&
        [ "$(branches 18 marks.info)" = "$(branches 18 all.info)" ]
}
check 'marks of exceptions, functions and targets of branches' marks_hold
# Marks that depend on counts: what did not run is left out, what contradicts them counts,
# is said and passes no gate. Of gcc's and of clang's counts.
cat >counted.c <<'EOF'
#include <stdlib.h>
int never(int x)
{
    if (x > 100)
        abort(); // LCOV_UNREACHABLE_LINE
    // LCOV_UNREACHABLE_START
    x++;
    // LCOV_UNREACHABLE_STOP
    return x;
}
int half(int x)
{
    if (x > 5) // GCOVR_EXCL_BR_WITHOUT_HIT: 1/2
        return 1;
    if (x > 6) // GCOVR_EXCL_BR_WITHOUT_HIT: 2/2
        return 1;
    return 3;
}
int main(void) { return never(1) + half(1) > 99; } // OFTEN
// GRCOV_STOP_COVERAGE
int test(int x) { return x; }
EOF
counted_marks_hold() {
    local status
    "$ASSAY" cover report --fail-under 1 "$@" >table 2>err
    status=$?
    cat err
    [ $status = 3 ] && [ "$(wc -l <err)" = 4 ] &&
        grep -q "counted.c' line 7 is marked as unreachable and ran" err &&
        grep -q "counted.c' line 15: the mark says that 2 of 2 branches did not run, and 1 of 2 did not" err &&
        grep -q '2 marks in the sources do not match the counts' err &&
        "$ASSAY" cover export -f -o counted.info "$@" 2>err || return 1
    grep -qx DA:7,1 counted.info && grep -qx DA:14,0 counted.info &&
        ! grep -q '^DA:5,\|^DA:21,\|^BRDA:13,' counted.info &&
        [ "$(grep -c ^BRDA:15, counted.info)" = 2 ] && grep -q '^DA:19,' counted.info || return 1
    "$ASSAY" cover export -f -o counted.info --excl-line OFTEN --excl-start 'half\(' --excl-stop '^}' "$@" 2>err
    ! grep -q '^DA:1[1-7],\|^DA:19,' counted.info && "$ASSAY" cover report --excl-line '(' "$@" 2>err
    [ $? = 2 ] && grep -q -- '--excl-line: ' err
}
gcc -O0 -w --coverage counted.c -o counted-gcc && ./counted-gcc || exit 1
check 'marks that depend on counts, gcc' counted_marks_hold counted-gcc-counted.gcno
clang=$(command -v clang-19 || command -v clang-16 || command -v clang-14)
if [ -n "$clang" ]; then
    "$clang" -w -fprofile-instr-generate -fcoverage-mapping counted.c -o counted-clang &&
        LLVM_PROFILE_FILE=counted.profraw ./counted-clang || exit 1
    check "marks that depend on counts, $clang" counted_marks_hold counted-clang counted.profraw
fi
rm -f counted-gcc-counted.*
# A recording takes weights and lists of inputs, whatever the inputs are.
weights_count() {
    local once
    once=$(sed -n 's/^DA:2,//p' all.info)
    "$ASSAY" cover merge -f --weighted-input 3,a.info -o w.assay &&
        "$ASSAY" cover export -f -o w.info w.assay && grep -qx DA:3,6 w.info && grep -qx BRDA:3,0,0,6 w.info || return 1
    mkdir -p weighed && mv ./*marks.gcno ./*marks.gcda weighed && echo weighed >weighed.list || return 1
    "$ASSAY" cover merge -f -w 2 --weighted-input 5,a.info --input-files weighed.list -o w.assay &&
        "$ASSAY" cover export -f -o w.info --no-exclusions w.assay &&
        grep -qx DA:3,10 w.info && grep -qx "DA:2,$((2 * once))" w.info
}
check 'weights of notes, tracefiles and lists in a recording' weights_count
finish
