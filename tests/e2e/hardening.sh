#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What the compiler and the linker put into the release and into the static file against
# overruns: tables of addresses that are read-only after the start, checked stacks and
# buffers, marked targets of indirect calls.
# beside others: 4 s
# shellcheck source=lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
[[ $BUILD == */release ]] || skip_all 'not the release build'

segment() { readelf -lW "$1" | awk -v name="$2" '$1 == name { print $3, $6, $7 }'; }
# The tables of addresses (.got, .got.plt) lie in the part that becomes read-only.
addresses_are_read_only() { # PROGRAM
    local start size rest
    read -r start size rest < <(segment "$1" GNU_RELRO)
    [ -n "$start" ] || { echo 'no GNU_RELRO segment'; return 1; }
    readelf -SW "$1" | sed 's/^ *\[ *[0-9]*\] *//' |
        awk '$1 ~ /^\.(got|got\.plt|data\.rel\.ro|init_array)$/ { print $1, "0x" $3, "0x" $5 }' |
        while read -r name at length; do
            [ $((at)) -ge $((start)) ] && [ $((at + length)) -le $((start + size)) ] ||
                { echo "$name at $at is outside of GNU_RELRO ($start, $size)"; exit 1; }
        done || return 1
    [ "$2" = static ] || readelf -dW "$1" | grep -q BIND_NOW || { echo 'not -z now'; return 1; }
}
stack_is_data() { # PROGRAM
    [[ $(segment "$1" GNU_STACK) == *' RW' ]] && ! readelf -lW "$1" | grep -qE 'LOAD.* RWE '
}
# Our own objects: the libraries' archives come with checks of their own.
checks_of() { nm -A "$1"/src/libassay.a.p/*.o | awk '$2 == "U" { print $3 }' | sort | uniq -c; }
stacks_are_checked() { # BUILD
    [ "$(checks_of "$1" | awk '$2 == "__stack_chk_fail" { print $1 }')" -gt 50 ] || { checks_of "$1"; false; }
}
fortified() { # BUILD
    local level=2
    if echo '#include <features.h>
        #if __USE_FORTIFY_LEVEL < 3
        #error
        #endif' | ${CC:-cc} -Werror -O2 -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3 -fsyntax-only -x c -; then level=3; fi
    # The option of each compiler call, and calls of the checking functions that came of it.
    python3 - "$1/compile_commands.json" "-D_FORTIFY_SOURCE=$level" <<'P' || return 1
import json, sys
commands = json.load(open(sys.argv[1]))
without = [c["file"] for c in commands if sys.argv[2] not in c["command"].split()]
print("\n".join(without[:10]))
sys.exit(1 if without or not commands else 0)
P
    checks_of "$1" | grep -q '__vsnprintf_chk' || { echo 'no call of __vsnprintf_chk'; return 1; }
}
# Each function that a table of commands or another file can call begins with the mark.
targets_are_marked() { # BUILD
    local mark objects
    case $(uname -m) in
    x86_64) mark='endbr64' ;;
    aarch64) mark='(bti|paciasp)' ;;
    esac
    objects=$(ls "$1"/src/assay.p/*.o "$1"/src/libassay.a.p/*.o)
    # shellcheck disable=SC2086
    objdump -d --no-show-raw-insn $objects | awk -v mark="$mark" '
        /^[0-9a-f]+ <[a-z_0-9]+>:$/ { name = $2; next }
        name != "" { all++; if ($0 ~ mark) marked++; name = "" }
        END { print marked + 0, "of", all, "functions"; exit marked * 2 < all }'
    objdump -d --no-show-raw-insn --disassemble=main "$1/src/assay" |
        awk -v mark="$mark" '/<main>:$/ { getline; found = $0 ~ mark } END { exit !found }'
}
build=$TOP/build/release
for name in release static; do
    program=$build/src/assay
    [ "$name" = static ] && program=$build/src/assay-static
    if [ ! -x "$program" ]; then
        skip "$name" "no $program: run make $name"
        continue
    fi
    check "$name: addresses are read-only after the start" addresses_are_read_only "$program" "$name"
    check "$name: neither the stack nor data can be executed" stack_is_data "$program"
    check "$name: stacks are checked" stacks_are_checked "$build"
    check "$name: buffers are checked" fortified "$build"
    check "$name: targets of indirect calls are marked" targets_are_marked "$build"
done
finish
