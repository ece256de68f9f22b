#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# assay heap: what a program allocates, exactly, on its source lines; and the program as without it.
# beside others: 10 s
# shellcheck source=lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
gcc -g -O1 -fno-builtin -pthread -o truth "$TOP/tests/programs/heap_truth.c" 2>gcc.log || { cat gcc.log; exit 1; }

# heap_is STATUS ARGUMENT: records it; its output, errors and status are its own.
heap_is() {
    local status
    ./truth $2 >plain.out 2>plain.err
    "$ASSAY" heap -q -f -o heap.assay -- ./truth $2 >out 2>err </dev/null
    status=$?
    [ $status -eq "$1" ] && cmp plain.out out && cmp plain.err err || { echo "status $status"; cat err; return 1; }
}
# value METRIC FUNCTION [SITES]: the sum of the sites with that function among the callers.
value() { "$ASSAY" export -f json heap.assay -o - | "$TOP/tests/e2e/lib/heap_values.py" "$@"; }
is() { # VALUE METRIC FUNCTION
    local got
    got=$(value "$2" "$3")
    [ "$got" = "$1" ] || { echo "$2 of $3 is $got, not $1"; return 1; }
}

check 'the program is as without assay' heap_is 3 ''
truths() {
    is 7 'blocks allocated' leaks && is 700 'bytes at end' leaks && is 700 'bytes at peak' leaks &&
        is 5000 'blocks allocated' churns && is 240000 'bytes allocated' churns && is 0 'bytes at end' churns &&
        is 5000 'short-lived blocks' churns && is 48 'most bytes of the site' churns &&
        is 21 'blocks allocated' grows && is 20 reallocations grows && is 2000 'most bytes of the site' grows &&
        is 10000000 'bytes at peak' peaks && is 10 'blocks at peak' peaks && is 0 'blocks at end' peaks &&
        is 10 'blocks allocated' all_kinds && is 640 'bytes allocated' all_kinds && is 0 'blocks at end' all_kinds &&
        is 3 'blocks freed by another thread' gives && is 3 'blocks freed' gives
}
ways() {
    is 5000 'blocks freed in the same frame' churns && is 0 'blocks freed in the same frame' gives &&
        is 5000 'blocks freed in reverse order' churns && is 1 'blocks freed in reverse order' peaks &&
        is 1900 'bytes grown by realloc' grows && is 5000 'blocks of 32 to 63 bytes' churns &&
        is 10 'blocks of 524288 to 1048575 bytes' peaks && is 45 lifetime peaks
}
check 'how blocks are freed, grow, and how large they are' ways
timed() { [ "$(value 'time in malloc' churns)" -gt 0 ] && [ "$(value 'time in free' churns)" -gt 0 ]; }
check 'the time in malloc and free is estimated' timed
in_bytes() {
    "$ASSAY" heap -q -f --clock bytes -o bytes.assay -- ./truth >/dev/null || [ $? -eq 3 ]
    [ "$("$ASSAY" export -f json bytes.assay -o - | "$TOP/tests/e2e/lib/heap_values.py" lifetime peaks)" = 45000000 ]
}
check 'lifetimes in bytes' in_bytes
sampled() { # BYTES: records samples
    local status
    "$ASSAY" heap -q -f --sample "$1" -o heap.assay -- ./truth >out 2>err </dev/null
    status=$?
    [ $status -eq 3 ] && cmp plain.out out && cmp plain.err err
}
all_chosen() { # a block of 48 bytes is left out once in 10^20 times
    sampled 1 && is 5000 'blocks allocated' churns && is 240000 'bytes allocated' churns && is 0 'bytes at end' churns &&
        is 10 'blocks at peak' peaks && is 7 'blocks at end' leaks && is 0 'variance of blocks allocated' churns &&
        [ "$(value 'short-lived blocks' churns)" -ge 4900 ] # of these the time decides, and an interrupt may come between
}
# Ten standard deviations of the truth, and of what the variance says.
some_chosen() {
    sampled 64 || return 1
    local blocks variance
    blocks=$(value 'blocks allocated' churns) variance=$(value 'variance of blocks allocated' churns)
    echo "$blocks of 5000, variance $variance of 4478"
    [ $(((blocks - 5000) ** 2)) -lt $((100 * 4478)) ] && [ $(((blocks - 5000) ** 2)) -lt $((100 * variance)) ] &&
        [ "$variance" -gt 2000 ] && [ "$variance" -lt 9000 ] && is 0 'blocks at end' churns
}
check 'samples so close that each block is chosen' all_chosen
check 'samples: the estimate and its variance' some_chosen
heap_is 3 ''
check 'blocks, bytes, peak, end, reallocations and lifetimes are exact' truths
lines() {
    local line
    line=$(grep -n 'malloc(100);' "$TOP/tests/programs/heap_truth.c" | head -n 1 | cut -d : -f 1)
    "$ASSAY" report --by line -e 'bytes at end' heap.assay >report && grep -q "heap_truth.c:$line\b" report
}
check 'the line that leaks is named' lines

check 'a fork is a process of its own' heap_is 3 fork
forked() { is 4 'blocks at end' in_child && is 700 "bytes at end" leaks && is 4 "blocks allocated" in_child; }
check 'a child has what it allocated, and its frees of the parent change nothing' forked
check 'exec' heap_is 3 exec
twice() { is 14 'blocks allocated' leaks && is 20000000 'bytes at peak' peaks; }
check 'each program that a process runs is recorded' twice
check 'a program that ends by _exit' heap_is 5 exit
check '… is recorded' truths
check 'a program that is killed' heap_is 137 kill
check '… is recorded' truths
check 'a program whose heap is damaged ends as without assay' heap_is 134 abort
until_then() { is 7 'blocks allocated' leaks && is 600 'bytes at end' leaks && is 10 'blocks at peak' peaks; }
check '… is recorded until then' until_then
check 'a program that closes every descriptor' heap_is 3 close
check '… is recorded' truths
check 'an allocation in a signal handler' heap_is 3 signal
in_handler() { is 1 'blocks allocated' at_signal; }
check '… counts' in_handler

# The same numbers as DHAT's, of the program's own functions: what valgrind frees at the end it
# allocated for libc.
if command -v valgrind >/dev/null; then
    as_dhat() {
        valgrind --tool=dhat --num-callers=100 --dhat-out-file=dhat.json ./truth >out 2>err
        heap_is 3 '' && "$ASSAY" export -f json heap.assay -o - | "$TOP/tests/e2e/lib/heap_values.py" --as-dhat dhat.json leaks churns grows peaks
    }
    check "totals, peak and end are DHAT's, block for block" as_dhat
else
    skip 'DHAT' 'no valgrind here'
fi

gcc -static -s -o static "$TOP/tests/programs/heap_truth.c" -pthread 2>gcc.log &&
    check 'a static program without symbols is refused with the reason' fails 'statically linked' "$ASSAY" heap -f -o h.assay -- ./static
preloaded() {
    printf 'int puts(const char *s); __attribute__((constructor)) static void hello(void) { puts("hello"); }\n' >pre.c
    gcc -shared -fPIC -o pre.so pre.c && LD_PRELOAD=$PWD/pre.so "$ASSAY" heap -q -f -o heap.assay -- ./truth >out 2>err
    grep -q hello out && is 7 'blocks allocated' leaks
}
check "the user's own LD_PRELOAD stays" preloaded
nothing_left() { [ ! -e "$folder" ]; }
cat >many.c <<'C'
#include <pthread.h>
#include <stdlib.h>
static __attribute__((noinline)) void *run(void *blocks)
{
    for (long i = 0; i < (long)blocks; i++)
        free(malloc(16));
    return malloc(8);
}
int main(void)
{
    // More end at once than the agent keeps something of.
    for (long round = 0; round < 20; round++) {
        pthread_t t[50];
        void *block;
        for (long i = 0; i < 50; i++)
            pthread_create(&t[i], 0, run, (void *)round);
        for (long i = 0; i < 50; i++)
            pthread_join(t[i], &block), i % 2 ? free(block) : (void)0;
    }
    return 0;
}
C
gcc -g -O1 -fno-builtin -pthread -o many many.c
short_threads() {
    "$ASSAY" heap -q -f -o many.assay -- ./many && "$ASSAY" report --json many.assay >many.json
    python3 - <<'PY'
import json
run = [p for p in json.load(open("many.json"))["places"] if p["function"] == "run"]
blocks, ends = sum(p["blocks"] for p in run), sum(p["end_blocks"] for p in run)
print(blocks, "blocks,", ends, "at the end")
assert blocks == 50 * 190 + 1000 and ends == 500
PY
}
check 'a thousand short threads: each block is counted' short_threads
# shellcheck disable=SC2016 # the inner shell is to expand it
folder=$(dirname "$("$ASSAY" heap -q -f -o folder.assay -- sh -c 'echo "${LD_PRELOAD%%:*}"')")
check 'the library lies in a folder of its own' test "${folder#*/assay-agent-}" != "$folder"
check 'no folder is left behind' eventually nothing_left

if command -v g++ >/dev/null; then
    cat >names.cc <<'CC'
#include <map>
#include <string>
#include <vector>
__attribute__((noinline)) static void fill(std::map<std::string, std::vector<int>> &m)
{
    for (int i = 0; i < 1000; i++)
        m["a name that is longer than fits " + std::to_string(i % 50)].push_back(i); // line 7
}
int main()
{
    std::map<std::string, std::vector<int>> m;
    fill(m);
    return (int)m.size() - 50;
}
CC
    g++ -g -O2 -o names names.cc
    inlined() {
        "$ASSAY" heap -q -f -o heap.assay -- ./names && "$ASSAY" report --tree -e 'bytes allocated' heap.assay >report &&
            grep -q 'vector.*push_back (inlined)' report && grep -q fill report &&
            "$ASSAY" report --by line -e 'blocks allocated' --wide heap.assay | grep -q 'names.cc:7\b'
    }
    check 'C++: inlined functions of the standard library, and the line that calls them' inlined
fi
finish
