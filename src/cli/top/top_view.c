// SPDX-License-Identifier: Apache-2.0
// Computes the view of a running recording: the last seconds beside all since the start.

#include "cli/top/top_view.h"

#include <stdlib.h>

enum { ROWS_MAX = 4096 }; // of a view

static Str copy(TopView *v, const StrBuf *text)
{
    return arena_str(&v->arena, strbuf_str(text));
}

static Str place_of(TopView *v, const Report *r, const FlatRow *row)
{
    StrId file;
    uint32_t line;
    if (r->request.by != BY_FUNCTION || !report_row_place(r, row, &file, &line))
        return STR("");
    return arena_printf(&v->arena, "%" STR_FMT ":%u",
                        STR_ARG(str_base_name(profile_text(r->profile, file))), line);
}

// Both reports are made of the same profile, so that a key is the same function in both.
static void add_rows(TopView *v, const Report *last, const Report *since)
{
    uint32_t keys = 0;
    for (size_t i = 0; i < since->rows.len; i++)
        keys = MAX(keys, since->rows.at[i].key + 1);
    uint32_t *row_of = heap_alloc((keys + 1) * sizeof(uint32_t)); // [key]: row of `last` + 1
    for (size_t i = 0; i < last->rows.len; i++)
        if (last->rows.at[i].key < keys)
            row_of[last->rows.at[i].key] = (uint32_t)i + 1;
    StrBuf name = {0};
    for (size_t i = 0; i < since->rows.len && v->rows.len < ROWS_MAX; i++) {
        const FlatRow *all = &since->rows.at[i];
        const FlatRow *row = row_of[all->key] ? &last->rows.at[row_of[all->key] - 1] : NULL;
        strbuf_clear(&name);
        report_add_row_name(since, all, &name);
        vec_push(&v->arena, &v->rows,
                 (TopRow){.name = copy(v, &name),
                          .place = place_of(v, since, all),
                          .self = row ? row->self : 0,
                          .total = row ? row->total : 0,
                          .since_self = all->self,
                          .is_inlined = all->inlined && since->request.group == GROUP_NONE});
    }
    strbuf_deinit(&name);
    heap_free(row_of);
}

static int compare_u64(uint64_t a, uint64_t b)
{
    return a > b ? -1 : a < b;
}

static int most_recent_first(const void *a, const void *b)
{
    const TopRow *x = a, *y = b;
    int order = compare_u64(x->self, y->self);
    if (order == 0)
        order = compare_u64(x->since_self, y->since_self);
    if (order == 0)
        order = compare_u64(x->total, y->total);
    return order ? order : str_compare(x->name, y->name);
}

static void add_calls(TopView *v, const Report *r, FlatRowVec calls, TopRowVec *ret)
{
    StrBuf name = {0};
    for (size_t i = 0; i < calls.len && i < ROWS_MAX; i++) {
        strbuf_clear(&name);
        keys_add_name(&r->keys, calls.at[i].key, &name);
        vec_push(&v->arena, ret,
                 (TopRow){.name = copy(v, &name),
                          .total = calls.at[i].total,
                          .is_inlined = calls.at[i].inlined});
    }
    strbuf_deinit(&name);
    vec_free(&calls);
}

static void add_around(TopView *v, const Report *r, Str around)
{
    uint32_t key;
    size_t others;
    v->around = arena_str(&v->arena, around);
    if (!report_find_function(r, around, &key, &others, NULL))
        return; // it did not run in the last seconds
    add_calls(v, r, flat_callers(&r->tree, key), &v->callers);
    add_calls(v, r, flat_callees(&r->tree, key), &v->callees);
}

static const char *title_of(const TopRequest *request)
{
    if (request->group == GROUP_PROCESS)
        return "process";
    return request->by == BY_LINE ? "line" : request->by == BY_MODULE ? "module" : "function";
}

TopView *top_view_new(const Profile *p, const SamplingState *state, const TopRequest *request)
{
    TopView *v = heap_alloc(sizeof(*v));
    const int64_t span_ns = TOP_SPAN_S * 1000000000ll;
    ReportRequest last_request = {.group = request->group, .by = request->by};
    selection_init(&last_request.selection);
    ReportRequest since_request = last_request;
    last_request.selection.from_ns = MAX(state->now_ns - span_ns, (int64_t)0);
    last_request.want_tree = request->around.len != 0;
    Report last, since;
    // Without regular expressions nothing can fail.
    if (!report_init(&last, p, &last_request, NULL))
        return v;
    if (!report_init(&since, p, &since_request, NULL)) {
        report_deinit(&last);
        return v;
    }
    v->unit = arena_str(&v->arena, report_metric_unit(&last));
    v->metric = arena_str(&v->arena, report_metric_name(&last));
    v->title = title_of(request);
    v->has_total = request->group == GROUP_NONE;
    v->span_ns = MIN(state->now_ns, span_ns);
    v->since_ns = state->now_ns;
    v->value = last.weights.value;
    v->since_value = since.weights.value;
    v->samples = last.weights.samples;
    v->since_samples = state->samples;
    add_rows(v, &last, &since);
    if (v->rows.len > 1)
        qsort(v->rows.at, v->rows.len, sizeof(TopRow), most_recent_first);
    if (request->around.len)
        add_around(v, &last, request->around);
    Truth truth = last.truth;
    truth.outside = 0; // that there is more is said beside it
    truth.lost_known = true;
    truth.lost = state->lost;
    StrBuf text = {0};
    truth_add_text(&truth, &text);
    v->truth = copy(v, &text);
    strbuf_deinit(&text);
    report_deinit(&since);
    report_deinit(&last);
    return v;
}

void top_view_free(TopView *v)
{
    if (!v)
        return;
    arena_deinit(&v->arena);
    heap_free(v);
}
