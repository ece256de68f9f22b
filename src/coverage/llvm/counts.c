// SPDX-License-Identifier: Apache-2.0
// Summing profiles: raw ones by layout, the others function by function.

#include "coverage/llvm/counts.h"

#include <stdlib.h>

#include "base/md5.h"
#include "coverage/llvm/correlated_programs.h"
#include "llvmcov/profdata.h"
#include "llvmcov/proftext.h"
#include "tracefile/tracefile.h"

void cover_counts_deinit(CoverCounts *c)
{
    table_deinit(&c->index);
    table_deinit(&c->name_index);
    prof_names_deinit(&c->vtables);
    cover_layouts_deinit(&c->layouts);
    cover_traces_deinit(&c->traces);
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

static bool is_cs(uint64_t hash)
{
    return hash >> 60 & 1;
}

bool cover_counts_know_kind(const CoverCounts *c, uint64_t name_ref, uint64_t hash)
{
    const CoverCountRow *first = cover_counts_find_name(c, name_ref);
    return first && (is_cs(hash) ? first->has_cs : first->has_plain);
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
                         .bitmap_len = (uint32_t)prof_record_bitmap_len(r),
                         .bitmap_by_mask = r->bitmap_by_mask};
    // One more, so that a row without any still points somewhere.
    vec_reserve(c->arena, &c->counters, (size_t)r->counter_count + 1);
    vec_reserve(c->arena, &c->bitmaps, (size_t)row.bitmap_len + 1);
    vec_extend(c->arena, &c->counters, r->counter_count);
    vec_extend(c->arena, &c->bitmaps, row.bitmap_len);
    const CoverCountRow *named = cover_counts_find_name(c, r->name_ref);
    row.first_of_name = named ? (uint32_t)(named - c->rows.at) : number;
    if (!named)
        table_insert(&c->name_index, hash_u64(r->name_ref), number);
    table_insert(&c->index, hash_pair(r->name_ref, r->hash), number);
    vec_push(c->arena, &c->rows, row);
    CoverCountRow *first = &c->rows.at[row.first_of_name];
    first->has_cs |= is_cs(r->hash);
    first->has_plain |= !is_cs(r->hash);
    return &vec_last(&c->rows);
}

static CoverFunctionValues *row_values(CoverCounts *c, CoverCountRow *row)
{
    if (!row->values)
        row->values = arena_new(c->arena, CoverFunctionValues);
    c->has_values = true;
    return row->values;
}

static void add_values(CoverCounts *c, CoverCountRow *row, const ProfRecord *r, uint64_t weight)
{
    ProfValues v;
    Cursor cursor = cursor_over(r->values, "value profile");
    cursor.big_endian = r->big_endian;
    prof_values_parse(&cursor, &v);
    c->site_mismatched +=
        !cover_values_add(c->arena, row_values(c, row), &v, NULL, weight, &c->is_saturated);
}

// In place of its first counter a function may have a number that says no more than that it is hot
// or warm, in text and indexed profiles: "supplement" of llvm-profdata writes them.
static bool is_pseudo(uint64_t count)
{
    return count > COVER_COUNT_MAX;
}

// Adds the record of a function that is only known to be hot or warm: hot wins. False when the
// other one has real counts.
static bool add_pseudo(uint64_t *to, const ProfRecord *r, bool is_new)
{
    uint64_t count = prof_record_counter(r, 0);
    if (is_new)
        for (uint32_t i = 0; i < r->counter_count; i++)
            to[i] = prof_record_counter(r, i);
    else if (!is_pseudo(count) || !is_pseudo(to[0]))
        return false;
    else
        to[0] = MAX(to[0], count);
    return true;
}

// NULL when the record does not fit the row and was left out.
static CoverCountRow *add_record(CoverCounts *c, const ProfRecord *r, uint64_t weight)
{
    // The row is ours to change: const is for callers of the look-up.
    const CoverCountRow *found = cover_counts_find(c, r->name_ref, r->hash);
    CoverCountRow *row = found ? &c->rows.at[found - c->rows.at] : add_row(c, r);
    if (row->count != r->counter_count || row->bitmap_len != prof_record_bitmap_len(r)) {
        c->mismatched++;
        return NULL;
    }
    if (row->name.len == 0)
        row->name = r->name;
    uint64_t *to = c->counters.at + row->first;
    bool is_flag = (c->variant & PROF_VARIANT_BYTE_COVERAGE) != 0;
    bool pseudo = r->counter_count && (is_pseudo(prof_record_counter(r, 0)) || is_pseudo(to[0]));
    if (pseudo && !add_pseudo(to, r, !found)) {
        c->mismatched++;
        return NULL;
    }
    for (uint32_t i = 0; i < r->counter_count && !pseudo; i++) {
        uint64_t v = prof_record_counter(r, i);
        to[i] = is_flag ? (to[i] | v) != 0 : cover_add_counter(to[i], v, weight, &c->is_saturated);
    }
    for (size_t i = 0; i < row->bitmap_len; i++)
        c->bitmaps.at[row->bitmap_first + i] |= r->bitmap.ptr[i * r->bitmap_stride];
    if (r->values.len)
        add_values(c, row, r, weight);
    return row;
}

// Kinds of instrumentation that mean different things by the same counter do not add up.
static bool check_variant(const CoverCounts *c, uint64_t variant, Error *err)
{
    uint64_t matter = PROF_VARIANT_IR | PROF_VARIANT_BYTE_COVERAGE;
    if (c->profile_count && (c->variant & matter) != (variant & matter))
        return error_set(err, ERROR_FORMAT,
                         "its instrumentation (%s%s) differs from that of the profiles before",
                         variant & PROF_VARIANT_IR ? "IR" : "front end",
                         variant & PROF_VARIANT_BYTE_COVERAGE ? ", byte coverage" : "");
    return true;
}

static void take_variant(CoverCounts *c, uint64_t variant)
{
    c->variant |= variant;
    c->profile_count++;
}

// ---- Files -------------------------------------------------------------------------

// Most profiles of a run have the same ids.
static bool keep_binary_ids(CoverCounts *c, Bytes ids, bool big_endian, Error *err)
{
    BinaryIdVec read = {0};
    if (!prof_binary_ids_read(c->arena, ids, big_endian, &read, err))
        return false;
    for (size_t i = 0; i < read.len; i++)
        prof_binary_ids_add(c->arena, read.at[i], &c->binary_ids);
    return true;
}

// One profile of a file of them.
static bool add_raw_profile(CoverCounts *c, Bytes file, size_t at, uint64_t weight, size_t *size,
                            Error *err)
{
    ProfRaw p;
    if (!profraw_parse_sections(file, at, &p, err) || !check_variant(c, p.variant, err) ||
        (profraw_lacks_records(&p) && !cover_correlations_join(c->correlations, &p, err)))
        return false;
    CoverLayout *layout = cover_layout_find(&c->layouts, &p);
    uint64_t blocks = layout ? layout->value_blocks : profraw_value_blocks(&p);
    if (!profraw_parse_values(file, at, blocks, &p, err) ||
        (!layout && !cover_layout_new(c->arena, &c->layouts, &p, &layout, err)))
        return false;
    if (!keep_binary_ids(c, p.binary_ids, p.big_endian, err))
        return false;
    c->is_saturated |= cover_layout_add(layout, &p, weight);
    c->site_mismatched += cover_layout_add_values(c->arena, layout, &p, weight, &c->is_saturated);
    take_variant(c, p.variant);
    c->raw_version = MAX(c->raw_version, p.version);
    if (p.variant & PROF_VARIANT_TEMPORAL)
        cover_traces_add_raw(&c->traces, weight, &p);
    *size = p.size;
    return true;
}

// Where the next profile of the file's writer may start.
static size_t next_raw(Bytes file, size_t from)
{
    enum { MAGIC_SIZE = 8 };
    Str rest = str_from_bytes(bytes_slice(file, from, file.len));
    size_t found = str_find(rest, str_from_bytes(bytes_slice(file, 0, MAGIC_SIZE)));
    return found == SIZE_MAX ? file.len : from + found;
}

// What of a file of profiles is not whole.
typedef struct BrokenRaw {
    size_t count, first_at;
    Error why; // of the first
} BrokenRaw;

static void note_broken(CoverCounts *c, Str path, size_t profiles, const BrokenRaw *broken,
                        bool to_end)
{
    Str note = to_end && broken->count == 1
                   ? arena_printf(c->arena,
                                  "'%" STR_FMT "': %zu whole profiles read, the rest from offset "
                                  "0x%zx on left out: %s",
                                  STR_ARG(path), profiles, broken->first_at, broken->why.text)
                   : arena_printf(c->arena,
                                  "'%" STR_FMT "': %zu whole profiles read, %zu that are broken "
                                  "left out, the first at offset 0x%zx: %s",
                                  STR_ARG(path), profiles, broken->count, broken->first_at,
                                  broken->why.text);
    vec_push(c->arena, &c->notes, note);
}

// Processes that are killed, or end at once, leave broken profiles between whole ones.
static bool add_raw(CoverCounts *c, Str path, Bytes file, uint64_t weight, Error *err)
{
    enum { BROKEN_MAX = 256 }; // each is looked at as far as it says it goes
    size_t at = 0, profiles = 0, size;
    BrokenRaw broken = {0};
    bool to_end = false;
    while (at < file.len && broken.count < BROKEN_MAX) {
        Error why = {0};
        if (add_raw_profile(c, file, at, weight, &size, &why)) {
            profiles++;
            at += size;
            // Profiles lie at multiples of 8; nothing else stands between them.
            while (at < file.len && file.ptr[at] == 0)
                at++;
            continue;
        }
        if (broken.count++ == 0) {
            broken.first_at = at;
            broken.why = why;
        }
        at = next_raw(file, at + 1);
        to_end = at == file.len;
    }
    if (profiles == 0) {
        *err = broken.why;
        return error_context(err, "'%" STR_FMT "'", STR_ARG(path));
    }
    if (broken.count)
        note_broken(c, path, profiles, &broken, to_end);
    return true;
}

// A name that the counts keep.
static Str keep_name(CoverCounts *c, const ProfRecord *r)
{
    const CoverCountRow *same = cover_counts_find(c, r->name_ref, r->hash); // and soon again
    const CoverCountRow *known = same ? same : cover_counts_find_name(c, r->name_ref);
    return known && known->name.len ? known->name : arena_str(c->arena, r->name);
}

typedef Vec(ProfRecord) RecordVec;

// The text of a name stays where it is unless the counts do not know it yet.
static void keep_vtable(void *ctx, Str name, uint64_t ref)
{
    CoverCounts *c = ctx;
    if (prof_names_find(&c->vtables, ref).len == 0)
        prof_names_add(c->arena, &c->vtables, arena_str(c->arena, name));
}

// Says that a file ends early; what was read of it counts.
static void note_cut(CoverCounts *c, Str path, size_t functions, const char *why)
{
    vec_push(c->arena, &c->notes,
             arena_printf(c->arena,
                          "'%" STR_FMT "': %zu whole functions read, the rest is left out: %s",
                          STR_ARG(path), functions, why));
}

// The references of all names. Records of one name follow each other, with the same text.
static void find_refs(RecordVec *records)
{
    StrVec names = {0};
    U64Vec refs = {0};
    for (size_t i = 0; i < records->len; i++)
        if (i == 0 || records->at[i].name.ptr != records->at[i - 1].name.ptr)
            vec_push(NULL, &names, records->at[i].name);
    vec_extend(NULL, &refs, names.len);
    md5_low64_many(names.at, names.len, refs.at);
    for (size_t i = 0, k = 0; i < records->len; i++) {
        k += i && records->at[i].name.ptr != records->at[i - 1].name.ptr;
        records->at[i].name_ref = refs.at[k];
    }
    vec_free(&names);
    vec_free(&refs);
}

static void reserve(CoverCounts *c, size_t records, size_t counters, size_t bitmaps)
{
    table_reserve(&c->index, c->rows.len + records);
    table_reserve(&c->name_index, c->rows.len + records);
    vec_reserve(c->arena, &c->rows, records);
    vec_reserve(c->arena, &c->counters, counters + 1);
    vec_reserve(c->arena, &c->bitmaps, bitmaps + 1);
}

static void reserve_records(CoverCounts *c, const RecordVec *records)
{
    size_t counters = 0, bitmaps = 0;
    for (size_t i = 0; i < records->len; i++) {
        counters += records->at[i].counter_count;
        bitmaps += prof_record_bitmap_len(&records->at[i]);
    }
    reserve(c, records->len, counters, bitmaps);
}

// Weights of inputs do not change those of traces that were merged before, as in llvm-profdata.
static void add_indexed_traces(CoverCounts *c, ProfTraces traces)
{
    CoverTraces read = {0};
    uint64_t weight, seen = traces.seen;
    while (traces.count) {
        Bytes refs = prof_traces_next(&traces, &weight);
        if (read.at.len < COVER_TRACES_MAX)
            cover_traces_add(&read, weight, refs);
    }
    read.seen = seen;
    cover_traces_take(&c->traces, &read);
}

static void add_text_traces(CoverCounts *c, const ProfText *p)
{
    CoverTraces read = {0};
    U64Vec refs = {0};
    for (size_t i = 0; i < p->traces.len && read.at.len < COVER_TRACES_MAX; i++) {
        Str rest = p->traces.at[i].functions, name;
        refs.len = 0;
        while (str_next_part(&rest, ',', &name) && refs.len < COVER_TRACE_FUNCTIONS_MAX)
            if (name.len)
                vec_push(NULL, &refs, md5_low64(bytes_from_str(name)));
        cover_traces_add(&read, p->traces.at[i].weight, bytes_over(refs.at, refs.len * 8));
    }
    read.seen = p->traces_seen;
    cover_traces_take(&c->traces, &read);
    vec_free(&refs);
}

// All records are read before any is added: a broken file adds nothing, and one that is
// cut short its whole functions.
static bool add_indexed(CoverCounts *c, Str path, Bytes file, uint64_t weight, Error *err)
{
    ProfData p;
    if (!profdata_open(file, &p, err) || !check_variant(c, p.variant, err))
        return false;
    RecordVec records = {0};
    ProfRecord r;
    p.refs_later = true;
    while (profdata_next(&p, &r, err))
        vec_push(NULL, &records, r);
    if (!p.is_cut)
        find_refs(&records);
    if (c->rows.len == 0) // the next file has most likely the same functions
        reserve_records(c, &records);
    bool is_whole = err->kind == ERROR_NONE;
    bool ok = is_whole ? prof_names_each(c->arena, p.vtable_names, keep_vtable, c, err) &&
                             keep_binary_ids(c, p.binary_ids, false, err)
                       : p.is_cut && records.len > 0;
    if (ok && p.is_cut)
        note_cut(c, path, records.len,
                 is_whole ? "the names of virtual tables are cut short" : err->text);
    if (ok) {
        take_variant(c, p.variant);
        add_indexed_traces(c, p.traces);
    }
    for (size_t i = 0; i < records.len && ok; i++) {
        // Records of one name follow each other.
        bool same = i && records.at[i].name_ref == records.at[i - 1].name_ref;
        records.at[i].name = same ? records.at[i - 1].name : keep_name(c, &records.at[i]);
        (void)add_record(c, &records.at[i], weight);
    }
    vec_free(&records);
    return ok;
}

// The first pass looks for what is broken, and gives the names in it. True when all
// functions are whole, or all but a last one that is cut short, which is noted.
static bool check_text(CoverCounts *c, Str path, Bytes file, StrVec *names, Error *err)
{
    ProfText p;
    if (!proftext_open(file, &p, err))
        return false;
    p.refs_later = true;
    ProfRecord r;
    size_t end = 0;
    while (proftext_next(&p, &r, err)) {
        vec_push(NULL, names, r.name);
        end = file.len - p.rest.len;
    }
    bool is_whole = err->kind == ERROR_NONE, is_cut = p.rest.len == 0 && names->len > 0;
    proftext_close(&p);
    if (!is_whole && is_cut)
        note_cut(c, path, names->len, (error_context(err, "from offset 0x%zx on", end), err->text));
    return is_whole || is_cut;
}

// `refs` are those of the names in it. A file that grew since has no more of them.
static bool add_checked_text(CoverCounts *c, Bytes file, const U64Vec *refs, uint64_t weight,
                             Error *err)
{
    ProfText p;
    if (!proftext_open(file, &p, err) || !check_variant(c, p.variant, err))
        return false;
    take_variant(c, p.variant);
    add_text_traces(c, &p);
    p.refs_later = true;
    ProfRecord r;
    for (size_t i = 0; i < refs->len && proftext_next(&p, &r, err); i++) {
        r.name_ref = refs->at[i];
        r.name = keep_name(c, &r);
        (void)add_record(c, &r, weight);
    }
    for (size_t i = 0; i < p.vtables.len; i++)
        keep_vtable(c, p.vtables.at[i], md5_low64(bytes_from_str(p.vtables.at[i])));
    proftext_close(&p);
    return true;
}

static bool add_text(CoverCounts *c, Str path, Bytes file, uint64_t weight, Error *err)
{
    StrVec names = {0};
    U64Vec refs = {0};
    bool ok = check_text(c, path, file, &names, err);
    if (ok) {
        vec_extend(NULL, &refs, names.len);
        md5_low64_many(names.at, names.len, refs.at);
        ok = add_checked_text(c, file, &refs, weight, err);
    }
    vec_free(&names);
    vec_free(&refs);
    return ok;
}

static bool refuse_kind(Str path, Bytes file, Error *err)
{
    const char *hint, *name = tracefile_foreign_name(file, &hint);
    if (!name)
        return error_set(err, ERROR_FORMAT, "'%" STR_FMT "' is not an LLVM profile", STR_ARG(path));
    error_set(err, ERROR_UNSUPPORTED, "'%" STR_FMT "' is %s, and no profile of counts",
              STR_ARG(path), name);
    return error_hint(err, "%s", hint);
}

bool cover_counts_add(CoverCounts *c, Str path, Bytes file, uint64_t weight, Error *err)
{
    if (profraw_is(file))
        return add_raw(c, path, file, weight, err);
    Error why = {0};
    bool ok;
    if (profdata_is(file))
        ok = add_indexed(c, path, file, weight, &why);
    else if (proftext_is(file))
        ok = add_text(c, path, file, weight, &why);
    else
        return refuse_kind(path, file, err);
    if (!ok) {
        *err = why;
        return error_context(err, "'%" STR_FMT "'", STR_ARG(path));
    }
    return true;
}

// ---- The whole ---------------------------------------------------------------------

static void absorb_values(CoverCounts *c, CoverCountRow *row, const CoverFunctionValues *values)
{
    c->site_mismatched +=
        !cover_values_absorb(c->arena, row_values(c, row), values, &c->is_saturated);
}

static bool finish_layout(CoverCounts *c, CoverLayout *l, Error *err)
{
    const CoverFunctionValues *values = l->values;
    for (uint64_t i = 0; i < l->raw.record_count; i++) {
        ProfRecord r;
        if (!profraw_record(&l->raw, i, &r, err))
            return false;
        r.big_endian = false; // sums are native
        CoverCountRow *row = add_record(c, &r, 1);
        if (l->value_blocks && profraw_has_values(&l->raw, i)) {
            if (row)
                absorb_values(c, row, values);
            values++;
        }
    }
    prof_names_split(&l->vtable_names, keep_vtable, c);
    return true;
}

static void reserve_rows(CoverCounts *c)
{
    size_t records = 0, counters = 0, bitmaps = 0;
    for (size_t i = 0; i < c->layouts.at.len; i++) {
        const CoverLayout *l = c->layouts.at.at[i];
        records += l->raw.record_count;
        counters += l->counter_count;
        bitmaps += l->raw.bitmap.len;
    }
    reserve(c, records, counters, bitmaps);
}

static void note_what_is_not_kept(CoverCounts *c)
{
    if (c->variant & PROF_VARIANT_MEMPROF)
        vec_push(c->arena, &c->notes, STR("a memory profile is not kept"));
}

bool cover_counts_finish(CoverCounts *c, Error *err)
{
    note_what_is_not_kept(c);
    reserve_rows(c);
    for (size_t i = 0; i < c->layouts.at.len; i++)
        if (!finish_layout(c, c->layouts.at.at[i], err))
            return false;
    for (size_t i = 0; i < c->counters.len && c->is_saturated; i++)
        c->saturated += c->counters.at[i] == COVER_COUNT_MAX;
    return true;
}

static bool absorb_layouts(CoverCounts *c, const CoverCounts *from, Error *err)
{
    for (size_t i = 0; i < from->layouts.at.len; i++) {
        const CoverLayout *l = from->layouts.at.at[i];
        CoverLayout *into = cover_layout_find(&c->layouts, &l->raw);
        if (!into && !cover_layout_new(c->arena, &c->layouts, &l->raw, &into, err))
            return false;
        c->is_saturated |= cover_layout_add_sums(into, l);
        c->site_mismatched += cover_layout_absorb_values(c->arena, into, l, &c->is_saturated);
    }
    return true;
}

static void absorb_rows(CoverCounts *c, const CoverCounts *from)
{
    for (size_t i = 0; i < from->rows.len; i++) {
        const CoverCountRow *row = &from->rows.at[i];
        const uint64_t *counters = cover_counts_of(from, row);
        ProfRecord r = {.name_ref = row->name_ref,
                        .name = row->name,
                        .hash = row->hash,
                        .counters = bytes_over(counters, row->count * sizeof(*counters)),
                        .counter_count = row->count,
                        .counter_size = sizeof(*counters),
                        .bitmap_stride = 1,
                        .bitmap_by_mask = row->bitmap_by_mask,
                        .bitmap =
                            bytes_over(from->bitmaps.at + row->bitmap_first, row->bitmap_len)};
        r.name = keep_name(c, &r);
        CoverCountRow *into = add_record(c, &r, 1);
        if (into && row->values)
            absorb_values(c, into, row->values);
    }
    for (size_t i = 0; i < from->vtables.names.len; i++)
        keep_vtable(c, from->vtables.names.at[i], from->vtables.refs.at[i]);
}

static void absorb_traces(CoverCounts *c, const CoverTraces *from)
{
    CoverTraces copy = {0};
    for (size_t i = 0; i < from->at.len; i++)
        cover_traces_add(&copy, from->at.at[i].weight,
                         bytes_over(from->at.at[i].refs.at, from->at.at[i].refs.len * 8));
    copy.seen = from->seen;
    cover_traces_take(&c->traces, &copy);
}

bool cover_counts_absorb(CoverCounts *c, const CoverCounts *from, Error *err)
{
    if (from->profile_count == 0)
        return true;
    if (!check_variant(c, from->variant, err) || !absorb_layouts(c, from, err))
        return false;
    c->variant |= from->variant;
    c->raw_version = MAX(c->raw_version, from->raw_version);
    c->profile_count += from->profile_count;
    absorb_rows(c, from);
    absorb_traces(c, &from->traces);
    c->mismatched += from->mismatched;
    c->site_mismatched += from->site_mismatched;
    c->is_saturated |= from->is_saturated;
    for (size_t i = 0; i < from->binary_ids.len; i++)
        prof_binary_ids_add(c->arena, from->binary_ids.at[i], &c->binary_ids);
    for (size_t i = 0; i < from->notes.len; i++)
        vec_push(c->arena, &c->notes, arena_str(c->arena, from->notes.at[i]));
    return true;
}

// ---- Writing -----------------------------------------------------------------------

typedef struct Naming {
    CoverCounts *c;
    size_t next; // the row whose turn it is where names and records have one order
} Naming;

static void set_name(void *ctx, Str name, uint64_t ref)
{
    Naming *n = ctx;
    CoverCounts *c = n->c;
    if (n->next >= c->rows.len || c->rows.at[n->next].name_ref != ref) {
        const CoverCountRow *row = cover_counts_find_name(c, ref);
        if (!row)
            return;
        n->next = (size_t)(row - c->rows.at);
    }
    CoverCountRow *row = &c->rows.at[n->next++];
    c->rows.at[row->first_of_name].name = name;
}

static bool find_names(CoverCounts *c, Error *err)
{
    for (size_t i = 0; i < c->layouts.at.len; i++)
        prof_names_split(&c->layouts.at.at[i]->names, set_name, &(Naming){.c = c});
    for (size_t i = 0; i < c->rows.len; i++) {
        CoverCountRow *row = &c->rows.at[i];
        // Further functions of a name stand behind the first, which was found.
        if (row->name.len == 0)
            row->name = c->rows.at[row->first_of_name].name;
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

// What is written.
typedef struct Selection {
    const CoverCounts *counts;
    // Of the first row of a name: whether its functions are written, which are all or none.
    U8Vec is_in;
} Selection;

static void select_rows(Selection *s, bool sparse)
{
    const CoverCounts *c = s->counts;
    vec_extend(c->arena, &s->is_in, c->rows.len);
    for (size_t i = 0; i < c->rows.len; i++)
        if (!sparse || ever_ran(c, &c->rows.at[i]))
            s->is_in.at[c->rows.at[i].first_of_name] = 1;
}

static bool is_selected(const Selection *s, const CoverCountRow *row)
{
    return s->is_in.at[row->first_of_name];
}

// Targets that are not in the file themselves are outside the program to LLVM.
static Str name_of_target(const void *ctx, ProfValueKindId kind, uint64_t ref)
{
    const Selection *s = ctx;
    if (kind == PROF_VALUE_VTABLE)
        return prof_names_find(&s->counts->vtables, ref);
    const CoverCountRow *row = cover_counts_find_name(s->counts, ref);
    return row && is_selected(s, row) ? row->name : (Str){0};
}

static Bytes value_block(const CoverCounts *c, const CoverCountRow *row, uint32_t kinds)
{
    StrBuf b = {0};
    if (row->values) {
        cover_values_finish(row->values);
        cover_values_write(row->values, kinds, &b);
    }
    Bytes block = arena_bytes(c->arena, bytes_from_str(strbuf_str(&b)));
    strbuf_deinit(&b);
    return block;
}

static ProfDataRow row_of_file(const CoverCounts *c, const CoverCountRow *row, uint32_t kinds)
{
    return (ProfDataRow){
        .name_ref = row->name_ref,
        .name = row->name,
        .hash = row->hash,
        .counters = c->counters.at + row->first,
        .counter_count = row->count,
        .bitmap = cover_counts_bitmap(c, row),
        .values = value_block(c, row, kinds),
    };
}

static Bytes vtable_blob(const CoverCounts *c)
{
    StrBuf names = {0}, blob = {0};
    for (size_t i = 0; i < c->vtables.names.len; i++) {
        if (i)
            strbuf_add_char(&names, 1);
        strbuf_add(&names, c->vtables.names.at[i]);
    }
    prof_names_write(&blob, strbuf_str(&names));
    Bytes r = arena_bytes(c->arena, bytes_from_str(strbuf_str(&blob)));
    strbuf_deinit(&names);
    strbuf_deinit(&blob);
    return r;
}

static Str name_of_function(const void *ctx, ProfValueKindId kind, uint64_t ref)
{
    (void)kind;
    const Selection *s = ctx;
    const CoverCountRow *row = cover_counts_find_name(s->counts, ref);
    return row ? row->name : (Str){0};
}

// Borrows the references.
static ProfTrace *traces_of_file(const CoverCounts *c)
{
    ProfTrace *traces = arena_array(c->arena, ProfTrace, c->traces.at.len);
    for (size_t i = 0; i < c->traces.at.len; i++) {
        const CoverTrace *t = &c->traces.at.at[i];
        traces[i] = (ProfTrace){.weight = t->weight, .refs = t->refs.at, .count = t->refs.len};
    }
    return traces;
}

bool cover_counts_write(CoverCounts *c, uint32_t version, bool sparse, StrBuf *out, Error *err)
{
    if (!find_names(c, err))
        return false;
    uint32_t kinds = version && version < 12 ? PROF_VALUE_VTABLE : PROF_VALUE_KINDS;
    Vec(ProfDataRow) rows = {0};
    Selection in = {.counts = c};
    select_rows(&in, sparse);
    vec_reserve(c->arena, &rows, c->rows.len);
    for (size_t i = 0; i < c->rows.len; i++) {
        const CoverCountRow *row = &c->rows.at[i];
        if (is_selected(&in, row))
            vec_push(c->arena, &rows, row_of_file(c, row, kinds));
    }
    if (version) {
        StrBuf ids = {0};
        prof_binary_ids_write(&ids, &c->binary_ids);
        ProfDataExtras extras = {.vtable_names = vtable_blob(c),
                                 .binary_ids = bytes_from_str(strbuf_str(&ids)),
                                 .traces = traces_of_file(c),
                                 .trace_count = c->traces.at.len,
                                 .traces_seen = c->traces.seen};
        profdata_write(out, version, c->variant & PROF_VARIANT_WRITTEN, &extras, rows.at, rows.len);
        strbuf_deinit(&ids);
        return true;
    }
    if (rows.len)
        qsort(rows.at, rows.len, sizeof(rows.at[0]), compare_rows);
    proftext_write_header(out, c->variant);
    if (c->variant & PROF_VARIANT_TEMPORAL)
        proftext_write_traces(out, traces_of_file(c), c->traces.at.len, c->traces.seen,
                              name_of_function, &in);
    for (size_t i = 0; i < rows.len; i++)
        proftext_write(out, &rows.at[i], name_of_target, &in);
    return true;
}
