// SPDX-License-Identifier: Apache-2.0
// Indexed profiles: reads the hash table bucket by bucket, in the order of the file; nothing is
// looked up by name.

#include "llvmcov/profdata.h"

#include <stdlib.h>

#include "base/md5.h"
#include "llvmcov/prof_values.h"

#define MAGIC 0x8169666f72706cffull

static const FormatVersion version_list[] = {
    {1, 1, "LLVM before 13", "", false},
    {2, 2, "LLVM before 13", "several functions of a name", false},
    {3, 3, "LLVM before 13", "value profiles", false},
    {4, 4, "LLVM before 13", "a summary", false},
    {5, 6, "LLVM before 13", "other hashes of functions", false},
    {7, 7, "LLVM 13, 14", "a counter at logical operators", true},
    {8, 8, "LLVM 15", "memory profiles", false},
    {9, 9, "LLVM 16", "binary ids", true},
    {10, 10, "LLVM 17", "temporal traces", false},
    {11, 11, "LLVM 18", "MC/DC bitmaps", false},
    {12, 12, "LLVM 19 to 21", "tables of virtual functions", true},
    {13, 13, "LLVM 22", "other hashes of functions", false},
    {14, 15, "LLVM 23 and in development", "facts of GPU code, which are refused", false},
};

const FormatVersions profdata_versions = {
    .format = "indexed profile",
    .newer = "written by an LLVM newer than 23; its 'llvm-profdata merge -text' makes a text that "
             "is read here",
    .numbers = "",
    .at = version_list,
    .count = ARRAY_LEN(version_list),
};

bool profdata_is(Bytes file)
{
    uint64_t magic;
    if (file.len < sizeof(magic))
        return false;
    memcpy(&magic, file.ptr, sizeof(magic));
    return magic == MAGIC;
}

// The numbers of the header, not checked yet.
typedef struct Header {
    uint64_t hash_type, table_at, ids_at, traces_at, vtables_at;
    size_t size;
} Header;

static Header take_header(Cursor *c, ProfData *p)
{
    Header h = {0};
    if (cursor_u64(c) != MAGIC && cursor_ok(c))
        cursor_fail(c, "no indexed profile");
    uint64_t version_word = cursor_u64(c);
    p->version = (uint32_t)(version_word & ~PROF_VARIANT_MASK);
    p->variant = version_word & PROF_VARIANT_MASK;
    cursor_skip(c, 8);
    h.hash_type = cursor_u64(c);
    h.table_at = cursor_u64(c);
    if (p->version >= 8)
        cursor_skip(c, 8); // memory profile
    if (p->version >= 9)
        h.ids_at = cursor_u64(c);
    if (p->version >= 10)
        h.traces_at = cursor_u64(c);
    if (p->version >= 12)
        h.vtables_at = cursor_u64(c);
    h.size = c->at;
    return h;
}

static bool check_header(const ProfData *p, const Header *h, Error *err)
{
    if (!format_version_find(&profdata_versions, p->version))
        return format_version_refuse(&profdata_versions, p->version, err);
    if (p->variant & ~PROF_VARIANT_KNOWN) {
        error_set(err, ERROR_UNSUPPORTED,
                  "indexed profile has variant bits 0x%llx, which are not known",
                  (unsigned long long)(p->variant & ~PROF_VARIANT_KNOWN));
        return error_hint(err, "written by an LLVM newer than 23, or broken; 'llvm-profdata merge "
                               "-text' of that LLVM makes a text that is read here");
    }
    if (h->hash_type != 0)
        return error_set(
            err, ERROR_UNSUPPORTED,
            "indexed profile hashes names by method %llu; only method 0 (MD5) is known",
            (unsigned long long)h->hash_type);
    return true;
}

// Finds {u64 length, blob} at the offset that the header states. Counts can be read without it.
static void find_vtable_names(ProfData *p, Cursor c, uint64_t at)
{
    cursor_seek(&c, at);
    uint64_t size = cursor_u64(&c);
    p->vtable_names = cursor_bytes(&c, size);
    p->is_cut |= !cursor_ok(&c);
}

// Finds the temporal traces. Counts can be read without them.
static void find_traces(ProfData *p, Cursor c, uint64_t at)
{
    cursor_seek(&c, at);
    p->is_cut |= !prof_traces_find(&c, &p->traces);
}

// Finds {u64 size, ids}.
static void find_binary_ids(ProfData *p, Cursor c, uint64_t at)
{
    cursor_seek(&c, at);
    uint64_t size = cursor_u64(&c);
    p->binary_ids = cursor_bytes(&c, size);
    p->is_cut |= !cursor_ok(&c);
}

// Skips {u64 fields, u64 cutoffs, the fields, 3 u64 for each cutoff}.
static void skip_summary(Cursor *c)
{
    uint64_t fields = cursor_u64(c), cutoffs = cursor_u64(c);
    if (fields > cursor_left(c) / 8 || cutoffs > cursor_left(c) / 24)
        cursor_fail(c, "summary is larger than the file");
    cursor_skip(c, fields * 8);
    cursor_skip(c, cutoffs * 24);
}

// Finds the buckets of a cut file. They are between the summary and the table; when the file ends
// before the table, they are read up to its end.
static void find_buckets_of_cut_file(ProfData *p, Cursor *c, const Header *h)
{
    cursor_seek(c, h->size);
    if (p->version >= 4)
        skip_summary(c);
    if (p->version >= 4 && p->variant & PROF_VARIANT_CS_IR)
        skip_summary(c);
    if (h->table_at < c->at)
        cursor_fail(c, "the table stands before the strings that it describes");
    if (!cursor_ok(c))
        return;
    p->is_cut = true;
    p->key_count = UINT64_MAX;
    p->table = *c;
    p->table.data = bytes_slice(c->data, 0, h->table_at);
}

// Finds the buckets. The table has their offsets from the start of the file, and they end at the
// start of the table; reading them in file order needs only the lowest offset.
static bool find_buckets(ProfData *p, Cursor *c, uint64_t table_at, Error *err)
{
    cursor_seek(c, table_at);
    uint64_t bucket_count = cursor_u64(c);
    p->key_count = cursor_u64(c);
    if (cursor_ok(c) && bucket_count > cursor_left(c) / 8)
        cursor_fail(c, "more buckets than the file holds");
    uint64_t first = UINT64_MAX;
    for (uint64_t i = 0; i < bucket_count && cursor_ok(c); i++) {
        uint64_t at = cursor_u64(c);
        if (at && at < first)
            first = at;
    }
    if (!cursor_check(c, err))
        return false;
    if (first == UINT64_MAX)
        first = table_at;
    if (first > table_at)
        return error_set(err, ERROR_FORMAT, "bucket at 0x%llx lies behind the table",
                         (unsigned long long)first);
    p->table = cursor_over(bytes_slice(p->file, 0, table_at), "indexed profile");
    cursor_seek(&p->table, first);
    return true;
}

bool profdata_open(Bytes file, ProfData *ret, Error *err)
{
    ProfData p = {.file = file};
    Cursor c = cursor_over(file, "indexed profile");
    Header h = take_header(&c, &p);
    if (!cursor_check(&c, err) || !check_header(&p, &h, err))
        return false;
    if (h.ids_at)
        find_binary_ids(&p, c, h.ids_at);
    if (h.vtables_at)
        find_vtable_names(&p, c, h.vtables_at);
    if (h.traces_at && p.variant & PROF_VARIANT_TEMPORAL)
        find_traces(&p, c, h.traces_at);
    Cursor at_table = c;
    cursor_seek(&at_table, h.table_at);
    uint64_t bucket_count = cursor_u64(&at_table);
    cursor_skip(&at_table, 8);
    if (!cursor_ok(&at_table) || bucket_count > cursor_left(&at_table) / 8)
        find_buckets_of_cut_file(&p, &c, &h);
    else if (!find_buckets(&p, &c, h.table_at, err))
        return false;
    if (!cursor_check(&c, err))
        return false;
    *ret = p;
    return true;
}

// Moves to the next key; false at the end and on failure.
static bool next_key(ProfData *p)
{
    Cursor *c = &p->table;
    if (p->keys_read == p->key_count)
        return false;
    while (p->bucket_left == 0) {
        p->bucket_left = cursor_u16(c);
        if (!cursor_ok(c))
            return false;
        // There is no padding between buckets. Padding before the table reads as empty buckets, and
        // all keys have been read then.
    }
    uint64_t key_hash = cursor_u64(c);
    uint64_t key_len = cursor_u64(c);
    uint64_t data_len = cursor_u64(c);
    p->name = str_from_bytes(cursor_bytes(c, key_len));
    p->data = cursor_sub(c, data_len, "indexed profile");
    p->bucket_left--;
    p->keys_read++;
    p->name_ref = p->refs_later && !p->is_cut ? 0 : md5_low64(bytes_from_str(p->name));
    // Without the table only the hash shows whether the bytes are a key.
    if (p->is_cut && p->name_ref != key_hash)
        cursor_fail(c, "no key");
    return cursor_ok(c);
}

// Skips data about GPU code, which since version 14 comes before the value profiles and which no
// document describes. For other code these bytes are zero, and no value profile starts with zeros.
static void skip_gpu_facts(Cursor *c)
{
    enum { FACTS_MAX = 4 };
    static const uint8_t zeros[8];
    for (unsigned i = 0; i < FACTS_MAX && cursor_left(c) >= 16; i++) {
        if (memcmp(c->data.ptr + c->at, zeros, sizeof(zeros)) != 0)
            break;
        cursor_skip(c, sizeof(zeros));
    }
}

bool profdata_next(ProfData *p, ProfRecord *ret, Error *err)
{
    *err = (Error){0};
    while (!cursor_more(&p->data)) {
        if (!next_key(p)) {
            if (!cursor_check(&p->table, err))
                return false;
            return false;
        }
    }
    Cursor *c = &p->data;
    ProfRecord r = {.name = p->name, .name_ref = p->name_ref, .counter_size = 8};
    r.bitmap_by_mask = p->version == 11;
    // Version 1 has one function for each key, and no number of counters.
    r.hash = cursor_u64(c);
    uint64_t count = p->version > 1 ? cursor_u64(c) : cursor_left(c) / 8;
    if (count > cursor_left(c) / 8)
        cursor_fail(c, "more counters than the entry holds");
    else if (count == 0 && cursor_ok(c))
        cursor_fail(c, "a function without counters");
    r.counters = cursor_bytes(c, count * 8);
    r.counter_count = (uint32_t)count;
    if (p->version > 10) {
        uint64_t size = cursor_u64(c);
        if (size > cursor_left(c) / 8)
            cursor_fail(c, "more bytes of a bitmap than the entry holds");
        r.bitmap = cursor_bytes(c, size * 8);
        r.bitmap_stride = 8;
    }
    if (p->version > 13)
        skip_gpu_facts(c);
    if (p->version > 2) {
        size_t start = c->at;
        ProfValues values;
        prof_values_parse(c, &values);
        if (cursor_ok(c) && c->at - start > 8)
            r.values = bytes_slice(c->data, start, c->at);
    }
    if (!cursor_check(c, err))
        return false;
    *ret = r;
    return true;
}

// ---- Writing ---------------------------------------------------------------

static void add_u64(StrBuf *out, uint64_t v)
{
    strbuf_add_bytes(out, bytes_over(&v, sizeof(v)));
}

static void put_u64(StrBuf *out, size_t at, uint64_t v)
{
    memcpy(out->ptr + at, &v, sizeof(v));
}

// Radix sort, ascending, of as many digits as the largest value has. `spare` has the same length.
static uint64_t *sort_values(uint64_t *values, uint64_t *spare, size_t n, uint64_t max)
{
    enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS };
    for (unsigned shift = 0; shift < 64 && max >> shift; shift += DIGIT_BITS) {
        size_t starts[DIGITS] = {0};
        for (size_t i = 0; i < n; i++)
            starts[values[i] >> shift & (DIGITS - 1)]++;
        for (size_t d = 0, at = 0; d < DIGITS; d++) {
            size_t count = starts[d];
            starts[d] = at;
            at += count;
        }
        for (size_t i = 0; i < n; i++)
            spare[starts[values[i] >> shift & (DIGITS - 1)]++] = values[i];
        uint64_t *t = values;
        values = spare;
        spare = t;
    }
    return values;
}

// The shares of the total for which LLVM's summaries have entries, in millionths.
static const uint32_t cutoffs[] = {10000,  100000, 200000, 300000, 400000, 500000, 600000, 700000,
                                   800000, 900000, 950000, 990000, 999000, 999900, 999990, 999999};

typedef struct Summary {
    uint64_t blocks, max, max_entry, max_inner;
    uint64_t total; // at most 2^64 - 1
    U64Vec values;  // all values but 0
} Summary;

static Summary summarise(const ProfDataRow *rows, size_t count)
{
    Summary s = {0};
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < rows[i].counter_count; k++) {
            uint64_t v = rows[i].counters[k];
            s.blocks++;
            if (v == 0)
                continue;
            s.max = MAX(s.max, v);
            if (k == 0)
                s.max_entry = MAX(s.max_entry, v);
            else
                s.max_inner = MAX(s.max_inner, v);
            if (__builtin_add_overflow(s.total, v, &s.total))
                s.total = UINT64_MAX;
            vec_push(NULL, &s.values, v);
        }
    }
    return s;
}

// Appends the summary: llvm/include/llvm/ProfileData/InstrProf.h, struct Summary.
static void add_summary(StrBuf *out, const ProfDataRow *rows, size_t count)
{
    Summary s = summarise(rows, count);
    U64Vec spare = {0};
    vec_extend(NULL, &spare, s.values.len);
    const uint64_t *sorted = sort_values(s.values.at, spare.at, s.values.len, s.max);
    add_u64(out, 6);
    add_u64(out, ARRAY_LEN(cutoffs));
    add_u64(out, count);
    add_u64(out, s.blocks);
    add_u64(out, s.max_entry);
    add_u64(out, s.max);
    add_u64(out, s.max_inner);
    add_u64(out, s.total);
    size_t left = s.values.len; // the largest values are last
    unsigned __int128 sum = 0;
    for (size_t i = 0; i < ARRAY_LEN(cutoffs); i++) {
        unsigned __int128 wanted = (unsigned __int128)s.total * cutoffs[i] / 1000000;
        while (left && sum < wanted) {
            uint64_t value = sorted[left - 1];
            while (left && sorted[left - 1] == value)
                sum += sorted[--left];
        }
        add_u64(out, cutoffs[i]);
        add_u64(out, left < s.values.len ? sorted[left] : 0);
        add_u64(out, s.values.len - left);
    }
    vec_free(&s.values);
    vec_free(&spare);
}

// ---- The table -----------------------------------------------------------------

static int compare_rows(const void *a, const void *b)
{
    const ProfDataRow *x = *(const ProfDataRow *const *)a, *y = *(const ProfDataRow *const *)b;
    if (x->name_ref != y->name_ref)
        return x->name_ref < y->name_ref ? -1 : 1;
    return (x->hash > y->hash) - (x->hash < y->hash);
}

typedef Vec(const ProfDataRow *) RowRefVec;

// Sorts the rows by bucket; rows of one name are next to each other. starts[b] is the first row of
// bucket b, with one more entry at the end.
static void sort_into_buckets(const ProfDataRow *rows, size_t count, size_t bucket_count,
                              U64Vec *starts, RowRefVec *sorted)
{
    size_t mask = bucket_count - 1;
    U64Vec next = {0};
    vec_extend(NULL, starts, bucket_count + 1);
    vec_reserve(NULL, sorted, count);
    vec_reserve(NULL, &next, bucket_count);
    for (size_t i = 0; i < count; i++)
        starts->at[(rows[i].name_ref & mask) + 1]++;
    for (size_t b = 1; b <= bucket_count; b++)
        starts->at[b] += starts->at[b - 1];
    memcpy(next.at, starts->at, bucket_count * sizeof(next.at[0]));
    for (size_t i = 0; i < count; i++)
        sorted->at[next.at[rows[i].name_ref & mask]++] = &rows[i];
    sorted->len = count;
    for (size_t b = 0; b < bucket_count; b++) {
        size_t len = starts->at[b + 1] - starts->at[b];
        if (len > 1)
            qsort(sorted->at + starts->at[b], len, sizeof(sorted->at[0]), compare_rows);
    }
    vec_free(&next);
}

static size_t row_size(const ProfDataRow *row, uint32_t version)
{
    size_t bitmap = version > 10 ? 8 + row->bitmap.len * 8 : 0;
    return 16 + row->counter_count * 8 + bitmap + MAX(row->values.len, (size_t)8);
}

static char *write_u64(char *to, uint64_t v)
{
    memcpy(to, &v, sizeof(v));
    return to + sizeof(v);
}

static char *write_bytes(char *to, const void *from, size_t len)
{
    if (len)
        memcpy(to, from, len);
    return to + len;
}

static char *write_row(char *to, uint32_t version, const ProfDataRow *row)
{
    to = write_u64(to, row->hash);
    to = write_u64(to, row->counter_count);
    to = write_bytes(to, row->counters, row->counter_count * 8);
    if (version > 10) {
        // Each byte is stored in 8.
        to = write_u64(to, row->bitmap.len);
        for (size_t i = 0; i < row->bitmap.len; i++)
            to = write_u64(to, row->bitmap.ptr[i]);
    }
    if (row->values.len)
        return write_bytes(to, row->values.ptr, row->values.len);
    return write_u64(to, 8); // an empty value profile: its size in 32 bits, and no kinds
}

// Appends one key with all functions of that name. Returns their number.
static size_t add_key(StrBuf *out, uint32_t version, const ProfDataRow *const *rows, size_t left)
{
    size_t count = 0, data = 0;
    for (; count < left && rows[count]->name_ref == rows[0]->name_ref; count++)
        data += row_size(rows[count], version);
    Str name = rows[0]->name;
    size_t size = 24 + name.len + data;
    char *to = strbuf_reserve(out, size);
    to = write_u64(to, rows[0]->name_ref);
    to = write_u64(to, name.len);
    to = write_u64(to, data);
    to = write_bytes(to, name.ptr, name.len);
    for (size_t i = 0; i < count; i++)
        to = write_row(to, version, rows[i]);
    out->len += size;
    return count;
}

// LLVM keeps tables at most 3/4 full; readers only need a power of two.
static size_t bucket_count_of(size_t rows)
{
    return round_up_pow2(rows * 4 / 3 + 1);
}

// The largest size of a file of these rows, without the names of virtual tables.
static size_t file_size(uint32_t version, const ProfDataRow *rows, size_t count)
{
    enum { HEAD = 4096 }; // more than header and summaries have
    size_t total = HEAD + 8 * bucket_count_of(count);
    for (size_t i = 0; i < count; i++)
        total += 26 + rows[i].name.len + row_size(&rows[i], version);
    return total;
}

static void add_table(StrBuf *out, uint32_t version, const ProfDataRow *rows, size_t count,
                      size_t table_offset_at)
{
    size_t bucket_count = bucket_count_of(count);
    U64Vec starts = {0}, offsets = {0};
    RowRefVec sorted = {0};
    uint64_t keys = 0;
    sort_into_buckets(rows, count, bucket_count, &starts, &sorted);
    vec_extend(NULL, &offsets, bucket_count);
    for (size_t b = 0; b < bucket_count; b++) {
        size_t at = starts.at[b], end = starts.at[b + 1], items_at = out->len;
        if (at == end)
            continue;
        uint16_t items = 0;
        offsets.at[b] = out->len;
        strbuf_add_bytes(out, bytes_over(&items, sizeof(items)));
        for (; at < end; items++)
            at += add_key(out, version, sorted.at + at, end - at);
        memcpy(out->ptr + items_at, &items, sizeof(items));
        keys += items;
    }
    strbuf_add_repeated(out, '\0', align_up(out->len, 8) - out->len);
    put_u64(out, table_offset_at, out->len);
    add_u64(out, bucket_count);
    add_u64(out, keys);
    strbuf_add_bytes(out, bytes_over(offsets.at, bucket_count * 8));
    vec_free(&sorted);
    vec_free(&starts);
    vec_free(&offsets);
}

void profdata_write(StrBuf *out, uint32_t version, uint64_t variant, const ProfDataExtras *extras,
                    const ProfDataRow *rows, size_t count)
{
    assert(format_version_find(&profdata_versions, version)->is_written);
    size_t start = out->len;
    assert(start == 0); // offsets count from the start of the file
    strbuf_reserve(out, file_size(version, rows, count));
    size_t binary_ids_at = 0, traces_at = 0, vtables_at = 0;
    if (version < 10)
        variant &= ~PROF_VARIANT_TEMPORAL;
    add_u64(out, MAGIC);
    add_u64(out, version | variant);
    add_u64(out, 0);
    add_u64(out, 0); // MD5
    size_t table_offset_at = out->len;
    add_u64(out, 0);
    if (version >= 8)
        add_u64(out, 0); // memory profile: none
    if (version >= 9) {
        binary_ids_at = out->len;
        add_u64(out, 0);
    }
    if (version >= 10) {
        traces_at = out->len;
        add_u64(out, 0); // temporal traces: none
    }
    if (version >= 12) {
        vtables_at = out->len;
        add_u64(out, 0);
    }
    add_summary(out, rows, count);
    // A context-sensitive profile has a second summary.
    if (variant & PROF_VARIANT_CS_IR)
        add_summary(out, rows, count);
    add_table(out, version, rows, count, table_offset_at);
    if (binary_ids_at) {
        put_u64(out, binary_ids_at, out->len);
        add_u64(out, extras->binary_ids.len);
        strbuf_add_bytes(out, extras->binary_ids);
    }
    if (vtables_at) {
        put_u64(out, vtables_at, out->len);
        add_u64(out, extras->vtable_names.len);
        strbuf_add_bytes(out, extras->vtable_names);
        strbuf_add_repeated(out, '\0', align_up(out->len, 8) - out->len);
    }
    if (traces_at && variant & PROF_VARIANT_TEMPORAL) {
        put_u64(out, traces_at, out->len);
        prof_traces_write(out, extras->traces, extras->trace_count, extras->traces_seen);
    }
}
