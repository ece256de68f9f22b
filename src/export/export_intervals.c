// SPDX-License-Identifier: Apache-2.0
// Intervals of threads: what `intervals` has, recorded calls and single waits.

#include <stdlib.h>

#include "analyse/calls/call_summary.h"
#include "export/export_internal.h"

typedef Vec(ExportInterval) IntervalVec;

static bool is_chosen_by_function(const ExportSet *s)
{
    return s->request->selection.focus || s->request->selection.ignore;
}

// False for an interval that is not written: of an unused thread, or outside of the selection.
static bool cut_interval(const ExportSet *s, ThreadId thread, int64_t start, int64_t end,
                         ExportInterval *ret)
{
    const Selection *selection = &s->request->selection;
    uint32_t row = s->row_of_thread[thread.v];
    if (row == EXPORT_NONE || start == TIME_NONE || start >= selection->to_ns ||
        MAX(start, end) < selection->from_ns)
        return false;
    start = MAX(start, selection->from_ns);
    end = MAX(start, MIN(end, selection->to_ns));
    int64_t length;
    if (__builtin_sub_overflow(end, start, &length))
        return false; // a damaged file's
    *ret = (ExportInterval){.thread = row, .start_ns = start, .end_ns = end};
    return true;
}

bool export_has_call(const ExportSet *s, size_t call)
{
    const Calls *c = &s->p->calls;
    ExportInterval ignored;
    return !is_chosen_by_function(s) &&
           cut_interval(s, c->thread.at[call], c->begin_ns.at[call], c->end_ns.at[call], &ignored);
}

bool export_has_wait(const ExportSet *s, size_t wait)
{
    return !is_chosen_by_function(s) && !selection_has_time(&s->request->selection) &&
           s->row_of_thread[s->p->waits.thread.at[wait].v] != EXPORT_NONE;
}

Str export_call_name(Arena *arena, const ExportSet *s, size_t call)
{
    StrBuf name = {0};
    export_add_name(s, s->keys.of_frame[s->p->calls.frame.at[call].v], &name);
    Str kept = arena_str(arena, strbuf_str(&name));
    strbuf_deinit(&name);
    return kept;
}

static void add_calls(const ExportSet *s, Arena *texts, IntervalVec *ret)
{
    const Calls *c = &s->p->calls;
    StrBuf values = {0};
    for (size_t i = 0; i < c->thread.len; i++) {
        ExportInterval in;
        if (!cut_interval(s, c->thread.at[i], c->begin_ns.at[i], c->end_ns.at[i], &in))
            continue;
        in.kind = c->flags.at[i] & CALL_IS_WORK ? EXPORT_WORK : EXPORT_CALL;
        in.row = (uint32_t)i;
        in.name = export_call_name(texts, s, i);
        strbuf_clear(&values);
        call_values_add(s->p, (uint32_t)i, &values);
        in.detail = arena_str(texts, strbuf_str(&values));
        vec_push(NULL, ret, in);
    }
    strbuf_deinit(&values);
}

static void add_states(const ExportSet *s, IntervalVec *ret)
{
    const States *t = &s->p->states;
    for (size_t i = 0; i < t->thread.len; i++) {
        ExportInterval in;
        if (!cut_interval(s, t->thread.at[i], t->start_ns.at[i], t->end_ns.at[i], &in))
            continue;
        in.kind = EXPORT_WAIT;
        in.row = (uint32_t)i;
        in.name = str_from_c(wait_class_name((WaitClass)t->state.at[i]));
        in.detail = profile_text(s->p, t->object.at[i]);
        vec_push(NULL, ret, in);
    }
}

static void add_spans(const ExportSet *s, IntervalVec *ret)
{
    const Intervals *t = &s->p->intervals;
    for (size_t i = 0; i < t->thread.len; i++) {
        ExportInterval in;
        if (!cut_interval(s, t->thread.at[i], t->start_ns.at[i], t->end_ns.at[i], &in))
            continue;
        in.kind = EXPORT_SPAN;
        in.row = (uint32_t)i;
        in.name = profile_text(s->p, t->name.at[i]);
        in.detail = profile_text(s->p, t->detail.at[i]);
        vec_push(NULL, ret, in);
    }
}

static int by_thread_and_begin(const void *a, const void *b)
{
    const ExportInterval *x = a, *y = b;
    bool x_is_span = x->kind == EXPORT_SPAN, y_is_span = y->kind == EXPORT_SPAN;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    if (x_is_span != y_is_span)
        return x_is_span ? -1 : 1;
    if (!x_is_span && x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    if (!x_is_span && x->end_ns != y->end_ns)
        return x->end_ns > y->end_ns ? -1 : 1;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    // Calls of equal times: the outer one ended last.
    if (x->row != y->row)
        return (x->row < y->row) == (x->kind == EXPORT_CALL) ? 1 : -1;
    return 0;
}

ExportIntervals export_intervals(const ExportSet *s, bool calls, bool waits)
{
    ExportIntervals ret = {0};
    IntervalVec all = {0};
    add_spans(s, &all);
    if (calls && !is_chosen_by_function(s))
        add_calls(s, &ret.texts, &all);
    if (waits && !is_chosen_by_function(s))
        add_states(s, &all);
    if (all.len)
        qsort(all.at, all.len, sizeof(*all.at), by_thread_and_begin);
    ret.at = all.at;
    ret.starts = heap_alloc((s->threads.len + 1) * sizeof(size_t));
    for (size_t i = 0; i < all.len; i++)
        ret.starts[all.at[i].thread + 1]++;
    for (size_t t = 0; t < s->threads.len; t++)
        ret.starts[t + 1] += ret.starts[t];
    return ret;
}

void export_intervals_deinit(ExportIntervals *i)
{
    heap_free(i->at);
    heap_free(i->starts);
    arena_deinit(&i->texts);
}
