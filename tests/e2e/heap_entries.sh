#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# assay heap of programs with an allocator linked in, and of pools: functions that are hooked at their entries.
# beside others: 7 s
# shellcheck source=lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
[ "$(uname -m)" = x86_64 ] || { echo 'entries are hooked on x86-64 only'; exit 77; }
programs=$TOP/tests/programs
record() { # STATUS OPTION… -- PROGRAM
    local status wanted=$1
    "${@: -1}" >plain.out 2>plain.err
    shift
    "$ASSAY" heap -f -o heap.assay "$@" >out 2>err </dev/null
    status=$?
    [ $status -eq "$wanted" ] && cmp plain.out out && "$ASSAY" export -f json --force -o heap.json heap.assay || { echo "status $status"; cat err; return 1; }
}
is() { # VALUE METRIC FUNCTION
    local got
    got=$("$TOP/tests/e2e/lib/heap_values.py" "$2" "$3" <heap.json)
    [ "$got" = "$1" ] || { echo "$2 of $3 is $got, not $1"; return 1; }
}

pool() { # COMPILER OPTION…
    "$@" -g -o pool "$programs/heap_pool.c" && record 0 --alloc-fn pool_alloc:2 --free-fn pool_free:2 -- ./pool &&
        is 1000 'blocks allocated' user && is 40000 'bytes allocated' user && is 900 'blocks freed' user && is 4000 'bytes at end' user &&
        is 5 'blocks allocated' arrays && is 1500 'bytes at end' arrays && is 900 'blocks freed in reverse order' user
}
for options in -O0 -O1 '-O2 -fno-builtin' '-O2 -fcf-protection -no-pie' '-O2 -fno-plt -fstack-protector-all'; do
    # shellcheck disable=SC2086 # several options
    check "a pool: gcc $options" pool gcc $options
done
if command -v clang-14 >/dev/null; then
    check 'a pool: clang -O2' pool clang-14 -O2
fi
product() { record 0 --alloc-fn 'pool_array:1*2' -- ./pool && is 5 'blocks allocated' arrays && is 1500 'bytes allocated' arrays && is 1 'blocks allocated' user; } # the chunk
check "a size that is a product; without the pool's own function its blocks do not count" product
gcc -O3 -o copied "$programs/heap_pool.c"
check 'a function of which there are copies is refused' fails 'has made another copy' "$ASSAY" heap -f -o h.assay --alloc-fn pool_alloc:2 -- ./copied
check 'a function that is not there is named' fails "no function 'nothing'" "$ASSAY" heap -f -o h.assay --alloc-fn nothing -- ./pool
check 'a number that is no argument is refused' fails 'is not of the form FUNCTION:ARGUMENT' "$ASSAY" heap -f -o h.assay --alloc-fn pool_alloc:9 -- ./pool
printf '.globl tiny\n.type tiny, @function\ntiny: ret\n.size tiny, . - tiny\n.section .note.GNU-stack,"",@progbits\n' >tiny.s
printf 'void *tiny(void);\nint main(void) { tiny(); return 0; }\n' >calls.c
gcc -o tiny calls.c tiny.s && check 'a function without room for a jump is refused with the reason' fails 'it is too short' "$ASSAY" heap -f -o h.assay --alloc-fn tiny -- ./tiny

# Each allocator gives the truths that glibc's malloc gives (jemalloc's pvalloc crashes without assay, too).
sed 's/pvalloc/valloc/' "$programs/heap_truth.c" >truth.c
exact() { # STATUS [ARGUMENT]
    is 7 'blocks allocated' leaks && is 700 'bytes at end' leaks && is 5000 'blocks allocated' churns && is 240000 'bytes allocated' churns &&
        is 0 'bytes at end' churns && is 21 'blocks allocated' grows && is 20 reallocations grows && is 10000000 'bytes at peak' peaks &&
        is 0 'blocks at end' peaks && is 10 'blocks allocated' all_kinds && is 0 'blocks at end' all_kinds &&
        is 3 'blocks freed by another thread' gives
}
linked() { record 3 -- "./$1" && exact; }
for library in jemalloc tcmalloc_minimal; do
    archive=$(gcc -print-file-name=lib$library.a)
    if [ -e "$archive" ] && g++ -x c -g -O1 -fno-builtin -pthread -o $library truth.c -x none -Wl,--whole-archive "$archive" -Wl,--no-whole-archive -lm -ldl 2>gcc.log; then
        check "$library linked in: exact" linked $library
    else
        skip "$library" "no lib$library.a to link here"
    fi
done
# An allocator with names of its own only, beside libc's.
cat >mi.c <<'C'
#include <malloc.h>
#include <stdlib.h>
__attribute__((noinline)) void *mi_malloc(size_t size) { void *block = malloc(size + 16); return block ? (char *)block + 16 : NULL; }
__attribute__((noinline)) void mi_free(void *block) { if (block) free((char *)block - 16); }
__attribute__((noinline)) static void uses(void) { for (int i = 0; i < 10; i++) { void *volatile block = mi_malloc(50); if (i) mi_free(block); } }
int main(void) { uses(); free(malloc(1)); return 0; }
C
mimalloc() { gcc -g -O1 -fno-builtin -o mi mi.c && record 0 -- ./mi && is 10 'blocks allocated' uses && is 500 'bytes allocated' uses && is 50 'bytes at end' uses && "$ASSAY" report --notes heap.assay | grep -q mimalloc; }
# record --heap hooks them, too.
with_time() {
    "$ASSAY" record -q --heap -f -o heap.assay -- ./mi && "$ASSAY" export -f json --force -o heap.json heap.assay && is 10 'blocks allocated' uses && is 500 'bytes allocated' uses &&
        "$ASSAY" report --notes heap.assay | grep -q mimalloc
}
check 'an allocator beside libc: its blocks count, and what it takes from libc does not count again' mimalloc
sampled() { record 0 --sample 1 --alloc-fn pool_alloc:2 --free-fn pool_free:2 -- ./pool && is 1000 'blocks allocated' user && is 4000 'bytes at end' user; }
gcc -g -O2 -o pool "$programs/heap_pool.c"
check 'with --sample' sampled
check 'record --heap hooks the allocator of the program, too' with_time
finish
