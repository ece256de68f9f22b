#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# assay heap of a program that starts 10,000 threads, 100 at a time.
# shellcheck source=../e2e/lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
gcc -g -O0 -fno-builtin -pthread -o trouble "$TOP/tests/programs/heap_trouble.c" -ldl 2>gcc.log || { cat gcc.log; exit 1; }
"$ASSAY" heap -q -f -o heap.assay -- ./trouble threads 10000 || exit 1
"$ASSAY" export -f json --force -o heap.json heap.assay
every() { [ "$("$TOP/tests/e2e/lib/heap_values.py" 'blocks allocated' in_thread <heap.json)" = 10000 ] && [ "$("$TOP/tests/e2e/lib/heap_values.py" 'blocks freed by another thread' in_thread <heap.json)" = 10000 ]; }
check 'each block of 10,000 threads counts' every
finish
