#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Stacks that the kernel recognises instead of copying them: they have the frames that a walk of a
# copy gives, whatever the program does, and few are copied. Truths stand in the program.
# shellcheck source=lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
need_perf
gcc -g -O2 -pthread -o known_stacks "$TOP/tests/programs/known_stacks.c" || exit 1
gcc -g -O2 -fno-omit-frame-pointer -pthread -o with_pointers "$TOP/tests/programs/known_stacks.c" || exit 1
for half in a b; do
    cat >half.c <<END
__attribute__((noinline)) void half_$half(void (*work)(int)) { work(1500); __asm__ volatile(""); }
void half(void (*work)(int)) { half_$half(work); __asm__ volatile(""); }
END
    gcc -g -O2 -fPIC -shared -o half_$half.so half.c || exit 1
done

# record OPTION… -- CMD: leaves what was counted in `log`.
record() { ASSAY_DEBUG=record:1,unwind:${level:-0} "$ASSAY" record --force -F 2000 -o run.assay "$@" >out 2>log || { cat log; return 1; }; }
count() { grep -ao "$1" log | grep -o '[0-9]*' | tail -n 1; }
known() { count '[0-9]* known'; }
samples() { count 'record: [0-9]* samples'; }

record -- ./known_stacks 400
[ "$(known)" -gt 0 ] 2>/dev/null || skip_all "$(grep -ao 'all stacks are copied.*' log || echo 'no stack is recognised here')"

# All stacks are copied in a check, and those that are recognised compared.
no_other_frames() {
    level=3 record -- "$@" || return 1
    [ "$(count '([0-9]* wrong)')" = 0 ] || { cat log; return 1; }
    [ $(($(known) * 4)) -gt "$(samples)" ] || { echo "$(known) known of $(samples)"; return 1; }
}
check 'a recognised stack has the frames of the walk' no_other_frames ./known_stacks 700 ./half_a.so ./half_b.so
check 'also where frames are found by frame pointers' no_other_frames ./with_pointers 700 ./half_b.so ./half_a.so

# total NAME: samples in which it lies.
total() {
    "$ASSAY" report --json --limit 0 run.assay | NAME=$1 python3 -c '
import json, os, sys
print(sum(r["total_samples"] for r in json.load(sys.stdin)["rows"] if r["name"] == os.environ["NAME"]))'
}
shares() {
    record -- ./known_stacks 1500 ./half_a.so ./half_b.so || return 1
    [ $(($(known) * 2)) -gt "$(samples)" ] || { echo "$(known) known of $(samples)"; return 1; }
    local one two a b
    one=$(total once) two=$(total twice) a=$(total half_a) b=$(total half_b)
    echo "once $one, twice $two, half_a $a, half_b $b; $(known) known of $(samples)"
    # A third and two thirds, a half each: within five standard deviations.
    python3 -c '
import sys
one, two, a, b = map(int, sys.argv[1:])
n, m = one + two, a + b
sys.exit(not (n > 500 and abs(one - n / 3) < 5 * (n * 2 / 9) ** 0.5 + 0.01 * n and m > 20 and abs(a - m / 2) < 5 * (m / 4) ** 0.5 + 1))
' "$one" "$two" "$a" "$b"
}
check 'shares are right, also of libraries that take each other'\''s place' shares

# But for those under way when the first library took the place of another one, for 25 ms or as long as the
# recorder had no processor.
complete() {
    record -- ./known_stacks 500 && grep -aqE 'samples of .* (100.0|99.[0-9]) % complete' log || { tail -n 1 log; return 1; }
}
check 'stacks are complete' complete

# A frame of 600 KB whose lower end changes all the time: the copy of 64 KB ends in it, and what lies above cannot be read
# later. Both ends of the stack are copied.
cat >wide.c <<'END'
#include <stdlib.h>
#include <time.h>
static volatile long sink;
__attribute__((noinline)) static void inner(int depth, volatile char *end, int ms)
{
    if (depth)
        inner(depth - 1, end, ms);
    for (int i = 0; depth == 0 && clock() < ms * (CLOCKS_PER_SEC / 1000); i++)
        for (int j = 0; j < 100000; j++)
            end[j] = (char)(i + j);
    sink += depth;
}
__attribute__((noinline)) static void wide(int ms)
{
    volatile char room[600 << 10];
    inner(10, room, ms);
    sink += room[5];
}
__attribute__((noinline)) static void outermost(int ms) { wide(ms); sink++; }
int main(int argc, char **argv) { outermost(argc > 1 ? atoi(argv[1]) : 300); return 0; }
END
gcc -g -O2 -o wide wide.c || exit 1
wide() {
    record -- ./wide 800 || return 1
    local reached
    reached=$(total outermost)
    echo "$reached of $(samples)"
    # Up to the first look at a sample, 100 ms on a busy machine, the copies end in the large frame.
    [ $((reached * 100)) -ge $(($(samples) * 80)) ]
}
check 'a stack with a frame of 600 KB is complete' wide

# Nothing of the kind where it is refused or not asked for.
none() {
    record "$@" -- ./known_stacks 200 || return 1
    if [ "$(known)" != 0 ] || [ "$(samples)" -eq 0 ]; then
        cat log
        return 1
    fi
}
check '--copy-stacks copies every stack' none --copy-stacks
check 'several events copy every stack' none -e cpu-clock,page-faults

finish
