#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Profiles of every version: made by a generator that knows nothing of our reader, and by
# compilers with every switch that sets a variant. All are compared with what is known to
# be in them, and with those of LLVM's tools that are here and read them.
# beside others: 18 s
set -u
cd "$SCRATCH" || exit 1
# shellcheck source=lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
command -v python3 >/dev/null || skip_all "no python3"

# as_text PROFILE: merged to a text, in out.proftext.
as_text() {
    rm -f out.proftext
    "$ASSAY" cover merge -o out.proftext "$1" 2>err
}

peers=""
for llvm in 14 16 19 22; do
    command -v "llvm-profdata-$llvm" >/dev/null && peers="$peers $llvm"
done

# like_peers PROFILE: whoever reads it gives the same; LLVM before 19 does not find the
# targets of calls in big-endian files.
like_peers() {
    local llvm
    for llvm in $peers; do
        [[ $1 == *big* ]] && [ "$llvm" -lt 19 ] && continue
        "llvm-profdata-$llvm" merge -text -o peer.proftext "$1" 2>/dev/null || continue
        readers="$readers $llvm"
        diff peer.proftext out.proftext || return 1
    done
}

python3 "$TOP/tests/tools/make_profiles.py" . || exit 1
for file in raw-*.profraw indexed-*.profdata; do
    version=${file#*-} version=${version%%[-.]*} expected=expected readers=""
    case $file in
    raw-*) [ "$version" -ge 9 ] && expected="expected-bits" ;;
    *) [ "$version" -ge 11 ] && expected="expected-bits" ;;
    esac
    [[ $file == indexed-* ]] && [ "$version" -lt 3 ] && expected="expected-plain"
    { as_text "$file" && diff "$expected.proftext" out.proftext && like_peers "$file"; } >out 2>&1
    verdict "$file: what it was made of${readers:+, as llvm-profdata$readers}" $?
done

# ---- Counters alone, and the programs that say what of ----------------------------

python3 "$TOP/tests/tools/make_correlated.py" . || exit 1
# LLVM's tools read one version each, and no records of a big-endian program's section.
for profile in *-binary.profraw *-dwarf?.profraw *-pe.profraw; do
    program=$(ls "${profile%.profraw}".{elf,exe,dSYM} 2>/dev/null) llvm="" from=--debug-info
    case $profile in
    8-*) llvm=16 ;;
    10-*-big-binary*) ;;
    10-*) llvm=19 ;;
    esac
    [[ $profile == *dwarf* ]] || from=--binary-file
    command -v "llvm-profdata-$llvm" >/dev/null || llvm=""
    {
        "$ASSAY" cover merge --text -o - "$program" "$profile" >out.proftext 2>err &&
            diff correlated.proftext out.proftext && { [ -z "$llvm" ] ||
            { "llvm-profdata-$llvm" merge "$from=$program" -text -o peer.proftext "$profile" &&
                diff peer.proftext out.proftext; }; }
    } >out 2>&1
    verdict "$program: its profile counts what it says${llvm:+, as llvm-profdata-$llvm}" $?
done

# ---- Coverage mappings ----------------------------------------------------------

python3 "$TOP/tests/tools/make_mappings.py" . || exit 1
for llvm in $peers; do
    "llvm-profdata-$llvm" merge -o "counts.$llvm" counts.proftext
done
# The lines of an object or a test form are those it was made of, and those that any
# llvm-cov finds which reads it.
same_lines() {
    "$ASSAY" cover export --llvm-rules "$1" counts.proftext 2>err | grep -E '^(SF|DA):' >lines.ours
    diff "$2" lines.ours || return 1
    local llvm
    for llvm in $peers; do
        "llvm-cov-$llvm" export -format=lcov "$1" -instr-profile "counts.$llvm" 2>/dev/null |
            grep -E '^(SF|DA):' >lines.theirs || continue
        readers="$readers $llvm"
        diff lines.theirs lines.ours || return 1
    done
}
for file in mapping-*; do
    version=${file#*-} version=${version%%-*} lines="lines-gaps" readers=""
    [ "$version" -lt 3 ] && lines="lines-plain"
    same_lines "$file" "$lines" >out 2>&1
    verdict "$file: the lines it was made of${readers:+, as llvm-cov$readers}" $?
done
check "an 8th version is refused, with what reads it" python3 - "$ASSAY" <<'PY'
import subprocess, sys
data = bytearray(open("mapping-7-64-little.o", "rb").read())
data[64 + 12] = 7
open("mapping-8.o", "wb").write(data)
got = subprocess.run([sys.argv[1], "cover", "report", "mapping-8.o", "counts.proftext"],
                     capture_output=True, text=True)
assert got.returncode == 1 and "version 8" in got.stderr and "llvm-cov export" in got.stderr, got
PY

# ---- What compilers write ------------------------------------------------------

# variant LABEL LLVM FLAGS…: a program built with them, run, and read as its LLVM does.
variant() {
    local label=$1 llvm=$2
    shift 2
    if ! "clang-$llvm" -w -O1 "$@" "$TOP/tests/programs/cover_values.c" -o prog 2>build.log; then
        skip "$label: clang-$llvm" "it does not build that"
        return
    fi
    rm -f prog.profraw
    LLVM_PROFILE_FILE=prog.profraw ./prog 10 >/dev/null
    "llvm-profdata-$llvm" merge -text -o theirs.proftext prog.profraw
    { as_text prog.profraw && diff theirs.proftext out.proftext; } >out 2>&1
    verdict "$label: clang-$llvm's raw profile as llvm-profdata-$llvm reads it" $?
    "llvm-profdata-$llvm" merge -o prog.profdata prog.profraw
    { as_text prog.profdata && diff theirs.proftext out.proftext; } >out 2>&1
    verdict "$label: and its indexed one" $?
    { as_text theirs.proftext && diff theirs.proftext out.proftext; } >out 2>&1
    verdict "$label: and its text" $?
}

# correlated LABEL LLVM MODE FLAGS…: the same where the program is needed too.
correlated() {
    local label=$1 llvm=$2 mode=$3
    shift 3
    local flag="-profile-correlate=$mode" from=--debug-info
    [ "$llvm" -lt 19 ] && flag=-debug-info-correlate
    [ "$mode" = binary ] && from=--binary-file
    if ! "clang-$llvm" -w -g -O1 "$@" -mllvm "$flag" "$TOP/tests/programs/cover_jumps.c" -o prog \
        2>build.log; then
        skip "$label, $mode: clang-$llvm" "it does not build that"
        return
    fi
    rm -f prog.profraw
    LLVM_PROFILE_FILE=prog.profraw ./prog 3 >/dev/null
    "llvm-profdata-$llvm" merge "$from=prog" -text -o theirs.proftext prog.profraw 2>peer.log
    {
        [ -s theirs.proftext ] && rm -f out.proftext &&
            "$ASSAY" cover merge -o out.proftext prog.profraw prog && diff theirs.proftext out.proftext
    } >out 2>&1
    verdict "$label, $mode: clang-$llvm's counters alone as llvm-profdata-$llvm reads them" $?
}

no_values="-mllvm -disable-vp=true" # clang crashes on them
# shellcheck disable=SC2086 # two words
for llvm in 16 19 22; do
    command -v "clang-$llvm" "llvm-profdata-$llvm" >/dev/null || continue
    correlated "IR" "$llvm" debug-info -fprofile-generate $no_values
    [ "$llvm" -lt 19 ] && continue
    correlated "front end" "$llvm" binary -fprofile-instr-generate
    correlated "front end" "$llvm" debug-info -fprofile-instr-generate
    [ "$llvm" = 19 ] || continue
    correlated "sections collected" "$llvm" binary -fprofile-instr-generate -ffunction-sections \
        -fdata-sections -Wl,--gc-sections
    correlated "sections collected" "$llvm" debug-info -fprofile-instr-generate \
        -ffunction-sections -fdata-sections -Wl,--gc-sections -gdwarf-4 -gz
    correlated "temporal" "$llvm" debug-info -fprofile-generate $no_values \
        -mllvm -pgo-temporal-instrumentation
    correlated "byte coverage" "$llvm" binary -fprofile-generate $no_values \
        -mllvm -pgo-block-coverage
    correlated "entry only" "$llvm" debug-info -fprofile-generate $no_values \
        -mllvm -pgo-function-entry-coverage
done

for llvm in 16 19 22; do
    command -v "clang-$llvm" "llvm-profdata-$llvm" >/dev/null || continue
    variant "IR" "$llvm" -fprofile-generate
    variant "context-sensitive IR" "$llvm" -fcs-profile-generate
    variant "entry first" "$llvm" -fprofile-generate -mllvm -pgo-instrument-entry
    variant "front end" "$llvm" -fprofile-instr-generate
    variant "front end, 32-bit" "$llvm" -fprofile-instr-generate -m32
    [ "$llvm" -lt 19 ] && continue
    variant "function entry only" "$llvm" -fprofile-generate -mllvm -pgo-function-entry-coverage
    variant "byte coverage" "$llvm" -fprofile-generate -mllvm -pgo-block-coverage
    variant "temporal" "$llvm" -fprofile-generate -mllvm -pgo-temporal-instrumentation
    variant "temporal, byte coverage" "$llvm" -fprofile-generate \
        -mllvm -pgo-temporal-instrumentation -mllvm -pgo-block-coverage
done

# Clangs of LLVM 20, 21 and 22: Zig's. The runtime is that of clang 19, which writes the same raw version.
for llvm in 20 21 22; do
    zig=$TOP/build/readers/zig$llvm/bin/python # tools/foreign-readers --all installs it
    if [ -x "$zig" ] && command -v clang-19 llvm-cov-19 >/dev/null; then
        for flag in -fcoverage-mapping -fcoverage-mcdc; do
            for program in cover_jumps cover_values; do
                ZIG_GLOBAL_CACHE_DIR=$PWD/zig$llvm ZIG_LOCAL_CACHE_DIR=$PWD/zig$llvm "$zig" -m ziglang cc -target x86_64-linux-gnu -c -w -O1 -g \
                    -fprofile-instr-generate -fcoverage-mapping $flag "$TOP/tests/programs/$program.c" -o zig.o 2>build.log &&
                    clang-19 -no-pie zig.o -fprofile-instr-generate -o zigged 2>>build.log &&
                    LLVM_PROFILE_FILE=zigged.profraw ./zigged 3 >/dev/null && llvm-profdata-19 merge -o zigged.profdata zigged.profraw &&
                    llvm-cov-19 export -summary-only zigged -instr-profile zigged.profdata >theirs.json &&
                    "$ASSAY" cover report --llvm-rules --json zigged zigged.profraw >ours.json && python3 - theirs.json ours.json <<'PY' >out 2>&1
import json
import sys

theirs = json.load(open(sys.argv[1]))["data"][0]["totals"]
ours = json.load(open(sys.argv[2]))["total"]
for mine, other in (("lines", "lines"), ("functions", "functions"), ("regions", "regions"), ("branches", "branches"), ("conditions", "mcdc")):
    if mine in ours or theirs[other]["count"]:
        assert (ours[mine]["count"], ours[mine]["covered"]) == (theirs[other]["count"], theirs[other]["covered"]), (mine, ours, theirs)
assert ours["lines"]["covered"] > 5
PY
                verdict "clang $llvm, $program, $flag: totals as llvm-cov-19 has them" $?
            done
        done
    else
        skip "clang $llvm" "no Zig or clang-19: tools/foreign-readers --all"
    fi
done

# ---- Temporal traces -------------------------------------------------------------

# Programs whose runs call functions in different order; more than the 100 that a profile holds.
if clang-19 -w -O1 -fprofile-generate -mllvm -pgo-temporal-instrumentation "$TOP/tests/programs/cover_order.c" -o order 2>build.log; then
    for word in ab ba b; do LLVM_PROFILE_FILE=$word.profraw ./order $word; done
    inputs=(ab.profraw "--weighted-input=5,ba.profraw" "--weighted-input=2,b.profraw")
    llvm-profdata-19 merge -j 1 -text -o theirs.proftext "${inputs[@]}" && llvm-profdata-19 merge -j 1 -o theirs.profdata "${inputs[@]}"
    "$ASSAY" cover merge -f -o ours.proftext "${inputs[@]}" 2>err && grep -q '^5$' ours.proftext && cmp theirs.proftext ours.proftext
    verdict "traces of several runs with their weights as llvm-profdata-19 has them" $?
    "$ASSAY" cover merge -f -o ours.profdata theirs.proftext --weighted-input 3,theirs.profdata 2>err &&
        llvm-profdata-19 merge -j 1 -text -o theirs2.proftext theirs.proftext --weighted-input=3,theirs.profdata &&
        llvm-profdata-19 merge -j 1 -text -o ours2.proftext ours.profdata && cmp theirs2.proftext ours2.proftext
    verdict "traces of text and indexed profiles go into an indexed one, which llvm-profdata-19 reads" $?
    llvm-profdata-19 order ours.profdata >ours.order && llvm-profdata-19 merge -j 1 -o theirs2.profdata theirs2.proftext &&
        llvm-profdata-19 order theirs2.profdata | cmp - ours.order
    verdict "and places functions by it" $?
    mkdir -p runs && for n in $(seq 130); do ln ab.profraw "runs/$n.profraw"; done
    "$ASSAY" cover merge -f -o many.profdata runs 2>err && llvm-profdata-19 show --temporal-profile-traces many.profdata >show &&
        grep -q 'samples=100 seen=130' show && [ "$(grep -c 'count=4' show)" = 100 ]
    verdict "of 130 runs a profile holds 100" $?
    for threads in 1 2; do "$ASSAY" cover merge -f -j $threads -o threads$threads.profdata ab.profraw ba.profraw b.profraw; done 2>err
    cmp threads1.profdata threads2.profdata
    verdict "the same with two threads" $?
else
    skip "temporal traces" "clang-19 does not build them"
fi
printf '\x81rforpm\xff\x04\0\0\0\0\0\0\0' >memory.profraw
"$ASSAY" cover merge -o memory.profdata memory.profraw 2>err
[ $? = 1 ] && grep -q 'is a raw memory profile' err && grep -q '^hint: llvm-profdata' err
verdict "a memory profile is refused by name" $?
if command -v clang-22 llvm-profdata-22 >/dev/null; then
    variant "loop entries" 22 -fprofile-generate -mllvm -pgo-instrument-loop-entries
fi
mkdir -p formats && cd formats || exit 1
check "formats lists what the readers take and the writers write" \
    python3 "$TOP/tests/e2e/lib/cover_formats.py" "$ASSAY"
finish
