#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The walk and what it needs compile without libc: a signal handler in the
# observed program can use them. Of libc there may be only what compilers put in
# for copies of structs (gcc's manual, "Standards"), which is safe there.
# beside others: 4 s
set -u
# shellcheck source=tests/e2e/lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"

no_libc() { # COMPILER LEVEL
    "$1" -std=gnu17 "-O$2" -ffreestanding -nostdlib -fno-stack-protector -fPIC -I"$TOP/src" -r \
        "$TOP"/src/unwind/{cfi,core,expr}.c -o core.o || return 1
    ! nm -u core.o | grep -vwE 'memcpy|memmove|memset|memcmp'
}

for name in gcc clang; do
    for level in 0 2; do
        if ! cc=$(compiler $name); then
            skip "$name -O$level" "$name is not installed"
        else
            check "$name -O$level needs no function from outside" no_libc "$cc" $level
        fi
    done
done
if cc=$(command -v aarch64-linux-gnu-gcc); then
    check "aarch64's gcc needs no function from outside" no_libc "$cc" 2
fi
finish
