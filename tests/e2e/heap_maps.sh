#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# assay heap --mmap: mappings of the program by stack; and what malloc_usable_size changes.
# beside others: 3 s
# shellcheck source=lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
gcc -g -O1 -fno-builtin -o maps "$TOP/tests/programs/heap_maps.c" 2>gcc.log || { cat gcc.log; exit 1; }
"$ASSAY" heap -q -f --mmap -o maps.assay -- ./maps || { echo "status $?"; exit 1; }
"$ASSAY" export -f json maps.assay -o maps.json
# is FUNCTION MAPPINGS PAGES MOST_PAGES PAGES_AT_END
is() {
    local metric value got=$1 unit=1
    for metric in mappings 'bytes mapped' 'most bytes mapped' 'bytes mapped at end'; do
        value=$("$TOP/tests/e2e/lib/heap_values.py" "$metric" "$1" <maps.json)
        got="$got $((value / unit))"
        unit=4096
    done
    [ "$got" = "$*" ] || { echo "$got, not $*"; return 1; }
}
check 'a mapping that stays' is stays 1 10 10 10
check 'mappings that go' is goes 50 150 3 0
check 'parts of a mapping that go' is shrinks 1 8 8 4
check 'mremap: the mapping is of the site that made it' is moves 2 24 20 20
check 'MAP_FIXED replaces what was there' is replaces 2 8 8 6
check 'sbrk' is breaks 1 5 5 3
check 'calls that fail count nothing' is fails 0 0 0 0
check 'a child has its own' is in_child 1 1 1 1
usable() { [ "$("$TOP/tests/e2e/lib/heap_values.py" 'bytes at end' uses_all <maps.json)" = 100 ] && [ "$("$TOP/tests/e2e/lib/heap_values.py" 'bytes allocated' stays <maps.json)" = 0 ]; }
check 'malloc_usable_size: a block has the size that was asked for; a mapping is no block' usable
line() { "$ASSAY" report --by line -e 'bytes mapped at end' maps.assay | grep -q 'heap_maps.c:[0-9]'; }
check 'mappings by line' line
without() { "$ASSAY" heap -q -f -o none.assay -- ./maps && ! "$ASSAY" export -f json none.assay -o - | grep -q 'bytes mapped'; }
check 'without --mmap there are no such metrics' without
finish
