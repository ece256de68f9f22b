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

# The text of llvm-profdata, without what is not kept: temporal traces.
without_traces() {
    sed -e '/^:temporal_prof_traces/,/^$/d' "$1"
}

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
    "llvm-profdata-$llvm" merge -text -o theirs prog.profraw
    without_traces theirs >theirs.proftext
    { as_text prog.profraw && diff theirs.proftext out.proftext; } >out 2>&1
    verdict "$label: clang-$llvm's raw profile as llvm-profdata-$llvm reads it" $?
    "llvm-profdata-$llvm" merge -o prog.profdata prog.profraw
    { as_text prog.profdata && diff theirs.proftext out.proftext; } >out 2>&1
    verdict "$label: and its indexed one" $?
    { as_text theirs && diff theirs.proftext out.proftext; } >out 2>&1
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
    "llvm-profdata-$llvm" merge "$from=prog" -text -o theirs prog.profraw 2>peer.log
    without_traces theirs >theirs.proftext
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
