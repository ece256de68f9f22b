// SPDX-License-Identifier: Apache-2.0
// A hash table from hash to row number. The caller keeps the keys in its own columns and
// compares them: a Table stores only row numbers and hash tags of 4 bytes each. Open
// addressing, at most 3/4 full.
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
    uint32_t tag;        // folded hash: the low bits select the first slot, the rest filters
} TableSlot;

// Zero-initialised is a valid empty table. The slots are heap memory.
typedef struct Table {
    TableSlot *slots;
    size_t mask; // slot count - 1; 0 while slots is NULL
    size_t len;
} Table;

typedef struct TableProbe {
    size_t at;
    uint32_t tag;
} TableProbe;

// Frees the slots; the table is empty then and may be used again.
void table_deinit(Table *t);

// Adds `row` under `hash`. Does not look for an equal key: the caller has done that.
void table_insert(Table *t, uint64_t hash, uint32_t row);

// Makes room for `rows` rows in all, so that inserting them does not rehash.
void table_reserve(Table *t, size_t rows);

// A hash folded to the 32 bits that a slot stores.
static inline uint32_t table_tag(uint64_t hash)
{
    return (uint32_t)(hash ^ (hash >> 32));
}

// Starts a search for `hash`; table_next gives the candidates. The table must not change
// meanwhile.
static inline TableProbe table_probe(const Table *t, uint64_t hash)
{
    uint32_t tag = table_tag(hash);
    return (TableProbe){tag & t->mask, tag};
}

// The next row with the searched hash tag; the caller compares the keys. False: no more.
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

// Asks the processor for the slot where a later search for `hash` starts.
static inline void table_prefetch(const Table *t, uint64_t hash)
{
    if (t->slots)
        __builtin_prefetch(&t->slots[table_tag(hash) & t->mask]);
}

// Hashes an integer with the mixer of splitmix64; all bits of the result may be used.
static inline uint64_t hash_u64(uint64_t x)
{
    x ^= x >> 30;
    x *= 0xbf58476d1ce4e5b9ull;
    x ^= x >> 27;
    x *= 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}

// Hashes two integers; their order matters.
static inline uint64_t hash_pair(uint64_t a, uint64_t b)
{
    return hash_u64(a * 0x9e3779b97f4a7c15ull + hash_u64(b));
}

#endif // BASE_TABLE_H
