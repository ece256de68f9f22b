// SPDX-License-Identifier: Apache-2.0
// Adding raw profiles section by section.

#include "coverage/llvm/raw_layout.h"

#include "base/wide.h"
#include "llvmcov/names.h"

void cover_layouts_deinit(CoverLayouts *l)
{
    for (size_t i = 0; i < l->at.len; i++)
        cover_targets_deinit(&l->at.at[i]->targets);
    table_deinit(&l->index);
}

// Absolute pointers differ from run to run; what is hashed does not.
static uint64_t layout_hash(const ProfRaw *p)
{
    uint64_t h = hash_pair(p->record_count, p->counters.len);
    if (p->record_count)
        h = hash_pair(h, bytes_hash(bytes_slice(p->records, 0, 16)));
    return h;
}

static CoverLayout *add_layout(Arena *arena, CoverLayouts *all, const ProfRaw *p)
{
    CoverLayout *l = arena_new(arena, CoverLayout);
    l->raw = *p;
    l->raw.records = arena_bytes(arena, p->records);
    l->raw.names = arena_bytes(arena, p->names);
    l->raw.binary_ids = arena_bytes(arena, p->binary_ids);
    l->raw.vtable_names = arena_bytes(arena, p->vtable_names);
    l->raw.vtables = l->raw.values = (Bytes){0}; // addresses of this run
    l->bitmap = arena_alloc(arena, p->bitmap.len, 1);
    l->raw.bitmap.ptr = l->bitmap;
    l->counter_count = p->counters.len / p->counter_size;
    l->value_blocks = profraw_value_blocks(p);
    l->values = arena_array(arena, CoverFunctionValues, l->value_blocks);
    if (p->counter_size == 1) {
        l->flags = arena_alloc(arena, l->counter_count, 1);
        memset(l->flags, 0xff, l->counter_count);
        l->raw.counters.ptr = l->flags;
    } else {
        l->sums = arena_array(arena, uint64_t, l->counter_count);
        l->raw.counters.ptr = (const uint8_t *)l->sums;
    }
    vec_push(arena, &all->at, l);
    table_insert(&all->index, layout_hash(p), (uint32_t)(all->at.len - 1));
    return l;
}

static bool check_records(const ProfRaw *p, Error *err)
{
    ProfRecord r;
    for (uint64_t i = 0; i < p->record_count; i++)
        if (!profraw_record(p, i, &r, err))
            return false;
    return true;
}

CoverLayout *cover_layout_find(CoverLayouts *l, const ProfRaw *p)
{
    if (l->last && profraw_same_layout(&l->last->raw, p))
        return l->last;
    uint32_t row;
    for (TableProbe probe = table_probe(&l->index, layout_hash(p));
         table_next(&l->index, &probe, &row);)
        if (l->at.at[row] != l->last && profraw_same_layout(&l->at.at[row]->raw, p))
            return l->last = l->at.at[row];
    return NULL;
}

bool cover_layout_new(Arena *arena, CoverLayouts *l, const ProfRaw *p, CoverLayout **ret,
                      Error *err)
{
    StrVec names, vtable_names;
    if (!check_records(p, err) || !prof_names_unpack(arena, p->names, &names, err) ||
        !prof_names_unpack(arena, p->vtable_names, &vtable_names, err))
        return false;
    *ret = l->last = add_layout(arena, l, p);
    (*ret)->names = names;
    (*ret)->vtable_names = vtable_names;
    return true;
}

// sums += counters. Values below 2^63, the common case, cannot overflow. Whether a
// block has others is seen while it is added: sums that wrapped are taken back.
enum { BLOCK = 512 };

static bool add_carefully(uint64_t *sums, const uint8_t *counters, size_t n, uint64_t weight,
                          bool swap)
{
    bool saturated = false;
    for (size_t i = 0; i < n; i++) {
        uint64_t v;
        memcpy(&v, counters + 8 * i, 8);
        v = swap ? __builtin_bswap64(v) : v;
        sums[i] = cover_add_counter(sums[i], v, weight, &saturated);
    }
    return saturated;
}

// False, and the sums are as before, when some value was 2^63 or more.
WIDE_CLONES static bool add_block(uint64_t *sums, const uint8_t *counters)
{
    WideU64 *to = (WideU64 *)(void *)sums;
    const WideU64 *from = (const WideU64 *)(const void *)counters;
    WideU64 all = {0};
    for (size_t i = 0; i < BLOCK / WIDE_WORDS; i++) {
        all |= from[i] | to[i];
        to[i] += from[i];
    }
    if (!((all[0] | all[1] | all[2] | all[3]) >> 63))
        return true;
    for (size_t i = 0; i < BLOCK / WIDE_WORDS; i++)
        to[i] -= from[i];
    return false;
}

static bool add_counters(uint64_t *sums, const uint8_t *counters, size_t n, uint64_t weight,
                         bool swap)
{
    bool saturated = false;
    size_t at = 0;
    for (; at + BLOCK <= n; at += BLOCK)
        if (weight != 1 || swap || !add_block(sums + at, counters + 8 * at))
            saturated |= add_carefully(sums + at, counters + 8 * at, BLOCK, weight, swap);
    return add_carefully(sums + at, counters + 8 * at, n - at, weight, swap) | saturated;
}

static bool add_sections(CoverLayout *l, Bytes counters, Bytes bitmap, bool swap, uint64_t weight)
{
    for (size_t i = 0; i < bitmap.len; i++)
        l->bitmap[i] |= bitmap.ptr[i];
    if (l->flags) { // 0 means executed
        for (size_t i = 0; i < l->counter_count; i++)
            l->flags[i] &= counters.ptr[i];
        return false;
    }
    return add_counters(l->sums, counters.ptr, l->counter_count, weight, swap);
}

bool cover_layout_add(CoverLayout *l, const ProfRaw *p, uint64_t weight)
{
    return add_sections(l, p->counters, p->bitmap, p->big_endian, weight);
}

bool cover_layout_add_sums(CoverLayout *l, const CoverLayout *from)
{
    return add_sections(l, from->raw.counters, from->raw.bitmap, false, 1);
}

uint64_t cover_layout_add_values(Arena *arena, CoverLayout *l, const ProfRaw *p, uint64_t weight,
                                 bool *saturated)
{
    uint64_t mismatched = 0;
    if (l->value_blocks == 0)
        return 0;
    Cursor c = cursor_over(p->values, "value profiles");
    c.big_endian = p->big_endian;
    cover_targets_set(&l->targets, p);
    for (uint64_t i = 0; i < l->value_blocks; i++) {
        ProfValues v;
        prof_values_parse(&c, &v);
        mismatched += !cover_values_add(arena, &l->values[i], &v, &l->targets, weight, saturated);
    }
    return mismatched;
}

uint64_t cover_layout_absorb_values(Arena *arena, CoverLayout *l, const CoverLayout *from,
                                    bool *saturated)
{
    uint64_t mismatched = 0;
    for (uint64_t i = 0; i < l->value_blocks; i++)
        mismatched += !cover_values_absorb(arena, &l->values[i], &from->values[i], saturated);
    return mismatched;
}
