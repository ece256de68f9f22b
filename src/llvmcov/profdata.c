// SPDX-License-Identifier: Apache-2.0
// Indexed profiles: the hash table is walked bucket by bucket, as it lies in the
// file; nothing is looked up by name.

#include "llvmcov/profdata.h"

#include <stdlib.h>

#include "llvmcov/md5.h"

#define MAGIC 0x8169666f72706cffull
enum { VERSION_MAX = 15 };

bool profdata_is(Bytes file)
{
    uint64_t magic;
    if (file.len < sizeof(magic))
        return false;
    memcpy(&magic, file.ptr, sizeof(magic));
    return magic == MAGIC;
}

bool profdata_open(Bytes file, ProfData *ret, Error *err)
{
    ProfData p = {.file = file};
    Cursor c = cursor_over(file, "indexed profile");
    if (cursor_u64(&c) != MAGIC && cursor_ok(&c))
        cursor_fail(&c, "no indexed profile");
    uint64_t version_word = cursor_u64(&c);
    p.version = (uint32_t)(version_word & ~PROF_VARIANT_MASK);
    p.variant = version_word & PROF_VARIANT_MASK;
    cursor_skip(&c, 8);
    uint64_t hash_type = cursor_u64(&c);
    uint64_t table_at = cursor_u64(&c);
    if (!cursor_check(&c, err))
        return false;
    if (p.version == 0 || p.version > VERSION_MAX || p.version == 13) {
        error_set(err, ERROR_UNSUPPORTED,
                  "indexed profile version %u, known are 1 to 12, 14 and 15", p.version);
        return error_hint(err, "written by an LLVM that is newer than this program; its "
                               "'llvm-profdata merge -text' makes a text that is read here");
    }
    if (hash_type != 0)
        return error_set(err, ERROR_UNSUPPORTED,
                         "indexed profile hashes names by method %llu, "
                         "known is 0 (MD5)",
                         (unsigned long long)hash_type);

    // The bucket offsets count from the start of the file, and the buckets start
    // where the header and the summary end; walking them in file order needs the
    // lowest offset only.
    cursor_seek(&c, table_at);
    uint64_t bucket_count = cursor_u64(&c);
    p.key_count = cursor_u64(&c);
    if (cursor_ok(&c) && bucket_count > cursor_left(&c) / 8)
        cursor_fail(&c, "more buckets than the file holds");
    uint64_t first = UINT64_MAX;
    for (uint64_t i = 0; i < bucket_count && cursor_ok(&c); i++) {
        uint64_t at = cursor_u64(&c);
        if (at && at < first)
            first = at;
    }
    if (!cursor_check(&c, err))
        return false;
    if (first == UINT64_MAX)
        first = table_at;
    if (first > table_at || table_at > file.len)
        return error_set(err, ERROR_FORMAT, "bucket at 0x%llx lies behind the table",
                         (unsigned long long)first);
    p.table = cursor_over(bytes_slice(file, 0, table_at), "indexed profile");
    cursor_seek(&p.table, first);
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
        // Buckets are packed; padding between them and the table reads as empty
        // buckets and is over before the keys are.
    }
    cursor_skip(c, 8); // hash of the key
    uint64_t key_len = cursor_u64(c);
    uint64_t data_len = cursor_u64(c);
    p->name = str_from_bytes(cursor_bytes(c, key_len));
    p->data = cursor_sub(c, data_len, "indexed profile");
    p->bucket_left--;
    p->keys_read++;
    p->name_ref = md5_low64(bytes_from_str(p->name));
    return cursor_ok(c);
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
    // Version 1 had one function for a key and no count of its counters.
    r.hash = cursor_u64(c);
    uint64_t count = p->version > 1 ? cursor_u64(c) : cursor_left(c) / 8;
    if (count > cursor_left(c) / 8)
        cursor_fail(c, "more counters than the entry holds");
    r.counters = cursor_bytes(c, count * 8);
    r.counter_count = (uint32_t)count;
    if (p->version > 10) {
        uint64_t size = cursor_u64(c);
        r.bitmap = cursor_bytes(c, size);
        cursor_skip(c, align_up(size & 7, 8) - (size & 7));
    }
    if (p->version > 2) {
        size_t start = c->at;
        uint32_t size = cursor_u32(c);
        uint32_t kinds = cursor_u32(c);
        if (cursor_ok(c) && size < 8)
            cursor_fail(c, "value profile shorter than its header");
        r.has_values = kinds != 0;
        if (cursor_ok(c)) {
            cursor_seek(c, start);
            cursor_skip(c, size);
        }
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

static void add_u32(StrBuf *out, uint32_t v)
{
    strbuf_add_bytes(out, bytes_over(&v, sizeof(v)));
}

static void add_u16(StrBuf *out, uint16_t v)
{
    strbuf_add_bytes(out, bytes_over(&v, sizeof(v)));
}

static void put_u64(StrBuf *out, size_t at, uint64_t v)
{
    memcpy(out->ptr + at, &v, sizeof(v));
}

static int descending(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? 1 : x > y ? -1 : 0;
}

// The shares of the total, in millionths, that LLVM's summaries speak of.
static const uint32_t cutoffs[] = {10000,  100000, 200000, 300000, 400000, 500000, 600000, 700000,
                                   800000, 900000, 950000, 990000, 999000, 999900, 999990, 999999};

// Summary as in llvm/include/llvm/ProfileData/InstrProf.h, struct Summary.
static void add_summary(StrBuf *out, const ProfDataRow *rows, size_t count)
{
    uint64_t blocks = 0, max = 0, max_entry = 0, max_inner = 0, total = 0;
    U64Vec all = {0};
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < rows[i].counter_count; k++) {
            uint64_t v = rows[i].counters[k];
            blocks++;
            max = MAX(max, v);
            if (k == 0)
                max_entry = MAX(max_entry, v);
            else
                max_inner = MAX(max_inner, v);
            if (__builtin_add_overflow(total, v, &total))
                total = UINT64_MAX;
            vec_push(NULL, &all, v);
        }
    }
    if (all.len)
        qsort(all.at, all.len, sizeof(all.at[0]), descending);
    add_u64(out, 6);
    add_u64(out, ARRAY_LEN(cutoffs));
    add_u64(out, count);
    add_u64(out, blocks);
    add_u64(out, max_entry);
    add_u64(out, max);
    add_u64(out, max_inner);
    add_u64(out, total);
    size_t at = 0;
    unsigned __int128 sum = 0;
    for (size_t i = 0; i < ARRAY_LEN(cutoffs); i++) {
        unsigned __int128 wanted = (unsigned __int128)total * cutoffs[i] / 1000000;
        while (at < all.len && sum < wanted) {
            uint64_t value = all.at[at];
            while (at < all.len && all.at[at] == value)
                sum += all.at[at++];
        }
        add_u64(out, cutoffs[i]);
        add_u64(out, at ? all.at[at - 1] : 0);
        add_u64(out, at);
    }
    vec_free(&all);
}

typedef struct Key {
    size_t first, count; // rows of one name
    uint64_t hash;
    size_t next; // in the bucket, index + 1
} Key;

static void add_key(StrBuf *out, uint32_t version, const ProfDataRow *rows, const Key *key)
{
    Str name = rows[key->first].name;
    add_u64(out, key->hash);
    add_u64(out, name.len);
    size_t data_len_at = out->len;
    add_u64(out, 0);
    strbuf_add(out, name);
    size_t start = out->len;
    for (size_t i = key->first; i < key->first + key->count; i++) {
        const ProfDataRow *row = &rows[i];
        add_u64(out, row->hash);
        add_u64(out, row->counter_count);
        strbuf_add_bytes(out, bytes_over(row->counters, row->counter_count * 8));
        if (version > 10) {
            add_u64(out, row->bitmap.len);
            strbuf_add_bytes(out, row->bitmap);
            strbuf_add_repeated(out, '\0', align_up(row->bitmap.len, 8) - row->bitmap.len);
        }
        add_u32(out, 8); // value profile: its own size, no kinds
        add_u32(out, 0);
    }
    put_u64(out, data_len_at, out->len - start);
}

typedef Vec(Key) KeyVec;

static void add_table(StrBuf *out, uint32_t version, const ProfDataRow *rows, size_t count,
                      size_t table_offset_at)
{
    KeyVec keys = {0};
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && str_equal(rows[end].name, rows[i].name); end++)
            ;
        vec_push(NULL, &keys, (Key){i, end - i, md5_low64(bytes_from_str(rows[i].name)), 0});
    }
    // LLVM's generator keeps tables at most 3/4 full; readers only need a power of two.
    size_t bucket_count = round_up_pow2(keys.len * 4 / 3 + 1);
    U64Vec heads = {0}, offsets = {0};
    vec_extend(NULL, &heads, bucket_count);
    vec_extend(NULL, &offsets, bucket_count);
    for (size_t i = keys.len; i-- > 0;) {
        size_t bucket = keys.at[i].hash & (bucket_count - 1);
        keys.at[i].next = heads.at[bucket];
        heads.at[bucket] = i + 1;
    }
    for (size_t b = 0; b < bucket_count; b++) {
        if (!heads.at[b])
            continue;
        offsets.at[b] = out->len;
        size_t items_at = out->len;
        uint16_t items = 0;
        add_u16(out, 0);
        for (size_t k = heads.at[b]; k; k = keys.at[k - 1].next, items++)
            add_key(out, version, rows, &keys.at[k - 1]);
        memcpy(out->ptr + items_at, &items, sizeof(items));
    }
    strbuf_add_repeated(out, '\0', align_up(out->len, 8) - out->len);
    put_u64(out, table_offset_at, out->len);
    add_u64(out, bucket_count);
    add_u64(out, keys.len);
    strbuf_add_bytes(out, bytes_over(offsets.at, bucket_count * 8));
    vec_free(&keys);
    vec_free(&heads);
    vec_free(&offsets);
}

void profdata_write(StrBuf *out, uint32_t version, uint64_t variant, const ProfDataRow *rows,
                    size_t count)
{
    assert(version == 7 || version == 9 || version == 12);
    size_t start = out->len;
    assert(start == 0); // offsets count from the file's start
    add_u64(out, MAGIC);
    add_u64(out, version | variant);
    add_u64(out, 0);
    add_u64(out, 0); // MD5
    size_t table_offset_at = out->len;
    add_u64(out, 0);
    size_t binary_ids_at = 0, vtables_at = 0;
    if (version >= 8)
        add_u64(out, 0); // memory profile: none
    if (version >= 9) {
        binary_ids_at = out->len;
        add_u64(out, 0);
    }
    if (version >= 10)
        add_u64(out, 0); // temporal traces: none
    if (version >= 12) {
        vtables_at = out->len;
        add_u64(out, 0);
    }
    add_summary(out, rows, count);
    // A context-sensitive profile carries a second summary.
    if (variant & PROF_VARIANT_CS_IR)
        add_summary(out, rows, count);
    add_table(out, version, rows, count, table_offset_at);
    if (binary_ids_at) {
        put_u64(out, binary_ids_at, out->len);
        add_u64(out, 0);
    }
    if (vtables_at) {
        put_u64(out, vtables_at, out->len);
        add_u64(out, 0);
    }
}
