// SPDX-License-Identifier: Apache-2.0
// xoshiro256** and distributions on top of it.

#include "stats/random.h"

Random random_seeded(uint64_t seed)
{
    Random r;
    for (size_t i = 0; i < ARRAY_LEN(r.state); i++) {
        seed += 0x9e3779b97f4a7c15ull;
        uint64_t x = seed;
        x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
        x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
        r.state[i] = x ^ (x >> 31);
    }
    return r;
}

static inline uint64_t rotate_left(uint64_t x, int k)
{
    return (x << k) | (x >> (64 - k));
}

uint64_t random_u64(Random *r)
{
    uint64_t *s = r->state;
    uint64_t result = rotate_left(s[1] * 5, 7) * 9;
    uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate_left(s[3], 45);
    return result;
}

uint64_t random_below(Random *r, uint64_t n)
{
    return (uint64_t)(((unsigned __int128)random_u64(r) * n) >> 64);
}
