// SPDX-License-Identifier: Apache-2.0
// deep_stack LEVELS MS: goes down LEVELS calls of 4 KiB of stack each, MS milliseconds
// of work at each, then up again: far more stack than comes with a sample.

#include <stdlib.h>
#include <time.h>

static volatile double sink;

__attribute__((noinline)) static void burn(double ms)
{
    struct timespec now, end;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
    end.tv_nsec += (long)(ms * 1e6);
    end.tv_sec += end.tv_nsec / 1000000000;
    end.tv_nsec %= 1000000000;
    do {
        for (int i = 0; i < 1000; i++)
            sink = sink * 0.5 + i;
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    } while (now.tv_sec < end.tv_sec || (now.tv_sec == end.tv_sec && now.tv_nsec < end.tv_nsec));
}

__attribute__((noinline)) static int level(int left, double ms)
{
    volatile char room[4096];
    room[left % 4096] = (char)left;
    burn(ms);
    int below = left > 1 ? level(left - 1, ms) : 0;
    burn(ms);
    return below + room[left % 4096];
}

int main(int argc, char **argv)
{
    return argc > 2 && level(atoi(argv[1]), atof(argv[2])) == 123456;
}
