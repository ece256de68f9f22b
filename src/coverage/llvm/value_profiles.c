// SPDX-License-Identifier: Apache-2.0
// Summing value profiles. Equal values may stand twice at a site: addresses
// outside the program are all 0. The first of one profile adds to the first of
// the other and so on, as in LLVM.

#include "coverage/llvm/value_profiles.h"

#include <stdlib.h>

// ---- Targets -------------------------------------------------------------------

void cover_targets_deinit(CoverTargets *t)
{
    vec_free(&t->addresses);
    vec_free(&t->names);
    vec_free(&t->vtables);
    table_deinit(&t->index);
}

static uint64_t first_address(const ProfRaw *p)
{
    uint64_t address = 0;
    for (uint64_t i = 0; i < p->record_count && address == 0; i++)
        address = profraw_function_address(p, i);
    return address;
}

// Whether all functions lie as far from the first as those of the profile that
// the index is made of.
static bool same_distances(const CoverTargets *t, const ProfRaw *p)
{
    if (t->addresses.len != p->record_count)
        return false;
    for (uint64_t i = 0; i < p->record_count; i++) {
        uint64_t address = profraw_function_address(p, i);
        if (address ? t->addresses.at[i] != address - t->base : t->addresses.at[i] != UINT64_MAX)
            return false;
    }
    return true;
}

// The record whose function lies there; UINT32_MAX when there is none.
static uint32_t find_record(const CoverTargets *t, uint64_t distance)
{
    uint32_t row;
    for (TableProbe p = table_probe(&t->index, hash_u64(distance));
         table_next(&t->index, &p, &row);)
        if (t->addresses.at[row] == distance)
            return row;
    return UINT32_MAX;
}

static void index_functions(CoverTargets *t, const ProfRaw *p)
{
    table_deinit(&t->index);
    t->index = (Table){0};
    t->addresses.len = t->names.len = 0;
    for (uint64_t i = 0; i < p->record_count; i++) {
        ProfRecord r;
        uint64_t address = profraw_function_address(p, i), distance = address - t->base;
        vec_push(NULL, &t->addresses, address ? distance : UINT64_MAX);
        vec_push(NULL, &t->names, profraw_record(p, i, &r, NULL) ? r.name_ref : 0);
        if (address && find_record(t, distance) == UINT32_MAX)
            table_insert(&t->index, hash_u64(distance), (uint32_t)i);
    }
}

static int compare_vtables(const void *a, const void *b)
{
    const ProfRawVtable *x = a, *y = b;
    return (x->address > y->address) - (x->address < y->address);
}

void cover_targets_set(CoverTargets *t, const ProfRaw *p)
{
    t->base = first_address(p);
    if (!same_distances(t, p))
        index_functions(t, p);
    t->vtables.len = 0;
    for (size_t i = 0; i < profraw_vtable_count(p); i++) {
        ProfRawVtable v = profraw_vtable(p, i);
        if (v.address)
            vec_push(NULL, &t->vtables, v);
    }
    if (t->vtables.len)
        qsort(t->vtables.at, t->vtables.len, sizeof(t->vtables.at[0]), compare_vtables);
}

static uint64_t function_at(const CoverTargets *t, uint64_t address)
{
    uint32_t row = find_record(t, address - t->base);
    return row == UINT32_MAX ? 0 : t->names.at[row];
}

// An object points into its table, not at its start.
static uint64_t vtable_at(const CoverTargets *t, uint64_t address)
{
    size_t low = 0, high = t->vtables.len; // the last one at or before the address
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (t->vtables.at[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return 0;
    const ProfRawVtable *v = &t->vtables.at[low - 1];
    return address - v->address < v->size ? v->name_ref : 0;
}

static uint64_t target_of(const CoverTargets *t, uint32_t kind, uint64_t value)
{
    if (!t || kind == PROF_VALUE_MEM_SIZE)
        return value;
    return kind == PROF_VALUE_CALL_TARGET ? function_at(t, value) : vtable_at(t, value);
}

// ---- Sites ---------------------------------------------------------------------

// By value, equals in their order.
static void sort_by_value(ProfValue *values, size_t len)
{
    for (size_t i = 1; i < len; i++) {
        ProfValue v = values[i];
        size_t at = i;
        for (; at && values[at - 1].value > v.value; at--)
            values[at] = values[at - 1];
        values[at] = v;
    }
}

static void sort_site(ProfValue *values, size_t len)
{
    prof_values_sort_by_count(values, len);
    sort_by_value(values, len);
}

static void store(Arena *arena, CoverValueSite *site, const ProfValue *values, uint32_t len)
{
    if (len > site->cap) {
        uint32_t cap = MAX(len, MIN(site->cap * 2, (uint32_t)PROF_VALUES_PER_SITE_MAX));
        site->at = arena_array(arena, ProfValue, cap);
        site->cap = cap;
    }
    if (len)
        memcpy(site->at, values, len * sizeof(values[0]));
    site->len = len;
}

// Where all values are known already, as they mostly are, sums stay in place.
static bool add_in_place(CoverValueSite *site, const ProfValue *more, size_t len, bool *saturated)
{
    size_t at[PROF_VALUES_PER_SITE_MAX], i = 0;
    for (size_t k = 0; k < len; k++) {
        while (i < site->len && site->at[i].value < more[k].value)
            i++;
        if (i == site->len || site->at[i].value != more[k].value)
            return false;
        at[k] = i++;
    }
    for (size_t k = 0; k < len; k++) {
        ProfValue *v = &site->at[at[k]];
        v->count = cover_add_saturating(v->count, more[k].count, 1, saturated);
    }
    return true;
}

// Both in order of value.
static void add_sorted(Arena *arena, CoverValueSite *site, const ProfValue *more, size_t len,
                       bool *saturated)
{
    ProfValue sums[2 * PROF_VALUES_PER_SITE_MAX];
    size_t i = 0, n = 0;
    if (add_in_place(site, more, len, saturated))
        return;
    for (size_t k = 0; k < len; k++) {
        while (i < site->len && site->at[i].value < more[k].value)
            sums[n++] = site->at[i++];
        sums[n] = more[k];
        if (i < site->len && site->at[i].value == more[k].value)
            sums[n].count = cover_add_saturating(more[k].count, site->at[i++].count, 1, saturated);
        n++;
    }
    while (i < site->len)
        sums[n++] = site->at[i++];
    if (n > PROF_VALUES_PER_SITE_MAX)
        n = prof_values_keep_largest(sums, n);
    store(arena, site, sums, (uint32_t)n);
}

// Equals stand next to each other, mostly in order.
static void order_equals(CoverValueSite *site)
{
    for (size_t i = 1; i < site->len; i++)
        if (site->at[i - 1].value > site->at[i].value ||
            (site->at[i - 1].value == site->at[i].value &&
             site->at[i - 1].count < site->at[i].count)) {
            sort_site(site->at, site->len);
            return;
        }
}

// `values` are changed.
static void add_to_site(Arena *arena, CoverValueSite *site, ProfValue *values, uint32_t len,
                        bool *saturated)
{
    if (!site->is_sorted) {
        sort_site(site->at, site->len);
        site->is_sorted = true;
    }
    sort_by_value(values, len);
    add_sorted(arena, site, values, len, saturated);
    order_equals(site);
}

// ---- Functions -------------------------------------------------------------------

static void set_sites(Arena *arena, CoverFunctionValues *v,
                      const uint32_t site_counts[PROF_VALUE_KINDS])
{
    size_t total = 0;
    for (size_t k = 0; k < PROF_VALUE_KINDS; k++)
        total += v->site_counts[k] = site_counts[k];
    v->sites = arena_array(arena, CoverValueSite, total);
    v->is_set = true;
}

static void load_site(const ProfValues *from, uint32_t kind, size_t first, uint32_t len,
                      const CoverTargets *targets, uint64_t weight, ProfValue *into,
                      bool *saturated)
{
    for (uint32_t i = 0; i < len; i++) {
        ProfValue v = prof_value_get(from, &from->kinds[kind], first + i);
        into[i].value = target_of(targets, kind, v.value);
        into[i].count = cover_add_saturating(0, v.count, weight, saturated);
    }
}

bool cover_values_add(Arena *arena, CoverFunctionValues *into, const ProfValues *from,
                      const CoverTargets *targets, uint64_t weight, bool *saturated)
{
    ProfValue values[PROF_VALUES_PER_SITE_MAX];
    bool is_new = !into->is_set, same = true;
    if (is_new) {
        uint32_t counts[PROF_VALUE_KINDS];
        for (size_t k = 0; k < PROF_VALUE_KINDS; k++)
            counts[k] = from->kinds[k].site_count;
        set_sites(arena, into, counts);
    }
    CoverValueSite *site = into->sites;
    for (uint32_t k = 0; k < PROF_VALUE_KINDS; site += into->site_counts[k++]) {
        const ProfValueKind *kind = &from->kinds[k];
        if (kind->site_count != into->site_counts[k]) {
            same = false;
            continue;
        }
        size_t first = 0;
        for (uint32_t i = 0; i < kind->site_count; i++) {
            uint32_t len = kind->lengths[i];
            load_site(from, k, first, len, targets, weight, values, saturated);
            if (is_new)
                store(arena, &site[i], values, len);
            else
                add_to_site(arena, &site[i], values, len, saturated);
            first += len;
        }
    }
    return same;
}

bool cover_values_absorb(Arena *arena, CoverFunctionValues *into, const CoverFunctionValues *from,
                         bool *saturated)
{
    ProfValue values[PROF_VALUES_PER_SITE_MAX];
    bool is_new = !into->is_set, same = true;
    if (!from->is_set)
        return true;
    if (is_new)
        set_sites(arena, into, from->site_counts);
    CoverValueSite *to = into->sites;
    const CoverValueSite *site = from->sites;
    for (uint32_t k = 0; k < PROF_VALUE_KINDS; k++) {
        bool equal = from->site_counts[k] == into->site_counts[k];
        same = same && equal;
        for (uint32_t i = 0; i < from->site_counts[k] && equal; i++) {
            if (site[i].len)
                memcpy(values, site[i].at, site[i].len * sizeof(values[0]));
            if (!is_new) {
                add_to_site(arena, &to[i], values, site[i].len, saturated);
                continue;
            }
            store(arena, &to[i], values, site[i].len);
            to[i].is_sorted = site[i].is_sorted;
        }
        to += into->site_counts[k];
        site += from->site_counts[k];
    }
    return same;
}

// ---- Writing -----------------------------------------------------------------------

void cover_values_finish(CoverFunctionValues *v)
{
    size_t total = 0;
    for (size_t k = 0; k < PROF_VALUE_KINDS; k++)
        total += v->site_counts[k];
    for (size_t i = 0; i < total; i++) {
        prof_values_sort_by_count(v->sites[i].at, v->sites[i].len);
        v->sites[i].is_sorted = false;
    }
}

void cover_values_write(const CoverFunctionValues *v, uint32_t kinds, StrBuf *out)
{
    uint32_t counts[PROF_VALUE_KINDS] = {0};
    Vec(ProfValueSite) sites = {0};
    const CoverValueSite *site = v->sites;
    for (uint32_t k = 0; k < kinds; k++) {
        counts[k] = v->site_counts[k];
        for (uint32_t i = 0; i < counts[k]; i++, site++)
            vec_push(NULL, &sites, (ProfValueSite){site->at, site->len});
    }
    prof_values_write(out, counts, sites.at);
    vec_free(&sites);
}
