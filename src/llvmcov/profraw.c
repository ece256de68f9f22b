// SPDX-License-Identifier: Apache-2.0
// Raw profiles: reads header, sections and records of every version.

#include "llvmcov/profraw.h"

#include "base/cursor.h"
#include "base/wide.h"

// 0xff 'l' 'p' 'r' 'o' 'f' 'r' 0x81 as a number; 'R' for 32-bit pointers.
#define MAGIC_64 0xff6c70726f667281ull
#define MAGIC_32 0xff6c70726f665281ull

static bool magic_of(Bytes file, size_t at, uint8_t *pointer_size, bool *big_endian)
{
    uint64_t magic;
    if (at > file.len || file.len - at < sizeof(magic))
        return false;
    memcpy(&magic, file.ptr + at, sizeof(magic));
    *big_endian = magic == __builtin_bswap64(MAGIC_64) || magic == __builtin_bswap64(MAGIC_32);
    if (*big_endian)
        magic = __builtin_bswap64(magic);
    *pointer_size = magic == MAGIC_64 ? 8 : 4;
    return magic == MAGIC_64 || magic == MAGIC_32;
}

bool profraw_is(Bytes file)
{
    uint8_t pointer_size;
    bool big_endian;
    return magic_of(file, 0, &pointer_size, &big_endian);
}

// On 32-bit targets pointer fields have 4 bytes; records are aligned to 8 on both.
ProfRawFields profraw_fields(uint32_t version, uint8_t pointer_size)
{
    uint32_t ptr = pointer_size;
    ProfRawFields l = {.counter_ptr = 16, .kinds = version >= 10 ? 3 : 2};
    uint32_t at = 16 + ptr; // name, hash, counter pointer
    if (version >= 11)
        at += ptr; // uniform counter pointer
    if (version >= 9) {
        l.bitmap_ptr = at;
        at += ptr;
    }
    l.function_ptr = at;
    at += 2 * ptr; // function pointer, values
    l.counter_count = at;
    l.sites = at + 4;
    at += 4 + 2 * l.kinds;
    if (version >= 11)
        at += 2; // wave size
    if (version >= 9) {
        at = (uint32_t)align_up(at, 4);
        l.bitmap_bytes = at;
        at += 4;
    }
    if (version >= 12)
        at += 4; // wave counters
    l.size = (uint32_t)align_up(at, 8);
    return l;
}

const ProfVariant prof_variants[] = {
    {PROF_VARIANT_LOOP_ENTRIES, "entries of loops"},
    {PROF_VARIANT_IR, "counters of the optimiser (IR)"},
    {PROF_VARIANT_CS_IR, "context-sensitive counters"},
    {PROF_VARIANT_ENTRY_FIRST, "the entry's counter first"},
    {PROF_VARIANT_DEBUG_CORRELATE, "only counters; the program names their functions"},
    {PROF_VARIANT_BYTE_COVERAGE, "a byte for each counter: ran or not"},
    {PROF_VARIANT_ENTRY_ONLY, "counters of entries only"},
    {PROF_VARIANT_MEMPROF, "a memory profile beside, which is stepped over"},
    {PROF_VARIANT_TEMPORAL, "the order of first calls (temporal traces)"},
};
const size_t prof_variant_count = ARRAY_LEN(prof_variants);

static bool refuse_variant(uint64_t variant, Error *err)
{
    error_set(err, ERROR_UNSUPPORTED, "raw profile has variant bits 0x%llx, which are not known",
              (unsigned long long)(variant & ~PROF_VARIANT_KNOWN));
    return error_hint(err, "written by an LLVM newer than 23, or broken; the llvm-profdata of "
                           "its compiler makes a .profdata of it");
}

// llvm/docs/InstrProfileFormat.rst; docs/formats/coverage.md
static const FormatVersion version_list[] = {
    {4, 4, "LLVM 5 to 8", "", false},
    {5, 5, "LLVM 9 to 12", "padding around the counters", false},
    {6, 6, "LLVM 13, while in development", "binary ids", false},
    {7, 7, "LLVM 13", "binary ids behind the header", false},
    {8, 8, "LLVM 14 to 17", "relative counter pointers", false},
    {9, 9, "LLVM 18", "MC/DC bitmaps", false},
    {10, 10, "LLVM 19 to 22", "tables of virtual functions", false},
    {11, 11, "LLVM 23", "uniform counters", false},
    {12, 12, "LLVM in development", "wave counters", false},
};

const FormatVersions profraw_versions = {
    .format = "raw profile",
    .older = "written by LLVM 4 or older; that LLVM's llvm-profdata makes a .profdata of it, which "
             "is read here",
    .newer = "written by an LLVM newer than 23; its own llvm-profdata makes a .profdata of it",
    .numbers = "",
    .at = version_list,
    .count = ARRAY_LEN(version_list),
};

// ---- Fields -----------------------------------------------------------------

static uint64_t field(const ProfRaw *p, size_t record, uint32_t at, uint32_t size)
{
    const uint8_t *from = p->records.ptr + record * p->fields.size + at;
    if (size == 8) {
        uint64_t v;
        memcpy(&v, from, 8);
        return p->big_endian ? __builtin_bswap64(v) : v;
    }
    uint32_t v;
    memcpy(&v, from, 4);
    return p->big_endian ? __builtin_bswap32(v) : v;
}

// The offset in its section that a record's pointer stands for. Since version 8 pointers are
// relative to their own record, and the deltas to the first record. In records that were taken from
// the program they are its addresses.
static uint64_t section_offset(const ProfRaw *p, size_t record, uint64_t pointer, uint64_t delta)
{
    uint64_t at = pointer - delta;
    if (p->version >= 8 && !p->is_correlated)
        at += record * (uint64_t)p->fields.size;
    return p->pointer_size == 4 ? (uint32_t)at : at;
}

void profraw_align_counters(ProfRaw *p)
{
    if (p->record_count == 0 || p->counter_size == 1)
        return;
    uint64_t pointer = field(p, 0, p->fields.counter_ptr, p->pointer_size);
    uint64_t past = section_offset(p, 0, pointer, p->counters_delta) % p->counter_size;
    if (past == 0 || p->counters.len < p->counter_size)
        return;
    p->counters = bytes_slice(p->counters, past, past + p->counters.len - p->counter_size);
    p->counters_delta += past;
}

// ---- Parsing -----------------------------------------------------------------

// {u64 name, pointer, u32 size}, aligned to 8.
static uint32_t vtable_size(uint8_t pointer_size)
{
    return (uint32_t)align_up(12 + pointer_size, 8);
}

bool profraw_parse_sections(Bytes file, size_t offset, ProfRaw *ret, Error *err)
{
    ProfRaw p = {0};
    if (!magic_of(file, offset, &p.pointer_size, &p.big_endian))
        return error_set(err, ERROR_FORMAT, "no raw profile at offset 0x%zx", offset);
    Cursor c = cursor_over(bytes_slice(file, offset, file.len), "raw profile");
    c.base = offset;
    c.big_endian = p.big_endian;
    cursor_skip(&c, 8);

    uint64_t version_word = cursor_u64(&c);
    p.version = (uint32_t)(version_word & ~PROF_VARIANT_MASK);
    p.variant = version_word & PROF_VARIANT_MASK;
    if (cursor_ok(&c) && !format_version_find(&profraw_versions, p.version))
        return format_version_refuse(&profraw_versions, p.version, err);
    if (cursor_ok(&c) && (p.variant & ~PROF_VARIANT_KNOWN))
        return refuse_variant(p.variant, err);

    uint32_t v = p.version;
    p.binary_ids_size = v >= 6 ? cursor_u64(&c) : 0;
    p.record_count = cursor_u64(&c);
    // Before version 5 there is no padding between sections.
    uint64_t pad_before_counters = v >= 5 ? cursor_u64(&c) : 0;
    uint64_t counter_count = cursor_u64(&c);
    uint64_t pad_after_counters = v >= 5 ? cursor_u64(&c) : 0;
    uint64_t bitmap_bytes = v >= 9 ? cursor_u64(&c) : 0;
    uint64_t pad_after_bitmap = v >= 9 ? cursor_u64(&c) : 0;
    uint64_t uniform_count = v >= 11 ? cursor_u64(&c) : 0;
    uint64_t pad_after_uniform = v >= 11 ? cursor_u64(&c) : 0;
    uint64_t uniform_delta = v >= 11 ? cursor_u64(&c) : 0;
    uint64_t names_size = cursor_u64(&c);
    p.counters_delta = cursor_u64(&c);
    p.bitmap_delta = v >= 9 ? cursor_u64(&c) : 0;
    cursor_skip(&c, 8); // names delta
    uint64_t vtable_count = v >= 10 ? cursor_u64(&c) : 0;
    uint64_t vtable_names = v >= 10 ? cursor_u64(&c) : 0;
    cursor_skip(&c, 8); // last value kind
    if (!cursor_check(&c, err))
        return false;
    (void)uniform_delta;

    ProfRawFields l = profraw_fields(v, p.pointer_size);
    p.fields = l;
    p.counter_size = p.variant & PROF_VARIANT_BYTE_COVERAGE ? 1 : 8;
    uint64_t left = c.data.len;
    if (p.record_count > left / l.size || counter_count > left / p.counter_size ||
        uniform_count > left / 8 || vtable_count > left / vtable_size(p.pointer_size))
        return error_set(err, ERROR_FORMAT,
                         "raw profile at offset 0x%zx states %llu records and %llu counters, more "
                         "than the file holds",
                         offset, (unsigned long long)p.record_count,
                         (unsigned long long)counter_count);

    if (v >= 7)
        p.binary_ids = cursor_bytes(&c, p.binary_ids_size);
    p.records = cursor_bytes(&c, p.record_count * l.size);
    cursor_skip(&c, pad_before_counters);
    p.counters = cursor_bytes(&c, counter_count * p.counter_size);
    cursor_skip(&c, pad_after_counters);
    p.bitmap = cursor_bytes(&c, bitmap_bytes);
    cursor_skip(&c, pad_after_bitmap);
    cursor_skip(&c, uniform_count * 8);
    cursor_skip(&c, pad_after_uniform);
    p.names = cursor_bytes(&c, names_size);
    cursor_skip(&c, align_up(names_size, 8) - names_size);
    p.vtables = cursor_bytes(&c, vtable_count * vtable_size(p.pointer_size));
    p.vtable_names = cursor_bytes(&c, vtable_names);
    if (v >= 10 && vtable_names)
        cursor_skip(&c, align_up(vtable_names, 8) - vtable_names);
    if (!cursor_check(&c, err))
        return false;
    p.values_at = c.at;
    profraw_align_counters(&p);
    *ret = p;
    return true;
}

bool profraw_has_values(const ProfRaw *p, size_t i)
{
    const uint8_t *sites = p->records.ptr + i * p->fields.size + p->fields.sites;
    uint32_t any = 0;
    for (uint32_t k = 0; k < 2 * p->fields.kinds; k++)
        any |= sites[k];
    return any != 0;
}

uint64_t profraw_value_blocks(const ProfRaw *p)
{
    uint64_t blocks = 0;
    for (uint64_t i = 0; i < p->record_count; i++)
        blocks += profraw_has_values(p, i);
    return blocks;
}

bool profraw_parse_values(Bytes file, size_t offset, uint64_t blocks, ProfRaw *p, Error *err)
{
    Cursor c = cursor_over(bytes_slice(file, offset, file.len), "raw profile");
    c.base = offset;
    c.big_endian = p->big_endian;
    cursor_seek(&c, p->values_at);
    for (uint64_t i = 0; i < blocks && cursor_ok(&c); i++) {
        ProfValues values;
        prof_values_parse(&c, &values);
    }
    Bytes values = cursor_ok(&c) ? bytes_slice(c.data, p->values_at, c.at) : (Bytes){0};
    // Version 6 has the binary ids at the end, after the value profiles.
    Bytes ids = p->version == 6 ? cursor_bytes(&c, p->binary_ids_size) : p->binary_ids;
    if (!cursor_check(&c, err))
        return false;
    p->values = values;
    p->binary_ids = ids;
    p->size = c.at;
    return true;
}

bool profraw_parse(Bytes file, size_t offset, ProfRaw *ret, Error *err)
{
    ProfRaw p;
    if (!profraw_parse_sections(file, offset, &p, err) ||
        !profraw_parse_values(file, offset, profraw_value_blocks(&p), &p, err))
        return false;
    *ret = p;
    return true;
}

// ---- Records -----------------------------------------------------------------

bool profraw_record(const ProfRaw *p, size_t i, ProfRecord *ret, Error *err)
{
    ProfRawFields l = p->fields;
    ProfRecord r = {
        .name_ref = field(p, i, 0, 8),
        .hash = field(p, i, 8, 8),
        .counter_count = (uint32_t)field(p, i, l.counter_count, 4),
        .counter_size = p->counter_size,
        .big_endian = p->big_endian,
        .bitmap_stride = 1,
        .bitmap_by_mask = p->version == 9,
    };
    uint64_t pointer = field(p, i, l.counter_ptr, p->pointer_size);
    uint64_t at = section_offset(p, i, pointer, p->counters_delta);
    uint64_t size = (uint64_t)r.counter_count * p->counter_size;
    if (at > p->counters.len || size > p->counters.len - at || at % p->counter_size)
        return error_set(err, ERROR_FORMAT,
                         "record %zu has its %u counters at 0x%llx, outside the counters%s", i,
                         r.counter_count, (unsigned long long)at,
                         at % p->counter_size ? " or across them" : "");
    // The first 8 bytes of a function's counters say when it first ran.
    uint64_t time = p->variant & PROF_VARIANT_TEMPORAL ? MIN(size, (uint64_t)8) : 0;
    r.counters = bytes_slice(p->counters, at + time, at + size);
    r.counter_count = (uint32_t)(r.counters.len / p->counter_size);
    uint32_t bitmap_bytes = l.bitmap_bytes ? (uint32_t)field(p, i, l.bitmap_bytes, 4) : 0;
    if (bitmap_bytes) {
        pointer = field(p, i, l.bitmap_ptr, p->pointer_size);
        at = section_offset(p, i, pointer, p->bitmap_delta);
        if (at > p->bitmap.len || bitmap_bytes > p->bitmap.len - at)
            return error_set(err, ERROR_FORMAT,
                             "record %zu has its bitmap at 0x%llx, outside the bitmaps", i,
                             (unsigned long long)at);
        r.bitmap = bytes_slice(p->bitmap, at, at + bitmap_bytes);
    }
    *ret = r;
    return true;
}

uint64_t profraw_first_run(const ProfRaw *p, size_t i)
{
    ProfRawFields l = p->fields;
    if (!(p->variant & PROF_VARIANT_TEMPORAL))
        return 0;
    uint64_t size = field(p, i, l.counter_count, 4) * p->counter_size;
    uint64_t at =
        section_offset(p, i, field(p, i, l.counter_ptr, p->pointer_size), p->counters_delta);
    if (size < 8 || at > p->counters.len || size > p->counters.len - at)
        return 0;
    Cursor c = cursor_over(bytes_slice(p->counters, at, at + 8), "counters");
    c.big_endian = p->big_endian;
    uint64_t time = cursor_u64(&c);
    return time == UINT64_MAX ? 0 : time; // the start value beside counters of one byte
}

uint64_t profraw_function_address(const ProfRaw *p, size_t i)
{
    return field(p, i, p->fields.function_ptr, p->pointer_size);
}

size_t profraw_vtable_count(const ProfRaw *p)
{
    return p->vtables.len / vtable_size(p->pointer_size);
}

ProfRawVtable profraw_vtable(const ProfRaw *p, size_t i)
{
    uint32_t size = vtable_size(p->pointer_size);
    Cursor c = cursor_over(bytes_slice(p->vtables, i * size, (i + 1) * size), "virtual tables");
    c.big_endian = p->big_endian;
    ProfRawVtable v = {.name_ref = cursor_u64(&c)};
    v.address = cursor_uint(&c, p->pointer_size);
    v.size = cursor_u32(&c);
    return v;
}

// ---- Layouts -----------------------------------------------------------------

enum {
    RECORD_SIZE_MAX = 80,
    // Records are multiples of 8 bytes: 4 of them fill complete vectors.
    PATTERN_VECTORS = 4 * RECORD_SIZE_MAX / sizeof(WideU64),
};

// A mask of the bits in which records of all profiles of a program agree, repeated for as many
// records as fill complete vectors.
typedef struct RecordMask {
    WideU64 at[PATTERN_VECTORS];
    size_t vectors;
} RecordMask;

static RecordMask record_mask(const ProfRaw *p, bool pointers_move)
{
    ProfRawFields l = p->fields;
    uint8_t bytes[sizeof(WideU64) * PATTERN_VECTORS] = {0};
    RecordMask mask = {0};
    size_t records = 1;
    while (records * l.size % sizeof(WideU64))
        records *= 2;
    mask.vectors = records * l.size / sizeof(WideU64);
    for (uint8_t *at = bytes; records > 0; at += l.size, records--) {
        memset(at, 0xff, 16); // name and hash
        if (!pointers_move)
            memset(at + l.counter_ptr, 0xff, p->pointer_size);
        // Without bitmaps the pointer to them is an address, which differs from run to run.
        if (p->bitmap.len)
            memset(at + l.bitmap_ptr, 0xff, p->pointer_size);
        memset(at + l.counter_count, 0xff, 4);
        memset(at + l.sites, 0xff, 2 * l.kinds);
        if (l.bitmap_bytes)
            memset(at + l.bitmap_bytes, 0xff, 4);
    }
    memcpy(mask.at, bytes, sizeof(bytes));
    return mask;
}

// Whether `patterns` of `vectors` each are equal. `vectors` is a constant where this is inlined, so
// that the inner loop is unrolled.
__attribute__((always_inline)) static inline bool same_patterns(const uint8_t *a, const uint8_t *b,
                                                                size_t patterns,
                                                                const WideU64 *mask, size_t vectors)
{
    enum { STRETCH = 32 }; // patterns between two tests of the result
    const WideU64 *x = (const WideU64 *)(const void *)a, *y = (const WideU64 *)(const void *)b;
    for (size_t i = 0; i < patterns;) {
        WideU64 differ = {0};
        for (size_t end = MIN(i + STRETCH, patterns); i < end; i++, x += vectors, y += vectors)
            for (size_t v = 0; v < vectors; v++)
                differ |= (x[v] ^ y[v]) & mask[v];
        if (differ[0] | differ[1] | differ[2] | differ[3])
            return false;
    }
    return true;
}

WIDE_CLONES static bool same_masked(const uint8_t *a, const uint8_t *b, size_t patterns,
                                    const RecordMask *mask)
{
    switch (mask->vectors) {
    case 3: // versions 5 to 8: two records of 48 bytes
        return same_patterns(a, b, patterns, mask->at, 3);
    case 2: // 9 and 10: one of 64
        return same_patterns(a, b, patterns, mask->at, 2);
    default:
        return same_patterns(a, b, patterns, mask->at, mask->vectors);
    }
}

// Compares the last records, which do not fill a pattern, byte by byte.
static bool same_rest(Bytes a, Bytes b, size_t from, const RecordMask *mask)
{
    const uint8_t *bits = (const uint8_t *)mask->at;
    uint8_t differ = 0;
    for (size_t i = from; i < a.len; i++)
        differ |= (uint8_t)((a.ptr[i] ^ b.ptr[i]) & bits[i - from]);
    return differ == 0;
}

static bool same_records(const ProfRaw *a, const ProfRaw *b, bool pointers_move)
{
    RecordMask mask = record_mask(a, pointers_move);
    size_t patterns = a->records.len / (mask.vectors * sizeof(WideU64));
    return same_masked(a->records.ptr, b->records.ptr, patterns, &mask) &&
           same_rest(a->records, b->records, patterns * mask.vectors * sizeof(WideU64), &mask);
}

// Whether absolute pointers differ by the same distance in all records.
static bool same_moved_pointers(const ProfRaw *a, const ProfRaw *b)
{
    for (uint64_t i = 0; i < a->record_count; i++) {
        uint64_t from = field(a, i, 16, a->pointer_size) - a->counters_delta;
        uint64_t to = field(b, i, 16, b->pointer_size) - b->counters_delta;
        if (a->pointer_size == 4 ? (uint32_t)from != (uint32_t)to : from != to)
            return false;
    }
    return true;
}

// Compares the names at their start and end. They come after the counters: where two processes
// wrote over each other, these bytes are no names, and the counters cannot be trusted.
static bool same_ends(Bytes a, Bytes b)
{
    enum { LOOKED_AT = 64 };
    size_t n = MIN(a.len, (size_t)LOOKED_AT);
    return a.len == b.len && (n == 0 || (memcmp(a.ptr, b.ptr, n) == 0 &&
                                         memcmp(a.ptr + a.len - n, b.ptr + b.len - n, n) == 0));
}

bool profraw_same_layout(const ProfRaw *a, const ProfRaw *b)
{
    if (a->version != b->version || a->pointer_size != b->pointer_size ||
        a->big_endian != b->big_endian || a->counter_size != b->counter_size ||
        a->is_correlated != b->is_correlated || a->fields.size != b->fields.size ||
        a->record_count != b->record_count || a->counters.len != b->counters.len ||
        a->bitmap.len != b->bitmap.len)
        return false;
    // Before version 8 pointers are absolute and differ from run to run.
    bool moved = a->version < 8 && a->counters_delta != b->counters_delta;
    if (a->version >= 8 && (a->counters_delta != b->counters_delta ||
                            (a->bitmap.len && a->bitmap_delta != b->bitmap_delta)))
        return false;
    return same_ends(a->names, b->names) && same_records(a, b, moved) &&
           (!moved || same_moved_pointers(a, b));
}
