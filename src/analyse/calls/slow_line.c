// SPDX-License-Identifier: Apache-2.0
// From waits and samples of a thread to the steps of one call.

#include "analyse/calls/slow_line.h"

#include "analyse/calls/slow_calls.h"
#include "model/facts.h"

#include <stdlib.h>

// A sample of the thread within the call.
typedef struct At {
    int64_t time_ns;
    StackId stack;
    int64_t for_ns; // the time before it that it stands for
} At;
typedef Vec(At) AtVec;

typedef struct Builder {
    const Profile *p;
    uint32_t call;
    uint32_t threads[2]; // where it began and ended
    bool is_goroutine;
    int64_t begin, end;
    bool knows_running; // time without a wait was spent running
    AtVec samples;      // by time
    size_t next;        // of them: the first that is not before the last step
    CallSteps steps;
} Builder;

static int by_time(const void *a, const void *b)
{
    int64_t x = ((const At *)a)->time_ns, y = ((const At *)b)->time_ns;
    return (x > y) - (x < y);
}

// Whether what a thread does with that stack is part of the call.
static bool is_of_call(const Builder *b, uint32_t thread, StackId stack)
{
    if (thread != b->threads[0] && thread != b->threads[1])
        return false;
    return !b->is_goroutine || call_holds_stack(b->p, b->call, stack);
}

static void find_samples(Builder *b)
{
    const Samples *s = &b->p->samples;
    for (size_t i = 0; s->value_columns && i < s->stack.len; i++)
        if (s->time_ns.at[i] >= b->begin && s->time_ns.at[i] < b->end && s->values[0].at[i] > 0 &&
            is_of_call(b, s->thread.at[i].v, s->stack.at[i]))
            vec_push(
                NULL, &b->samples,
                (At){s->time_ns.at[i], s->stack.at[i],
                     (int64_t)MIN(slow_sample_ns(b->p, (MetricId){0}, s->values[0].at[i]), 9e18)});
    if (b->samples.len)
        qsort(b->samples.at, b->samples.len, sizeof(b->samples.at[0]), by_time);
}

static bool is_same_place(const Profile *p, WaitPlace x, WaitPlace y)
{
    FunctionId f = p->frames.function.at[x.frame.v];
    return x.frame.v == y.frame.v || (f.v && f.v == p->frames.function.at[y.frame.v].v);
}

static void add_step(Builder *b, CallStep step)
{
    CallStep *last = b->steps.len ? &vec_last(&b->steps) : NULL;
    if (step.end_ns <= step.begin_ns)
        return;
    if (last && last->kind == step.kind && last->state == step.state &&
        last->object.v == step.object.v && last->waker == step.waker &&
        (is_same_place(b->p, last->place, step.place) ||
         (step.kind == CALL_STEP_RUNS && (!last->samples || !step.samples)))) {
        last->end_ns = step.end_ns;
        last->place = last->samples || step.kind != CALL_STEP_RUNS ? last->place : step.place;
        last->samples += step.samples;
        return;
    }
    vec_push(NULL, &b->steps, step);
}

// Time without a wait: split in the middle between samples of different functions.
static void add_running(Builder *b, int64_t from, int64_t to)
{
    CallStepKind kind = b->knows_running ? CALL_STEP_RUNS : CALL_STEP_UNSEEN;
    while (b->next < b->samples.len && b->samples.at[b->next].time_ns < from)
        b->next++;
    size_t first = b->next, last = first;
    while (last < b->samples.len && b->samples.at[last].time_ns < to)
        last++;
    if (first == last)
        add_step(b, (CallStep){.kind = kind, .begin_ns = from, .end_ns = to});
    for (size_t i = first; i < last; i++) {
        int64_t begin = from, end = to, here = b->samples.at[i].time_ns;
        if (i > first)
            begin = here / 2 + b->samples.at[i - 1].time_ns / 2;
        if (i + 1 < last)
            end = b->samples.at[i + 1].time_ns / 2 + here / 2;
        add_step(b, (CallStep){.kind = CALL_STEP_RUNS,
                               .begin_ns = begin,
                               .end_ns = end,
                               .place = wait_place(b->p, b->samples.at[i].stack),
                               .samples = 1});
    }
}

// The same for a goroutine, whose thread may have run others in between: a sample stands for its
// own time only.
static void add_running_apart(Builder *b, int64_t from, int64_t to)
{
    while (b->next < b->samples.len && b->samples.at[b->next].time_ns < from)
        b->next++;
    for (; b->next < b->samples.len && b->samples.at[b->next].time_ns < to; b->next++) {
        const At *at = &b->samples.at[b->next];
        int64_t begin = MAX(from, at->time_ns - MIN(at->for_ns, at->time_ns));
        add_step(b, (CallStep){.kind = CALL_STEP_APART, .begin_ns = from, .end_ns = begin});
        add_step(b, (CallStep){.kind = CALL_STEP_RUNS,
                               .begin_ns = begin,
                               .end_ns = at->time_ns,
                               .place = wait_place(b->p, at->stack),
                               .samples = 1});
        from = at->time_ns;
    }
    add_step(b, (CallStep){.kind = CALL_STEP_APART, .begin_ns = from, .end_ns = to});
}

static void add_between(Builder *b, int64_t from, int64_t to)
{
    if (b->is_goroutine)
        add_running_apart(b, from, to);
    else
        add_running(b, from, to);
}

static int64_t clamp(const Builder *b, int64_t time, int64_t cursor)
{
    return MIN(MAX(time, cursor), b->end);
}

static void add_state(Builder *b, size_t row, int64_t *cursor)
{
    const States *s = &b->p->states;
    int64_t start = clamp(b, s->start_ns.at[row], *cursor);
    int64_t woken = clamp(b, s->woken_ns.at[row], start), end = clamp(b, s->end_ns.at[row], woken);
    if (end <= start)
        return;
    if (start > *cursor)
        add_between(b, *cursor, start);
    uint32_t waker = s->waker.at[row] <= b->p->threads.tid.len ? s->waker.at[row] : 0;
    if (s->state.at[row] != WAIT_RUNNABLE)
        add_step(b, (CallStep){.kind = CALL_STEP_WAITS,
                               .begin_ns = start,
                               .end_ns = woken,
                               .state = s->state.at[row] < WAIT_CLASS_COUNT
                                            ? (WaitClass)s->state.at[row]
                                            : WAIT_OTHER,
                               .object = s->object.at[row],
                               .place = wait_own_place(b->p, s->stack.at[row]),
                               .waker = waker,
                               .waker_place = wait_own_place(b->p, s->waker_stack.at[row])});
    else
        woken = start;
    add_step(b, (CallStep){.kind = CALL_STEP_QUEUES, .begin_ns = woken, .end_ns = end});
    *cursor = end;
}

typedef struct Order {
    int64_t start_ns;
    size_t row;
} Order;

static int by_start(const void *a, const void *b)
{
    const Order *x = a, *y = b;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

// The thread where the call of a goroutine ended, if that is another.
static uint32_t end_thread(const Profile *p, uint32_t call)
{
    int64_t tid;
    if (call_value_find(p, call, STR("end_thread"), &tid))
        for (uint32_t i = 0; i < p->threads.tid.len; i++)
            if (p->threads.tid.at[i] == tid)
                return i;
    return p->calls.thread.at[call].v;
}

// By copies of the stack at each switch, or by BPF, no longer wait is missing.
static bool knows_all_waits(const Profile *p)
{
    Str way = profile_fact(p, STR(FACT_WAITS));
    return str_equal(way, STR("bpf")) || str_starts_with(way, STR(WAITS_BY_STACKS));
}

CallSteps call_steps(const Profile *p, uint32_t call)
{
    Builder b = {.p = p,
                 .call = call,
                 .threads = {p->calls.thread.at[call].v, end_thread(p, call)},
                 .is_goroutine = call_goroutine(p, call) != 0,
                 .begin = p->calls.begin_ns.at[call],
                 .end = p->calls.end_ns.at[call],
                 .knows_running = knows_all_waits(p)};
    Vec(Order) order = {0};
    find_samples(&b);
    for (size_t i = 0; i < p->states.thread.len; i++)
        if (p->states.end_ns.at[i] > b.begin && p->states.start_ns.at[i] < b.end &&
            is_of_call(&b, p->states.thread.at[i].v, p->states.stack.at[i]))
            vec_push(NULL, &order, (Order){p->states.start_ns.at[i], i});
    if (order.len)
        qsort(order.at, order.len, sizeof(order.at[0]), by_start);
    int64_t cursor = b.begin;
    for (size_t i = 0; i < order.len; i++)
        add_state(&b, order.at[i].row, &cursor);
    if (cursor < b.end)
        add_between(&b, cursor, b.end);
    vec_free(&order);
    vec_free(&b.samples);
    return b.steps;
}
