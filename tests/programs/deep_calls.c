// SPDX-License-Identifier: Apache-2.0
// Calls one function from deep inside: deep_calls ROUNDS CALLS DEPTH [LATER]. Truths: called runs
// ROUNDS * CALLS times, each below DEPTH calls of `level`, whose frames have 256 bytes and more,
// and below one of 17 numbers of calls of `outer`. A round comes 20 ms after the one before. LATER
// more rounds of 20 * CALLS calls are below one call of `level`.

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile int sink;

__attribute__((noinline)) void called(int i)
{
    sink = i;
}

__attribute__((noinline)) static void level(int depth, int i)
{
    volatile char frame[256];
    memset((void *)frame, i, sizeof(frame));
    if (depth > 1)
        level(depth - 1, i + 1);
    else
        called(i);
    sink = frame[7];
}

__attribute__((noinline)) static void outer(int more, int depth)
{
    volatile char frame[64];
    frame[0] = (char)more;
    if (more > 0)
        outer(more - 1, depth);
    else
        level(depth, 1);
    sink = frame[0];
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 40, calls = argc > 2 ? atoi(argv[2]) : 100;
    int depth = argc > 3 ? atoi(argv[3]) : 80;
    for (int r = 0; r < rounds; r++) {
        for (int i = 0; i < calls; i++)
            outer(i % 17, depth);
        usleep(20000);
    }
    for (int r = 0; r < (argc > 4 ? atoi(argv[4]) : 0); r++) {
        for (int i = 0; i < 20 * calls; i++)
            outer(i % 17, 1);
        usleep(20000);
    }
    return 0;
}
