// SPDX-License-Identifier: Apache-2.0
// Summing profiles: raw ones by layout, the others function by function.

#include "collect/cover/counts.h"

#include <stdlib.h>

#include "llvmcov/profdata.h"
#include "llvmcov/profraw.h"
#include "llvmcov/proftext.h"

// The sums of all raw profiles whose records agree in name, hash and place.
struct CoverLayout {
    ProfRaw raw;    // of the first profile; records, names and sections copied
    uint64_t *sums; // raw.counters, when counters are of 8 bytes
    uint8_t *flags; // raw.counters, when they are of 1 byte
    uint8_t *bitmap;
    size_t counter_count;
};

void cover_counts_deinit(CoverCounts *c)
{
    vec_free(&c->counters);
    vec_free(&c->bitmaps);
    table_deinit(&c->index);
    table_deinit(&c->name_index);
    table_deinit(&c->layout_index);
    prof_names_deinit(&c->names);
}

bool cover_counts_accept(Bytes file)
{
    return profraw_is(file) || profdata_is(file) || proftext_is(file);
}

// ---- Function by function ------------------------------------------------------

const CoverCountRow *cover_counts_find(const CoverCounts *c, uint64_t name_ref, uint64_t hash)
{
    uint32_t row;
    for (TableProbe p = table_probe(&c->index, hash_pair(name_ref, hash));
         table_next(&c->index, &p, &row);)
        if (c->rows.at[row].name_ref == name_ref && c->rows.at[row].hash == hash)
            return &c->rows.at[row];
    return NULL;
}

const CoverCountRow *cover_counts_find_name(const CoverCounts *c, uint64_t name_ref)
{
    uint32_t row;
    for (TableProbe p = table_probe(&c->name_index, hash_u64(name_ref));
         table_next(&c->name_index, &p, &row);)
        if (c->rows.at[row].name_ref == name_ref)
            return &c->rows.at[row];
    return NULL;
}

static CoverCountRow *add_row(CoverCounts *c, const ProfRecord *r)
{
    uint32_t number = (uint32_t)c->rows.len;
    CoverCountRow row = {.name_ref = r->name_ref,
                         .hash = r->hash,
                         .name = r->name,
                         .first = c->counters.len,
                         .count = r->counter_count,
                         .bitmap_first = c->bitmaps.len,
                         .bitmap_len = (uint32_t)r->bitmap.len};
    // One more, so that a row without any still points somewhere.
    vec_reserve(NULL, &c->counters, (size_t)r->counter_count + 1);
    vec_reserve(NULL, &c->bitmaps, r->bitmap.len + 1);
    vec_extend(NULL, &c->counters, r->counter_count);
    vec_extend(NULL, &c->bitmaps, r->bitmap.len);
    if (!cover_counts_find_name(c, r->name_ref))
        table_insert(&c->name_index, hash_u64(r->name_ref), number);
    table_insert(&c->index, hash_pair(r->name_ref, r->hash), number);
    vec_push(c->arena, &c->rows, row);
    return &vec_last(&c->rows);
}

// a + b * weight, held at 2^64 - 1.
static uint64_t add_saturating(uint64_t a, uint64_t b, uint64_t weight, uint64_t *saturated)
{
    uint64_t v;
    if (__builtin_mul_overflow(b, weight, &v) || __builtin_add_overflow(a, v, &v)) {
        ++*saturated;
        return UINT64_MAX;
    }
    return v;
}

static void add_record(CoverCounts *c, const ProfRecord *r, uint64_t weight)
{
    // The row is ours to change: const is for callers of the look-up.
    const CoverCountRow *found = cover_counts_find(c, r->name_ref, r->hash);
    CoverCountRow *row = found ? &c->rows.at[found - c->rows.at] : add_row(c, r);
    c->value_profiles += r->has_values;
    if (row->count != r->counter_count || row->bitmap_len != r->bitmap.len) {
        c->mismatched++;
        return;
    }
    if (row->name.len == 0)
        row->name = r->name;
    uint64_t *to = c->counters.at + row->first;
    bool is_flag = (c->variant & PROF_VARIANT_BYTE_COVERAGE) != 0;
    for (uint32_t i = 0; i < r->counter_count; i++) {
        uint64_t v = prof_record_counter(r, i);
        to[i] = is_flag ? (to[i] | v) != 0 : add_saturating(to[i], v, weight, &c->saturated);
    }
    for (size_t i = 0; i < r->bitmap.len; i++)
        c->bitmaps.at[row->bitmap_first + i] |= r->bitmap.ptr[i];
}

// Kinds of instrumentation that mean different things by the same counter do not add up.
static bool take_variant(CoverCounts *c, uint64_t variant, Error *err)
{
    uint64_t matter = PROF_VARIANT_IR | PROF_VARIANT_BYTE_COVERAGE;
    if (c->profile_count && (c->variant & matter) != (variant & matter))
        return error_set(err, ERROR_FORMAT,
                         "its instrumentation (%s%s) differs from that of the profiles before",
                         variant & PROF_VARIANT_IR ? "IR" : "front end",
                         variant & PROF_VARIANT_BYTE_COVERAGE ? ", byte coverage" : "");
    c->variant |= variant;
    c->profile_count++;
    return true;
}

// ---- Raw profiles by layout ------------------------------------------------------

static uint64_t layout_hash(const ProfRaw *p)
{
    uint64_t h = hash_pair(p->record_count, p->counters.len);
    if (p->record_count) {
        ProfRawShape first = profraw_shape(p, 0), last = profraw_shape(p, p->record_count - 1);
        h = hash_pair(h, bytes_hash(first.head));
        h = hash_pair(h, bytes_hash(last.head));
    }
    return h;
}

static bool same_layout(const ProfRaw *a, const ProfRaw *b)
{
    if (a->version != b->version || a->pointer_size != b->pointer_size ||
        a->big_endian != b->big_endian || a->counter_size != b->counter_size ||
        a->record_count != b->record_count || a->counters.len != b->counters.len ||
        a->bitmap.len != b->bitmap.len)
        return false;
    // Before version 8 pointers are absolute and move with the program.
    uint64_t shift = a->version < 8 ? b->counters_delta - a->counters_delta : 0;
    // Without bitmaps their delta is an address that moves with the program.
    if (a->version >= 8 && (a->counters_delta != b->counters_delta ||
                            (a->bitmap.len && a->bitmap_delta != b->bitmap_delta)))
        return false;
    if (a->version < 8 && (a->pointer_size != 8 || a->big_endian) && shift)
        return false;
    for (uint64_t i = 0; i < a->record_count; i++) {
        ProfRawShape x = profraw_shape(a, i), y = profraw_shape(b, i);
        if (x.counter_count != y.counter_count || memcmp(x.head.ptr, y.head.ptr, 16) != 0)
            return false;
        if (shift) {
            uint64_t from, to;
            memcpy(&from, x.head.ptr + 16, 8);
            memcpy(&to, y.head.ptr + 16, 8);
            if (to - from != shift)
                return false;
        } else if (memcmp(x.head.ptr + 16, y.head.ptr + 16, x.head.len - 16) != 0) {
            return false;
        }
    }
    return true;
}

static CoverLayout *add_layout(CoverCounts *c, const ProfRaw *p)
{
    CoverLayout *l = arena_new(c->arena, CoverLayout);
    l->raw = *p;
    l->raw.records = arena_bytes(c->arena, p->records);
    l->raw.names = arena_bytes(c->arena, p->names);
    l->raw.binary_ids = arena_bytes(c->arena, p->binary_ids);
    l->raw.values = (Bytes){0};
    l->bitmap = arena_alloc(c->arena, p->bitmap.len, 1);
    l->raw.bitmap.ptr = l->bitmap;
    l->counter_count = p->counters.len / p->counter_size;
    if (p->counter_size == 1) {
        l->flags = arena_alloc(c->arena, l->counter_count, 1);
        memset(l->flags, 0xff, l->counter_count);
        l->raw.counters.ptr = l->flags;
    } else {
        l->sums = arena_array(c->arena, uint64_t, l->counter_count);
        l->raw.counters.ptr = (const uint8_t *)l->sums;
    }
    vec_push(c->arena, &c->layouts, l);
    return l;
}

static CoverLayout *find_layout(CoverCounts *c, const ProfRaw *p)
{
    // Absolute pointers make the hash differ from run to run; such layouts are
    // told apart by their sizes first.
    uint64_t hash = p->version < 8 ? hash_pair(p->record_count, p->counters.len) : layout_hash(p);
    uint32_t row;
    for (TableProbe probe = table_probe(&c->layout_index, hash);
         table_next(&c->layout_index, &probe, &row);)
        if (same_layout(&c->layouts.at[row]->raw, p))
            return c->layouts.at[row];
    CoverLayout *l = add_layout(c, p);
    table_insert(&c->layout_index, hash, (uint32_t)(c->layouts.len - 1));
    return l;
}

// sums += counters. Values below 2^63, the common case, cannot overflow and are
// added as vectors.
static void add_vector(uint64_t *restrict sums, const uint8_t *restrict counters, size_t n,
                       bool swap, uint64_t weight, uint64_t *saturated)
{
    enum { BLOCK = 512 };
    uint64_t values[BLOCK];
    for (size_t at = 0; at < n; at += BLOCK) {
        size_t count = MIN((size_t)BLOCK, n - at);
        uint64_t large = 0;
        memcpy(values, counters + 8 * at, 8 * count);
        if (swap)
            for (size_t i = 0; i < count; i++)
                values[i] = __builtin_bswap64(values[i]);
        uint64_t *to = sums + at;
        for (size_t i = 0; i < count; i++)
            large |= values[i] | to[i];
        if (weight == 1 && !(large >> 63)) {
            for (size_t i = 0; i < count; i++)
                to[i] += values[i];
        } else {
            for (size_t i = 0; i < count; i++)
                to[i] = add_saturating(to[i], values[i], weight, saturated);
        }
    }
}

static void add_to_layout(CoverCounts *c, CoverLayout *l, const ProfRaw *p, uint64_t weight)
{
    if (p->counter_size == 1) {
        for (size_t i = 0; i < l->counter_count; i++)
            l->flags[i] &= p->counters.ptr[i];
    } else {
        add_vector(l->sums, p->counters.ptr, l->counter_count, p->big_endian, weight,
                   &c->saturated);
    }
    for (size_t i = 0; i < p->bitmap.len; i++)
        l->bitmap[i] |= p->bitmap.ptr[i];
}

static bool add_raw(CoverCounts *c, Str path, Bytes file, uint64_t weight, Error *err)
{
    size_t at = 0, profiles = 0;
    while (at < file.len) {
        ProfRaw p;
        Error why = {0};
        if (!profraw_parse(file, at, &p, &why)) {
            if (profiles == 0) {
                *err = why;
                return error_context(err, "'%" STR_FMT "'", STR_ARG(path));
            }
            vec_push(c->arena, &c->notes,
                     arena_printf(c->arena,
                                  "'%" STR_FMT "': %zu whole profiles read, the rest from offset "
                                  "0x%zx on left out: %s",
                                  STR_ARG(path), profiles, at, why.text));
            break;
        }
        if (!take_variant(c, p.variant, err))
            return error_context(err, "'%" STR_FMT "'", STR_ARG(path));
        add_to_layout(c, find_layout(c, &p), &p, weight);
        c->value_profiles += p.has_sites;
        at += p.size;
        profiles++;
        // Profiles lie at multiples of 8; nothing else stands between them.
        while (at < file.len && file.ptr[at] == 0)
            at++;
    }
    return true;
}

// ---- Files -------------------------------------------------------------------------

static bool add_indexed(CoverCounts *c, Bytes file, uint64_t weight, Error *err)
{
    ProfData p;
    if (!profdata_open(file, &p, err) || !take_variant(c, p.variant, err))
        return false;
    ProfRecord r;
    Str last = {0}, copy = {0};
    while (profdata_next(&p, &r, err)) {
        if (copy.len == 0 || last.ptr != r.name.ptr) {
            last = r.name;
            const CoverCountRow *known = cover_counts_find_name(c, r.name_ref);
            copy = known && known->name.len ? known->name : arena_str(c->arena, r.name);
        }
        r.name = copy;
        add_record(c, &r, weight);
    }
    return err->kind == ERROR_NONE;
}

static bool add_text(CoverCounts *c, Bytes file, uint64_t weight, Error *err)
{
    ProfText p;
    if (!proftext_open(file, &p, err) || !take_variant(c, p.variant, err))
        return false;
    ProfRecord r;
    while (proftext_next(&p, &r, err)) {
        const CoverCountRow *known = cover_counts_find_name(c, r.name_ref);
        r.name = known && known->name.len ? known->name : arena_str(c->arena, r.name);
        add_record(c, &r, weight);
    }
    proftext_close(&p);
    return err->kind == ERROR_NONE;
}

bool cover_counts_add(CoverCounts *c, Str path, Bytes file, uint64_t weight, Error *err)
{
    if (profraw_is(file))
        return add_raw(c, path, file, weight, err);
    Error why = {0};
    bool ok;
    if (profdata_is(file))
        ok = add_indexed(c, file, weight, &why);
    else if (proftext_is(file))
        ok = add_text(c, file, weight, &why);
    else
        return error_set(err, ERROR_FORMAT, "'%" STR_FMT "' is no LLVM profile", STR_ARG(path));
    if (!ok) {
        *err = why;
        return error_context(err, "'%" STR_FMT "'", STR_ARG(path));
    }
    return true;
}

static bool finish_layout(CoverCounts *c, CoverLayout *l, Error *err)
{
    for (uint64_t i = 0; i < l->raw.record_count; i++) {
        ProfRecord r;
        if (!profraw_record(&l->raw, i, &r, err))
            return false;
        r.big_endian = false; // sums are native
        r.has_values = false; // counted by profile
        add_record(c, &r, 1);
    }
    return true;
}

bool cover_counts_finish(CoverCounts *c, Error *err)
{
    size_t records = c->rows.len;
    for (size_t i = 0; i < c->layouts.len; i++)
        records += c->layouts.at[i]->raw.record_count;
    table_reserve(&c->index, records);
    table_reserve(&c->name_index, records);
    for (size_t i = 0; i < c->layouts.len; i++)
        if (!finish_layout(c, c->layouts.at[i], err))
            return false;
    return true;
}

// ---- Writing -----------------------------------------------------------------------

static bool find_names(CoverCounts *c, Error *err)
{
    for (size_t i = 0; i < c->layouts.len; i++)
        if (!prof_names_add_blob(c->arena, &c->names, c->layouts.at[i]->raw.names, err))
            return false;
    for (size_t i = 0; i < c->rows.len; i++) {
        CoverCountRow *row = &c->rows.at[i];
        if (row->name.len == 0)
            row->name = prof_names_find(&c->names, row->name_ref);
        if (row->name.len == 0)
            return error_set(err, ERROR_FORMAT, "the function with reference 0x%llx has no name",
                             (unsigned long long)row->name_ref);
    }
    return true;
}

static int compare_rows(const void *a, const void *b)
{
    const ProfDataRow *x = a, *y = b;
    int order = str_compare(x->name, y->name);
    return order ? order : (x->hash > y->hash) - (x->hash < y->hash);
}

static bool ever_ran(const CoverCounts *c, const CoverCountRow *row)
{
    for (uint32_t i = 0; i < row->count; i++)
        if (c->counters.at[row->first + i])
            return true;
    for (uint32_t i = 0; i < row->bitmap_len; i++)
        if (c->bitmaps.at[row->bitmap_first + i])
            return true;
    return false;
}

bool cover_counts_write(CoverCounts *c, uint32_t version, bool sparse, StrBuf *out, Error *err)
{
    if (!find_names(c, err))
        return false;
    Vec(ProfDataRow) rows = {0};
    for (size_t i = 0; i < c->rows.len; i++) {
        const CoverCountRow *row = &c->rows.at[i];
        if (!sparse || ever_ran(c, row))
            vec_push(c->arena, &rows,
                     (ProfDataRow){
                         .name = row->name,
                         .hash = row->hash,
                         .counters = c->counters.at + row->first,
                         .counter_count = row->count,
                         .bitmap = bytes_over(c->bitmaps.at + row->bitmap_first, row->bitmap_len)});
    }
    if (rows.len)
        qsort(rows.at, rows.len, sizeof(rows.at[0]), compare_rows);
    if (version) {
        profdata_write(out, version, c->variant, rows.at, rows.len);
        return true;
    }
    proftext_write_header(out, c->variant);
    for (size_t i = 0; i < rows.len; i++)
        proftext_write(out, rows.at[i].name, rows.at[i].hash, rows.at[i].counters,
                       rows.at[i].counter_count, rows.at[i].bitmap);
    return true;
}
