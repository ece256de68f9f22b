// SPDX-License-Identifier: Apache-2.0
// Computes everything that a report shows.

#include "analyse/report.h"

#include "analyse/fit.h"

static void init_tree(Report *r)
{
    if (r->request.inverted) {
        call_tree_init_self(&r->tree, &r->weights, &r->keys);
        return;
    }
    uint64_t least = (uint64_t)(r->request.tree_percent / 100 * (double)r->weights.value);
    if (least == 0) {
        call_tree_init(&r->tree, &r->weights, &r->keys);
        return;
    }
    call_tree_init_wide(&r->tree, &r->weights, &r->keys, least);
    for (size_t i = 0; i < r->tree.narrow.len; i++)
        r->tree.dropped_nodes += r->tree.narrow.at[i];
}

bool report_init(Report *r, const Profile *p, const ReportRequest *request, Error *err)
{
    *r = (Report){.profile = p, .request = *request};
    if (!weights_init(&r->weights, p, &request->selection, request->group, err))
        return false;
    if (!request->kernel_self)
        weights_count_for_program(&r->weights);
    truth_init(&r->truth, &r->weights);
    keys_init(&r->keys, p, request->by);
    if (request->group != GROUP_NONE)
        r->rows = flat_of_groups(&r->weights);
    else if (!request->no_rows)
        r->rows = flat_of_weights(&r->weights, &r->keys);
    if (request->want_tree)
        init_tree(r);
    if (request->want_lines)
        r->lines = lines_hottest(&r->weights);
    if (request->sort != FLAT_BY_SELF)
        flat_sort(&r->rows, request->sort, request->group == GROUP_NONE ? &r->keys : NULL);
    return true;
}

void report_deinit(Report *r)
{
    vec_free(&r->lines);
    vec_free(&r->rows);
    call_tree_deinit(&r->tree);
    keys_deinit(&r->keys);
    weights_deinit(&r->weights);
}

void report_add_row_name(const Report *r, const FlatRow *row, StrBuf *out)
{
    if (r->request.group == GROUP_NONE)
        keys_add_name(&r->keys, row->key, out);
    else
        weight_group_add_name(&r->weights, row->key, out);
}

bool report_row_place(const Report *r, const FlatRow *row, StrId *file, uint32_t *line)
{
    if (r->request.group != GROUP_NONE)
        return false;
    const Profile *p = r->profile;
    if (keys_place(&r->keys, row->key, file, line))
        return true;
    if (r->request.by == BY_MODULE || p->frames.file.at[row->frame].v == 0)
        return false;
    *file = p->frames.file.at[row->frame];
    *line = p->frames.line.at[row->frame];
    return true;
}

// The longest run of word characters in a name. Shortening drops whole bracketed parts, so that a
// name contains the runs of all its shorter forms. This excludes most functions that cannot match,
// quickly.
static Str longest_word(Str name)
{
    Str best = str_slice(name, 0, 0);
    for (size_t i = 0; i < name.len;) {
        size_t end = i;
        while (end < name.len &&
               (name.ptr[end] == '_' || (name.ptr[end] >= '0' && name.ptr[end] <= '9') ||
                ((name.ptr[end] | 32) >= 'a' && (name.ptr[end] | 32) <= 'z')))
            end++;
        if (end - i > best.len)
            best = str_slice(name, i, end);
        i = end + 1;
    }
    return best;
}

// How well `name` matches a function: lower is better; UINT_MAX: it does not match.
static unsigned match_rank(Str full, Str name, StrBuf *scratch)
{
    if (str_equal(full, name))
        return 0;
    full = text_prefix(full, NAME_SHOWN_MAX);
    for (NameLength level = NAME_NO_ARGUMENTS; level <= NAME_LAST; level++) {
        strbuf_clear(scratch);
        name_shorten(full, level, scratch);
        Str form = strbuf_str(scratch);
        if (str_equal(form, name))
            return level;
        // "Map::find" for ns::Map<int>::find(int)
        if (level == NAME_NO_TEMPLATES && str_ends_with(form, name) && form.len > name.len + 2 &&
            form.ptr[form.len - name.len - 1] == ':')
            return level;
    }
    return str_find(full, name) != SIZE_MAX ? NAME_LAST + 1 : UINT32_MAX;
}

bool report_find_function(const Report *r, Str name, uint32_t *key, size_t *others, Error *err)
{
    StrBuf full = {0}, scratch = {0};
    const FlatRow *best = NULL;
    unsigned best_rank = UINT32_MAX;
    size_t equals = 0;
    Str word = longest_word(name);
    for (size_t i = 0; i < r->rows.len; i++) {
        const FlatRow *row = &r->rows.at[i];
        strbuf_clear(&full);
        keys_add_name(&r->keys, row->key, &full);
        if (str_find(strbuf_str(&full), word) == SIZE_MAX)
            continue;
        unsigned rank = match_rank(strbuf_str(&full), name, &scratch);
        if (rank == UINT32_MAX || rank > best_rank)
            continue;
        equals = rank < best_rank ? 0 : equals + 1;
        if (rank < best_rank || row->total > best->total)
            best = row;
        best_rank = rank;
    }
    strbuf_deinit(&full);
    strbuf_deinit(&scratch);
    if (!best)
        return error_set(err, ERROR_NOT_FOUND,
                         "no function '%" STR_FMT "' among the selected samples",
                         STR_ARG(text_prefix(name, 200)));
    *key = best->key;
    *others = equals;
    return true;
}

Str report_metric_name(const Report *r)
{
    const Metrics *m = &r->profile->metrics;
    uint32_t metric = r->request.selection.metric.v;
    return metric < m->name.len ? profile_text(r->profile, m->name.at[metric]) : STR("samples");
}

Str report_metric_unit(const Report *r)
{
    const Metrics *m = &r->profile->metrics;
    uint32_t metric = r->request.selection.metric.v;
    return metric < m->unit.len ? profile_text(r->profile, m->unit.at[metric]) : STR("");
}

// A flag for each thread: it has a value in the metric. NULL without a metric.
static uint8_t *threads_seen(const Report *r)
{
    const Profile *p = r->profile;
    if (p->metrics.name.len == 0)
        return NULL;
    const int64_t *values = p->samples.values[r->request.selection.metric.v].at;
    uint8_t *seen = heap_alloc(p->threads.tid.len + 1);
    for (size_t i = 0; i < p->samples.thread.len; i++)
        if (values[i] > 0)
            seen[p->samples.thread.at[i].v] = 1;
    return seen;
}

uint32_t report_thread_count(const Report *r)
{
    uint8_t *seen = threads_seen(r);
    uint32_t count = 0;
    for (size_t i = 0; seen && i < r->profile->threads.tid.len; i++)
        count += seen[i];
    heap_free(seen);
    return count;
}

uint32_t report_process_count(const Report *r, ProcessId *ret_first)
{
    const Profile *p = r->profile;
    uint8_t *threads = threads_seen(r);
    uint8_t *seen = heap_alloc(p->processes.pid.len + 1);
    uint32_t count = 0;
    for (size_t i = 0; threads && i < p->threads.tid.len; i++) {
        ProcessId process = p->threads.process.at[i];
        if (!threads[i] || seen[process.v])
            continue;
        seen[process.v] = 1;
        if (count++ == 0)
            *ret_first = process;
    }
    heap_free(seen);
    heap_free(threads);
    return count;
}
