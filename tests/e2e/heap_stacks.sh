#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The different stacks that allocate are as many as libunwind sees in a second run of the program.
# beside others: 5 s
# shellcheck source=lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
gcc -O2 -fno-builtin -fPIC -shared -o peer.so "$TOP/tests/programs/heap_libunwind.c" -lunwind 2>gcc.log ||
    skip_all 'needs libunwind-dev'
gcc -O2 -g -pthread -o deep "$TOP/bench/programs/heap_churn.c"
gcc -O0 -g -pthread -o deep_O0 "$TOP/bench/programs/heap_churn.c"
gcc -O2 -g -fno-omit-frame-pointer -o csv "$TOP/bench/programs/heap_csv.c"

# A compiler is no program for two runs: some of its stacks depend on the addresses of its blocks.
# same LEAST COMMAND…: as many stacks, and at least LEAST.
same() {
    local least=$1 theirs ours
    shift
    STACKS_FILE=count LD_PRELOAD=$PWD/peer.so "$@" >/dev/null 2>&1
    theirs=$(cat count)
    "$ASSAY" heap -q -f -o stacks.assay -- "$@" >out 2>&1 || { cat out; return 1; }
    ours=$("$ASSAY" report --json stacks.assay | python3 -c 'import json, sys; print(sum(p["stacks"] for p in json.load(sys.stdin)["places"]))')
    echo "libunwind $theirs, assay $ours"
    [ "$theirs" = "$ours" ] && [ "$ours" -ge "$least" ]
}
check 'deep, optimised' same 1500 ./deep 1 30000
check 'deep, with frame pointers' same 1500 ./deep_O0 1 30000
check 'a row after another' same 2 ./csv 200
command -v sqlite3 >/dev/null && check 'a database' same 50 sqlite3 :memory: 'create table t(a); select count(*) from t'
# together PROGRAM ARGUMENT…: as many in one run, in which libunwind looks at the same calls.
together() {
    local theirs ours
    # shellcheck disable=SC2016 # the recorded shell has the variable
    "$ASSAY" heap -q -f -o stacks.assay -- sh -c 'STACKS_FILE=count LD_PRELOAD=$LD_PRELOAD:$0 exec "$@"' "$PWD/peer.so" "$@" >out 2>&1 || { cat out; return 1; }
    theirs=$(cat count)
    ours=$("$ASSAY" export -f json stacks.assay -o - | python3 -c '
import json, sys
d = json.load(sys.stdin)
text = d["strings"]
blocks = d["samples"]["values"][[text[i] for i in d["metrics"]["name"]].index("blocks allocated")]
process = [d["threads"]["process"][t] for t in d["samples"]["thread"]]
print(sum(1 for n, p in zip(blocks, process) if n and text[d["processes"]["name"][p]] == sys.argv[1]))' "$(basename "$1")")
    echo "libunwind $theirs, assay $ours"
    [ "$theirs" = "$ours" ] && [ "$ours" -ge 1000 ]
}
cc1=$(gcc -print-prog-name=cc1)
if [ -x "$cc1" ]; then
    gcc -E -o csv.i "$TOP/bench/programs/heap_csv.c"
    check 'a compiler, in one run' together "$cc1" -O1 -quiet -o /dev/null csv.i
fi
# Such a program has jumps to malloc and free, by which dlsym knows them.
cat >fixed.c <<'C'
#include <stdlib.h>
__attribute__((noipa)) static void run(void *(*take)(size_t), void (*drop)(void *))
{
    for (int i = 0; i < 100; i++)
        drop(take(10));
}
int main(void)
{
    run(malloc, free);
    return 7;
}
C
gcc -O2 -no-pie -fno-pie -fno-builtin -o fixed fixed.c
fixed() {
    timeout 20 "$ASSAY" heap -q -f -o fixed.assay -- ./fixed
    [ $? = 7 ] && "$ASSAY" report fixed.assay | grep -q 'total 1.00 kB in 100 blocks'
}
check 'an executable with fixed addresses that takes the addresses of malloc and free' fixed
finish
