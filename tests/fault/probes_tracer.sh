#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The process that sets breakpoints for `assay record -e PROBE` is killed before each of its calls:
# the program goes on without breakpoints, with its own output and status.
#   FAULT_ALL=1: at 400 of its calls; else at 25.
# beside others: 8 s
# shellcheck source=../e2e/lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
[ "$(uname -m)" = x86_64 ] || skip_all 'probes by breakpoints are for x86-64'
[ -x "$TOOLS/fault" ] || skip_all "no $TOOLS/fault: run make dev"
"$TOOLS/fault" read=EIO 0 count true || skip_all 'one process may not trace another here'
cat >hits.c <<'C'
#include <pthread.h>
#include <stdio.h>
long steps;
/* The first instruction of each is another: push, nop, calls through a register and through memory, and
   two that cannot be emulated: one at a distance from memory, and one with a VEX prefix. */
__attribute__((noinline, noclone)) void pushes(void)
{
    __asm__ volatile("" ::: "rbx", "memory");
    __atomic_add_fetch(&steps, 1, __ATOMIC_RELAXED);
}
__attribute__((noinline, noclone, naked)) void nops(void) { __asm__("nop\n\tlock incq steps(%rip)\n\tret"); }
__attribute__((noinline, noclone, naked)) void counts(void) { __asm__("lock incq steps(%rip)\n\tret"); }
__attribute__((used)) static void (*const step)(void) = counts;
__attribute__((noinline, noclone, naked)) void by_register(void (*f)(void) __attribute__((unused))) { __asm__("call *%rdi\n\tret"); }
__attribute__((noinline, noclone, naked)) void by_memory(void) { __asm__("call *step(%rip)\n\tret"); }
__attribute__((noinline, noclone, naked)) void by_stack(void (*f)(void) __attribute__((unused)))
{
    __asm__("push %rdi\n\tcall by_sib\n\tpop %rdi\n\tret");
}
__attribute__((noinline, noclone, naked)) void by_sib(void) { __asm__("call *8(%rsp)\n\tret"); }
__attribute__((noinline, noclone, naked)) void by_index(void (*const *f)(void) __attribute__((unused)), long i __attribute__((unused)))
{
    __asm__("call *-8(%rdi,%rsi,8)\n\tret");
}
__attribute__((noinline, noclone, naked)) void by_base(void (*const *f)(void) __attribute__((unused)))
{
    __asm__("push %r13\n\tmov %rdi, %r13\n\tcall by_r13\n\tpop %r13\n\tret");
}
__attribute__((noinline, noclone, naked)) void by_r13(void) { __asm__("notrack call *(%r13)\n\tret"); }
#ifdef __AVX__
__attribute__((noinline, noclone, naked)) void vex(void) { __asm__("vmovd steps(%rip), %xmm0\n\tlock incq steps(%rip)\n\tret"); }
#else
void vex(void) { counts(); }
#endif
static void *work(void *n)
{
    for (int i = 0; i < 20; i++) {
        pushes(), nops(), counts(), vex();
        by_register(counts), by_memory(), by_stack(counts), by_index(&step, 1), by_base(&step);
    }
    return n;
}
int main(void)
{
    pthread_t t[3];
    for (int i = 0; i < 3; i++) pthread_create(&t[i], NULL, work, NULL);
    for (int i = 0; i < 3; i++) pthread_join(t[i], NULL);
    FILE *f = fopen("log", "w");
    fprintf(f, "steps %ld\n", steps);
    return fclose(f) ? 1 : 5;
}
C
avx=
! grep -qw avx /proc/cpuinfo || avx=-mavx
"$(compiler gcc)" -g -O1 $avx -pthread -o hits hits.c || exit 1
objdump -d --disassemble=pushes hits | grep -q 'push  *%rbx' || skip_all 'the compiler has put another instruction there'
# The first process that the command forks is the tracer; root's command has a keeper before it.
cp "$ASSAY" assay.bin && chmod 755 . assay.bin hits && mkdir -m 777 work && cd work || exit 1
who=()
[ "$(id -u)" != 0 ] || who=(setpriv --reuid 65534 --regid 65534 --clear-groups)
probes=()
for name in pushes nops counts vex by_register by_memory by_sib by_index by_r13; do probes+=(-e "../hits:$name"); done
killed_at() { # N
    rm -f log
    timeout -k 5 60 "$TOOLS/fault" child:any=KILL "$1" ../result "${who[@]}" ../assay.bin record -q -f --engine ptrace \
        -o p.assay "${probes[@]}" -- ../hits >../out 2>../err </dev/null
}
killed_before_calls() {
    local calls n=1 status begun=0 kills=${FAULT_ALL:+400}
    killed_at 0
    calls=$(cat ../result)
    [ "$calls" -gt 1000 ] && [ "$(cat log)" = 'steps 540' ] || { echo "$calls calls"; cat ../err; return 1; }
    while [ "$n" -le "$calls" ]; do
        killed_at "$n"
        status=$?
        n=$((n + 1 + calls / ${kills:-25}))
        [ "$(cat ../result)" = fired ] || continue
        # Before the program begins, its tracer's end is an error of the command.
        [ $status != 1 ] || [ -e log ] || continue
        begun=$((begun + 1))
        [ $status = 5 ] && [ "$(cat log)" = 'steps 540' ] || { echo "killed before call $n of $calls: status $status"; cat log ../err; return 1; }
    done
    echo "the program had begun in $begun"
    [ $begun -ge 5 ]
}
check 'the process that sets breakpoints is killed before its calls: all threads go on' killed_before_calls
sed 's/^/# /' check.log
finish
