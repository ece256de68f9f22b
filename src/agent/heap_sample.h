// SPDX-License-Identifier: Apache-2.0
// Which blocks are noted when not all are: each byte that is allocated is as likely to be chosen as
// any other (a Poisson process), and a block is noted when one of its bytes is. A block of S bytes
// is recorded with the probability p = 1 - e^(-S/R), and stands for 1/p blocks of its size.

#ifndef AGENT_HEAP_SAMPLE_H
#define AGENT_HEAP_SAMPLE_H

#include "base/defs.h"

#include <stdatomic.h>

// R, the mean distance of chosen bytes; 0: every block is noted.
extern uint64_t heap_sample_bytes;
// With every block noted: no state to look at.
static inline bool heap_samples(void)
{
    return UNLIKELY(heap_sample_bytes != 0);
}
// A chosen byte was reached: draws the next one. `*until` is, for each thread, bytes until the next
// one that is chosen, less than 0 when it was passed. False: the thread had not drawn any before,
// and the first is not reached.
bool heap_chosen(int64_t *until);
// Whether a block of `size` bytes that is to be allocated is noted.
static inline bool heap_chooses(int64_t *until, uint64_t size)
{
    *until -= (int64_t)MIN(size, (uint64_t)INT64_MAX / 2);
    return UNLIKELY(*until < 0) && heap_chosen(until);
}

// The number of blocks that a recorded block stands for, in units of 1/256 (WIRE_SAMPLED_SHIFT);
// the variances in whole blocks² and KiB². With every block noted: itself, and no variance.
typedef struct HeapWeight {
    uint64_t blocks, bytes;
    uint64_t var_blocks, var_bytes;
} HeapWeight;

// Weighs a block of that size where blocks are sampled.
void heap_weigh(uint64_t size, HeapWeight *ret);
// The weight of a block of that size.
static inline HeapWeight heap_weight(uint64_t size)
{
    HeapWeight w = {.blocks = 1, .bytes = size};
    if (heap_samples())
        heap_weigh(size, &w);
    return w;
}

// ---- Noted blocks -----------------------------------------------------------------------

// A filter before the table of blocks: for each class of addresses, whether a noted block has such
// an address. Every free looks at it, and at nothing else where it finds 0.
enum {
    HEAP_FILTER_SLOTS = 1 << 14,
    HEAP_FILTER_GRANULE_BITS = 4,
    HEAP_FILTER_KEPT = 2, // a slot that never becomes 0
};
extern _Atomic uint8_t heap_filter[HEAP_FILTER_SLOTS];
// HEAP_FILTER_SLOTS - 1 from heap_filter_start on; before, all blocks have the first slot, which
// is kept.
extern uint64_t heap_filter_mask;

static inline unsigned heap_filter_slot(const void *block)
{
    return (uint64_t)(uintptr_t)block >> HEAP_FILTER_GRANULE_BITS & (HEAP_FILTER_SLOTS - 1);
}
// Whether a block may be one that was noted.
static inline bool heap_may_know(const void *block)
{
    uint64_t slot = (uint64_t)(uintptr_t)block >> HEAP_FILTER_GRANULE_BITS & heap_filter_mask;
    return UNLIKELY(atomic_load_explicit(&heap_filter[slot], memory_order_relaxed) != 0);
}
// Blocks are sampled, and the functions of libc are known: free may call libc's at once.
void heap_filter_start(void);
// Whatever comes, heap_may_know holds for this block.
void heap_filter_keep(const void *block);

#endif // AGENT_HEAP_SAMPLE_H
