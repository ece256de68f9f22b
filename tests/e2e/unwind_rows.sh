#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Unwind tables of this machine's libraries, row by row against readelf.
# beside others: 4 s
set -u
# shellcheck source=tests/e2e/lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
command -v readelf >/dev/null || skip_all "readelf is not installed"
command -v python3 >/dev/null || skip_all "python3 is not installed"

compare() { # NAME FILE
    if [ ! -f "$2" ]; then
        skip "$1" "$2 is not installed"
    else
        check "$1" "$TOP/tests/e2e/lib/compare_unwind.py" "$TOOLS/unwind_rows" "$2"
    fi
}

lib=/usr/lib/x86_64-linux-gnu
compare "the C library" "$lib/libc.so.6"
compare "the loader" /lib64/ld-linux-x86-64.so.2
compare "the C++ library" "$lib/libstdc++.so.6"
compare "the compiler's own library" "$lib/libgcc_s.so.1"
compare "assembly that keeps its CFA in odd registers" "$lib/libcrypto.so.3"
compare "assembly that mixes expressions and registers" "$lib/libgcrypt.so.20"
compare "mathematics" "$lib/libm.so.6"
compare "the C library of aarch64" /usr/aarch64-linux-gnu/lib/libc.so.6

# Entries in .debug_frame only, as -fno-asynchronous-unwind-tables leaves them.
if cc=$(compiler gcc); then
    cat >plain.c <<'C'
int puts(const char *);
int twice(const char *s) { return puts(s) + puts(s); }
int main(void) { return twice("x") < 0; }
C
    "$cc" -O2 -g -fno-asynchronous-unwind-tables plain.c -o plain
    compare "a program with .debug_frame" ./plain
    "$cc" -O2 -g -gz=zlib -fno-asynchronous-unwind-tables plain.c -o packed
    # readelf does not unpack it here, but the rows are those of the other one.
    for program in plain packed; do
        seq 4096 4700 | awk '{ printf "%x\n", $1 }' |
            "$TOOLS/unwind_rows" "$program" >"$program.rows" 2>&1
    done
    check "a program with a compressed .debug_frame" diff plain.rows packed.rows
fi
finish
