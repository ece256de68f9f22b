// SPDX-License-Identifier: Apache-2.0
// The walk over states, and the places of samples between them.

#include "analyse/critical.h"

#include "base/table.h"

#include <stdlib.h>

// Rows of a table by thread and, for each, by time: the rows of thread t are
// row[first[t]] to row[first[t + 1] - 1].
typedef struct ByThread {
    uint32_t *first, *row;
} ByThread;

typedef struct Walk {
    const Profile *p;
    Critical *c;
    Table by_key;
    ByThread states, samples;
    MetricId cpu; // the first metric
} Walk;

// Rows without a time are left out.
static ByThread group(const ThreadIdVec *threads, const I64Vec *times, size_t thread_count)
{
    ByThread g = {heap_alloc((thread_count + 2) * sizeof(uint32_t)),
                  heap_alloc((threads->len + 1) * sizeof(uint32_t))};
    for (size_t i = 0; i < threads->len; i++)
        g.first[threads->at[i].v + 1] += times->at[i] != TIME_NONE;
    for (size_t t = 0; t < thread_count; t++)
        g.first[t + 1] += g.first[t];
    uint32_t *next = heap_alloc((thread_count + 1) * sizeof(uint32_t));
    memcpy(next, g.first, thread_count * sizeof(uint32_t));
    for (size_t i = 0; i < threads->len; i++)
        if (times->at[i] != TIME_NONE)
            g.row[next[threads->at[i].v]++] = (uint32_t)i;
    heap_free(next);
    return g;
}

// The rows of a thread are in the order of their ends already: they were added as waits ended.
// Those of another order would only make the path wrong, not the walk endless.
static void group_free(ByThread *g)
{
    heap_free(g->first);
    heap_free(g->row);
}

static void add(Walk *w, ThreadId thread, WaitClass state, StrId object, WaitPlace place,
                uint64_t ns)
{
    if (ns == 0)
        return;
    uint64_t hash = hash_pair((uint64_t)thread.v << 32 | place.frame.v,
                              (uint64_t)object.v << 8 | (uint64_t)state);
    uint32_t row;
    w->c->total_ns += ns;
    for (TableProbe p = table_probe(&w->by_key, hash); table_next(&w->by_key, &p, &row);) {
        CriticalLine *l = &w->c->lines.at[row];
        if (l->thread.v == thread.v && l->state == state && l->object.v == object.v &&
            l->place.frame.v == place.frame.v) {
            l->ns += ns;
            return;
        }
    }
    table_insert(&w->by_key, hash, (uint32_t)w->c->lines.len);
    vec_push(NULL, &w->c->lines, (CriticalLine){thread, state, object, place, ns});
}

// The number of the first row in [low, high) of a thread whose time is not below `time`.
static uint32_t first_at(const uint32_t *rows, const I64Vec *times, uint32_t low, uint32_t high,
                         int64_t time)
{
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (times->at[rows[middle]] < time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// A stretch in which the thread ran: its samples share the time.
static void add_running(Walk *w, ThreadId thread, int64_t from, int64_t to)
{
    const Samples *s = &w->p->samples;
    uint32_t low = w->samples.first[thread.v], high = w->samples.first[thread.v + 1];
    uint32_t i = first_at(w->samples.row, &s->time_ns, low, high, from), end = i;
    uint64_t ns = to > from ? (uint64_t)(to - from) : 0, weight = 0, given = 0;
    for (; end < high && s->time_ns.at[w->samples.row[end]] < to; end++)
        weight += (uint64_t)MAX(s->values[w->cpu.v].at[w->samples.row[end]], (int64_t)0);
    for (; i < end && weight; i++) {
        uint32_t row = w->samples.row[i];
        uint64_t value = (uint64_t)MAX(s->values[w->cpu.v].at[row], (int64_t)0);
        uint64_t part = (uint64_t)((double)ns * (double)value / (double)weight);
        add(w, thread, WAIT_RUNNING, (StrId){0}, wait_place(w->p, s->stack.at[row]), part);
        given += part;
    }
    add(w, thread, WAIT_RUNNING, (StrId){0}, (WaitPlace){0}, ns - MIN(given, ns));
}

// The last state of the thread that began before `time`; false: there is none.
static bool state_before(const Walk *w, ThreadId thread, int64_t time, uint32_t *ret)
{
    const States *s = &w->p->states;
    uint32_t low = w->states.first[thread.v], high = w->states.first[thread.v + 1];
    uint32_t at = first_at(w->states.row, &s->start_ns, low, high, time);
    if (at == low)
        return false;
    *ret = w->states.row[at - 1];
    return true;
}

static void walk(Walk *w, ThreadId thread, int64_t from, int64_t now)
{
    const States *s = &w->p->states;
    // Each step goes back in time, or to another thread at most once for each state.
    size_t most = 4 * s->thread.len + 16;
    uint32_t row;
    while (now > from && most-- > 0) {
        if (!state_before(w, thread, now, &row)) {
            int64_t start = w->p->threads.start_ns.at[thread.v];
            int64_t since = MAX(from, start == TIME_NONE ? from : start);
            add_running(w, thread, MIN(since, now), now);
            return;
        }
        int64_t end = MIN(s->end_ns.at[row], now), start = MAX(s->start_ns.at[row], from);
        int64_t woken = MAX(MIN(s->woken_ns.at[row], end), start);
        WaitClass state =
            s->state.at[row] < WAIT_CLASS_COUNT ? (WaitClass)s->state.at[row] : WAIT_OTHER;
        add_running(w, thread, MAX(end, from), now);
        if (end <= from)
            return;
        add(w, thread, WAIT_RUNNABLE, (StrId){0}, wait_place(w->p, s->stack.at[row]),
            (uint64_t)(end - woken));
        uint32_t waker = s->waker.at[row];
        now = woken;
        if (waker && waker <= w->p->threads.tid.len && waker - 1 != thread.v && woken < end) {
            thread = (ThreadId){waker - 1};
            w->c->steps++;
            continue;
        }
        add(w, thread, state, s->object.at[row], wait_place(w->p, s->stack.at[row]),
            (uint64_t)(woken - start));
        now = start;
    }
}

static int by_time(const void *a, const void *b)
{
    const CriticalLine *x = a, *y = b;
    if (x->ns != y->ns)
        return x->ns < y->ns ? 1 : -1;
    return x->thread.v < y->thread.v ? -1 : x->thread.v > y->thread.v;
}

bool critical_init(Critical *c, const Profile *p, ThreadId last, int64_t from_ns, int64_t to_ns)
{
    *c = (Critical){.from_ns = from_ns, .to_ns = to_ns, .last = last};
    if (p->waits.thread.len == 0 || last.v >= p->threads.tid.len || p->metrics.name.len == 0)
        return false;
    Walk w = {.p = p, .c = c};
    w.states = group(&p->states.thread, &p->states.start_ns, p->threads.tid.len);
    w.samples = group(&p->samples.thread, &p->samples.time_ns, p->threads.tid.len);
    walk(&w, last, from_ns, to_ns);
    group_free(&w.states);
    group_free(&w.samples);
    table_deinit(&w.by_key);
    if (c->lines.len)
        qsort(c->lines.at, c->lines.len, sizeof(c->lines.at[0]), by_time);
    return true;
}

void critical_deinit(Critical *c)
{
    vec_free(&c->lines);
}
