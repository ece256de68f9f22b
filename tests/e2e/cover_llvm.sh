#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Lines, functions and branches equal those of the llvm-cov that belongs to the
# compiler; merged sums equal llvm-profdata's; what is written, LLVM reads.
# beside others: 25 s
set -u
cd "$SCRATCH" || exit 1
# shellcheck source=lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"

# Same rows of one kind, in the same order.
same_rows() { # same_rows KIND OURS THEIRS
    grep -q "^$1:" "$3" || return 1
    diff <(grep -E "^(SF|$1):" "$2") <(grep -E "^(SF|$1):" "$3")
}

# The report's columns: lines, functions, regions, branches, with what was missed.
same_totals() { # same_totals OURS THEIRS
    diff <(awk '$1 == "TOTAL" { print $2, $3, $5, $6, $8, $9, $11, $12 }' "$1") \
        <(awk '$1 == "TOTAL" { print $8, $9, $5, $6, $2, $3, $11, $12 }' "$2")
}

compare() { # compare LABEL LLVM PROGRAM PROFRAW...
    local label=$1 llvm=$2 program=$3
    shift 3
    "llvm-profdata-$llvm" merge -o "$label.profdata" "$@" || return 1
    "llvm-cov-$llvm" export -format=lcov "$program" -instr-profile "$label.profdata" >"$label.theirs"
    "llvm-cov-$llvm" report "$program" -instr-profile "$label.profdata" >"$label.report" 2>&1
    "$ASSAY" cover export --llvm-rules "$program" "$@" >"$label.ours"
    "$ASSAY" cover report --llvm-rules "$program" "$@" >"$label.table"
    local kind
    for kind in FN FNDA DA BRDA; do
        grep -q "^$kind:" "$label.theirs" || continue
        check "$label: $kind rows are those of llvm-cov-$llvm" same_rows $kind "$label.ours" "$label.theirs"
    done
    check "$label: totals are those of llvm-cov-$llvm" same_totals "$label.table" "$label.report"
    "llvm-cov-$llvm" export "$program" -instr-profile "$label.profdata" >"$label.json"
    "$ASSAY" cover export --llvm-rules --format llvm-json "$program" "$@" >"$label.ours.json"
    check "$label: llvm-cov-$llvm's JSON, byte for byte" cmp "$label.json" "$label.ours.json"
    "$ASSAY" cover export --llvm-rules "$program" "$label.profdata" >"$label.indexed"
    check "$label: the indexed profile gives the same" cmp "$label.ours" "$label.indexed"
    "llvm-profdata-$llvm" merge -text -o "$label.text" "$@"
    "$ASSAY" cover merge -o "$label.proftext" "$@"
    check "$label: sums are those of llvm-profdata-$llvm" diff "$label.text" "$label.proftext"
    "$ASSAY" cover merge -o "$label.mixed.proftext" "$1" "$label.text"
    "llvm-profdata-$llvm" merge -text -o "$label.mixed.text" "$1" "$label.text" 2>mixed.err
    # llvm-profdata 19 cannot add the text of bitmaps to where they came from.
    grep -q "size change detected" mixed.err ||
        check "$label: raw and text add up" diff "$label.mixed.text" "$label.mixed.proftext"
    local version=12
    [ "$llvm" -lt 19 ] && version=9
    [ "$llvm" -lt 16 ] && version=7
    "$ASSAY" cover merge --profdata-version $version -o "$label.ours.profdata" "$@"
    "llvm-cov-$llvm" export -format=lcov "$program" -instr-profile "$label.ours.profdata" >"$label.back"
    check "$label: llvm-cov-$llvm reads the version $version that we write" cmp "$label.theirs" "$label.back"
}

for llvm in 14 16 19; do
    if ! command -v "clang++-$llvm" "llvm-cov-$llvm" "llvm-profdata-$llvm" >/dev/null ||
        ! "clang++-$llvm" -w -fprofile-instr-generate -fcoverage-mapping \
            "$TOP/tests/programs/cover.cc" -o "c$llvm" 2>build.log; then
        skip "C++ with LLVM $llvm" "no clang-$llvm with its profile runtime and tools"
        continue
    fi
    for n in 5 7; do
        LLVM_PROFILE_FILE="c$llvm-$n.profraw" "./c$llvm" $n >/dev/null
    done
    compare "c$llvm" $llvm "c$llvm" "c$llvm-5.profraw" "c$llvm-7.profraw"
    "clang-$llvm" -w -fprofile-instr-generate -fcoverage-mapping \
        "$TOP/tests/programs/cover_comments.c" -o "e$llvm" 2>build.log || continue
    LLVM_PROFILE_FILE="e$llvm.profraw" "./e$llvm" 6
    compare "e$llvm" $llvm "e$llvm" "e$llvm.profraw"
    mcdc=
    [ "$llvm" -ge 18 ] && mcdc=-fcoverage-mcdc
    "clang-$llvm" -w -fprofile-instr-generate -fcoverage-mapping $mcdc \
        "$TOP/tests/programs/cover_mcdc.c" -o "d$llvm" 2>build.log || continue
    LLVM_PROFILE_FILE="d$llvm.profraw" "./d$llvm" 6 >/dev/null
    compare "d$llvm" $llvm "d$llvm" "d$llvm.profraw"
done

# What llvm-profdata shows of a profile's functions, whatever their order in the file.
show_values() { # show_values LLVM PROFDATA
    "llvm-profdata-$1" show --all-functions --counts --ic-targets --memop-sizes "$2" |
        awk '/^[^ \t]/ { name = "" } /^  [^ ].*:$/ { name = $0; next } { print name $0 }' | LC_ALL=C sort
}

# The targets of indirect calls and sizes of copies are llvm-profdata's, from and to each
# form, and the compiler takes them.
value_profiles() { # value_profiles LLVM USE FLAG...
    local llvm=$1 use=$2 versions="7 9 12" n k
    shift 2
    [ "$llvm" -lt 19 ] && versions="7 9"
    [ "$llvm" -lt 16 ] && versions=7
    "clang-$llvm" -w -O1 "$@" "$TOP/tests/programs/cover_values.c" -o values || return 1
    for n in 10 300 1; do
        LLVM_PROFILE_FILE=values$n.profraw ./values $n || return 1
    done
    for n in values10.profraw "values10.profraw values300.profraw" \
        "values1.profraw values300.profraw values10.profraw values300.profraw"; do
        # shellcheck disable=SC2086 # lists of inputs
        "llvm-profdata-$llvm" merge -j 1 -text -o values.want $n &&
            "llvm-profdata-$llvm" merge -j 1 -o values.profdata $n &&
            "$ASSAY" cover merge -f -o values.proftext $n && diff values.want values.proftext || return 1
        grep -q IndirectCallTarget values.want || return 1
        for k in values.profdata values.want; do
            "$ASSAY" cover merge -f -o values.proftext $k && diff values.want values.proftext || return 1
        done
        for k in $versions; do
            # shellcheck disable=SC2086
            "$ASSAY" cover merge -f --profdata-version $k -o values.ours.profdata $n &&
                "llvm-profdata-$llvm" merge -text -o values.back values.ours.profdata &&
                diff values.want values.back &&
                diff <(show_values $llvm values.profdata) <(show_values $llvm values.ours.profdata) || return 1
        done
    done
    # A weight is so many times the file.
    "llvm-profdata-$llvm" merge -j 1 -text -o values.want values10.profraw values300.profraw values300.profraw &&
        "$ASSAY" cover merge -f -o values.proftext values10.profraw --weighted-input 2,values300.profraw &&
        diff values.want values.proftext || return 1
    "clang-$llvm" -O2 -Werror "$use=values.ours.profdata" -c "$TOP/tests/programs/cover_values.c" -o values.o
}

for llvm in 14 16 19; do
    [ -e "c$llvm-5.profraw" ] || continue
    check "value profiles of clang-$llvm" value_profiles $llvm -fprofile-instr-use \
        -fprofile-instr-generate -mllvm -enable-value-profiling=true
    check "value profiles of clang-$llvm's IR" value_profiles $llvm -fprofile-use -fprofile-generate
done

# LLVM 19 shows the tables of virtual functions of a raw profile and loses their names as it
# merges; ours has them.
virtual_tables() {
    cp "$TOP/tests/programs/cover_tables.cc" tables.cc
    clang++-19 -w -O1 -fprofile-generate -mllvm -enable-vtable-value-profiling tables.cc -o tables || return 1
    LLVM_PROFILE_FILE=tables.profraw ./tables x || return 1
    "$ASSAY" cover merge -f -o tables.profdata tables.profraw &&
        "$ASSAY" cover merge -f -o tables.proftext tables.profdata || return 1
    grep -A5 VTableTarget tables.proftext
    grep -qx '_ZTV1C:2' tables.proftext && grep -qx 'tables.cc;_ZTVN12_GLOBAL__N_11DE:1' tables.proftext &&
        diff <(llvm-profdata-19 show --function=call --show-vtables tables.profraw | grep ZTV) \
            <(llvm-profdata-19 show --function=call --show-vtables tables.profdata | grep ZTV)
}

[ ! -e c19-5.profraw ] || check "tables of virtual functions keep their names" virtual_tables

# Marks of whole functions: clang's start at the brace, and rustc's first region is the head.
lines_of() { # lines_of PROGRAM PROFRAW
    "$ASSAY" cover export "$1" "$2" | sed -n 's/^DA:\([0-9]*\),.*/\1/p' | tr '\n' ' '
}
function_marks() { # function_marks LLVM
    printf '%s\n' 'int g(int x) // GCOVR_EXCL_FUNCTION' '{' '    return x ? 1 : 2;' '}' \
        'int main(void)' '{' '    return g(0) - 2;' '}' >marked.c
    "clang-$1" -fprofile-instr-generate -fcoverage-mapping marked.c -o marked &&
        LLVM_PROFILE_FILE=marked.profraw ./marked && [ "$(lines_of marked marked.profraw)" = "6 7 8 " ]
}
rust_marks() {
    printf '%s\n' 'fn pick(x: i32) -> i32 { // GCOVR_EXCL_FUNCTION' '    if x > 3 { x } else { 0 }' '}' \
        'fn main() {' '    let f = |y: i32| { // LCOV_EXCL_FUNCTION' '        y + 1' '    };' \
        '    std::process::exit(pick(1) + f(2) - 3);' '}' >marked.rs
    rustc -C instrument-coverage marked.rs -o marked_rs 2>build.log || return 1
    LLVM_PROFILE_FILE=marked_rs.profraw ./marked_rs && [ "$(lines_of marked_rs marked_rs.profraw)" = "4 8 " ]
}
for llvm in 14 16 19; do
    [ ! -e "c$llvm-5.profraw" ] || check "marks of functions of clang-$llvm" function_marks $llvm
done
if command -v rustc >/dev/null && printf 'fn main() {}\n' >empty.rs && rustc -C instrument-coverage empty.rs -o empty_rs 2>/dev/null; then
    check "marks of functions of rustc" rust_marks
fi

# Ten thousand profiles in one command and in one folder, with few open files.
many_profiles() {
    mkdir -p heap
    python3 -c '
import sys
data = open(sys.argv[1], "rb").read()
for i in range(10000):
    open("heap/%d.profraw" % i, "wb").write(data)
' "$1" || return 1
    (ulimit -n 32 && "$ASSAY" cover merge -f -o heap.proftext heap &&
        "$ASSAY" cover merge -f -o args.proftext heap/*.profraw &&
        "$ASSAY" cover merge -f -w 10000 -o once.proftext "$1") || return 1
    rm -rf heap
    cmp heap.proftext once.proftext && cmp args.proftext once.proftext
}

for llvm in 19 16 14; do
    [ ! -e "c$llvm-5.profraw" ] || { check "10,000 profiles" many_profiles "c$llvm-5.profraw" && break; }
done

# Branches of a listing: those of macros where they are written, and what the compiler knew.
listed_branches() { # listed_branches LLVM
    mkdir -p listed && cp "$TOP/tests/programs/cover.cc" "$TOP/tests/programs/cover.h" listed || return 1
    printf '%s\n' 'static int known(int x) { while (1) { if (x++ > 3) break; } return sizeof(int) == 4 && x; }' \
        'int more = known(1);' >>listed/cover.cc
    "clang++-$1" -w -fprofile-instr-generate -fcoverage-mapping listed/cover.cc -o listed/prog || return 1
    LLVM_PROFILE_FILE=listed/raw ./listed/prog 5 >/dev/null
    "llvm-profdata-$1" merge listed/raw -o listed/data && "llvm-cov-$1" show listed/prog -instr-profile=listed/data \
        -show-branches=count -show-expansions -show-instantiations=false | grep -o 'Branch (.*' | sort >listed/theirs
    "$ASSAY" cover show --llvm-rules --show-branches=count listed/prog listed/data | grep -o 'Branch (.*' | sort >listed/ours
    grep -q Folded listed/theirs && diff listed/theirs listed/ours
}

browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
driver=$(command -v chromedriver || true)
page_in_browser() { # page_in_browser PAGE TRACEFILE SOURCE [MCDC]
    "$TOP/tests/tools/cover_page_in_browser.py" "$driver" "$browser" "$1" --against "${@:2}"
}

# The HTML page shows what the tracefile says, from a folder whose name is markup.
html_page() { # html_page LLVM
    local dir='a"><script>alert(1)<x>&' name
    mkdir -p "$dir"
    name=$dir/cover.cc
    cp "$TOP/tests/programs/cover.cc" "$TOP/tests/programs/cover.h" "$dir"
    "clang++-$1" -w -fprofile-instr-generate -fcoverage-mapping "$name" -o page || return 1
    LLVM_PROFILE_FILE=page.profraw ./page 5 >/dev/null
    "$ASSAY" cover export --format html -f -o page.html page page.profraw &&
        "$ASSAY" cover export -f -o page.info page page.profraw &&
        page_in_browser page.html page.info "$name"
}

# Branch counts beyond 32 bits, and names that lead through "..", as llvm-cov has them.
odd_counts() { # odd_counts LLVM
    mkdir -p odd/sub
    printf 'int main(int c, char **v) { return c > 5 ? 1 : 0; }\n' >odd/a.c
    printf 'int g(int c) { return c ? 1 : 0; }\n' >odd/sub/b.c
    (cd odd/sub && "clang-$1" -fprofile-instr-generate -fcoverage-mapping ../a.c ././../sub/b.c -o ../prog) || return 1
    LLVM_PROFILE_FILE=odd/raw odd/prog
    "llvm-profdata-$1" merge -text -o odd/text odd/raw
    sed -i 's/^1$/8589934597/' odd/text
    "llvm-profdata-$1" merge -o odd/profdata odd/text
    "llvm-cov-$1" export -format=lcov odd/prog -instr-profile odd/profdata >odd/theirs
    "$ASSAY" cover export --llvm-rules odd/prog odd/profdata >odd/ours
    diff <(grep -E '^(SF|FNDA|DA|BRDA)' odd/ours) <(grep -E '^(SF|FNDA|DA|BRDA)' odd/theirs) &&
        "$ASSAY" cover export odd/prog odd/profdata | grep '^BRDA.*,8589934597$'
}

# What merge does with many, weighted, broken and foreign inputs; with the last LLVM above.
many_inputs() { # many_inputs PROFRAW LLVM
    mkdir -p many
    local i
    for ((i = 0; i < 300; i++)); do cp "$1" "many/$i.profraw"; done
    : >many/empty.profraw
    head -c 200 "$1" >many/short.profraw
    (
        ulimit -n 32
        "$ASSAY" cover merge --text -o many.proftext many 2>many.err
    ) || return 1
    "llvm-profdata-$2" merge -text -weighted-input=300,"$1" -o many.theirs || return 1
    diff many.theirs many.proftext && grep 'empty.profraw' many.err && grep 'short.profraw' many.err &&
        grep '300 of 302 inputs' many.err
}
strict_inputs() { # strict_inputs PROFRAW
    ! "$ASSAY" cover merge --failure-mode any -o strict.profdata "$1" many/empty.profraw 2>strict.err &&
        [ ! -e strict.profdata ] && grep 'empty.profraw' strict.err &&
        ! "$ASSAY" cover merge -o strict.profdata many/short.profraw many/empty.profraw 2>strict.err &&
        [ ! -e strict.profdata ] && "$ASSAY" cover merge --failure-mode warn -o strict.profdata many/empty.profraw
}
other_build() { # other_build PROFRAW OTHER
    "$ASSAY" cover merge -m -d lprof.proftext "$1" "$2" 2>lprof.err && grep 'another build' lprof.err &&
        "$ASSAY" cover merge -f -d lprof.one.proftext "$1" && cmp lprof.proftext lprof.one.proftext &&
        "$ASSAY" cover merge -m -T -f -d lprof.proftext "$1" "$2" && ! cmp -s lprof.proftext lprof.one.proftext
}
# Ten runs into a watched folder: summed and deleted while they come.
watched() { # watched PROGRAM PROFRAW LLVM
    local i pid status
    mkdir -p pool
    "$ASSAY" cover merge --text -o watched.proftext --watch pool 2>watched.err &
    pid=$!
    eventually grep -q watching watched.err
    for ((i = 0; i < 10; i++)); do LLVM_PROFILE_FILE=pool/%p.profraw "./$1" 5 >/dev/null; done
    all_taken() { [ -z "$(ls -A pool)" ]; }
    eventually all_taken
    kill -TERM $pid
    wait $pid
    status=$?
    cat watched.err
    "llvm-profdata-$3" merge -text -weighted-input=10,"$2" -o watched.theirs || return 1
    [ $status -eq 0 ] && [ -d pool ] && [ -z "$(ls -A pool)" ] && grep '10 profiles' watched.err &&
        diff watched.theirs watched.proftext &&
        ! "$ASSAY" cover merge -o watched.proftext --watch pool 2>watched.err && grep 'is not replaced' watched.err
}
full_disk() { # full_disk PROFRAW
    ! "$ASSAY" cover merge -f -o /dev/full "$1" 2>full.err && grep 'No space left' full.err
}
for llvm in 19 16 14; do
    raw=c$llvm-5.profraw
    [ -e "$raw" ] || continue
    check "300 inputs with 32 descriptors, two broken ones named" many_inputs "$raw" $llvm
    check "one broken input fails where it must, and leaves no output" strict_inputs "$raw"
    check "a full disk is an error" full_disk "$raw"
    [ $llvm -lt 16 ] || check "large branch counts and names with .. are llvm-cov's" odd_counts $llvm
    check "branches of a listing are those of llvm-cov-$llvm" listed_branches $llvm
    check "a watched folder is merged and emptied" watched "c$llvm" "$raw" $llvm
    if [ -n "$browser" ] && [ -n "$driver" ]; then
        check "the HTML page builds every line, and runs no script of a name" html_page $llvm
    else
        skip "the HTML page" "no Chromium with its driver (tools/install-deps --dev)"
    fi
    printf 'int main(void) { return 0; }\n' >other.c
    if "clang-$llvm" -Wl,--build-id -fprofile-instr-generate -fcoverage-mapping other.c -o other 2>build.log &&
        "clang++-$llvm" -w -Wl,--build-id -fprofile-instr-generate -fcoverage-mapping \
            "$TOP/tests/programs/cover.cc" -o same 2>build.log; then
        LLVM_PROFILE_FILE=other.profraw ./other
        LLVM_PROFILE_FILE=same.profraw ./same 5 >/dev/null
        check "merge -m refuses another build, -T takes it" other_build same.profraw other.profraw
    fi
    break
done

# Conditions in the report, and in lcov's form and back.
if [ -e d19.profraw ]; then
    llvm-cov-19 report d19 -instr-profile d19.profdata -show-mcdc-summary >mcdc.theirs
    "$ASSAY" cover report --llvm-rules d19 d19.profraw >mcdc.ours
    check "conditions of MC/DC are those of llvm-cov-19" \
        diff <(awk '$1 == "TOTAL" { print $14, $15 }' mcdc.ours) \
        <(awk '$1 == "TOTAL" { print $14, $15 }' mcdc.theirs)
    llvm-cov-19 show d19 -instr-profile d19.profdata --show-mcdc >mcdc.shown
    "$ASSAY" cover show -I "$TOP" --show-mcdc d19 d19.profraw >mcdc.listed
    decisions() { grep -E "Decision|Condition|-Pair|\{ " "$1" | grep -E "^  \|"; }
    check "decisions are shown as llvm-cov-19 shows them" \
        diff <(decisions mcdc.shown) <(decisions mcdc.listed)
    "$ASSAY" cover export d19 d19.profraw >mcdc.info
    "$ASSAY" cover export -I "$TOP" --format html -f -o mcdc.html d19 d19.profraw
    mcdc_page() { page_in_browser mcdc.html mcdc.info "$TOP/tests/programs/cover_mcdc.c" mcdc.shown; }
    if [ -n "$browser" ] && [ -n "$driver" ]; then
        check "the HTML page has the decisions of llvm-cov-19" mcdc_page
        "$ASSAY" cover export -I "$TOP" --format html -f -o traced.html mcdc.info
        check "the HTML page of a tracefile has its conditions" page_in_browser \
            traced.html mcdc.info "$TOP/tests/programs/cover_mcdc.c"
        # "10/16" of the report's conditions and missed ones.
        share=$("$ASSAY" cover report d19 d19.profraw | awk '$1 == "TOTAL" { print $14 - $15 "/" $14 }')
        grep -q ">MC/DC</th>.*<tr class=\"sum\">.* <small>$share</small></td><th scope=\"row\">Total<" <(tr -d '\n' <mcdc.html)
        check "the HTML page has the share of conditions that the report has" test $? = 0
    else
        skip "the HTML page has the decisions of llvm-cov-19" "no Chromium with its driver (tools/install-deps --dev)"
    fi
    check "conditions come back from lcov's form" \
        diff <(sort mcdc.info) <("$ASSAY" cover export mcdc.info | sort)
fi

# Objects of other systems, not linked, with the counts of a program of this one.
if [ -e d19.profraw ]; then
    cat >foreign.c <<'C'
static inline int f(int x) { return x > 1 && x < 9 ? x : 2; }
int g(int x) { return f(x) + f(2); }
int main(int argc, char **argv) { (void)argv; return g(argc) == 77; }
C
    clang-19 -fprofile-instr-generate -fcoverage-mapping foreign.c -o foreign
    LLVM_PROFILE_FILE=foreign.profraw ./foreign
    llvm-profdata-19 merge -o foreign.profdata foreign.profraw
    for target in x86_64-linux-gnu i386-linux-gnu powerpc64-linux-gnu mips-linux-gnu \
        x86_64-apple-darwin i386-apple-darwin x86_64-pc-windows-msvc aarch64-pc-windows-msvc; do
        clang-19 -target $target -fprofile-instr-generate -fcoverage-mapping -c foreign.c \
            -o foreign.o 2>build.log || continue
        # llvm-cov cannot read what clang makes for some of them.
        llvm-cov-19 export -format=lcov foreign.o -instr-profile foreign.profdata \
            >foreign.theirs 2>build.log || continue
        "$ASSAY" cover export --llvm-rules foreign.o foreign.profraw >foreign.ours
        check "an object for $target has the lines that llvm-cov-19 finds" \
            same_rows DA foreign.ours foreign.theirs
    done
fi

if command -v rustc llvm-cov-19 llvm-profdata-19 >/dev/null &&
    rustc -C instrument-coverage "$TOP/tests/programs/cover.rs" -o r 2>build.log; then
    for n in 3 20; do
        LLVM_PROFILE_FILE="r-$n.profraw" ./r $n >/dev/null
    done
    compare rust 19 r r-3.profraw r-20.profraw
else
    skip "Rust" "no rustc that instruments, or no LLVM 19 tools"
fi
finish
