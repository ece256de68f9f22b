// SPDX-License-Identifier: Apache-2.0
// Joins time by function with counted calls.

#include "analyse/prof.h"

#include <stdlib.h>

// The counts of one function in one recording.
typedef struct Counted {
    Str linkage; // without the file that coverage puts before the name of a local function
    Str name;    // as it is shown
    Str file;    // base name, "" when not known
    uint32_t line;
    uint64_t calls;
    bool is_used;
} Counted;

typedef struct Counts {
    Vec(Counted) rows;
    Table by_linkage, by_name;
} Counts;

static uint64_t add_capped(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

// Removes the file before a name: LLVM calls a local function "src/a.c:helper" or "src/a.c;helper",
// the symbol table "helper". A '::' separates nothing.
static Str without_file(Str linkage)
{
    size_t at = str_find_last_char(linkage, ';');
    if (at == SIZE_MAX) {
        at = str_find_last_char(linkage, ':');
        if (at == SIZE_MAX || at == 0 || linkage.ptr[at - 1] == ':')
            return linkage;
    }
    // A file has a suffix; without one the text is part of a name in another language.
    if (str_find_char(str_slice(linkage, 0, at), '.') == SIZE_MAX)
        return linkage;
    return str_slice(linkage, at + 1, linkage.len);
}

static void add_count(Counts *c, const Profile *p, FunctionId function, uint64_t calls)
{
    Counted row = {
        .linkage = without_file(profile_text(p, p->functions.linkage_name.at[function.v])),
        .name = profile_text(p, p->functions.name.at[function.v]),
        .file = str_base_name(profile_text(p, p->functions.file.at[function.v])),
        .line = p->functions.line.at[function.v],
        .calls = calls,
    };
    // Instances and runs of one function are added up.
    uint32_t at;
    uint64_t hash = str_hash(row.linkage);
    for (TableProbe t = table_probe(&c->by_linkage, hash); table_next(&c->by_linkage, &t, &at);) {
        Counted *known = &c->rows.at[at];
        if (str_equal(known->linkage, row.linkage) && str_equal(known->name, row.name) &&
            str_equal(known->file, row.file)) {
            known->calls = add_capped(known->calls, calls);
            return;
        }
    }
    at = (uint32_t)c->rows.len;
    vec_push(NULL, &c->rows, row);
    table_insert(&c->by_linkage, hash, at);
    table_insert(&c->by_name, str_hash(row.name), at);
}

static void gather_counts(Counts *c, const Profile *p)
{
    for (size_t i = 0; i < p->function_counts.function.len; i++)
        add_count(c, p, p->function_counts.function.at[i], p->function_counts.count.at[i]);
}

// Adds the counts under the name; if one of several is of the same file, only that one. Each count
// is used once.
static bool take_calls(Counts *c, const Table *index, Str name, Str file, ProfRow *ret)
{
    bool is_linkage = index == &c->by_linkage, same_file = false;
    uint64_t hash = str_hash(name);
    uint32_t at;
    if (name.len == 0)
        return false;
    for (TableProbe t = table_probe(index, hash); table_next(index, &t, &at);) {
        const Counted *row = &c->rows.at[at];
        same_file |= str_equal(is_linkage ? row->linkage : row->name, name) && file.len &&
                     str_equal(row->file, file);
    }
    bool found = false;
    uint64_t sum = 0;
    for (TableProbe t = table_probe(index, hash); table_next(index, &t, &at);) {
        Counted *row = &c->rows.at[at];
        if (!str_equal(is_linkage ? row->linkage : row->name, name) || row->is_used ||
            (same_file && !str_equal(row->file, file)))
            continue;
        row->is_used = found = true;
        sum = add_capped(sum, row->calls);
        ret->counted_line = row->line;
    }
    if (found)
        ret->calls = sum;
    ret->is_same_file = found && same_file;
    return found;
}

static void find_calls(Counts *c, const Report *r, ProfRow *row)
{
    const Profile *p = r->profile;
    uint32_t function = p->frames.function.at[r->keys.first.at[row->key].v].v;
    if (function == 0)
        return;
    Str linkage = profile_text(p, p->functions.linkage_name.at[function]);
    Str file = str_base_name(profile_text(p, p->functions.file.at[function]));
    row->has_calls = take_calls(c, &c->by_linkage, linkage, file, row) ||
                     take_calls(c, &c->by_name, row->name, file, row);
    // A clone by the compiler ("f.isra.0") runs in place of the function and has its calls. A part
    // that was split off ("f.cold", "f.part.0") has not: calls enter the other part.
    size_t dot = str_find_char(linkage, '.');
    if (!row->has_calls && dot != SIZE_MAX && dot > 0 &&
        str_find(linkage, STR(".cold")) == SIZE_MAX && str_find(linkage, STR(".part.")) == SIZE_MAX)
        row->has_calls = take_calls(c, &c->by_linkage, str_slice(linkage, 0, dot), file, row);
}

static int by_calls(const void *a, const void *b)
{
    const ProfRow *x = a, *y = b;
    if (x->calls != y->calls)
        return x->calls > y->calls ? -1 : 1;
    return str_compare(x->name, y->name);
}

// ---- Whether they fit ------------------------------------------------------------

// Whether the lines do not match. Debug information has the line of the name, coverage that of the
// name or of the body.
static bool is_moved(uint32_t declared, uint32_t counted)
{
    enum { SIGNATURE_LINES = 12 };
    return declared && counted && (counted < declared || counted > declared + SIGNATURE_LINES);
}

static void join_add(ProfJoin *j, const Report *r, const ProfRow *row)
{
    const Profile *p = r->profile;
    uint32_t function = p->frames.function.at[r->keys.first.at[row->key].v].v;
    if (function == 0 || p->functions.file.at[function].v == 0)
        return;
    j->timed++;
    if (!row->is_same_file)
        return;
    j->matched++;
    j->moved += is_moved(p->functions.line.at[function], row->counted_line);
    if (row->self && row->calls == 0) {
        j->silent++;
        j->silent_self = add_capped(j->silent_self, row->self);
    }
}

// ---- Order -----------------------------------------------------------------------

typedef struct Ordered {
    ProfRow row;
    uint32_t module;
    uint64_t address;
    size_t at; // index in the report's order
} Ordered;

static int in_order(const Ordered *x, const Ordered *y)
{
    return (x->at > y->at) - (x->at < y->at);
}

static int ordered_by_calls(const void *a, const void *b)
{
    const Ordered *x = a, *y = b;
    if (x->row.has_calls != y->row.has_calls)
        return x->row.has_calls ? -1 : 1;
    if (x->row.calls != y->row.calls)
        return x->row.calls > y->row.calls ? -1 : 1;
    return in_order(x, y);
}

static int ordered_by_name(const void *a, const void *b)
{
    const Ordered *x = a, *y = b;
    int names = str_compare(x->row.name, y->row.name);
    return names ? names : in_order(x, y);
}

// Rows without an address come last.
static int ordered_by_address(const void *a, const void *b)
{
    const Ordered *x = a, *y = b;
    if ((x->module == 0) != (y->module == 0))
        return x->module ? -1 : 1;
    if (x->module != y->module)
        return x->module < y->module ? -1 : 1;
    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    return in_order(x, y);
}

static Ordered ordered_row(const Report *r, const ProfRow *row, size_t at)
{
    Ordered o = {.row = *row, .at = at};
    if (row->key == PROF_NO_KEY)
        return o;
    uint32_t frame = r->keys.first.at[row->key].v;
    o.module = r->profile->frames.module.at[frame].v;
    o.address = r->profile->frames.address.at[frame];
    return o;
}

static void sort_rows(ProfRowVec *rows, const Report *r, ProfSort by)
{
    static int (*const orders[])(const void *, const void *) = {
        [PROF_BY_CALLS] = ordered_by_calls,
        [PROF_BY_NAME] = ordered_by_name,
        [PROF_BY_ADDRESS] = ordered_by_address,
    };
    Vec(Ordered) ordered = {0};
    if (by == PROF_AS_REPORTED || rows->len == 0)
        return;
    for (size_t i = 0; i < rows->len; i++)
        vec_push(NULL, &ordered, ordered_row(r, &rows->at[i], i));
    qsort(ordered.at, ordered.len, sizeof(ordered.at[0]), orders[by]);
    uint64_t cumulated = 0;
    for (size_t i = 0; i < rows->len; i++) {
        rows->at[i] = ordered.at[i].row;
        cumulated = add_capped(cumulated, rows->at[i].self);
        rows->at[i].cumulated = cumulated;
    }
    vec_free(&ordered);
}

ProfRowVec prof_rows(Arena *arena, const Report *r, const Profile *const *counts,
                     size_t count_profiles, const ProfRequest *request, ProfJoin *join)
{
    Counts c = {0};
    ProfRowVec rows = {0};
    StrBuf name = {0};
    ProfJoin fit = {0};
    for (size_t i = 0; i < count_profiles; i++)
        gather_counts(&c, counts[i]);
    uint64_t cumulated = 0;
    for (size_t i = 0; i < r->rows.len; i++) {
        const FlatRow *flat = &r->rows.at[i];
        strbuf_clear(&name);
        report_add_row_name(r, flat, &name);
        ProfRow row = {.key = flat->key, .name = arena_str(arena, strbuf_str(&name))};
        find_calls(&c, r, &row);
        row.self = flat->self;
        join_add(&fit, r, &row);
        // A function without self value is shown only when its calls are known.
        if (flat->self == 0 && !row.has_calls)
            continue;
        cumulated = add_capped(cumulated, flat->self);
        row.cumulated = cumulated;
        vec_push(NULL, &rows, row);
    }
    size_t timed = rows.len;
    for (size_t i = 0; i < c.rows.len; i++)
        if (!c.rows.at[i].is_used && (c.rows.at[i].calls || request->never_called))
            vec_push(NULL, &rows,
                     (ProfRow){.key = PROF_NO_KEY,
                               .name = c.rows.at[i].name,
                               .cumulated = cumulated,
                               .has_calls = true,
                               .calls = c.rows.at[i].calls});
    if (rows.len > timed)
        qsort(rows.at + timed, rows.len - timed, sizeof(rows.at[0]), by_calls);
    sort_rows(&rows, r, request->sort);
    fit.counted = c.rows.len;
    if (join)
        *join = fit;
    strbuf_deinit(&name);
    table_deinit(&c.by_linkage);
    table_deinit(&c.by_name);
    vec_free(&c.rows);
    return rows;
}
