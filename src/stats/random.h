// SPDX-License-Identifier: Apache-2.0
// A seeded random number generator (xoshiro256**, Blackman & Vigna 2018). The same seed
// gives the same numbers on every machine.

#ifndef STATS_RANDOM_H
#define STATS_RANDOM_H

#include "base/defs.h"

typedef struct Random {
    uint64_t state[4];
} Random;

// A generator for the seed. Every seed is suitable: splitmix64 spreads it over the state.
Random random_seeded(uint64_t seed);

// Uniform over all 64-bit numbers.
uint64_t random_u64(Random *r);
// Uniform in [0, n); n must not be 0. The bias is below n / 2^64.
uint64_t random_below(Random *r, uint64_t n);

#endif // STATS_RANDOM_H
