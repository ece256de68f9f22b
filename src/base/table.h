// SPDX-License-Identifier: Apache-2.0
// Hash -> row number. The keys stay in the caller's columns: a Table stores
// only 4-byte rows and 4-byte hash tags, open addressing, at most 3/4 full.
//
//     for (TableProbe p = table_probe(&t, hash); table_next(&t, &p, &row);)
//         if (key_at(row) == key)
//             return row;
//     table_insert(&t, hash, new_row);

#ifndef BASE_TABLE_H
#define BASE_TABLE_H

#include "base/defs.h"

typedef struct TableSlot {
    uint32_t row_plus_1; // 0: empty
    uint32_t tag;        // folded hash: its low bits are the home slot, the rest filters
} TableSlot;

// Zero-initialised is a valid empty table. The memory is the heap's.
typedef struct Table {
    TableSlot *slots;
    size_t mask; // slot count - 1; 0 while slots is NULL
    size_t len;
} Table;

typedef struct TableProbe {
    size_t at;
    uint32_t tag;
} TableProbe;

void table_deinit(Table *t);

// Adds `row` under `hash`. Does not look for an equal key: the caller did.
void table_insert(Table *t, uint64_t hash, uint32_t row);

// Makes room for `rows` rows in all, so that inserting them does not rehash.
void table_reserve(Table *t, size_t rows);

static inline uint32_t table_tag(uint64_t hash)
{
    return (uint32_t)(hash ^ (hash >> 32));
}

static inline TableProbe table_probe(const Table *t, uint64_t hash)
{
    uint32_t tag = table_tag(hash);
    return (TableProbe){tag & t->mask, tag};
}

// The next row whose hash tag fits; the caller compares the keys.
static inline bool table_next(const Table *t, TableProbe *p, uint32_t *row)
{
    if (!t->slots)
        return false;
    for (;;) {
        TableSlot slot = t->slots[p->at];
        if (slot.row_plus_1 == 0)
            return false;
        p->at = (p->at + 1) & t->mask;
        if (slot.tag == p->tag) {
            *row = slot.row_plus_1 - 1;
            return true;
        }
    }
}

// Mixes integers into a hash whose both halves are usable (splitmix64's mixer).
static inline uint64_t hash_u64(uint64_t x)
{
    x ^= x >> 30;
    x *= 0xbf58476d1ce4e5b9ull;
    x ^= x >> 27;
    x *= 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}

static inline uint64_t hash_pair(uint64_t a, uint64_t b)
{
    return hash_u64(a * 0x9e3779b97f4a7c15ull + hash_u64(b));
}

#endif // BASE_TABLE_H
