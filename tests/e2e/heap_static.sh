#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# assay heap of statically linked programs, into which the agent is put at their first allocation.
# shellcheck source=lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
[ "$(uname -m)" = x86_64 ] || { echo 'static programs are recorded on x86-64 only'; exit 77; }
programs=$TOP/tests/programs
gcc -static -g -O1 -fno-builtin -o glibc "$programs/heap_static.c" 2>gcc.log || { echo 'no static libc'; exit 77; }
"$ASSAY" heap -q -f -o heap.assay -- ./glibc nothing 2>err
if grep -q 'it needs ptrace' err; then cat err; exit 77; fi
is() { # VALUE METRIC FUNCTION
    local got
    got=$("$TOP/tests/e2e/lib/heap_values.py" "$2" "$3" <heap.json)
    [ "$got" = "$1" ] || { echo "$2 of $3 is $got, not $1"; return 1; }
}
record() { # STATUS PROGRAM ARGUMENT…
    local status wanted=$1
    shift
    timeout 30 "$ASSAY" heap -f -o heap.assay -- "$@" >out 2>err </dev/null
    status=$?
    [ $status -eq "$wanted" ] && "$ASSAY" export -f json --force -o heap.json heap.assay || { echo "status $status"; cat err; return 1; }
}
works() { # STATUS PROGRAM ARGUMENT…
    record "$@" && is 100 'blocks allocated' work && is 10000 'bytes allocated' work && is 50 'blocks at end' work
}
has_none() { record "$@" && ! grep -q '"work"' heap.json; }
builds=(glibc)
gcc -static-pie -g -O1 -fno-builtin -o glibc-pie "$programs/heap_static.c" 2>gcc.log && builds+=(glibc-pie)
if command -v musl-gcc >/dev/null; then
    musl-gcc -static -g -O1 -fno-builtin -o musl "$programs/heap_static.c" 2>gcc.log && builds+=(musl)
fi
for b in "${builds[@]}"; do
    check "$b" works 7 "./$b"
done
last=${builds[-1]}
check 'a program that allocates nothing' has_none 5 "./$last" nothing
check 'a child before the first allocation' works 7 "./$last" fork
check '… by vfork and exec' works 7 "./$last" vfork
check 'a signal before it' works 7 "./$last" signal
check '… that ends the program' has_none 138 "./$last" killed
check 'a first allocation that comes late' works 7 "./$last" wait
check 'another static program that it executes instead is named' has_none 5 "./$last" exec "./$last" nothing
check 'a crash: its blocks until then' works 139 "./$last" crash
note() { record 7 "./$last" && "$ASSAY" report --notes heap.assay | tr -s ' \n' ' ' | grep -q "'./$last' is statically linked: [0-9]* functions were hooked at its first allocation"; }
check 'a note says how it was recorded' note
children() { works 7 "./$last" fork-late && "$ASSAY" report --notes heap.assay | tr -s ' \n' ' ' | grep -q '15 calls that allocate or free, of processes that the program forked, are not in this recording'; }
check 'blocks of a child after the first allocation are left out, which a note says' children
no_children() { record 7 "./$last" && ! "$ASSAY" report --notes heap.assay | grep -q 'calls that allocate or free'; }
check '… and not where there is none' no_children
# Programs of every shell, and of those that look for a name in PATH.
runs() { # TIMES PATH PROGRAM ARGUMENT…
    local times=$1 path=$2
    shift 2
    record 7 "$@" && "$ASSAY" report --notes heap.assay | tr -s ' \n' ' ' | grep -q "load no library (statically linked, or of 32 bits) were executed $times, and their blocks are not in this recording; the first is '$path'"
}
check 'static programs that a command runs are named' runs '2 times' "./$last" sh -c "./$last; ./$last"
check '… also those found by PATH' runs '1 time' "$PWD/$last" env PATH="$PWD:$PATH" env "$last"
run_dynamic() { record 7 sh -c '/bin/true; exit 7' && ! "$ASSAY" report --notes heap.assay | grep -q 'load no library'; }
check '… and others are not' run_dynamic
duration() {
    timeout -s KILL 20 "$ASSAY" heap -q -f -o heap.assay --duration 0.3 -- ./glibc stays >out 2>err &
    local recorder=$! target rc
    for _ in $(seq 200); do [ -s out ] && break; sleep 0.02; done
    target=$(cat out)
    wait_for_file heap.assay
    "$ASSAY" export -f json --force -o heap.json heap.assay
    works_on() { kill -0 "$target" && [ "$(awk '/TracerPid/ { print $2 }' "/proc/$target/status")" = 0 ] && ! grep -q /dev/shm "/proc/$target/maps"; }
    works_on && is 100 'blocks allocated' work
    rc=$?
    kill "$target"
    wait $recorder
    return $rc
}
wait_for_file() { for _ in $(seq 250); do [ -s "$1" ] && return 0; sleep 0.02; done; }
rm -f heap.assay
check '--duration: the program goes on without the agent' duration
strip -o stripped glibc
check 'without symbols it is refused with the reason' fails 'statically linked, and loads no library' "$ASSAY" heap -f -o h.assay -- ./stripped
hints() { # WORDS COMMAND…
    local words=$1
    shift
    ! "$@" >out.log 2>err.log </dev/null && grep '^hint: ' err.log | grep -q -- "$words" || { cat err.log; return 1; }
}
check 'record --heap is refused, with what works' hints 'assay heap records its blocks' "$ASSAY" record --heap -f -o h.assay -- ./glibc
if command -v go >/dev/null && ! readelf -lW "$(command -v go)" | grep -q INTERP; then
    check "a Go program is refused, with what works" hints 'pprof.WriteHeapProfile' "$ASSAY" heap -f -o h.assay -- "$(command -v go)" version
fi
check '--copies is refused with the reason' fails 'cannot record copies' "$ASSAY" heap -f --copies -o h.assay -- ./glibc
gate() { "$ASSAY" heap -q -f -o h.assay --max-allocs work=99 -- ./glibc nothing >out 2>err; [ $? = 5 ] && "$ASSAY" heap -q -f -o h.assay --max-allocs main=99 -- ./truth >out 2>err; [ $? = 3 ]; }

# The truths of blocks, threads and children.
gcc -static -g -O1 -fno-builtin -pthread -o truth "$programs/heap_truth.c" 2>gcc.log || cat gcc.log
./truth >plain.out 2>/dev/null
exact() {
    record 3 ./truth && cmp plain.out out && is 7 'blocks allocated' leaks && is 700 'bytes at end' leaks && is 5000 'blocks allocated' churns && is 240000 'bytes allocated' churns &&
        is 0 'bytes at end' churns && is 21 'blocks allocated' grows && is 20 reallocations grows && is 10000000 'bytes at peak' peaks &&
        is 0 'blocks at end' peaks && is 3 'blocks freed by another thread' gives
}
check 'leaks, peaks, reallocs and threads are exact' exact
check 'limits hold' gate
if command -v g++ >/dev/null; then
    printf '#include <string>\n#include <vector>\n__attribute__((noinline)) static void fill(std::vector<std::string> &v) { for (int i = 0; i < 500; i++) v.emplace_back(100, 120); }\nint main() { std::vector<std::string> v; fill(v); return v.size() != 500; }\n' >v.cc
    g++ -static-pie -g -O1 -o cplusplus v.cc 2>gcc.log || cat gcc.log
    cplusplus() { record 0 ./cplusplus && "$ASSAY" report heap.assay | grep -q "  510 .* -  fill v.cc:3"; }
    check 'C++' cplusplus
fi
if command -v rustc >/dev/null; then
    printf '#[inline(never)]\nfn fill() -> Vec<Box<u64>> { (0..500).map(|i| Box::new(std::hint::black_box(i))).collect() }\nfn main() { assert_eq!(fill().len(), 500); }\n' >v.rs
    if rustc -g -O -C target-feature=+crt-static -o rust v.rs 2>rustc.log; then
        rust() { record 0 ./rust && is 501 'blocks allocated' v::fill && is 0 'blocks at end' v::fill; }
        check 'Rust' rust
    fi
fi

# Without .eh_frame_hdr, as gcc -static links.
cat >callers.c <<'C'
#include <stdlib.h>
__attribute__((noinline)) static char *inner(int n) { char *p = malloc((size_t)n); p[0] = 1; return p; }
__attribute__((noinline)) static char *middle(int n) { char *p = inner(n + 1); p[0]++; return p; }
__attribute__((noinline)) static char *outer(int n) { char *p = middle(2 * n); p[0]++; return p; }
static int order(const void *a, const void *b) { free(outer(10)); return *(const char *)a - *(const char *)b; }
int main(void) { char v[] = "stack"; for (int i = 0; i < 100; i++) outer(i); qsort(v, 5, 1, order); return 0; }
C
callers() { # PROGRAM
    readelf -lW "$1" | grep -q GNU_EH_FRAME && { echo "$1 has a header"; return 1; }
    record 0 "./$1" && "$ASSAY" export -f folded --force -o f.txt heap.assay && ! grep 'stack cut' f.txt &&
        grep -q ';main;outer;middle;inner 100$' f.txt && grep -q ';main;qsort.*;order;outer;middle;inner ' f.txt
}
gcc -static -g -O1 -fomit-frame-pointer -fno-builtin -o callers callers.c && check 'callers of a static program' callers callers
gcc -g -O1 -fomit-frame-pointer -fno-builtin -Wl,--no-eh-frame-hdr -o no-header callers.c && check '… and of one that is not' callers no-header
finish
