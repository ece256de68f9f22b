// SPDX-License-Identifier: Apache-2.0
// Calls `probed` so many times, 12 calls deep: hit CALLS [PER_MS]. With PER_MS it makes so many
// calls a millisecond and sleeps in between, otherwise all in one burst. It prints the processor
// time a call in ns, and how many calls a second it made while it worked.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static volatile long sum;

__attribute__((noinline, noclone)) static void add(long i)
{
    sum += i;
    __asm__ volatile("" ::: "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11");
}

// Begins with a push, as most functions that call others do.
__attribute__((noinline, noclone)) long probed(long i)
{
    add(i);
    return i;
}

static long now_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return t.tv_sec * 1000000000L + t.tv_nsec;
}

// Returns the processor time that the calls took, in ns.
static long calls(long from, long count)
{
    long start = now_ns(CLOCK_THREAD_CPUTIME_ID);
    for (long i = from; i < from + count; i++)
        probed(i);
    return now_ns(CLOCK_THREAD_CPUTIME_ID) - start;
}

static long work(long all, long per_ms)
{
    if (per_ms == 0)
        return calls(0, all);
    long used = 0, next = now_ns(CLOCK_MONOTONIC);
    for (long done = 0; done < all; done += per_ms) {
        used += calls(done, per_ms);
        next += 1000000;
        struct timespec at = {next / 1000000000, next % 1000000000};
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
    }
    return used;
}

__attribute__((noinline, noclone)) static long deep(int depth, long all, long per_ms)
{
    char block[48];
    memset(block, depth, sizeof(block));
    __asm__ volatile("" ::"r"(block) : "memory");
    long used = depth ? deep(depth - 1, all, per_ms) : work(all, per_ms);
    __asm__ volatile("" ::"r"(block) : "memory");
    return used;
}

int main(int argc, char **argv)
{
    long all = argc > 1 ? atol(argv[1]) : 100000, per_ms = argc > 2 ? atol(argv[2]) : 0;
    long start = now_ns(CLOCK_MONOTONIC);
    long used = deep(8, all, per_ms);
    double seconds = (double)(now_ns(CLOCK_MONOTONIC) - start) / 1e9;
    printf("%.0f %.0f\n", (double)used / (double)all, (double)all / seconds);
    return 0;
}
