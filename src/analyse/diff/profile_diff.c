// SPDX-License-Identifier: Apache-2.0
// Matches the rows of recordings by names and adds up their values.

#include "analyse/diff/profile_diff.h"

#include "analyse/heap/heap_view.h"
#include "analyse/keys.h"
#include "base/table.h"
#include "model/facts.h"
#include "stats/row_changes.h"

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

// Adds one recording.
typedef struct Matcher {
    ProfileDiff *d;
    DiffBy by;
    int side;
    size_t recording; // of the side
    const Profile *p;
    const size_t *metric_of; // [metric of the recording]
    bool by_text;            // lines are matched by their text
    Table texts;             // {file, line} to the row of the recording's source lines
    Table index;             // {name, path} to row
    StrBuf name, path;
} Matcher;

static size_t value_count(const ProfileDiff *d, int side)
{
    return d->set[side].count * d->metrics.len;
}

static size_t row_of(Matcher *m, FrameId frame)
{
    ProfileDiff *d = m->d;
    Str name = strbuf_str(&m->name), path = strbuf_str(&m->path);
    uint64_t hash = hash_pair(str_hash(name), str_hash(path));
    uint32_t row;
    for (TableProbe t = table_probe(&m->index, hash); table_next(&m->index, &t, &row);) {
        DiffRow *r = &d->rows.at[row];
        if (!str_equal(r->name, name) || !str_equal(r->path, path))
            continue;
        if (!r->place[m->side].profile)
            r->place[m->side] = (DiffPlace){m->p, frame};
        return row;
    }
    row = (uint32_t)d->rows.len;
    DiffRow r = {.name = arena_str(&d->arena, name), .path = arena_str(&d->arena, path)};
    r.place[m->side] = (DiffPlace){m->p, frame};
    for (int s = 0; s < DIFF_SIDES; s++) {
        r.value[s] = arena_array(&d->arena, uint64_t, d->metrics.len + 1);
        r.each[s] = arena_array(&d->arena, double, value_count(d, s) + 1);
        r.samples[s] = arena_array(&d->arena, double, value_count(d, s) + 1);
    }
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

// ---- Lines by their text ----------------------------------------------------------------------

static uint64_t hash_place(StrId file, uint32_t line)
{
    return hash_pair(file.v, line);
}

// Makes the texts of the recording's lines findable by their place.
static void index_line_texts(Matcher *m)
{
    const SourceLines *l = &m->p->source_lines;
    for (uint32_t i = 0; i < l->line.len; i++)
        table_insert(&m->texts, hash_place(l->file.at[i], l->line.at[i]), i);
}

// The text of a line that the recording keeps, trimmed; "" for none.
static Str text_of_line(const Matcher *m, StrId file, uint32_t line)
{
    const SourceLines *l = &m->p->source_lines;
    uint32_t row;
    for (TableProbe t = table_probe(&m->texts, hash_place(file, line));
         table_next(&m->texts, &t, &row);)
        if (l->line.at[row] == line && l->file.at[row].v == file.v)
            return str_trim(profile_text(m->p, l->text.at[row]));
    return STR("");
}

static bool all_keep_texts(const ProfileDiff *d)
{
    for (int side = 0; side < DIFF_SIDES; side++)
        for (size_t i = 0; i < d->set[side].count; i++)
            if (d->set[side].profile[i]->source_lines.line.len == 0)
                return false;
    return true;
}

static void add_place_name(Matcher *m, StrId file, uint32_t line)
{
    Str text = m->by_text ? text_of_line(m, file, line) : STR("");
    strbuf_add(&m->name, str_base_name(profile_text(m->p, file)));
    if (text.len) {
        strbuf_add(&m->name, STR(": "));
        strbuf_add(&m->name, text);
    } else {
        strbuf_printf(&m->name, ":%u", line);
    }
}

// ---- Rows of stacks ---------------------------------------------------------------------------

// Names the row of a line. Equal lines of one function are one row.
static void add_line_name(Matcher *m, uint32_t frame)
{
    StrId file = m->p->frames.file.at[frame];
    if (file.v == 0 || m->p->frames.line.at[frame] == 0) {
        add_name(m->p, frame, &m->name);
        return;
    }
    add_place_name(m, file, m->p->frames.line.at[frame]);
    if (m->by_text)
        add_name(m->p, frame, &m->path);
}

static void add_module_name(Matcher *m, uint32_t frame)
{
    Str path = profile_text(m->p, m->p->modules.path.at[m->p->frames.module.at[frame].v]);
    strbuf_add(&m->name, path.len ? str_base_name(path) : STR("[unknown]"));
}

// Appends the functions that the place was inlined into, or with `callers` all functions around it.
static void add_path(Matcher *m, StackId stack, uint32_t frame, bool callers)
{
    const Profile *p = m->p;
    bool inside = false;
    for (uint32_t s = stack.v; s; s = p->stacks.parent.at[s].v) {
        for (uint32_t f = p->stacks.frame.at[s].v; f; f = p->frames.inlined_in.at[f].v) {
            if (inside)
                add_to_path(p, f, &m->path);
            inside |= f == frame;
        }
        if (inside && !callers)
            return;
    }
}

// Names the row of a stack; `frame` is its place in it.
static void name_row(Matcher *m, StackId stack, uint32_t frame, bool heap)
{
    strbuf_clear(&m->name);
    strbuf_clear(&m->path);
    switch (m->by) {
    case DIFF_BY_LINE:
        add_line_name(m, frame);
        return;
    case DIFF_BY_MODULE:
        add_module_name(m, frame);
        return;
    case DIFF_BY_FUNCTION:
        add_name(m->p, frame, &m->name);
        if (heap)
            add_path(m, stack, frame, false);
        return;
    case DIFF_BY_STACK:
        add_name(m->p, frame, &m->name);
        add_path(m, stack, frame, true);
        return;
    }
}

static size_t row_of_stack(Matcher *m, StackId stack, const uint8_t *libraries)
{
    FrameId frame = m->p->stacks.frame.at[stack.v];
    if (libraries)
        frame = user_place_of(m->p, libraries, stack).frame;
    name_row(m, stack, frame.v, libraries != NULL);
    return row_of(m, frame);
}

// ---- Values -----------------------------------------------------------------------------------

static void add_value(Matcher *m, size_t row, size_t metric, uint64_t value)
{
    ProfileDiff *d = m->d;
    size_t at = m->recording * d->metrics.len + metric;
    double *into[] = {&d->rows.at[row].each[m->side][at], &d->total_each[m->side][at]};
    for (size_t i = 0; i < ARRAY_LEN(into); i++)
        *into[i] =
            d->metrics.at[metric].is_max ? MAX(*into[i], (double)value) : *into[i] + (double)value;
    // The sum of squares, until finish_samples.
    d->rows.at[row].samples[m->side][at] += (double)value * (double)value;
}

static bool add_samples(Matcher *m, const Selection *selection, Error *err)
{
    const Profile *p = m->p;
    U32Vec samples = {0};
    if (!selection_samples(p, selection, true, &samples, err))
        return false;
    uint8_t *libraries = heap_view_applies(p) ? user_code_libraries(p) : NULL;
    uint32_t *row_of_known = heap_alloc((p->stacks.parent.len + 1) * sizeof(*row_of_known));
    for (size_t i = 0; i < samples.len; i++) {
        StackId stack = p->samples.stack.at[samples.at[i]];
        if (row_of_known[stack.v] == 0)
            row_of_known[stack.v] = (uint32_t)row_of_stack(m, stack, libraries) + 1;
        for (size_t k = 0; k < p->metrics.name.len; k++) {
            int64_t value = p->samples.values[k].at[samples.at[i]];
            if (value > 0)
                add_value(m, row_of_known[stack.v] - 1, m->metric_of[k], (uint64_t)value);
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

static void add_counts(Matcher *m, size_t metric)
{
    const Profile *p = m->p;
    bool lines = m->by == DIFF_BY_LINE;
    size_t rows = lines ? p->line_counts.count.len : p->function_counts.count.len;
    for (size_t i = 0; i < rows; i++) {
        strbuf_clear(&m->name);
        strbuf_clear(&m->path);
        if (lines) {
            add_place_name(m, p->line_counts.file.at[i], p->line_counts.line.at[i]);
            add_value(m, row_of(m, (FrameId){0}), metric, p->line_counts.count.at[i]);
        } else {
            uint32_t function = p->function_counts.function.at[i].v;
            diff_add_stable_name(profile_text(p, p->functions.name.at[function]), &m->name);
            add_value(m, row_of(m, (FrameId){0}), metric, p->function_counts.count.at[i]);
        }
    }
}

// ---- Metrics ----------------------------------------------------------------------------------

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

// Whether values are estimates. A heap is counted block by block, unless it was sampled.
static bool is_sampled(const Profile *p)
{
    return !heap_view_applies(p) || profile_fact(p, STR(FACT_HEAP_SAMPLE)).len > 0;
}

// The metrics of a recording, in the numbers of the comparison.
static size_t *add_metrics(ProfileDiff *d, int side, const Profile *p)
{
    size_t *metric_of = heap_alloc((p->metrics.name.len + 1) * sizeof(size_t));
    for (size_t k = 0; k < p->metrics.name.len; k++) {
        metric_of[k] =
            metric_add(d, side, profile_text(p, p->metrics.name.at[k]),
                       profile_text(p, p->metrics.unit.at[k]), p->metrics.kind.at[k] == METRIC_MAX);
        d->metrics.at[metric_of[k]].sampled |= is_sampled(p);
    }
    if (has_counts(p))
        (void)metric_add(d, side, STR(EXECUTIONS), STR(""), false);
    return metric_of;
}

// ---- All -------------------------------------------------------------------------------------

// Turns sums of squares into numbers of samples: the square of the sum, divided by them. Samples of
// an import have been added up; there a value without a unit is the number of samples itself.
static void finish_samples(ProfileDiff *d, DiffRow *row, int side)
{
    for (size_t i = 0; i < d->set[side].count; i++) {
        const Profile *p = d->set[side].profile[i];
        bool added_up = p->samples.time_ns.len && p->samples.time_ns.at[0] == TIME_NONE;
        for (size_t k = 0; k < d->metrics.len; k++) {
            double *samples = &row->samples[side][i * d->metrics.len + k];
            double value = row->each[side][i * d->metrics.len + k];
            if (added_up && d->metrics.at[k].unit.len == 0)
                *samples = value;
            else
                *samples = *samples > 0 ? value * value / *samples : 0;
        }
    }
}

static uint64_t mean_of(const ProfileDiff *d, const double *each, int side, size_t metric)
{
    double sum = 0;
    for (size_t i = 0; i < d->set[side].count; i++)
        sum += each[i * d->metrics.len + metric];
    sum = sum / (double)d->set[side].count + 0.5;
    return sum < 0x1p63 ? (uint64_t)sum : INT64_MAX;
}

static void finish(ProfileDiff *d)
{
    for (int side = 0; side < DIFF_SIDES; side++) {
        for (size_t r = 0; r < d->rows.len; r++) {
            finish_samples(d, &d->rows.at[r], side);
            for (size_t k = 0; k < d->metrics.len; k++)
                d->rows.at[r].value[side][k] = mean_of(d, d->rows.at[r].each[side], side, k);
        }
        for (size_t k = 0; k < d->metrics.len; k++)
            d->metrics.at[k].total[side] = mean_of(d, d->total_each[side], side, k);
    }
}

static bool add_recording(Matcher *m, Error *err)
{
    bool ok = true;
    if (m->by_text)
        index_line_texts(m);
    if (has_counts(m->p) && m->by != DIFF_BY_MODULE)
        add_counts(m, profile_diff_metric(m->d, STR(EXECUTIONS)));
    if (m->p->metrics.name.len)
        ok = add_samples(m, &m->d->set[m->side].selection[m->recording], err);
    table_deinit(&m->texts);
    m->texts = (Table){0};
    return ok;
}

bool profile_diff_init(ProfileDiff *d, const DiffSet *old_set, const DiffSet *new_set, DiffBy by,
                       Error *err)
{
    *d = (ProfileDiff){.set = {*old_set, *new_set}};
    Matcher m = {.d = d, .by = by};
    size_t **metric_of[DIFF_SIDES];
    bool ok = true;
    m.by_text = by == DIFF_BY_LINE && all_keep_texts(d);
    for (int side = 0; side < DIFF_SIDES; side++) {
        metric_of[side] = heap_alloc(d->set[side].count * sizeof(size_t *));
        for (size_t i = 0; i < d->set[side].count; i++)
            metric_of[side][i] = add_metrics(d, side, d->set[side].profile[i]);
    }
    for (int side = 0; side < DIFF_SIDES; side++)
        d->total_each[side] = arena_array(&d->arena, double, value_count(d, side) + 1);
    for (int side = 0; side < DIFF_SIDES; side++)
        for (size_t i = 0; i < d->set[side].count; i++) {
            m.side = side;
            m.recording = i;
            m.p = d->set[side].profile[i];
            m.metric_of = metric_of[side][i];
            ok = ok && add_recording(&m, err);
            heap_free(metric_of[side][i]);
        }
    heap_free(metric_of[DIFF_OLD]);
    heap_free(metric_of[DIFF_NEW]);
    strbuf_deinit(&m.name);
    strbuf_deinit(&m.path);
    table_deinit(&m.index);
    if (ok)
        finish(d);
    else
        profile_diff_deinit(d);
    return ok;
}

void profile_diff_deinit(ProfileDiff *d)
{
    vec_free(&d->metrics);
    vec_free(&d->rows);
    arena_deinit(&d->arena);
}

// Whether a row stands in what most programs of a machine use: the kernel, or a library of the
// system.
static bool is_of_system(const DiffRow *row)
{
    const DiffPlace *place = &row->place[row->place[DIFF_OLD].profile ? DIFF_OLD : DIFF_NEW];
    if (!place->profile)
        return false;
    const Modules *m = &place->profile->modules;
    uint32_t module = place->profile->frames.module.at[place->frame.v].v;
    Str path = profile_text(place->profile, m->path.at[module]);
    ModuleKind kind = (ModuleKind)m->kind.at[module];
    return kind == MODULE_KERNEL || kind == MODULE_KMOD || kind == MODULE_VDSO ||
           ((str_starts_with(path, STR("/usr/lib")) || str_starts_with(path, STR("/lib"))) &&
            str_find(str_base_name(path), STR(".so")) != SIZE_MAX);
}

// The share of one side's values that stands in rows of both; 0 when it has none. Common rows
// of the system count only `with_system`; `ret_all` becomes the sum of the rows that count.
static double common_share(const ProfileDiff *d, size_t metric, int side, bool with_system,
                           double *ret_all)
{
    double common = 0, all = 0;
    for (size_t r = 0; r < d->rows.len; r++) {
        const DiffRow *row = &d->rows.at[r];
        bool is_common = row->place[DIFF_OLD].profile && row->place[DIFF_NEW].profile;
        double value = (double)row->value[side][metric];
        if (!with_system && is_common && is_of_system(row))
            continue;
        all += value;
        common += is_common ? value : 0;
    }
    *ret_all = all;
    return all > 0 ? common / all : 0;
}

double profile_diff_common(const ProfileDiff *d, size_t metric)
{
    double all[DIFF_SIDES], share[DIFF_SIDES];
    for (int side = 0; side < DIFF_SIDES; side++)
        share[side] = common_share(d, metric, side, false, &all[side]);
    if (all[DIFF_OLD] == 0 || all[DIFF_NEW] == 0)
        for (int side = 0; side < DIFF_SIDES; side++)
            share[side] = common_share(d, metric, side, true, &all[side]);
    return MIN(share[DIFF_OLD], share[DIFF_NEW]);
}

bool diff_row_changed(const DiffRow *row)
{
    return row->change &&
           (row->change->verdict == VERDICT_FASTER || row->change->verdict == VERDICT_SLOWER);
}

typedef struct SortKey {
    bool changed;
    uint64_t change, size;
    size_t at;
} SortKey;

static int compare_keys(const void *left, const void *right)
{
    const SortKey *a = left, *b = right;
    if (a->changed != b->changed)
        return a->changed ? -1 : 1;
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
        keys[i] = (SortKey){diff_row_changed(&d->rows.at[i]), was > is ? was - is : is - was,
                            MAX(was, is), i};
    }
    qsort(keys, d->rows.len, sizeof(*keys), compare_keys);
    for (size_t i = 0; i < d->rows.len; i++)
        sorted[i] = d->rows.at[keys[i].at];
    memcpy(d->rows.at, sorted, d->rows.len * sizeof(*sorted));
    heap_free(sorted);
    heap_free(keys);
}
