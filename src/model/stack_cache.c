// SPDX-License-Identifier: Apache-2.0
// Interning of whole stacks.

#include "model/stack_cache.h"

enum { STACK_BLOCK_WORDS = STACK_BLOCK_FRAMES / 2 };
_Static_assert(STACK_BLOCK_WORDS == 7 && sizeof(StackBlock) == 64, "as hash_block reads it");

// Multiplies to 128 bits and folds: every bit of either side reaches the result.
static uint64_t fold(uint64_t a, uint64_t b)
{
    unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint64_t hash_block(const StackBlock *b)
{
    uint64_t word[STACK_BLOCK_WORDS];
    memcpy(word, b->frame, sizeof(word));
    uint64_t from = b->from.v;
    return fold(word[0] ^ 0x9e3779b97f4a7c15ull, word[1] ^ 0xbf58476d1ce4e5b9ull) ^
           fold(word[2] ^ 0x94d049bb133111ebull, word[3] ^ 0xff51afd7ed558ccdull) ^
           fold(word[4] ^ 0xc4ceb9fe1a85ec53ull, word[5] ^ 0x2545f4914f6cdd1dull) ^
           fold(word[6] ^ 0xd6e8feb86659fd93ull, from ^ 0xa0761d6478bd642full);
}

static StackId intern_block(StackCache *c, Profile *p, StackBlock *b, size_t count)
{
    StackBlock *known = &c->at[hash_block(b) & (STACK_CACHE_SIZE - 1)];
    if (known->to.v && known->from.v == b->from.v &&
        memcmp(known->frame, b->frame, sizeof(b->frame)) == 0)
        return known->to;
    b->to = b->from;
    for (size_t i = 0; i < count; i++)
        b->to = profile_stack(p, b->to, b->frame[i]);
    *known = *b;
    return b->to;
}

StackId stack_cache_intern(StackCache *c, Profile *p, const FrameId *frames, size_t n)
{
    StackId stack = {0};
    while (n > 0) {
        StackBlock b = {.from = stack};
        size_t count = MIN(n, (size_t)STACK_BLOCK_FRAMES);
        for (size_t i = 0; i < count; i++)
            b.frame[i] = frames[--n];
        stack = intern_block(c, p, &b, count);
    }
    return stack;
}
