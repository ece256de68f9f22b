#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# include/assay/heap.h: a program that runs under assay heap asks what it allocates, and marks events.
# beside others: 4 s
# shellcheck source=lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
build() { # OUTPUT COMPILER OPTION…
    "${@:2}" -I "$TOP/include" -g -O1 -fno-builtin-malloc -pthread -o "$1" "$TOP/tests/programs/heap_api.c" 2>gcc.log || { cat gcc.log; exit 1; }
}
build api gcc
value() { "$ASSAY" export -f json "$1" -o - | "$TOP/tests/e2e/lib/heap_values.py" "$2" "$3"; }
check 'scopes, threads and the process: the counts are exact' "$ASSAY" heap -q -f -o api.assay -- ./api
marks() { [ "$(value api.assay marks marks)" = 10 ] && [ "$(value api.assay 'weight of marks' marks)" = 55 ] && [ "$(value api.assay marks in_thread)" = 800 ] && [ "$(value api.assay 'blocks allocated' marks)" = 0 ]; }
check 'marks and their weights are counted by stack' marks
line() {
    local line
    line=$(grep -n '10 marks' "$TOP/tests/programs/heap_api.c" | cut -d : -f 1)
    "$ASSAY" report --by line -e 'weight of marks' api.assay >report && grep -q "heap_api.c:$line\b" report || { cat report; return 1; }
}
check "… on the program's own line" line
sampled() { "$ASSAY" heap -q -f --sample 512k -o sampled.assay -- ./api && [ "$(value sampled.assay 'weight of marks' marks)" = 55 ]; }
check 'with --sample: marks are exact, counts of blocks are refused' sampled
both() { "$ASSAY" record --heap -q -f -o both.assay -- ./api && [ "$(value both.assay marks marks)" = 10 ]; }
check 'record --heap' both
status_is() { # STATUS COMMAND…
    "${@:2}" >out 2>&1
    local status=$?
    [ $status -eq "$1" ] || { echo "status $status"; cat out; return 1; }
}
check 'a program that nobody records is told so' status_is 77 ./api
build nopie gcc -no-pie
check '… and works where it is no PIE' status_is 0 "$ASSAY" heap -q -f -o nopie.assay -- ./nopie
build fixed gcc -static
check '… and where it is static' status_is 77 ./fixed
if command -v clang-14 >/dev/null; then
    build with_clang clang-14
    check 'clang' status_is 0 "$ASSAY" heap -q -f -o clang.assay -- ./with_clang
fi
if command -v g++ >/dev/null; then
    printf '#include <dlfcn.h>\n#include <assay/heap.h>\nint main()\n{\n    AssayHeapScope s;\n    AssayHeapStats t;\n    assay_heap_scope_begin(&s);\n    int *volatile p = new int[10];\n    delete[] p;\n    return assay_heap_scope_end(&s, &t) == 0 && t.blocks == 1 && t.bytes == 40 && t.live_bytes == 0 ? 0 : 1;\n}\n' >api.cc
    g++ -Wall -Wextra -Werror -I "$TOP/include" -O1 -o cc api.cc 2>gcc.log || cat gcc.log
    check 'C++, which includes dlfcn.h, too' status_is 0 "$ASSAY" heap -q -f -o cc.assay -- ./cc
fi
if command -v rustc >/dev/null; then
    cat >api.rs <<'RS'
#[path = "heap.rs"]
mod heap;
use std::hint::black_box;
#[inline(never)]
fn work(n: usize) {
    for _ in 0..n {
        black_box(String::with_capacity(black_box(100)));
    }
    heap::mark(n as u64);
}
fn main() {
    if heap::stats().is_none() {
        std::process::exit(77);
    }
    let threads: Vec<_> = (1..5)
        .map(|n| {
            std::thread::spawn(move || {
                for _ in 0..100 {
                    let scope = heap::Scope::begin();
                    work(n);
                    let stats = scope.end().unwrap();
                    assert_eq!((stats.blocks, stats.bytes), (n as u64, 100 * n as u64));
                    assert_eq!((stats.live_blocks, stats.max_bytes), (0, 100));
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|t| t.join().unwrap());
}
RS
    cp "$TOP/include/assay/heap.rs" .
    rustc -g -O -o api_rs api.rs 2>rustc.log || cat rustc.log
    rust() { status_is 0 "$ASSAY" heap -q -f -o rust.assay -- ./api_rs && [ "$(value rust.assay 'weight of marks' api::work)" = 1000 ]; }
    check 'Rust, in four threads at once' rust
    check '… which nobody records' status_is 77 ./api_rs
fi
finish
