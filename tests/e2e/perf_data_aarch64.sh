#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A perf.data of an aarch64 machine is unwound on this one. TAP.
set -u
. "$TOP/tests/e2e/lib/common.sh"
prefix=aarch64-linux-gnu
command -v $prefix-gcc >/dev/null || skip_all "no cross-compiler for aarch64"
export XDG_CACHE_HOME=$PWD/cache DEBUGINFOD_URLS=
cat >board.c <<'C'
volatile int sink;
__attribute__((noinline)) int leaf(int n) { return n * 3 + sink; }
__attribute__((noinline)) int middle(int n) { return leaf(n + 1) + sink; }
int main(void) { return middle(2) + sink; }
C
$prefix-gcc -g -O1 -fno-optimize-sibling-calls -o board board.c 2>build.log ||
    skip_all "the cross-compiler has no libc"
python3 "$TOP/tests/tools/make_aarch64_perf_data.py" $prefix-objdump board board.data || exit 1
"$ASSAY" export board.data --format folded >folded 2>export.log
cat export.log >>folded
check "its stack goes through both callers" grep -q 'main;middle;leaf' folded
"$ASSAY" report board.data --json >report.json 2>report.log
check "its lines are named" grep -q 'board.c' report.json
mkdir -p "root$PWD" && mv board "root$PWD/board"
"$ASSAY" export board.data --format folded --sysroot root >folded 2>&1
check "the board's files may lie below --sysroot" grep -q 'main;middle;leaf' folded
finish
