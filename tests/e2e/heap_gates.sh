#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# assay heap's limits, and assay diff of two recordings of the heap.
# beside others: 6 s
# shellcheck source=lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
gcc -g -O1 -fno-builtin -o advice "$TOP/tests/programs/heap_advice.c" 2>gcc.log || { cat gcc.log; exit 1; }
# The same with a leak more, and lines moved.
sed -e '1i //\n//' -e 's/i < 30; i++/i < 31; i++/' "$TOP/tests/programs/heap_advice.c" >later.c
gcc -g -O1 -fno-builtin -o later later.c 2>gcc.log || { cat gcc.log; exit 1; }

heap() { "$ASSAY" heap -q -f -o heap.assay "$@" >out 2>err; }
limits_hold() { heap --max-peak 3M --max-allocs one_row=10000 --no-alloc-in __libc_free --leaks 60 -- ./advice; }
check 'limits that hold: status 0' limits_hold
missed() { # TEXT OPTION…
    local text=$1
    shift
    heap "$@" -- ./advice
    [ $? -eq 3 ] && grep -q -- "$text" err || { cat err; return 1; }
}
check 'a peak above --max-peak: status 3' missed '--max-peak: .* MB, more than 1.00 MB' --max-peak 1000000
check '… with the stack' grep -q 'pool  heap_advice.c:' err
check 'one block more than --max-allocs' missed '--max-allocs one_row: 10 000 blocks, more than 9 999 blocks' --max-allocs one_row=9999
check '… with the stack' grep -q 'one_field  heap_advice.c:' err
check '--no-alloc-in' missed '--no-alloc-in grows: 301 blocks' --no-alloc-in grows
check 'leaks' missed '--leaks: 60 blocks, more than 59 blocks' --leaks 59
misspelt() { # NEAREST OPTION…
    local nearest=$1
    shift
    heap "$@" -- ./advice
    [ $? -eq 2 ] && grep -q 'would always hold' err && grep -q "nearest: '$nearest'" err || { cat err; return 1; }
}
check 'a misspelt function is an error with the nearest name: --no-alloc-in' misspelt grows --no-alloc-in grwos
check '… --max-allocs' misspelt one_row --max-allocs one_rwo=10000
cat >inlined.c <<'C'
static inline __attribute__((always_inline)) int twice(int n) { return 2 * n; }
int main(int argc, char **argv) { return argv[0] ? twice(argc) - 2 : 1; }
C
gcc -g -O2 -o inlined inlined.c
check 'a function that is compiled into its callers is known' heap --no-alloc-in twice -- ./inlined
check '… and one of a library' heap --max-allocs qsort=0 -- ./inlined
if command -v rustc >/dev/null; then
    cat >gates.rs <<'RS'
use std::hint::black_box;
mod parser {
    use super::black_box;
    pub struct Reader<T>(pub Vec<T>);
    impl<T: Clone> Reader<T> {
        #[inline(never)]
        pub fn copy(&self) -> usize {
            black_box(self.0.clone()).len()
        }
    }
    #[inline(never)]
    pub fn tokens(text: &str) -> Vec<String> {
        text.split(' ').map(|w| w.to_string()).collect()
    }
    #[inline(never)]
    pub fn count(text: &str) -> usize {
        text.bytes().filter(|b| *b == b' ').count()
    }
}
fn main() {
    let mut n = 0;
    for _ in 0..10 {
        n += parser::tokens(black_box("a b c d")).len() + parser::count(black_box("a b"));
    }
    println!("{}", n + parser::Reader(vec![1u8, 2]).copy());
}
RS
    rustc -O -g -o rust gates.rs 2>rustc.log || cat rustc.log
    rust() { # STATUS OPTION…
        local status=$1
        shift
        "$ASSAY" heap -q -f -o heap.assay "$@" -- ./rust >out 2>err
        [ $? -eq "$status" ] || { cat err; return 1; }
    }
    rust_holds() { rust 0 --no-alloc-in parser::count --no-alloc-in gates::parser::count --max-allocs parser::tokens=50; }
    check "Rust: limits by the last parts of a path" rust_holds
    check '… one block more' rust 3 --max-allocs parser::tokens=49
    check '… a method of a generic type' rust 3 --no-alloc-in Reader::copy
    check '… a misspelt type or method is an error' rust 2 --no-alloc-in Raeder::copy
    check '… the types of one instance, which symbols do not have, too' rust 2 --no-alloc-in 'Reader<u8>::copy'
    [ "$(id -u)" -eq 0 ] && [ -e /sys/bus/event_source/devices/uprobe ] && check '… a limit for each call' rust 3 --max-allocs parser::tokens=4/call
fi
check 'a wrong limit is named before the program runs' fails 'FUNCTION=N' "$ASSAY" heap -f -o h.assay --max-allocs nothing -- ./advice

# The calls of functions are counted by probes of the kernel, which need rights.
cat >calls.cc <<'CC'
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>
namespace ns
{
struct Parser {
    __attribute__((noinline)) int parse(int n)
    {
        std::vector<int> v((size_t)n, 1);
        return v.back();
    }
};
} // namespace ns
static void many(ns::Parser &p, int times)
{
    for (int i = 0; i < times; i++)
        p.parse(3);
}
int main()
{
    ns::Parser p;
    std::thread other(many, std::ref(p), 300);
    many(p, 200);
    other.join();
    if (fork() == 0) {
        many(p, 100);
        _exit(0);
    }
    return wait(nullptr) < 0;
}
CC
if ! command -v g++ >/dev/null; then
    skip 'N/call: C++, threads, children' 'no g++'
else
    g++ -g -O1 -pthread -o calls calls.cc
    heap --max-allocs 'ns::Parser::parse=1/call' -- ./calls
    per_call=$?
    if [ $per_call -eq 1 ] && grep -q 'not allowed\|permi\|CAP_\|root' err; then
        skip 'N/call: C++, threads, children' 'probes are refused here'
    else
        check 'N/call: C++, threads, children: a limit that holds' test $per_call -eq 0
        # Another run of the same program is not counted.
        per_call_missed() {
            (while [ ! -e enough ]; do ./calls; done) &
            heap --max-allocs parse=0/call --max-allocs ns::Parser::parse=0/call -- ./calls
            local status=$?
            touch enough
            wait $!
            [ $status -eq 3 ] && [ "$(grep -c '600 blocks in 600 calls, more than 0 blocks a call' err)" = 2 ] || { cat err; return 1; }
        }
        check '… and one that does not, beside other runs of the program' per_call_missed
    fi
    check 'N/call of a function that the program does not have' fails "no function 'prase'" "$ASSAY" heap -f -o h.assay --max-allocs prase=1/call -- ./calls
fi

"$ASSAY" heap -q -f -o old.assay -- ./advice
base() {
    heap --baseline old.assay -- ./advice || { cat err; return 1; }
    heap --baseline old.assay -- ./later
    [ $? -eq 3 ] && grep -q -- '--baseline: leaks: 62 blocks, before 60 blocks' err || { cat err; return 1; }
}
check '--baseline: the same program holds, two blocks more do not' base
"$ASSAY" diff old.assay heap.assay >diff.out 2>&1
same() { grep -q 'leaks later.c' diff.out && ! grep -q 'grows\|pool\|one_row' diff.out && grep -q '+2 *+3.3%  leaks' diff.out || { cat diff.out; return 1; }; }
check 'diff: rows are matched though lines moved; only the change is listed' same
json() {
    "$ASSAY" diff --json old.assay heap.assay | python3 -c '
import json, sys
d = json.load(sys.stdin)
assert d["schema"] == "assay-diff" and d["version"] == 1
row = next(r for r in d["rows"] if r["name"] == "leaks")
assert row["values"]["blocks at end"] == {"old": 60, "new": 62}, row
assert row["new_place"]["line"] == row["old_place"]["line"] + 2'
}
check '… as JSON' json
fits() { [ "$(wc -l <diff.out)" -le 24 ] && [ "$(wc -L <diff.out)" -le 80 ]; }
check '… fits the screen' fits
stacks() { "$ASSAY" diff --by stack --sort end old.assay heap.assay | grep -q leaks && "$ASSAY" diff --by line old.assay old.assay | grep -q 'nothing changed'; }
check '… by stack and by line' stacks
counts() {
    printf 'main;f 10\nmain;g 5\n' >a.folded
    printf 'main;f 30\nmain;h 5\n' >b.folded
    "$ASSAY" diff a.folded b.folded >folded.out && grep -qE ' 10 +30 .*  f$' folded.out && grep -qE ' gone .*  g$' folded.out && grep -qE ' new .*  h$' folded.out
}
check '… of two profiles of time' counts
covered() {
    cat >covered.c <<'C'
#include <stdlib.h>
static volatile int sum;
__attribute__((noinline)) static void often(int n)
{
    for (int i = 0; i < n; i++)
        sum += i;
}
int main(int argc, char **argv)
{
    for (int i = 0; i < atoi(argv[1]); i++)
        often(10);
    return argc == 1;
}
C
    gcc -g -O0 --coverage -o covered covered.c 2>gcc.log || { cat gcc.log; return 1; }
    for times in 3 5; do
        rm -f ./*.gcda
        ./covered $times && "$ASSAY" cover merge -f -o $times.assay . >cover.log 2>&1 || { cat cover.log; return 1; }
    done
    "$ASSAY" diff --by function 3.assay 5.assay >cover.diff 2>&1 && "$ASSAY" diff --by line 3.assay 5.assay >>cover.diff 2>&1 &&
        grep -q ' 3 *5 *+2 *+66.7%  often' cover.diff && grep -q ' 33 *55 *+22 *+66.7%  covered.c:5' cover.diff || { cat cover.log cover.diff; return 1; }
}
check '… of two recordings of coverage: how often functions ran' covered
check 'two recordings are asked for' fails 'two recordings' "$ASSAY" diff old.assay
finish
