// SPDX-License-Identifier: Apache-2.0
// The record of each live block of the program, found by its address. The blocks of glibc lie
// at least 32 bytes apart, and each has a row of 16 bytes in a table over the address space, of
// which only the parts exist where blocks lie. Nothing is written into the blocks.

#ifndef AGENT_HEAP_BLOCKS_H
#define AGENT_HEAP_BLOCKS_H

#include "base/defs.h"

#include <stdatomic.h>

enum {
    HEAP_BORN_BITS = 48,
    HEAP_ADDRESS_BITS = 48,                 // the highest for the blocks of pools
    HEAP_REGION_BITS = 26,                  // one part of the table is for so much of the addresses
    HEAP_SITE_BITS = 24,                    // of the first word of a row
    HEAP_THREAD_BITS = 64 - HEAP_BORN_BITS, // of the second word
    HEAP_REGIONS = 1 << (HEAP_ADDRESS_BITS - HEAP_REGION_BITS),
};
#define HEAP_SIZE_MAX (((uint64_t)1 << (64 - HEAP_SITE_BITS)) - 1)

typedef struct HeapBlock {
    uint32_t site;   // its number plus 1; 0: no block is known there
    uint64_t size;   // bytes, below 2^40; a larger block counts as one of that size
    uint64_t born;   // on the heap's clock, of which HEAP_BORN_BITS are kept
    uint16_t thread; // a number of the thread that allocated it
} HeapBlock;

// What the table has of one block.
typedef struct HeapRow {
    _Atomic uint64_t size_and_site; // 0: there is no block
    uint64_t born_and_thread;
} HeapRow;

// The parts of the table; NULL: that part does not exist.
extern _Atomic(HeapRow *) heap_regions[HEAP_REGIONS];
extern unsigned heap_granule_bits; // as heap_blocks_set_granule says

// The row of a block; NULL: its part of the table does not exist.
static inline HeapRow *heap_row_of(const void *block)
{
    uint64_t at = (uint64_t)(uintptr_t)block;
    if (UNLIKELY(at >> HEAP_ADDRESS_BITS))
        return NULL;
    HeapRow *rows =
        atomic_load_explicit(&heap_regions[at >> HEAP_REGION_BITS], memory_order_acquire);
    uint64_t within = at & (((uint64_t)1 << HEAP_REGION_BITS) - 1);
    return LIKELY(rows) ? &rows[within >> heap_granule_bits] : NULL;
}

// Says that a block and its row are wanted soon, so that the processor waits for both at once.
static inline void heap_prefetch(const void *block)
{
    __builtin_prefetch((const char *)block - 16, 1);
    __builtin_prefetch(heap_row_of(block), 1);
}

// heap_row_of for a block whose part of the table is made now. NULL: there is no memory for it.
HeapRow *heap_row_make(const void *block);

// The address by which a block is known that a function of the program gave out (wire/entries.h):
// it may lie at the beginning of a block of libc's.
static inline const void *heap_pool_block(const void *block)
{
    return (const void *)((uintptr_t)block | (uintptr_t)1 << 47);
}

// No two blocks begin within the same 2^bits bytes; 5 unless said, as in glibc. Before the first
// block.
void heap_blocks_set_granule(unsigned bits);
// Notes a block in its row.
static inline void heap_row_put(HeapRow *r, const HeapBlock *of)
{
    r->born_and_thread = of->born << HEAP_THREAD_BITS | of->thread;
    atomic_store_explicit(&r->size_and_site,
                          MIN(of->size, HEAP_SIZE_MAX) << HEAP_SITE_BITS | of->site,
                          memory_order_release);
}

// Notes a block. False when there is no memory for it.
static inline bool heap_blocks_put(const void *block, const HeapBlock *of)
{
    HeapRow *r = heap_row_of(block);
    if (UNLIKELY(!r) && !(r = heap_row_make(block)))
        return false;
    heap_row_put(r, of);
    return true;
}

// What is noted in a row. False: nothing is.
static inline bool heap_row_look(const HeapRow *r, HeapBlock *ret)
{
    uint64_t word = atomic_load_explicit(&r->size_and_site, memory_order_acquire);
    if (word == 0)
        return false;
    ret->site = (uint32_t)(word & (((uint64_t)1 << HEAP_SITE_BITS) - 1));
    ret->size = word >> HEAP_SITE_BITS;
    ret->born = r->born_and_thread >> HEAP_THREAD_BITS;
    ret->thread = (uint16_t)r->born_and_thread;
    return true;
}

static inline void heap_row_clear(HeapRow *r)
{
    atomic_store_explicit(&r->size_and_site, 0, memory_order_relaxed);
}

// Takes what is noted out of a row, which may be NULL. False: nothing was.
static inline bool heap_row_take(HeapRow *r, HeapBlock *ret)
{
    // Two threads that free one block at once are the program's own fault: one of them finds it, or
    // both, and the sums are off by one block.
    if (!r || !heap_row_look(r, ret))
        return false;
    heap_row_clear(r);
    return true;
}

// Takes what is noted of a block out of the table. False: nothing was.
static inline bool heap_blocks_take(const void *block, HeapBlock *ret)
{
    return heap_row_take(heap_row_of(block), ret);
}

// Unmaps the table, which must not be used after that: for a program that needs the addresses.
void heap_blocks_give_back(void);
// Forgets all blocks: for the child of a fork.
void heap_blocks_forget(void);

#endif // AGENT_HEAP_BLOCKS_H
