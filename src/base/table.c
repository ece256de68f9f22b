// SPDX-License-Identifier: Apache-2.0
// A hash table from hash to row number: inserting and growing. The first slot of an entry depends
// on its tag only, so that growing needs no hashes from the caller.

#include "base/table.h"

#include "base/arena.h"

enum { TABLE_MIN_SLOTS = 16 };

void table_deinit(Table *t)
{
    heap_free(t->slots);
    *t = (Table){0};
}

static void place(TableSlot *slots, size_t mask, TableSlot entry)
{
    size_t at = entry.tag & mask;
    while (slots[at].row_plus_1)
        at = (at + 1) & mask;
    slots[at] = entry;
}

static void rehash(Table *t, size_t slot_count)
{
    TableSlot *slots = heap_alloc_dense(arena_size_of(slot_count, sizeof(TableSlot)));
    for (size_t i = 0; t->slots && i <= t->mask; i++)
        if (t->slots[i].row_plus_1)
            place(slots, slot_count - 1, t->slots[i]);
    heap_free(t->slots);
    t->slots = slots;
    t->mask = slot_count - 1;
}

void table_reserve(Table *t, size_t rows)
{
    size_t want = round_up_pow2(MAX(rows + rows / 3 + 1, (size_t)TABLE_MIN_SLOTS));
    if (!t->slots || want > t->mask + 1)
        rehash(t, want);
}

void table_insert(Table *t, uint64_t hash, uint32_t row)
{
    assert(row != UINT32_MAX);
    if (!t->slots || (t->len + 1) * 4 > (t->mask + 1) * 3)
        rehash(t, t->slots ? (t->mask + 1) * 2 : TABLE_MIN_SLOTS);
    place(t->slots, t->mask, (TableSlot){row + 1, table_tag(hash)});
    t->len++;
}
