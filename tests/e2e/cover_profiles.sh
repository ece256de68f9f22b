#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Indexed and text profiles as llvm-profdata has them: what is kept, what is refused, and nothing that
# we write makes an LLVM fail.
# beside others: 8 s
set -u
cd "$SCRATCH" || exit 1
# shellcheck source=lib/cover.sh
. "$TOP/tests/e2e/lib/cover.sh"
status_of() { "$ASSAY" cover merge -f --failure-mode any -o out.profdata "$@" >out 2>err; echo $?; }
refused() { # refused TEXT INPUT...
    local text=$1
    shift
    [ "$(status_of "$@")" -eq 1 ] && grep -q -- "$text" err
}

cat >one.c <<'END'
int main(int argc, char **argv)
{
    (void)argv;
    return argc > 5;
}
END
sed 's/argc > 5/argc > 7 ? 1 : 0/' one.c >two.c
for llvm in 14 16 19; do
    build="clang-$llvm -fprofile-instr-generate -fcoverage-mapping -Wl,--build-id=sha1"
    if ! $build one.c -o one 2>build.log || ! $build two.c -o two; then
        skip "LLVM $llvm" "no clang-$llvm with its profile runtime"
        continue
    fi
    for n in 1 2 3; do LLVM_PROFILE_FILE=one$n.profraw ./one; done
    LLVM_PROFILE_FILE=two.profraw ./two || exit 1
    ids() { "llvm-profdata-$llvm" show --binary-ids "$@" | sed -n '/^Binary IDs/,$p'; }
    "llvm-profdata-$llvm" merge -o theirs.profdata ./*.profraw
    case $llvm in 14) version=7 ;; 16) version=9 ;; *) version=12 ;; esac
    "$ASSAY" cover merge -f --profdata-version $version -o ours.profdata ./*.profraw
    if [ $llvm -ge 16 ]; then
        check "LLVM $llvm: binary ids are kept" diff <(ids theirs.profdata) <(ids ours.profdata)
        check "LLVM $llvm: there are two" test "$(ids ours.profdata | grep -c '^[0-9a-f]\{40\}$')" -eq 2
        "$ASSAY" cover merge -f --profdata-version $version -o again.profdata ours.profdata one1.profraw
        check "LLVM $llvm: of an indexed profile too" diff <(ids theirs.profdata) <(ids again.profdata)
        "$ASSAY" cover merge -f -j 2 --profdata-version $version -o threads.profdata ./*.profraw
        check "LLVM $llvm: whatever the threads" cmp ours.profdata threads.profdata
    fi
    # Without an option: the counts are read by every LLVM that reads the version, and it is said which do.
    "$ASSAY" cover merge -f -o chosen.profdata ./*.profraw 2>err
    "$ASSAY" cover merge -f --profdata-version 7 -o old.profdata ./*.profraw 2>old.err
    if [ $llvm -lt 18 ]; then
        check "LLVM $llvm: ids and an older reader: said how" grep -q 'LLVM 16 and later; --profdata-version 7' err
    else
        check "LLVM $llvm: nothing is said of older readers" test ! -s err
    fi
    check "LLVM $llvm: ids that are left out are said" grep -q 'version 7 holds no binary ids' old.err
    counts_of() { "llvm-profdata-$1" merge -text -o - "$2"; }
    for reader in 14 15 16 19 22; do
        command -v "llvm-profdata-$reader" >/dev/null || continue
        check "LLVM $llvm: version 7 is read by LLVM $reader" diff <(counts_of $llvm theirs.profdata) <(counts_of $reader old.profdata)
        [ $reader -lt 16 ] || check "LLVM $llvm: version 9 is read by LLVM $reader" \
            diff <(counts_of $llvm theirs.profdata) <(counts_of $reader chosen.profdata)
    done
    # A wrong size of the first binary id: at offset 16 + ids' own place in the raw header.
    python3 - $llvm <<'END'
import struct, sys
data = bytearray(open("one1.profraw", "rb").read())
at = data.index(struct.pack("<Q", 20), 16 * 4)
for name, size in (("zero", 0), ("large", 1 << 40)):
    data[at:at + 8] = struct.pack("<Q", size)
    open(f"id-{name}.profraw", "wb").write(data)
END
    for name in zero large; do
        mv id-$name.profraw id-$name
        check "LLVM $llvm: a binary id of a wrong size ($name) is refused" refused "binary id" id-$name
        ! "llvm-profdata-$llvm" merge -o x.profdata id-$name 2>/dev/null ||
            echo "# llvm-profdata-$llvm takes it"
    done
    # Texts: as llvm-profdata has them, or refused by both.
    printf ':IR\nf\n1\n1\n5\n' >upper.text
    printf 'f\n1\n2\n18446744073709551614\n3\n' >warm.text
    printf 'f\n1\n2\n18446744073709551615\n4\n' >hot.text
    printf 'f\n1\n1\n18446744073709551000\n' >large.text
    printf 'g\n2\n1\n7\n' >plain.text
    lists="upper.text|warm.text|hot.text|warm.text warm.text|warm.text hot.text|hot.text warm.text|large.text large.text"
    lists+="|plain.text warm.text"
    # LLVM 14 knows no functions that are only hot or warm.
    [ $llvm -ge 16 ] || lists=upper.text
    if [ $llvm -ge 19 ]; then
        # shellcheck disable=SC2016 # as it stands
        printf '%s\n' f 1 1 5 '$0x2' 0x3 4 >bits.text
        lists+="|bits.text"
    fi
    while IFS= read -r list; do
        # shellcheck disable=SC2086 # a list of inputs
        "llvm-profdata-$llvm" merge -text -o want.text $list 2>/dev/null &&
            "$ASSAY" cover merge -f -o got.proftext $list
        check "LLVM $llvm: $list" diff want.text got.proftext
    done < <(tr '|' '\n' <<<"$lists")
    printf 'foo\n1\n0\n' >none.text
    check "LLVM $llvm: a function without counters is refused, with its line" refused "line 3" none.text
    # Counters and their number are decimal; a hash may be hexadecimal.
    for bad in 'f 1 1 0x5' 'f 1 0x1 5' 'f 1 1 -1'; do
        tr ' ' '\n' <<<"$bad" >bad.text
        check "LLVM $llvm: '$bad' is refused by both" test \
            "$("llvm-profdata-$llvm" merge -o x.profdata bad.text >/dev/null 2>&1; echo $?)$("$ASSAY" cover merge -f -o x.profdata bad.text >/dev/null 2>&1; echo $?)" = 11
    done
    check "LLVM $llvm: and the line is quoted" refused "line 4: '-1' is not a counter" bad.text
    check "LLVM $llvm: by LLVM too" test "$("llvm-profdata-$llvm" merge -o x.profdata none.text >/dev/null 2>&1; echo $?)" -ne 0
    # The name with a hash of a context-sensitive profile alone, with another, and with both.
    hash=$("llvm-profdata-$llvm" merge -text one1.profraw | sed -n '/^# Func Hash/{n;p;q}')
    kinds=$((hash | 1 << 60))
    [ $llvm -ge 16 ] || kinds= # LLVM 14 drops it
    for hashes in $kinds $((hash ^ 1)) "$((hash ^ 1)) $((hash | 1 << 60))"; do
        for n in $hashes; do printf 'main\n%u\n1\n7\n' "$n"; done >cs.text
        "llvm-profdata-$llvm" merge -o cs.profdata cs.text &&
            "llvm-cov-$llvm" export -format=lcov one -instr-profile cs.profdata 2>/dev/null |
            grep -E '^(FNDA|DA)' >want.rows
        "$ASSAY" cover export --llvm-rules one cs.profdata 2>/dev/null | grep -E '^(FNDA|DA)' >got.rows
        check "LLVM $llvm: --llvm-rules with the hashes $hashes" diff want.rows got.rows
    done
    # Each byte of an indexed profile, broken: what we still write, LLVM reads.
    "llvm-profdata-$llvm" merge -o base.profdata one1.profraw
    python3 - "$ASSAY" "llvm-profdata-$llvm" $version <<'END' >out 2>&1
import subprocess, sys
assay, llvm, version = sys.argv[1:]
base = open("base.profdata", "rb").read()
taken = bad = 0
for at in range(0, len(base), 23):
    for value in (0, 0xff):
        if base[at] == value:
            continue
        data = bytearray(base)
        data[at] = value
        open("broken.profdata", "wb").write(data)
        ours = subprocess.run([assay, "cover", "merge", "-f", "--profdata-version", version, "-o",
                               "written.profdata", "broken.profdata"], capture_output=True)
        if ours.returncode < 0 or ours.returncode > 1:
            sys.exit(f"offset {at}: status {ours.returncode}")
        if ours.returncode:
            continue
        taken += 1
        theirs = subprocess.run([llvm, "merge", "-o", "x.profdata", "written.profdata"], capture_output=True)
        if theirs.returncode:
            bad += 1
            print(f"offset {at} = {value}: {llvm} refuses what we wrote: {theirs.stderr[-300:]}")
print(taken, "taken")
sys.exit(bad != 0 or taken == 0)
END
    verdict "LLVM $llvm: what is written out of a broken profile is read" $?
done
finish
