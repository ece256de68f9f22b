#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# 10,000 times assay heap -p attaches to a program in which 16 threads allocate, and detaches: it
# must live, and be as it was. The sample takes 20.
# shellcheck source=../e2e/lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
if [ "$(uname -m)" != x86_64 ]; then echo 'attaching is for x86-64 only'; exit 77; fi
cycles=${HEAP_ATTACH_CYCLES:-${NIGHTLY_SAMPLE:+20}}
cycles=${cycles:-10000}
gcc -g -O1 -fno-builtin -pthread -o prog "$TOP/tests/programs/heap_attach.c" 2>gcc.log || { cat gcc.log; exit 1; }
mkfifo to
./prog <to >out &
target=$!
exec {to}>to
echo 'storm 16 1000000' >&"$to"
sleep 1
maps() { sed 's/ .*//' "/proc/$target/maps" | wc -l; }
files() { find "/proc/$target/fd" -type l | wc -l; }
storm() {
    for i in $(seq "$cycles"); do
        timeout 60 "$ASSAY" heap -q -f -o storm.assay -p "$target" --duration 0.005 2>err || { echo "cycle $i"; cat err; return 1; }
        kill -0 "$target" 2>/dev/null || { echo "the program has ended in cycle $i"; return 1; }
    done
}
before_files=$(files) before_maps=$(maps)
check "$cycles cycles" storm
# A real-time thread on each processor, which pauses in between: threads wait for a processor at any
# place, and do not stop when they are asked to.
cat >neighbour.c <<'C'
#include <time.h>
int main(void)
{
    for (;;) {
        struct timespec now, end, pause = {.tv_nsec = 40000000};
        clock_gettime(CLOCK_MONOTONIC, &end);
        end.tv_nsec += 40000000;
        do
            clock_gettime(CLOCK_MONOTONIC, &now);
        while ((now.tv_sec - end.tv_sec) * 1000000000 + now.tv_nsec < end.tv_nsec);
        nanosleep(&pause, 0);
    }
}
C
gcc -O1 -o neighbour neighbour.c
beside() {
    local neighbours=() ok=0 n
    for ((n = 0; n < $(nproc); n++)); do
        chrt -f 10 ./neighbour &
        neighbours+=($!)
    done
    cycles=$(((cycles + 19) / 20)) storm || ok=1
    kill "${neighbours[@]}"
    return $ok
}
if chrt -f 10 true 2>/dev/null; then
    check 'a twentieth of the cycles beside real-time threads' beside
else
    skip 'beside real-time threads' 'no right to start one'
fi
check 'no descriptor is left' test "$(files)" -eq "$before_files"
# The arenas of malloc may split a mapping meanwhile.
check 'no memory is left' test "$(maps)" -le $((before_maps + 40))
kill "$target"
finish
