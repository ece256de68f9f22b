// SPDX-License-Identifier: Apache-2.0
// Calls functions known numbers of times: probes N, N a multiple of 8.
// Truths: parse N + N/4 + N/8 times, len 0 to 3 in N of them and 100 or 101 in N/4; tail N/8 times,
// which ends in a jump to parse when calls of siblings are optimised; twice is inlined and runs
// N + N/4 times; the marker probes:step fires N times with i; every(N) runs in main alone.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static volatile long sink;

// A marker as sys/sdt.h makes it, with a semaphore.
__extension__ unsigned short probes_step_semaphore __attribute__((section(".probes"))) = 0;
#define STEP(value)                                                                                \
    __asm__ volatile("990: nop\n"                                                                  \
                     ".pushsection .note.stapsdt,\"?\",\"note\"\n"                                 \
                     ".balign 4\n.4byte 992f-991f,994f-993f,3\n"                                   \
                     "991: .asciz \"stapsdt\"\n992: .balign 4\n"                                   \
                     "993: .8byte 990b\n.8byte _.stapsdt.base\n.8byte probes_step_semaphore\n"     \
                     ".asciz \"probes\"\n.asciz \"step\"\n.asciz \"-8@%0 4@$7\"\n"                 \
                     "994: .balign 4\n.popsection\n"                                               \
                     ".ifndef _.stapsdt.base\n"                                                    \
                     ".pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n"       \
                     ".weak _.stapsdt.base\n.hidden _.stapsdt.base\n_.stapsdt.base: .space 1\n"    \
                     ".size _.stapsdt.base,1\n.popsection\n.endif\n" ::"nor"((long)(value)))

__attribute__((noinline)) long parse(long len, const char *p)
{
    sink += len + p[0];
    if (len & 1)
        return len * 2; // line 32
    return len - 1;
}

__attribute__((noinline)) long tail(long n)
{
    sink++;
    return parse(n, "t");
}

static inline long twice(long n)
{
    sink++;
    return n * 2;
}

__attribute__((noinline)) void handle_one(long i)
{
    sink += parse(i % 4, "a");
}

__attribute__((noinline)) void handle_two(long i)
{
    sink += parse(100 + i % 2, "b");
    sink += twice(i);
}

int main(int argc, char **argv)
{
    long n = argc > 1 ? atol(argv[1]) : 800;
    for (long i = 0; i < n; i++) {
        STEP(i);
        if (probes_step_semaphore)
            sink++;
        handle_one(i);
        if (i % 4 == 0)
            handle_two(i);
        if (i % 8 == 0)
            sink += tail(i);
        sink += twice(i);
        free(malloc((size_t)(i % 100) + 1));
    }
    return sink == 0;
}
