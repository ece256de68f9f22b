// SPDX-License-Identifier: Apache-2.0
// The record of each live block of the program, found by its address. The blocks of glibc lie
// at least 32 bytes apart, and each has a row of 16 bytes in a table over the address space, of
// which only the parts exist where blocks lie. Nothing is written into the blocks.

#ifndef AGENT_HEAP_BLOCKS_H
#define AGENT_HEAP_BLOCKS_H

#include "base/defs.h"

enum { HEAP_BORN_BITS = 48 };

typedef struct HeapBlock {
    uint32_t site;   // its number plus 1; 0: no block is known there
    uint64_t size;   // bytes, below 2^40; a larger block counts as one of that size
    uint64_t born;   // on the heap's clock, of which HEAP_BORN_BITS are kept
    uint16_t thread; // a number of the thread that allocated it
} HeapBlock;

// The address by which a block is known that a function of the program gave out (wire/entries.h):
// it may lie at the beginning of a block of libc's.
static inline const void *heap_pool_block(const void *block)
{
    return (const void *)((uintptr_t)block | (uintptr_t)1 << 47);
}

// No two blocks begin within the same 2^bits bytes; 5 unless said, as in glibc. Before the first
// block.
void heap_blocks_set_granule(unsigned bits);
// Notes a block. False when there is no memory for it.
bool heap_blocks_put(const void *block, const HeapBlock *of);
// Takes the record out of the table. False: nothing was.
bool heap_blocks_take(const void *block, HeapBlock *ret);
// Whether a block is noted there.
bool heap_blocks_has(const void *block);
// Unmaps the table, which nothing may use after that: for a program that needs the addresses.
void heap_blocks_give_back(void);
// Forgets all blocks: for the child of a fork.
void heap_blocks_forget(void);

#endif // AGENT_HEAP_BLOCKS_H
