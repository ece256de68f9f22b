// SPDX-License-Identifier: Apache-2.0
// Takes the records of programs for profiles that have none.

#include "llvmcov/correlate.h"

#include "base/cursor.h"
#include "base/md5.h"
#include "base/table.h"
#include "base/vec.h"
#include "llvmcov/names.h"
#include "llvmcov/sections.h"

// The layout of the records that are made here: the smallest one, without bitmaps, which the debug
// information does not describe.
enum { MADE_VERSION = 8 };

// ---- Sections --------------------------------------------------------------------

static bool is_any(Str name, const char *elf, const char *coff)
{
    return cov_section_is(name, elf) || cov_section_is(name, coff);
}

static void take(void *ctx, const CovSection *s)
{
    ProfCorrelation *c = ctx;
    if (is_any(s->name, "__llvm_prf_cnts", ".lprfc")) {
        c->counters_address = s->address;
        c->counters_size = s->size;
    } else if (is_any(s->name, "__llvm_prf_bits", ".lprfb")) {
        c->bitmap_address = s->address;
    } else if (is_any(s->name, "__llvm_covdata", ".lcovd")) {
        c->records = s->bytes;
    } else if (is_any(s->name, "__llvm_covnames", ".lcovn")) {
        c->names = s->bytes;
    }
}

// On COFF one byte marks the start of the runtime's sections; the data starts after it.
static void step_over_marks(ProfCorrelation *c)
{
    c->counters_address += c->counters_size != 0;
    c->counters_size -= c->counters_size != 0;
    c->bitmap_address += c->bitmap_address != 0;
}

bool prof_correlation_read(Bytes file, ProfCorrelation *ret, Error *err)
{
    ProfCorrelation c = {0};
    CovObjectForm form;
    if (!cov_sections_each(file, take, &c, &form, err))
        return false;
    if (form.is_coff)
        step_over_marks(&c);
    c.pointer_size = form.pointer_size;
    c.big_endian = form.big_endian;
    *ret = c;
    return true;
}

// ---- Records ----------------------------------------------------------------------

static void put(uint8_t *at, uint64_t v, unsigned size, bool big_endian)
{
    for (unsigned i = 0; i < size; i++)
        at[big_endian ? size - 1 - i : i] = (uint8_t)(v >> (8 * i));
}

static void put_record(uint8_t *at, const ProfCorrelation *c, const ProfCorrelated *f)
{
    ProfRawFields l = profraw_fields(MADE_VERSION, c->pointer_size);
    put(at, md5_low64(bytes_from_str(f->name)), 8, c->big_endian);
    put(at + 8, f->hash, 8, c->big_endian);
    put(at + l.counter_ptr, f->counters_address, c->pointer_size, c->big_endian);
    put(at + l.function_ptr, f->function_address, c->pointer_size, c->big_endian);
    put(at + l.counter_count, f->counter_count, 4, c->big_endian);
}

// Makes a blob of names: one stored chunk.
static Bytes make_names(Arena *arena, const ProfCorrelated *functions, size_t count)
{
    StrBuf names = {0}, blob = {0};
    for (size_t i = 0; i < count; i++) {
        if (i)
            strbuf_add_char(&names, 1);
        strbuf_add(&names, functions[i].name);
    }
    prof_names_write(&blob, strbuf_str(&names));
    Bytes r = arena_bytes(arena, bytes_from_str(strbuf_str(&blob)));
    strbuf_deinit(&names);
    strbuf_deinit(&blob);
    return r;
}

void prof_correlation_make(Arena *arena, ProfCorrelation *to, const ProfCorrelated *functions,
                           size_t count)
{
    size_t size = profraw_fields(MADE_VERSION, to->pointer_size).size;
    uint8_t *records = arena_alloc(arena, count * size, 8);
    for (size_t i = 0; i < count; i++)
        put_record(records + i * size, to, &functions[i]);
    to->records = bytes_over(records, count * size);
    to->version = MADE_VERSION;
    to->names = make_names(arena, functions, count);
}

// The counter pointers of the kept records, to keep each once.
typedef struct Kept {
    Table index;
    U64Vec pointers;
} Kept;

static bool is_new(Kept *k, uint64_t pointer)
{
    uint32_t row;
    for (TableProbe p = table_probe(&k->index, hash_u64(pointer)); table_next(&k->index, &p, &row);)
        if (k->pointers.at[row] == pointer)
            return false;
    table_insert(&k->index, hash_u64(pointer), (uint32_t)k->pointers.len);
    vec_push(NULL, &k->pointers, pointer);
    return true;
}

static uint64_t counter_pointer(const ProfCorrelation *c, const ProfRawFields *l, size_t i)
{
    Cursor record = cursor_over(c->records, "records");
    record.big_endian = c->big_endian;
    cursor_seek(&record, i * l->size + l->counter_ptr);
    return cursor_uint(&record, c->pointer_size);
}

bool prof_correlation_settle(Arena *arena, ProfCorrelation *c, uint32_t version, Error *err)
{
    if (c->version == 0)
        c->version = version;
    ProfRawFields l = profraw_fields(c->version, c->pointer_size);
    // The last record may lack its padding.
    size_t count = (c->records.len + l.size - 1) / l.size, kept_count = 0;
    if (count * l.size - c->records.len >= 8)
        return error_set(err, ERROR_FORMAT,
                         "its records take %zu bytes, and of profiles of version %u each has %u",
                         c->records.len, c->version, l.size);
    uint8_t *to = arena_alloc(arena, count * l.size, 8);
    Kept kept = {0};
    for (size_t i = 0; i < count; i++) {
        uint64_t pointer = counter_pointer(c, &l, i);
        if (pointer - c->counters_address >= c->counters_size || !is_new(&kept, pointer))
            continue;
        Bytes record = bytes_slice(c->records, i * l.size, (i + 1) * l.size);
        memset(to + kept_count * l.size, 0, l.size);
        bytes_copy(to + kept_count++ * l.size, record);
    }
    table_deinit(&kept.index);
    vec_free(&kept.pointers);
    if (kept_count == 0)
        return error_set(err, ERROR_FORMAT, "none of its %zu records refers to its counters",
                         count);
    c->records = bytes_over(to, kept_count * l.size);
    return true;
}

// ---- Profiles ---------------------------------------------------------------------

bool profraw_fits(const ProfRaw *p, const ProfCorrelation *c)
{
    return p->pointer_size == c->pointer_size && p->big_endian == c->big_endian &&
           p->counters.len >= c->counters_size && p->counters.len - c->counters_size < 8;
}

void profraw_join(ProfRaw *p, const ProfCorrelation *c)
{
    p->fields = profraw_fields(c->version, c->pointer_size);
    if (c->bitmap_address == 0) // the address of the bitmaps is not known
        p->fields.bitmap_bytes = 0;
    p->records = c->records;
    p->record_count = c->records.len / p->fields.size;
    p->names = c->names;
    p->counters_delta = c->counters_address;
    p->bitmap_delta = c->bitmap_address;
    p->is_correlated = true;
    profraw_align_counters(p);
}
