// SPDX-License-Identifier: Apache-2.0
// What the programs that profile themselves share: work of a known share, by processor time.

#ifndef TESTS_PROFILED_H
#define TESTS_PROFILED_H

#include <time.h>

static volatile unsigned long profiled_sink;

static double profiled_cpu_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

// `step` differs from function to function: equal ones would be folded into one.
#define PROFILED_WORK(name, step)                                                                  \
    __attribute__((noinline)) static void name(double ms)                                          \
    {                                                                                              \
        double end = profiled_cpu_ms() + ms;                                                       \
        do                                                                                         \
            for (unsigned long i = 0; i < 50000; i++)                                              \
                profiled_sink += i ^ (step);                                                       \
        while (profiled_cpu_ms() < end);                                                           \
    }

#endif // TESTS_PROFILED_H
