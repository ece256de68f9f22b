// SPDX-License-Identifier: Apache-2.0
// Matches the rows of two recordings by names.

#include "analyse/diff/profile_diff.h"

#include "analyse/heap/heap_view.h"
#include "analyse/keys.h"
#include "base/table.h"

#include <stdlib.h>

#define EXECUTIONS "executions"

// ---- Names -----------------------------------------------------------------------------------

static bool is_hex(Str s)
{
    for (size_t i = 0; i < s.len; i++)
        if (!strchr("0123456789abcdef", s.ptr[i]))
            return false;
    return true;
}

void diff_add_stable_name(Str name, StrBuf *out)
{
    enum { HASH_LEN = 19 }; // "::h" and 16 digits
    size_t clone = str_find(name, STR(" [clone "));
    name = str_slice(name, 0, MIN(clone, name.len));
    if (name.len > HASH_LEN) {
        Str hash = str_slice(name, name.len - HASH_LEN, name.len);
        if (str_starts_with(hash, STR("::h")) && is_hex(str_slice(hash, 3, hash.len)))
            name = str_slice(name, 0, name.len - HASH_LEN);
    }
    static const char *const marks[] = {".isra.", ".constprop.", ".part.", ".cold", ".llvm."};
    for (size_t i = 0; i < ARRAY_LEN(marks); i++) {
        size_t at = str_find(name, str_from_c(marks[i]));
        if (at != SIZE_MAX && at > 0)
            name = str_slice(name, 0, at);
    }
    strbuf_add(out, name);
}

static void add_name(const Profile *p, uint32_t frame, StrBuf *out)
{
    StrBuf name = {0};
    frame_add_function_name(p, (FrameId){frame}, &name);
    diff_add_stable_name(strbuf_str(&name), out);
    strbuf_deinit(&name);
}

// ---- Rows ------------------------------------------------------------------------------------

typedef struct Matcher {
    ProfileDiff *d;
    DiffBy by;
    Table index; // {name, path} to row
    StrBuf name, path;
} Matcher;

static size_t row_of(Matcher *m, int side, FrameId frame)
{
    ProfileDiff *d = m->d;
    Str name = strbuf_str(&m->name), path = strbuf_str(&m->path);
    uint64_t hash = hash_pair(str_hash(name), str_hash(path));
    uint32_t row;
    for (TableProbe t = table_probe(&m->index, hash); table_next(&m->index, &t, &row);) {
        DiffRow *r = &d->rows.at[row];
        if (!str_equal(r->name, name) || !str_equal(r->path, path))
            continue;
        if (r->frame[side].v == 0)
            r->frame[side] = frame;
        return row;
    }
    row = (uint32_t)d->rows.len;
    DiffRow r = {.name = arena_str(&d->arena, name), .path = arena_str(&d->arena, path)};
    r.frame[side] = frame;
    for (int s = 0; s < DIFF_SIDES; s++)
        r.value[s] = arena_array(&d->arena, uint64_t, d->metrics.len + 1);
    table_insert(&m->index, hash, row);
    vec_push(NULL, &d->rows, r);
    return row;
}

static void add_to_path(const Profile *p, uint32_t frame, StrBuf *path)
{
    if (path->len)
        strbuf_add(path, STR(" < "));
    add_name(p, frame, path);
}

static void add_line_name(Matcher *m, const Profile *p, uint32_t frame)
{
    StrId file = p->frames.file.at[frame];
    if (file.v == 0 || p->frames.line.at[frame] == 0) {
        add_name(p, frame, &m->name);
        return;
    }
    strbuf_add(&m->name, str_base_name(profile_text(p, file)));
    strbuf_printf(&m->name, ":%u", p->frames.line.at[frame]);
}

// Names the row of a stack; `frame` is its place in it.
static void name_row(Matcher *m, const Profile *p, StackId stack, uint32_t frame)
{
    strbuf_clear(&m->name);
    strbuf_clear(&m->path);
    if (m->by == DIFF_BY_LINE) {
        add_line_name(m, p, frame);
        return;
    }
    add_name(p, frame, &m->name);
    bool inside = false;
    for (uint32_t s = stack.v; s; s = p->stacks.parent.at[s].v) {
        for (uint32_t f = p->stacks.frame.at[s].v; f; f = p->frames.inlined_in.at[f].v) {
            if (inside)
                add_to_path(p, f, &m->path);
            inside |= f == frame;
        }
        if (inside && m->by == DIFF_BY_FUNCTION)
            break;
    }
}

static size_t row_of_stack(Matcher *m, int side, StackId stack, const uint8_t *libraries)
{
    const Profile *p = m->d->profile[side];
    FrameId frame = p->stacks.frame.at[stack.v];
    if (libraries)
        frame = user_place_of(p, libraries, stack).frame;
    name_row(m, p, stack, frame.v);
    return row_of(m, side, frame);
}

static void add_value(const DiffMetric *metric, uint64_t *into, uint64_t value)
{
    if (metric->is_max)
        *into = MAX(*into, value);
    else
        *into = *into > UINT64_MAX - value ? UINT64_MAX : *into + value;
}

static bool add_samples(Matcher *m, int side, const Selection *selection, const size_t *metric_of,
                        Error *err)
{
    ProfileDiff *d = m->d;
    const Profile *p = d->profile[side];
    U32Vec samples = {0};
    if (!selection_samples(p, selection, true, &samples, err))
        return false;
    uint8_t *libraries = heap_view_applies(p) ? user_code_libraries(p) : NULL;
    uint32_t *row_of_known = heap_alloc((p->stacks.parent.len + 1) * sizeof(*row_of_known));
    for (size_t i = 0; i < samples.len; i++) {
        StackId stack = p->samples.stack.at[samples.at[i]];
        if (row_of_known[stack.v] == 0)
            row_of_known[stack.v] = (uint32_t)row_of_stack(m, side, stack, libraries) + 1;
        DiffRow *row = &d->rows.at[row_of_known[stack.v] - 1];
        for (size_t k = 0; k < p->metrics.name.len; k++) {
            int64_t value = p->samples.values[k].at[samples.at[i]];
            DiffMetric *metric = &d->metrics.at[metric_of[k]];
            if (value <= 0)
                continue;
            add_value(metric, &row->value[side][metric_of[k]], (uint64_t)value);
            add_value(metric, &metric->total[side], (uint64_t)value);
        }
    }
    heap_free(row_of_known);
    heap_free(libraries);
    vec_free(&samples);
    return true;
}

// ---- Counts ----------------------------------------------------------------------------------

static bool has_counts(const Profile *p)
{
    return p->function_counts.count.len || p->line_counts.count.len;
}

static void add_count(Matcher *m, int side, size_t metric, uint64_t count)
{
    ProfileDiff *d = m->d;
    size_t at = row_of(m, side, (FrameId){0}); // may move the rows
    DiffRow *row = &d->rows.at[at];
    add_value(&d->metrics.at[metric], &row->value[side][metric], count);
    add_value(&d->metrics.at[metric], &d->metrics.at[metric].total[side], count);
}

static void add_counts(Matcher *m, int side, size_t metric)
{
    const Profile *p = m->d->profile[side];
    bool lines = m->by == DIFF_BY_LINE;
    size_t rows = lines ? p->line_counts.count.len : p->function_counts.count.len;
    for (size_t i = 0; i < rows; i++) {
        strbuf_clear(&m->name);
        strbuf_clear(&m->path);
        if (lines) {
            strbuf_add(&m->name, str_base_name(profile_text(p, p->line_counts.file.at[i])));
            strbuf_printf(&m->name, ":%u", p->line_counts.line.at[i]);
            add_count(m, side, metric, p->line_counts.count.at[i]);
        } else {
            uint32_t function = p->function_counts.function.at[i].v;
            diff_add_stable_name(profile_text(p, p->functions.name.at[function]), &m->name);
            add_count(m, side, metric, p->function_counts.count.at[i]);
        }
    }
}

// ---- All -------------------------------------------------------------------------------------

size_t profile_diff_metric(const ProfileDiff *d, Str name)
{
    for (size_t i = 0; i < d->metrics.len; i++)
        if (str_equal(d->metrics.at[i].name, name))
            return i;
    return SIZE_MAX;
}

static size_t metric_add(ProfileDiff *d, int side, Str name, Str unit, bool is_max)
{
    size_t at = profile_diff_metric(d, name);
    if (at == SIZE_MAX) {
        at = d->metrics.len;
        vec_push(NULL, &d->metrics, (DiffMetric){.name = name, .unit = unit, .is_max = is_max});
    }
    d->metrics.at[at].known[side] = true;
    return at;
}

bool profile_diff_init(ProfileDiff *d, const Profile *old_profile, const Selection *old_selection,
                       const Profile *new_profile, const Selection *new_selection, DiffBy by,
                       Error *err)
{
    const Selection *selection[DIFF_SIDES] = {old_selection, new_selection};
    *d = (ProfileDiff){.profile = {old_profile, new_profile}};
    Matcher m = {.d = d, .by = by};
    size_t *metric_of[DIFF_SIDES], executions = SIZE_MAX;
    for (int side = 0; side < DIFF_SIDES; side++) {
        const Profile *p = d->profile[side];
        metric_of[side] = heap_alloc((p->metrics.name.len + 1) * sizeof(size_t));
        for (size_t k = 0; k < p->metrics.name.len; k++)
            metric_of[side][k] = metric_add(d, side, profile_text(p, p->metrics.name.at[k]),
                                            profile_text(p, p->metrics.unit.at[k]),
                                            p->metrics.kind.at[k] == METRIC_MAX);
        if (has_counts(p))
            executions = metric_add(d, side, STR(EXECUTIONS), STR(""), false);
    }
    bool ok = true;
    for (int side = 0; side < DIFF_SIDES && ok; side++) {
        if (has_counts(d->profile[side]))
            add_counts(&m, side, executions);
        ok = d->profile[side]->metrics.name.len == 0 ||
             add_samples(&m, side, selection[side], metric_of[side], err);
    }
    for (int side = 0; side < DIFF_SIDES; side++)
        heap_free(metric_of[side]);
    strbuf_deinit(&m.name);
    strbuf_deinit(&m.path);
    table_deinit(&m.index);
    if (!ok)
        profile_diff_deinit(d);
    return ok;
}

void profile_diff_deinit(ProfileDiff *d)
{
    vec_free(&d->metrics);
    vec_free(&d->rows);
    arena_deinit(&d->arena);
}

typedef struct SortKey {
    uint64_t change, size;
    size_t at;
} SortKey;

static int compare_keys(const void *left, const void *right)
{
    const SortKey *a = left, *b = right;
    if (a->change != b->change)
        return a->change > b->change ? -1 : 1;
    if (a->size != b->size)
        return a->size > b->size ? -1 : 1;
    return a->at < b->at ? -1 : a->at > b->at;
}

void profile_diff_sort(ProfileDiff *d, size_t metric)
{
    if (d->rows.len == 0)
        return;
    SortKey *keys = heap_alloc(d->rows.len * sizeof(*keys));
    DiffRow *sorted = heap_alloc(d->rows.len * sizeof(*sorted));
    for (size_t i = 0; i < d->rows.len; i++) {
        uint64_t was = d->rows.at[i].value[DIFF_OLD][metric];
        uint64_t is = d->rows.at[i].value[DIFF_NEW][metric];
        keys[i] = (SortKey){was > is ? was - is : is - was, MAX(was, is), i};
    }
    qsort(keys, d->rows.len, sizeof(*keys), compare_keys);
    for (size_t i = 0; i < d->rows.len; i++)
        sorted[i] = d->rows.at[keys[i].at];
    memcpy(d->rows.at, sorted, d->rows.len * sizeof(*sorted));
    heap_free(sorted);
    heap_free(keys);
}
