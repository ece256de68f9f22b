// SPDX-License-Identifier: Apache-2.0
// The table of blocks.

#include "agent/heap_blocks.h"

#include "agent/sys.h"

#include <stdatomic.h>
#include <sys/mman.h>

enum { REGIONS_LISTED = 1 << 16 };

_Atomic(HeapRow *) heap_regions[HEAP_REGIONS];
unsigned heap_granule_bits = 5;         // no two blocks begin in the same granule
static uint32_t listed[REGIONS_LISTED]; // the numbers of those that exist
static _Atomic uint32_t listed_count;

void heap_blocks_set_granule(unsigned bits)
{
    heap_granule_bits = bits;
}

static uint64_t region_bytes(void)
{
    return sizeof(HeapRow) << (HEAP_REGION_BITS - heap_granule_bits);
}

__attribute__((noinline, cold)) static HeapRow *make_region(uint64_t number)
{
    HeapRow *there = NULL;
    HeapRow *made = sys_map(NULL, region_bytes(), PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (!made || atomic_compare_exchange_strong(&heap_regions[number], &there, made)) {
        uint32_t at = made ? atomic_fetch_add(&listed_count, 1) : REGIONS_LISTED;
        if (at < REGIONS_LISTED)
            listed[at] = (uint32_t)number;
        return made;
    }
    sys_unmap(made, region_bytes());
    return there;
}

HeapRow *heap_row_make(const void *block)
{
    if ((uint64_t)(uintptr_t)block >> HEAP_ADDRESS_BITS)
        return NULL;
    return make_region((uint64_t)(uintptr_t)block >> HEAP_REGION_BITS) ? heap_row_of(block) : NULL;
}

void heap_blocks_give_back(void)
{
    enum { PAGE = 4096 };
    static bool was_given;
    if (was_given) // by the parent of this process
        return;
    was_given = true;
    uint64_t low = align_up((uint64_t)(uintptr_t)heap_regions, PAGE);
    uint64_t high = (uint64_t)(uintptr_t)(heap_regions + HEAP_REGIONS) & ~(uint64_t)(PAGE - 1);
    sys_unmap((void *)(uintptr_t)low, high - low);
}

void heap_blocks_forget(void)
{
    uint32_t count = MIN(atomic_load(&listed_count), (uint32_t)REGIONS_LISTED);
    for (uint32_t i = 0; i < count; i++)
        (void)SYS3(SYS_madvise, atomic_load(&heap_regions[listed[i]]), region_bytes(),
                   MADV_DONTNEED);
}
