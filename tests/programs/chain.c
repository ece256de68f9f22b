// SPDX-License-Identifier: Apache-2.0
// main -> a -> b -> hot, which inlines mix. Also: main -> other.
//
// Truths, whatever the compiler and its flags:
// - `hot`, with what is inlined into it, takes 80 % of the time, `other` 20 %:
//   both run the same loop, hot four times as often
// - every sample in hot has the callers main, a, b in this order
// - mix is named as inlined into hot
// - at least 70 % of the time lies on the lines between HOT BEGIN and HOT END

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef __clang__
#define APART __attribute__((noinline))
#else
#define APART __attribute__((noinline, noclone))
#endif
#define INLINED static inline __attribute__((always_inline))

static volatile uint64_t sink;

// HOT BEGIN
INLINED uint64_t mix(uint64_t x)
{
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdull;
    x ^= x >> 29;
    x *= 0xc4ceb9fe1a85ec53ull;
    return x ^ (x >> 32);
}

APART uint64_t hot(uint64_t rounds)
{
    uint64_t x = rounds;
    for (uint64_t i = 0; i < rounds; i++)
        x = mix(x + i);
    return x;
}
// HOT END

APART uint64_t other(uint64_t rounds)
{
    uint64_t x = rounds;
    for (uint64_t i = 0; i < rounds; i++)
        x = mix(x + i);
    return x;
}

// Adding to the result keeps these from being tail calls, which leave no frame.
APART uint64_t b(uint64_t rounds)
{
    return hot(rounds) + sink;
}

APART uint64_t a(uint64_t rounds)
{
    return b(rounds) + sink;
}

int main(int argc, char **argv)
{
    uint64_t slices = argc > 1 ? strtoull(argv[1], NULL, 10) : 100;
    for (uint64_t i = 0; i < slices; i++)
        sink ^= (a(400000) + other(100000)) & 1;
    printf("done %d\n", (int)(sink & 1) | 1);
    return 0;
}
