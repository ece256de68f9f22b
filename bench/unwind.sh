#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Unwind tables: ns for a row built, bytes for a row, ns for a frame walked.
set -eu
cc -O2 -std=gnu17 -D_GNU_SOURCE -I"$TOP/src" -I"$TOP/tests" -c \
    -fomit-frame-pointer "$TOP/bench/unwind.c" -o "$SCRATCH/unwind.o"
cc "$SCRATCH/unwind.o" "$TOP/build/release/src/libassay.a" -lzstd -ldeflate -llzma -liberty -lm \
    -lpthread -o "$SCRATCH/unwind"
files=()
for file in /lib/x86_64-linux-gnu/libc.so.6 /usr/lib/x86_64-linux-gnu/libstdc++.so.6 \
    /usr/lib/x86_64-linux-gnu/libLLVM*.so*; do
    [ -f "$file" ] && ! [ -L "$file" ] && files+=("$file")
    [ -L "$file" ] && [[ $file != *LLVM* ]] && files+=("$(readlink -f "$file")")
done
"$SCRATCH/unwind" "${files[@]}" | awk '
    $1 == "build" {
        n = split($2, part, "/")
        printf "| unwind table of %s, %d rows: ns/row | libdwarf ~650 | ≤ 100 | %s (%s ms, %s B/row, %s × .eh_frame) | `make bench BENCH=unwind` |\n",
            part[n], $4, $10, $8, $12, $14
    }
    $1 == "walk" {
        printf "| unwind, %s frames/stack, ns/frame warm | backtrace() %s | ≤ 30 | %s (%s %% complete) | `make bench BENCH=unwind` |\n", $5, $17, $9, $7
        printf "| unwind, rule cache empty, ns/frame | backtrace() %s | ≤ 100 | %s | `make bench BENCH=unwind` |\n", $17, $11
        made = "`make bench BENCH=unwind`"
        printf "| unwind, cold: rule cache empty, and all CPU caches evicted (tables, copied stack, the code itself): ns for each frame after the first | | ≤ 100 | %s; the first, with starting and the code, %s ns; whole walk by its frames %s | %s |\n", $22, $19, $13, made
        printf "| the same with the copied stack written just before, as the drain does: ns for each frame after the first | | ≤ 100 | %s; the first %s ns; whole walk by its frames %s | %s |\n", $23, $20, $15, made
    }'
