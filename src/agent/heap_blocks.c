// SPDX-License-Identifier: Apache-2.0
// The table of blocks.

#include "agent/heap_blocks.h"

#include "agent/sys.h"

#include <stdatomic.h>
#include <sys/mman.h>

enum {
    ADDRESS_BITS = 48,                 // the highest for the blocks of pools
    REGION_BITS = 26,                  // one part of the table is for so much of the address space
    SITE_BITS = 24,                    // of the first word of a row
    THREAD_BITS = 64 - HEAP_BORN_BITS, // of the second word
    REGION_COUNT = 1 << (ADDRESS_BITS - REGION_BITS),
    REGIONS_LISTED = 1 << 16,
};
#define SIZE_MAX_KEPT (((uint64_t)1 << (64 - SITE_BITS)) - 1)

typedef struct Row {
    _Atomic uint64_t size_and_site;
    uint64_t born_and_thread;
} Row;

static _Atomic(Row *) regions[REGION_COUNT];
static uint32_t listed[REGIONS_LISTED]; // the numbers of those that exist
static _Atomic uint32_t listed_count;
static unsigned granule_bits = 5; // no two blocks begin in the same granule

void heap_blocks_set_granule(unsigned bits)
{
    granule_bits = bits;
}

static uint64_t region_bytes(void)
{
    return sizeof(Row) << (REGION_BITS - granule_bits);
}

__attribute__((noinline, cold)) static Row *make_region(uint64_t number)
{
    Row *there = NULL;
    Row *made = sys_map(NULL, region_bytes(), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (!made || atomic_compare_exchange_strong(&regions[number], &there, made)) {
        uint32_t at = made ? atomic_fetch_add(&listed_count, 1) : REGIONS_LISTED;
        if (at < REGIONS_LISTED)
            listed[at] = (uint32_t)number;
        return made;
    }
    sys_unmap(made, region_bytes());
    return there;
}

static inline Row *row_of(const void *block, bool make)
{
    uint64_t at = (uint64_t)(uintptr_t)block;
    if (at >> ADDRESS_BITS)
        return NULL;
    Row *rows = atomic_load_explicit(&regions[at >> REGION_BITS], memory_order_acquire);
    if (UNLIKELY(!rows)) {
        rows = make ? make_region(at >> REGION_BITS) : NULL;
        if (!rows)
            return NULL;
    }
    return &rows[(at & (((uint64_t)1 << REGION_BITS) - 1)) >> granule_bits];
}

bool heap_blocks_put(const void *block, const HeapBlock *of)
{
    Row *r = row_of(block, true);
    if (UNLIKELY(!r))
        return false;
    r->born_and_thread = of->born << THREAD_BITS | of->thread;
    atomic_store_explicit(&r->size_and_site, MIN(of->size, SIZE_MAX_KEPT) << SITE_BITS | of->site,
                          memory_order_release);
    return true;
}

bool heap_blocks_take(const void *block, HeapBlock *ret)
{
    Row *r = row_of(block, false);
    if (!r)
        return false;
    // Two threads that free one block at once are the program's own fault: one of them finds it, or
    // both, and the sums are off by one block.
    uint64_t word = atomic_load_explicit(&r->size_and_site, memory_order_acquire);
    if (word == 0)
        return false;
    ret->site = (uint32_t)(word & (((uint64_t)1 << SITE_BITS) - 1));
    ret->size = word >> SITE_BITS;
    ret->born = r->born_and_thread >> THREAD_BITS;
    ret->thread = (uint16_t)r->born_and_thread;
    atomic_store_explicit(&r->size_and_site, 0, memory_order_relaxed);
    return true;
}

bool heap_blocks_has(const void *block)
{
    const Row *r = row_of(block, false);
    return r && atomic_load_explicit(&r->size_and_site, memory_order_relaxed) != 0;
}

void heap_blocks_give_back(void)
{
    enum { PAGE = 4096 };
    static bool was_given;
    if (was_given) // by the parent of this process
        return;
    was_given = true;
    uint64_t low = align_up((uint64_t)(uintptr_t)regions, PAGE);
    uint64_t high = (uint64_t)(uintptr_t)(regions + REGION_COUNT) & ~(uint64_t)(PAGE - 1);
    sys_unmap((void *)(uintptr_t)low, high - low);
}

void heap_blocks_forget(void)
{
    uint32_t count = MIN(atomic_load(&listed_count), (uint32_t)REGIONS_LISTED);
    for (uint32_t i = 0; i < count; i++)
        (void)SYS3(SYS_madvise, atomic_load(&regions[listed[i]]), region_bytes(), MADV_DONTNEED);
}
