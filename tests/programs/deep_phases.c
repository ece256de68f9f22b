// SPDX-License-Identifier: Apache-2.0
// deep_phases LEVELS MS: for MS milliseconds of processor time, goes down LEVELS calls of about 160
// bytes of stack each and up again, by turns from `left` and from `right`, which work in functions
// of their own. Each turn lasts less than a millisecond: no copy of the stack is ever up to date.

#include <stdlib.h>
#include <string.h>
#include <time.h>

static volatile unsigned sink;

__attribute__((noinline)) static void work_left(unsigned n)
{
    for (unsigned i = 0; i < 20; i++)
        sink = sink * 33 + n;
}

__attribute__((noinline)) static void work_right(unsigned n)
{
    for (unsigned i = 0; i < 20; i++)
        sink = sink * 31 - n;
}

__attribute__((noinline)) static unsigned down(int levels, unsigned n, void (*work)(unsigned))
{
    volatile char frame[96];
    memset((char *)frame, (int)n, sizeof(frame));
    work(n);
    unsigned below = levels > 1 ? down(levels - 1, n * 7 + 1, work) : 0;
    return below + (unsigned char)frame[n % sizeof(frame)];
}

__attribute__((noinline)) static unsigned left(int levels)
{
    return down(levels, 3, work_left) + 1;
}

__attribute__((noinline)) static unsigned right(int levels)
{
    return down(levels, 5, work_right) + 2;
}

int main(int argc, char **argv)
{
    int levels = argc > 1 ? atoi(argv[1]) : 10000;
    long ms = argc > 2 ? atol(argv[2]) : 500;
    unsigned sum = 0;
    struct timespec now;
    do {
        sum += left(levels) + right(levels);
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    } while (now.tv_sec * 1000 + now.tv_nsec / 1000000 < ms);
    return sum == 12345;
}
