// SPDX-License-Identifier: Apache-2.0
// A sorted list of ranges. Mappings are made seldom: one lock is enough.

#include "agent/heap_maps.h"

#include "agent/sys.h"

#include <stdatomic.h>
#include <sys/mman.h>

enum { RANGES_MAX = 1 << 16, PAGE = 4096 };

typedef struct Range {
    uint64_t start, end;
    uint32_t site; // its number plus 1
} Range;

static Range *ranges;
static uint32_t count;
static _Atomic uint32_t lock;

static bool enter(void)
{
    if (!heap_lock(&lock))
        return false;
    if (!ranges)
        ranges = sys_map(NULL, RANGES_MAX * sizeof(*ranges), PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (ranges)
        return true;
    heap_unlock(&lock);
    return false;
}

// The first range that ends behind an address.
static uint32_t first_behind(uint64_t at)
{
    return (uint32_t)PARTITION_POINT(i, count, ranges[i].end <= at);
}

static bool insert(uint32_t at, Range r)
{
    if (count == RANGES_MAX)
        return false;
    __builtin_memmove(&ranges[at + 1], &ranges[at], (count - at) * sizeof(*ranges));
    ranges[at] = r;
    count++;
    return true;
}

static void erase(uint32_t at, uint32_t n)
{
    __builtin_memmove(&ranges[at], &ranges[at + n], (count - at - n) * sizeof(*ranges));
    count -= n;
}

static uint32_t remove_range(uint64_t start, uint64_t end)
{
    uint32_t at = first_behind(start), first_site = 0, whole = 0;
    for (uint32_t i = at; i < count && ranges[i].start < end; i++) {
        Range *r = &ranges[i];
        uint64_t low = MAX(r->start, start), high = MIN(r->end, end);
        first_site = first_site ? first_site : r->site;
        heap_site_unmapped(r->site, high - low);
        if (low == r->start && high == r->end) {
            at = whole++ ? at : i;
            continue;
        }
        if (low > r->start && high < r->end) {
            Range behind = {high, r->end, r->site};
            r->end = low;
            // Without room the part behind counts as unmapped, too.
            if (!insert(i + 1, behind))
                heap_site_unmapped(behind.site, behind.end - behind.start);
            break;
        }
        *(low == r->start ? &r->start : &r->end) = low == r->start ? high : low;
    }
    if (whole)
        erase(at, whole);
    return first_site;
}

static void add_range(Range r)
{
    uint32_t at = first_behind(r.start);
    heap_site_mapped(r.site, r.end - r.start);
    if (at > 0 && ranges[at - 1].end == r.start && ranges[at - 1].site == r.site) {
        ranges[at - 1].end = r.end;
    } else if (!insert(at, r)) {
        heap_site_unmapped(r.site, r.end - r.start);
        atomic_fetch_add(&agent_heap->no_room, 1);
    }
}

void heap_maps_add(uint64_t start, uint64_t size, uint32_t site)
{
    Range r = {start, start + align_up(size, PAGE), site};
    if (r.end <= r.start || !enter())
        return;
    (void)remove_range(r.start, r.end);
    add_range(r);
    heap_unlock(&lock);
}

uint32_t heap_maps_remove(uint64_t start, uint64_t size)
{
    uint64_t end = start + align_up(size, PAGE);
    if (end <= start || !enter())
        return 0;
    uint32_t site = remove_range(start, end);
    heap_unlock(&lock);
    return site;
}

void heap_maps_forget(void)
{
    count = 0;
    atomic_store(&lock, 0);
}
