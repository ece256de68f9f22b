// SPDX-License-Identifier: Apache-2.0
// Calls one function in coroutines that take turns in one thread: coroutine_calls COROUTINES CALLS.
// Truths: called runs COROUTINES * CALLS times, at 8 depths, each below `run`.

#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

enum { STACK_BYTES = 64 << 10, COROUTINES_MAX = 64 };

static volatile int sink;
static int calls;
static ucontext_t scheduler, all[COROUTINES_MAX];

__attribute__((noinline)) void called(int i)
{
    sink = i;
}

__attribute__((noinline)) static void level(int depth, int i)
{
    volatile char frame[200];
    memset((void *)frame, i, sizeof(frame));
    if (depth > 0)
        level(depth - 1, i);
    else
        called(i);
    sink = frame[7];
}

static void run(int number)
{
    for (int i = 0; i < calls; i++) {
        level(i & 7, i);
        swapcontext(&all[number], &scheduler);
    }
}

int main(int argc, char **argv)
{
    int count = argc > 1 ? atoi(argv[1]) : 4;
    calls = argc > 2 ? atoi(argv[2]) : 100;
    if (count > COROUTINES_MAX)
        return 2;
    for (int i = 0; i < count; i++) {
        getcontext(&all[i]);
        all[i].uc_stack.ss_sp = malloc(STACK_BYTES);
        all[i].uc_stack.ss_size = STACK_BYTES;
        all[i].uc_link = &scheduler;
        makecontext(&all[i], (void (*)(void))run, 1, i);
    }
    for (int turn = 0; turn < calls; turn++)
        for (int i = 0; i < count; i++)
            swapcontext(&scheduler, &all[i]);
    return 0;
}
