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

// What a thread ran on the path.
typedef struct Running {
    uint64_t ns;     // of the path
    uint64_t weight; // of its samples there
} Running;

typedef struct Walk {
    const Profile *p;
    Critical *c;
    Table by_key;
    ByThread states, samples;
    Running *running; // [thread]
    MetricId cpu;     // the first metric
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
    // Many addresses are on one line.
    FunctionId function = w->p->frames.function.at[place.frame.v];
    uint64_t hash = hash_pair((uint64_t)thread.v << 32 | function.v,
                              (uint64_t)object.v << 32 | (place.line ^ (uint32_t)state << 27));
    uint32_t row;
    for (TableProbe p = table_probe(&w->by_key, hash); table_next(&w->by_key, &p, &row);) {
        CriticalLine *l = &w->c->lines.at[row];
        if (l->thread.v == thread.v && l->state == state && l->object.v == object.v &&
            l->place.line == place.line && l->place.file.v == place.file.v &&
            w->p->frames.function.at[l->place.frame.v].v == function.v) {
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

// A stretch in which the thread ran. Its samples become lines with their weights; the time of all
// stretches of the thread is shared out at the end, because many stretches have no sample.
static void add_running(Walk *w, ThreadId thread, int64_t from, int64_t to)
{
    const Samples *s = &w->p->samples;
    uint32_t low = w->samples.first[thread.v], high = w->samples.first[thread.v + 1];
    uint32_t i = first_at(w->samples.row, &s->time_ns, low, high, from);
    Running *r = &w->running[thread.v];
    if (to <= from)
        return;
    r->ns += (uint64_t)(to - from);
    for (; i < high && s->time_ns.at[w->samples.row[i]] < to; i++) {
        uint32_t row = w->samples.row[i];
        uint64_t value = (uint64_t)MAX(s->values[w->cpu.v].at[row], (int64_t)0);
        r->weight += value;
        add(w, thread, WAIT_RUNNING, (StrId){0}, wait_place(w->p, s->stack.at[row]), value);
    }
}

// Turns the weights of lines into time, and adds the time of threads without a sample.
static void share_running(Walk *w)
{
    for (size_t i = 0; i < w->c->lines.len; i++) {
        CriticalLine *l = &w->c->lines.at[i];
        const Running *r = &w->running[l->thread.v];
        if (l->state == WAIT_RUNNING)
            l->ns = (uint64_t)((double)l->ns / (double)r->weight * (double)r->ns);
    }
    for (uint32_t t = 0; t < w->p->threads.tid.len; t++)
        if (w->running[t].weight == 0)
            add(w, (ThreadId){t}, WAIT_RUNNING, (StrId){0}, (WaitPlace){0}, w->running[t].ns);
    for (size_t i = 0; i < w->c->lines.len; i++)
        w->c->total_ns += w->c->lines.at[i].ns;
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

// The thread that a state ends by, and whether it is another one.
static bool find_waker(const Walk *w, uint32_t row, ThreadId *ret)
{
    const States *s = &w->p->states;
    uint32_t waker = s->waker.at[row];
    if (waker == 0 || waker > w->p->threads.tid.len || waker - 1 == s->thread.at[row].v)
        return false;
    *ret = (ThreadId){waker - 1};
    return true;
}

static int64_t start_of(const Walk *w, ThreadId thread)
{
    return MAX(w->p->threads.start_ns.at[thread.v], (int64_t)0); // TIME_NONE is below 0
}

// Whether the thread ended because it was told to, right before it was waited for: its own time did
// not decide when. Were it faster, at most this wait would be gained.
static bool was_told_to_end(const Walk *w, uint32_t row, ThreadId ended)
{
    enum { PART = 20 };
    const States *s = &w->p->states;
    int64_t wait = s->woken_ns.at[row] - s->start_ns.at[row];
    int64_t life = s->start_ns.at[row] - start_of(w, ended);
    return s->state.at[row] == WAIT_LOCK && wait < life / PART &&
           wait_is_join(w->p, s->stack.at[row]);
}

static void walk(Walk *w, ThreadId thread, int64_t from, int64_t now)
{
    const States *s = &w->p->states;
    // Each step goes back in time, or to another thread at most once for each state.
    size_t most = 4 * s->thread.len + 16;
    uint32_t row;
    while (now > from && most-- > 0) {
        if (!state_before(w, thread, now, &row)) {
            add_running(w, thread, MIN(MAX(from, start_of(w, thread)), now), now);
            return;
        }
        int64_t end = MIN(s->end_ns.at[row], now), start = MAX(s->start_ns.at[row], from);
        bool is_over = s->end_ns.at[row] <= now;
        int64_t woken = MAX(MIN(s->woken_ns.at[row], end), start);
        WaitClass state =
            s->state.at[row] < WAIT_CLASS_COUNT ? (WaitClass)s->state.at[row] : WAIT_OTHER;
        add_running(w, thread, MAX(end, from), now);
        if (end <= from)
            return;
        // A wait that ends later than what is asked for, too, was for the thread that ends it.
        if (is_over || s->woken_ns.at[row] < now)
            add(w, thread, WAIT_RUNNABLE, (StrId){0}, wait_own_place(w->p, s->stack.at[row]),
                (uint64_t)(end - woken));
        now = woken;
        ThreadId waker;
        if (now > from && find_waker(w, row, &waker) && !was_told_to_end(w, row, waker)) {
            thread = waker;
            w->c->steps++;
            continue;
        }
        add(w, thread, state, s->object.at[row], wait_own_place(w->p, s->stack.at[row]),
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
    w.running = heap_alloc((p->threads.tid.len + 1) * sizeof(*w.running));
    walk(&w, last, from_ns, to_ns);
    share_running(&w);
    heap_free(w.running);
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

// ---- Marks ------------------------------------------------------------------------------

typedef struct Mark {
    int64_t time_ns;
    ThreadId thread;
} Mark;
typedef Vec(Mark) MarkVec;

static bool is_named(Str full, Str name)
{
    size_t colon = str_find_last_char(full, ':');
    return str_equal(full, name) ||
           (colon != SIZE_MAX && str_equal(str_slice(full, colon + 1, full.len), name));
}

static int compare_marks(const void *a, const void *b)
{
    const Mark *x = a, *y = b;
    return x->time_ns < y->time_ns ? -1 : x->time_ns > y->time_ns;
}

static MarkVec marks_named(const Profile *p, Str name)
{
    MarkVec marks = {0};
    const Samples *s = &p->samples;
    for (uint32_t m = 0; m < s->value_columns; m++) {
        if (!is_named(profile_text(p, p->metrics.name.at[m]), name) &&
            !is_named(profile_text(p, p->metrics.event.at[m]), name))
            continue;
        for (size_t i = 0; i < s->stack.len; i++)
            if (s->values[m].at[i] > 0 && s->time_ns.at[i] != TIME_NONE)
                vec_push(NULL, &marks, (Mark){s->time_ns.at[i], s->thread.at[i]});
        break;
    }
    const Intervals *v = &p->intervals;
    for (size_t i = 0; i < v->name.len; i++)
        if (is_named(profile_text(p, v->name.at[i]), name))
            vec_push(NULL, &marks, (Mark){v->start_ns.at[i], v->thread.at[i]});
    if (marks.len)
        qsort(marks.at, marks.len, sizeof(marks.at[0]), compare_marks);
    return marks;
}

// The begin or the end of the recording, where no mark is named.
static bool find_one_kind(const Profile *p, Str name, int64_t without, MarkVec *ret, Error *err)
{
    *ret = (MarkVec){0};
    if (name.len == 0)
        vec_push(NULL, ret, (Mark){without, {0}});
    else
        *ret = marks_named(p, name);
    return ret->len ||
           error_set(err, ERROR_NOT_FOUND, "no probe and no mark '%" STR_FMT "' in this recording",
                     STR_ARG(name));
}

bool critical_find_marks(const Profile *p, Str from, Str to, int64_t end_ns, CriticalSpan *ret,
                         Error *err)
{
    MarkVec begins = {0}, ends = {0};
    CriticalSpan best = {.to_ns = -1};
    bool ok = find_one_kind(p, from, 0, &begins, err) && find_one_kind(p, to, end_ns, &ends, err);
    if (ok && from.len == 0) {
        Mark last = vec_last(&ends);
        best = (CriticalSpan){last.thread, 0, last.time_ns, ends.len};
        begins.len = 0;
    }
    for (size_t i = 0, e = 0; ok && i < begins.len; i++) {
        while (e < ends.len && ends.at[e].time_ns <= begins.at[i].time_ns)
            e++;
        // A span begins at the last begin before its end, unless all begins share the one end.
        bool is_last = to.len == 0 || i + 1 == begins.len || e == ends.len ||
                       begins.at[i + 1].time_ns >= ends.at[e].time_ns;
        if (e == ends.len || !is_last)
            continue;
        best.count++;
        if (ends.at[e].time_ns - begins.at[i].time_ns > best.to_ns - best.from_ns) {
            best.from_ns = begins.at[i].time_ns;
            best.to_ns = ends.at[e].time_ns;
            best.thread = to.len ? ends.at[e].thread : begins.at[i].thread;
        }
    }
    vec_free(&begins);
    vec_free(&ends);
    if (ok && best.count == 0)
        ok = error_set(err, ERROR_NOT_FOUND,
                       "no '%" STR_FMT "' comes after a '%" STR_FMT "' in this recording",
                       STR_ARG(to), STR_ARG(from));
    if (ok)
        *ret = best;
    return ok;
}
