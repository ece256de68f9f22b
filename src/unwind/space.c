// SPDX-License-Identifier: Apache-2.0
// Updates the mappings of an UnwindSpace.

#include "unwind/space.h"

#include "base/arena.h"

#include <stdatomic.h>
#include <string.h>

// The number must be unique in the process, so that the spaces of several recordings and threads
// can share caches.
static uint64_t next_generation(void)
{
    static _Atomic uint64_t last;
    return atomic_fetch_add_explicit(&last, 1, memory_order_relaxed) + 1;
}

void unwind_space_init(UnwindSpace *s, UnwindArch arch)
{
    *s = (UnwindSpace){.arch = (uint8_t)arch, .generation = next_generation()};
}

void unwind_space_deinit(UnwindSpace *s)
{
    heap_free(s->at);
    *s = (UnwindSpace){0};
}

static void make_room(UnwindSpace *s, uint32_t more)
{
    if (s->cap - s->count >= more)
        return;
    uint32_t cap = s->cap < 16 ? 16 : s->cap * 2;
    s->at = heap_grow(s->at, cap * sizeof(s->at[0]));
    s->cap = cap;
}

static void insert_at(UnwindSpace *s, uint32_t i, UnwindMapping m)
{
    make_room(s, 1);
    memmove(&s->at[i + 1], &s->at[i], (s->count - i) * sizeof(s->at[0]));
    s->at[i] = m;
    s->count++;
}

// The first mapping that ends after `addr`.
static uint32_t first_above(const UnwindSpace *s, uint64_t addr)
{
    uint32_t low = 0, high = s->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (s->at[middle].end <= addr)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// Removes all mappings in [start, end), and returns the index for a new mapping there.
static uint32_t cut_out(UnwindSpace *s, uint64_t start, uint64_t end)
{
    if (s->count == 0)
        return 0;
    uint32_t i = first_above(s, start);
    if (i < s->count && s->at[i].start < start) {
        UnwindMapping tail = s->at[i];
        s->at[i].end = start;
        i++;
        if (tail.end > end) {
            tail.start = end;
            insert_at(s, i, tail);
            return i;
        }
    }
    uint32_t last = i;
    while (last < s->count && s->at[last].end <= end)
        last++;
    memmove(&s->at[i], &s->at[last], (s->count - last) * sizeof(s->at[0]));
    s->count -= last - i;
    if (i < s->count && s->at[i].start < end)
        s->at[i].start = end;
    return i;
}

void unwind_space_map(UnwindSpace *s, UnwindMapping m)
{
    if (m.start >= m.end)
        return;
    insert_at(s, cut_out(s, m.start, m.end), m);
    s->generation = next_generation();
}

void unwind_space_clear(UnwindSpace *s)
{
    s->count = 0;
    s->last = 0;
    s->generation = next_generation();
}

void unwind_space_copy(UnwindSpace *to, const UnwindSpace *from)
{
    UnwindMapping *at = to->at;
    uint32_t cap = to->cap;
    if (cap < from->count) {
        at = heap_grow(at, from->count * sizeof(at[0]));
        cap = from->count;
    }
    if (from->count)
        memcpy(at, from->at, from->count * sizeof(at[0]));
    *to = *from;
    to->at = at;
    to->cap = cap;
}
