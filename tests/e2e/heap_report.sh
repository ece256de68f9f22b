#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The report of a recording of the heap: its first screen, the user's own lines, what could change.
# shellcheck source=lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
gcc -g -O1 -fno-builtin -o advice "$TOP/tests/programs/heap_advice.c" 2>gcc.log || { cat gcc.log; exit 1; }
"$ASSAY" heap -q -f -o heap.assay -- ./advice >out 2>&1 || { cat out; exit 1; }
"$ASSAY" report heap.assay >screen 2>&1

# advice KIND FUNCTION KEY=VALUE…: the report has that advice with these numbers.
advice() {
    "$ASSAY" report --json heap.assay | python3 -c '
import json, sys
kind, function, *wanted = sys.argv[1:]
found = [a for a in json.load(sys.stdin)["advice"] if a["kind"] == kind and a["function"] == function]
print(found)
assert len(found) == 1
for w in wanted:
    key, value = w.split("=")
    assert found[0][key] == int(value), w
' "$@"
}
check 'a loop: blocks each time, how often, what keeping them saves' advice 'per turn' one_row times=2000 blocks=10000 most_live_blocks=5 saved_allocations=9995
check 'growth by realloc: calls and blocks' advice 'grows by realloc' grows reallocs=300 times=1 saved_allocations=300
check 'blocks of one size: what malloc itself takes' advice 'one size' pool most_live_blocks=4000 block_bytes=20 saved_bytes=48000
check 'a leak: bytes and blocks' advice leak leaks saved_bytes=60030
gcc -g -O1 -fno-builtin -pthread -o truth "$TOP/tests/programs/heap_truth.c" 2>gcc.log || cat gcc.log
both() {
    "$ASSAY" record --heap -q -f -o both.assay -- ./busy >out 2>&1 || { cat out; return 1; }
    "$ASSAY" report both.assay | grep -q ' work busy.c:9$' && "$ASSAY" report --json -e 'cpu time' both.assay >time.json &&
        "$ASSAY" report --by line -e 'cpu time' both.assay | grep -q 'busy.c' && "$ASSAY" report --by line -e 'blocks allocated' both.assay | grep -q 'busy.c:9'
}
cat >busy.c <<'C'
#include <stdlib.h>
#include <time.h>
static volatile unsigned sum;
static void *volatile block;
__attribute__((noinline)) static void work(void)
{
    for (int i = 0; i < 1000; i++)
        sum += (unsigned)i;
    block = malloc(64);
    free(block);
}
int main(void)
{
    struct timespec t = {0, 0};
    while (t.tv_sec == 0 && t.tv_nsec < 300000000) {
        work();
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    }
    return 0;
}
C
gcc -g -O1 -fno-builtin -o busy busy.c 2>gcc.log || cat gcc.log
check 'record --heap: time and heap in one recording' both
in_frame() {
    "$ASSAY" heap -q -f -o truth.assay -- ./truth >out # its status is 3
    "$ASSAY" report truth.assay >in-frame.txt &&
        grep -q 'churns heap_truth.c:25: 5 000 blocks freed in their own frame, always 48 bytes' in-frame.txt &&
        grep -q 'a variable on the stack saves 4 999 allocations' in-frame.txt
}
check 'blocks that are freed in the frame that allocated them' in_frame
fits() { [ "$(wc -l <screen)" -le 23 ] && [ "$(wc -L <screen)" -le 80 ]; }
check 'the first screen fits 24 lines of 80 columns' fits
says() { grep -q 'one_row heap_advice.c:17: 5 blocks each time, 2 000 times' screen && grep -q '9 995 allocations' screen; }
check '… and says it in words' says
sorted() {
    for key in total blocks peak end short-lived lifetime malloc-time copied; do
        "$ASSAY" report --sort $key heap.assay >"by-$key" || return 1
    done
    sed -n '/allocated by/{n;p}' by-peak | grep -q ' pool ' && sed -n '/allocated by/{n;p}' by-end | grep -q ' leaks ' &&
        sed -n '/allocated by/{n;p}' by-copied | grep -q ' grows ' && sed -n '/allocated by/{n;p}' by-blocks | grep -q one_field
}
check '--sort chooses the metric' sorted
views() {
    "$ASSAY" report --sort end --by line heap.assay | grep -q 'heap_advice.c' &&
        "$ASSAY" report --sort peak --tree heap.assay | grep -q pool &&
        "$ASSAY" report --sort peak --tree=callee heap.assay | grep -q pool && "$ASSAY" report --csv heap.assay | grep -q '^leaks,.*heap_advice.c'
}
check '… of the tree, of lines, and CSV has the places' views
for form in '--slow 1%:calls' --calls:calls --locks:waits --critical:waits; do
    # shellcheck disable=SC2086
    check "${form%:*} of a recording of the heap says what is missing" \
        grep -q "no ${form#*:} were recorded" <("$ASSAY" report ${form%:*} heap.assay)
done
check '--focus selects' grep -q pool <("$ASSAY" report --focus '^pool$' heap.assay)

cat >wrapped.c <<'C'
#include <stdlib.h>
#include <unistd.h>
static void *volatile kept[64];
__attribute__((noinline)) static void *xmalloc(size_t size)
{
    return malloc(size);
}
__attribute__((noinline)) static void reads(int n)
{
    for (int i = 0; i < n; i++) {
        free(kept[i % 64]);
        kept[i % 64] = xmalloc(100); // line 12
    }
}
int main(void)
{
    for (int i = 0; i < 5; i++) {
        reads(20000);
        usleep(20000);
    }
    return 0;
}
C
gcc -g -O1 -fno-builtin -o wrapped wrapped.c 2>gcc.log || cat gcc.log
"$ASSAY" heap -q -f -o wrapped.assay -- ./wrapped && "$ASSAY" report wrapped.assay >wrapped.txt 2>&1
check "a program's own allocator: its caller is the place" grep -q ' 100 k\? *.* reads wrapped.c:12$\|100 000 .* reads wrapped.c:12$' wrapped.txt
sizes() {
    "$ASSAY" report --by size wrapped.assay | tee sizes | grep -q '  64 to 127  *100 000  *100.0% *100.0%  ##*$' &&
        "$ASSAY" report --by size --csv wrapped.assay | grep -q '^64,127,100000' || { cat sizes; return 1; }
}
check 'sizes of blocks, as text and CSV' sizes
over_time() {
    "$ASSAY" report --by time --limit 5 wrapped.assay >course || return 1
    "$ASSAY" report --by time --csv wrapped.assay >time.csv || return 1
    [ "$(wc -l <course)" -le 6 ] && grep -q ' 6.40 kB  *64 .*# .*reads' course && grep -q '^[0-9]*,6400,64,.*reads,6400' time.csv || { cat course time.csv; return 1; }
}
check 'the heap over time, as text and CSV' over_time
printf 'main;f 1\n' >time.folded
check '… of another recording: refused' fails 'needs a recording of the heap' "$ASSAY" report --by time time.folded
sampled() {
    "$ASSAY" heap -q -f --sample 16k -o sampled.assay -- ./wrapped && "$ASSAY" report sampled.assay >sampled.txt || return 1
    grep -q 'estimates from a block every 16.4 kB' sampled.txt && grep -q '^ *100.0% *±[0-9.]*% .* reads wrapped.c:12$' sampled.txt || { cat sampled.txt; return 1; }
    "$ASSAY" report --json sampled.assay | python3 -c '
import json, sys
d = json.load(sys.stdin)
p, t = d["places"][0], d["totals"]
assert t["sample_bytes"] == 16384, t
# Ten standard deviations: the true number is 100 000.
assert p["blocks_interval"] > 0 and abs(p["blocks"] - 100000) < 5.2 * p["blocks_interval"], p
assert abs(p["bytes"] - 10000000) < 5.2 * p["bytes_interval"], p' && "$ASSAY" report --csv sampled.assay | head -n 1 | grep -q 'blocks_interval,bytes_interval,peak_bytes_interval'
}
check 'a sampled recording: ± on each row, as text, JSON and CSV' sampled

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
    own_line() { "$ASSAY" heap -q -f -o cc.assay -- ./names && "$ASSAY" report cc.assay | grep -q ' fill names.cc:7$'; }
    check "C++: the user's line stands for the standard library's frames" own_line
fi
if command -v rustc >/dev/null; then
    cat >map.rs <<'RS'
use std::collections::HashMap;
#[inline(never)]
fn parse_row(line: &str) -> HashMap<String, String> {
    let mut map = HashMap::new();
    for (i, field) in line.split(',').enumerate() {
        map.insert(format!("column {}", i), field.to_string()); // line 6
    }
    map
}
fn main() {
    let mut total = 0;
    for _ in 0..2000 {
        total += parse_row("alpha,beta,gamma,delta").get("column 2").map_or(0, |v| v.len());
    }
    println!("{}", total);
}
RS
    rustc -g -O -o map map.rs 2>rustc.log || cat rustc.log
    rust_line() {
        "$ASSAY" heap -q -f -o rust.assay -- ./map >out && "$ASSAY" report rust.assay | tee report | grep -q 'parse_row map.rs:6$' &&
            "$ASSAY" report --tree --sort total rust.assay | grep -q 'HashMap.*insert.*(inlined)\|hashbrown'
    }
    check "Rust: the user's line stands for HashMap's frames, which the tree has" rust_line
fi
finish
