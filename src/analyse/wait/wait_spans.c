// SPDX-License-Identifier: Apache-2.0
// From the single waits of a recording to stretches without gaps.

#include "analyse/wait/wait_spans.h"

#include "model/facts.h"

#include <stdlib.h>

typedef struct Builder {
    WaitSpans *w;
    const Profile *p;
    const Selection *s;
    bool knows_running; // the time between two waits
    int64_t end_ns;     // of the recording
    int64_t *last_wake; // [thread] when it last woke another; a thread does so after its own end
} Builder;

// A single wait, for sorting: by thread, then by begin.
typedef struct Order {
    uint32_t thread, row;
    int64_t start_ns;
} Order;

static int by_thread_and_time(const void *a, const void *b)
{
    const Order *x = a, *y = b;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

// Adds a span, cut to the selection, that does not begin before `*cursor`, and moves that on.
static void add_span(const Builder *b, WaitSpan span, int64_t *cursor)
{
    int64_t end = span.end_ns;
    span.start_ns = MAX(span.start_ns, *cursor);
    span.start_ns = MAX(span.start_ns, b->s->from_ns);
    span.end_ns = MIN(span.end_ns, b->s->to_ns);
    *cursor = MAX(*cursor, end);
    int64_t length;
    if (span.start_ns < span.end_ns && !__builtin_sub_overflow(span.end_ns, span.start_ns, &length))
        vec_push(NULL, &b->w->spans, span);
}

static void add_running(const Builder *b, ThreadId thread, int64_t end_ns, int64_t *cursor)
{
    if (b->knows_running && end_ns > *cursor)
        add_span(b, (WaitSpan){.thread = thread, .start_ns = *cursor, .end_ns = end_ns}, cursor);
}

// 1 + the thread that ended a wait; a damaged file may name any number.
static uint32_t waker_of(const Profile *p, size_t row)
{
    uint32_t waker = p->states.waker.at[row];
    return waker <= p->threads.tid.len ? waker : 0;
}

static void add_state(const Builder *b, uint32_t row, int64_t *cursor)
{
    const States *s = &b->p->states;
    ThreadId thread = s->thread.at[row];
    int64_t start = s->start_ns.at[row], end = s->end_ns.at[row];
    // The begin of a thread that another made: only an arrow.
    if (s->state.at[row] == WAIT_RUNNABLE && end - start <= 1)
        return;
    int64_t woken = MIN(MAX(s->woken_ns.at[row], start), end);
    add_running(b, thread, start, cursor);
    add_span(b,
             (WaitSpan){.thread = thread,
                        .start_ns = start,
                        .end_ns = woken,
                        .state = s->state.at[row] < WAIT_CLASS_COUNT
                                     ? (WaitClass)s->state.at[row]
                                     : WAIT_OTHER, // of a later version
                        .object = s->object.at[row],
                        .stack = s->stack.at[row],
                        .waker = waker_of(b->p, row),
                        .waker_stack = s->waker_stack.at[row]},
             cursor);
    add_span(b,
             (WaitSpan){.thread = thread, .start_ns = woken, .end_ns = end, .state = WAIT_RUNNABLE},
             cursor);
}

// The spans of one thread, whose waits are `rows`.
static void add_thread(const Builder *b, uint32_t thread, const Order *rows, size_t count)
{
    const Threads *t = &b->p->threads;
    int64_t start = t->start_ns.at[thread], end = t->end_ns.at[thread];
    if (start == TIME_NONE && count == 0)
        return;
    // A thread that was there before the recording is observed from its first wait on.
    int64_t cursor = start == TIME_NONE ? rows[0].start_ns : start;
    for (size_t i = 0; i < count; i++)
        add_state(b, rows[i].row, &cursor);
    end = end == TIME_NONE ? b->end_ns : MIN(end, b->end_ns);
    add_running(b, (ThreadId){thread}, MAX(end, b->last_wake[thread]), &cursor);
}

static void add_threads(const Builder *b, const Order *order, size_t count, const uint8_t *selected)
{
    const Waits *waits = &b->p->waits;
    size_t threads = b->p->threads.tid.len;
    uint8_t *observed = heap_alloc(threads + 1);
    for (size_t i = 0; i < waits->thread.len; i++)
        observed[waits->thread.at[i].v] = 1;
    size_t from = 0;
    for (uint32_t t = 0; t < threads; t++) {
        size_t to = from;
        while (to < count && order[to].thread == t)
            to++;
        if (selected[t] && (to > from || observed[t]))
            add_thread(b, t, order + from, to - from);
        from = to;
    }
    heap_free(observed);
}

static void add_arrows(const Builder *b, const uint8_t *selected)
{
    const States *s = &b->p->states;
    for (size_t i = 0; i < s->thread.len; i++) {
        uint32_t to = s->thread.at[i].v, from = waker_of(b->p, i);
        int64_t time = s->woken_ns.at[i];
        if (from == 0 || from - 1 == to || !selected[to] || !selected[from - 1] ||
            time < b->s->from_ns || time >= b->s->to_ns)
            continue;
        b->last_wake[from - 1] = MAX(b->last_wake[from - 1], time);
        vec_push(NULL, &b->w->arrows, (WaitArrow){.from = {from - 1}, .to = {to}, .time_ns = time});
    }
}

// Whether a row's times can be: those of a damaged file may be anything.
static bool is_sound(const States *s, size_t row)
{
    int64_t start = s->start_ns.at[row], end = s->end_ns.at[row], length;
    return start != TIME_NONE && end >= start && !__builtin_sub_overflow(end, start, &length);
}

static int64_t recording_end(const Profile *p)
{
    uint64_t wall = 0;
    if (profile_fact_u64(p, STR(FACT_WALL_NS), &wall) && wall < INT64_MAX)
        return (int64_t)wall;
    int64_t end = 0;
    for (size_t i = 0; i < p->states.end_ns.len; i++)
        end = MAX(end, p->states.end_ns.at[i]);
    return end;
}

void wait_spans_init(WaitSpans *w, const Profile *p, const Selection *s)
{
    *w = (WaitSpans){0};
    if (p->states.thread.len == 0 || s->focus || s->ignore)
        return;
    Builder b = {.w = w,
                 .p = p,
                 .s = s,
                 .knows_running = str_equal(profile_fact(p, STR(FACT_WAITS)), STR("bpf")),
                 .end_ns = recording_end(p)};
    uint8_t *selected = selection_threads(p, s);
    Order *order = heap_alloc((p->states.thread.len + 1) * sizeof(*order));
    size_t count = 0;
    for (uint32_t i = 0; i < p->states.thread.len; i++) {
        uint32_t thread = p->states.thread.at[i].v;
        if (selected[thread] && is_sound(&p->states, i))
            order[count++] = (Order){thread, i, p->states.start_ns.at[i]};
    }
    qsort(order, count, sizeof(*order), by_thread_and_time);
    b.last_wake = heap_alloc((p->threads.tid.len + 1) * sizeof(*b.last_wake));
    add_arrows(&b, selected);
    add_threads(&b, order, count, selected);
    heap_free(b.last_wake);
    heap_free(order);
    heap_free(selected);
}

void wait_spans_deinit(WaitSpans *w)
{
    vec_free(&w->spans);
    vec_free(&w->arrows);
}

void wait_span_add_name(const Profile *p, const WaitSpan *span, StrBuf *out)
{
    strbuf_add(out, str_from_c(wait_class_name(span->state)));
    if (span->object.v == 0)
        return;
    strbuf_add_char(out, ' ');
    strbuf_add(out, profile_text(p, span->object));
}
