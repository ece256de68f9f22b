// SPDX-License-Identifier: Apache-2.0
// Finds the lines of tests in programs built by gcc.

#include "collect/cover/per_test_gcov.h"

#include "collect/cover/objects.h"

void cover_gcov_tests_init(CoverGcovTests *t, Arena *arena, Str root)
{
    *t = (CoverGcovTests){.arena = arena, .root = root};
    profile_init(&t->profile);
    gcov_sum_init(&t->sum, &t->profile, &t->how);
}

void cover_gcov_tests_deinit(CoverGcovTests *t)
{
    for (size_t i = 0; i < t->units.len; i++) {
        GcovTestUnit *u = t->units.at[i];
        gcov_notes_deinit(&u->notes);
        os_unmap_file(&u->notes_file);
        vec_free(&u->seen);
        vec_free(&u->before);
        vec_free(&u->spans);
    }
    table_deinit(&t->unit_index);
    vec_free(&t->hits);
    vec_free(&t->ends);
    vec_free(&t->file);
    gcov_sum_deinit(&t->sum);
    profile_deinit(&t->profile);
}

// ---- Units -----------------------------------------------------------------------------

static GcovTestUnit *unit_add(CoverGcovTests *t, Str path)
{
    GcovTestUnit *u = arena_new(t->arena, GcovTestUnit);
    Str stem = str_slice(path, t->root.len, path.len - STR(".gcda").len);
    Str notes = arena_printf(t->arena, "%" STR_FMT ".gcno", STR_ARG(stem));
    u->data_path = arena_str(t->arena, path);
    // Missing notes are counted, and reported at the end of the run.
    u->is_readable = os_map_file(notes, &u->notes_file, NULL) &&
                     gcov_notes_parse(&u->notes, u->notes_file.bytes, NULL);
    if (u->is_readable)
        vec_extend(NULL, &u->spans, u->notes.functions.len);
    table_insert(&t->unit_index, str_hash(path), (uint32_t)t->units.len);
    vec_push(t->arena, &t->units, u);
    return u;
}

static GcovTestUnit *unit_of(CoverGcovTests *t, Str path)
{
    uint32_t row;
    for (TableProbe p = table_probe(&t->unit_index, str_hash(path));
         table_next(&t->unit_index, &p, &row);)
        if (str_equal(t->units.at[row]->data_path, path))
            return t->units.at[row];
    return unit_add(t, path);
}

// Reads the present counts. False when they have not changed since the last time.
static bool read_counts(CoverGcovTests *t, GcovTestUnit *u)
{
    GcovNotes *n = &u->notes;
    if (!u->is_readable || !os_load_file(u->data_path, &t->file, NULL, NULL) ||
        bytes_equal(bytes_over(t->file.at, t->file.len), u->seen.at, u->seen.len))
        return false;
    U8Vec before = u->seen;
    u->seen = t->file;
    t->file = before;
    n->counters.len = 0;
    for (size_t i = 0; i < n->functions.len; i++) {
        GcovFunction *f = &n->functions.at[i];
        f->has_counts = f->is_zero = false;
        f->counters_first = f->counters_count = 0;
    }
    return gcov_data_add(n, bytes_over(u->seen.at, u->seen.len), NULL);
}

// Replaces the earlier counts by the present ones and keeps the difference as the test's.
static void take_difference(GcovTestUnit *u)
{
    GcovNotes *n = &u->notes;
    U64Vec now = {0};
    vec_reserve(NULL, &now, n->counters.len);
    for (size_t i = 0; i < n->counters.len; i++)
        vec_push(NULL, &now, n->counters.at[i]);
    for (size_t i = 0; i < n->functions.len; i++) {
        GcovFunction *f = &n->functions.at[i];
        GcovSpan *span = &u->spans.at[i];
        uint64_t *counters = n->counters.at + f->counters_first, any = 0;
        for (size_t k = 0; k < f->counters_count; k++) {
            uint64_t before = k < span->count ? u->before.at[span->first + k] : 0;
            counters[k] -= MIN(before, counters[k]);
            any |= counters[k];
        }
        *span = (GcovSpan){f->counters_first, f->counters_count};
        f->has_counts = f->has_counts && any;
        f->is_zero = false;
    }
    vec_free(&u->before);
    u->before = now;
}

// ---- Tests -----------------------------------------------------------------------------

static void start_unit(void *ctx, Str path)
{
    CoverGcovTests *t = ctx;
    GcovTestUnit *u = unit_of(t, path);
    if (read_counts(t, u))
        take_difference(u);
}

static void add_unit(void *ctx, Str path)
{
    CoverGcovTests *t = ctx;
    GcovTestUnit *u = unit_of(t, path);
    if (!read_counts(t, u))
        return;
    take_difference(u);
    // A function that cannot be solved is reported later, by the report of the whole run.
    (void)!gcov_sum_add(&t->sum, &u->notes, path, &(Error){0});
}

void cover_gcov_tests_begin(CoverGcovTests *t)
{
    cover_each_data_file(t->root, start_unit, t);
}

void cover_gcov_tests_end(CoverGcovTests *t)
{
    cover_each_data_file(t->root, add_unit, t);
    for (uint32_t i = 0; i < t->sum.lines.len; i++) {
        if (t->sum.lines.at[i].count == 0)
            continue;
        t->sum.lines.at[i].count = 0;
        vec_push(NULL, &t->hits, i);
    }
    vec_push(NULL, &t->ends, t->hits.len);
}

// ---- The table -------------------------------------------------------------------------

// Adds the sums of all runs, so that lines which no test ran have rows. A line that gcov counts as
// not run because of another function on it stays so: its sum is zero.
static void add_totals(CoverGcovTests *t)
{
    for (size_t i = 0; i < t->units.len; i++) {
        GcovTestUnit *u = t->units.at[i];
        u->seen.len = 0;
        if (read_counts(t, u))
            (void)!gcov_sum_add(&t->sum, &u->notes, u->data_path, &(Error){0});
    }
}

static void add_line(CoverGcovTests *t, const CoverProject *how, const GcovLine *line, uint32_t set,
                     CoverTestTable *ret)
{
    Str path = profile_text(&t->profile, line->file);
    if (how->keep && !how->keep(how->keep_ctx, path))
        return;
    if (ret->files.len == 0 || !str_equal(vec_last(&ret->files), path))
        vec_push(t->arena, &ret->files, arena_str(t->arena, path));
    CoverTestLine row = {(uint32_t)ret->files.len - 1, line->line, set};
    vec_push(t->arena, &ret->lines, row);
}

void cover_gcov_tests_table(CoverGcovTests *t, const CoverProject *how, CoverTestTable *ret)
{
    Table sets = {0};
    U64Vec words = {0};
    U32Vec rows = {0};
    if (ret->words == 0) // no test has begun
        return;
    add_totals(t);
    size_t count = t->sum.lines.len;
    vec_extend(NULL, &words, count * ret->words);
    for (size_t test = 0, at = 0; test < t->ends.len; test++)
        for (; at < t->ends.at[test]; at++)
            if (t->sum.lines.at[t->hits.at[at]].count)
                words.at[(size_t)t->hits.at[at] * ret->words + test / 64] |= 1ull << test % 64;
    gcov_sum_sort(&t->sum, &rows);
    for (size_t i = 0; i < count; i++) {
        uint32_t row = rows.at[i];
        uint32_t set = cover_tests_set(t->arena, ret, &sets, &words.at[(size_t)row * ret->words]);
        add_line(t, how, &t->sum.lines.at[row], set, ret);
    }
    vec_free(&rows);
    vec_free(&words);
    table_deinit(&sets);
}
