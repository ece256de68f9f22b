// SPDX-License-Identifier: Apache-2.0
// Keeps a sample of traces (reservoir sampling, Vitter 1985, algorithm R).

#include "coverage/llvm/kept_traces.h"

#include <stdlib.h>

#include "base/table.h"

void cover_traces_deinit(CoverTraces *t)
{
    for (size_t i = 0; i < t->at.len; i++)
        vec_free(&t->at.at[i].refs);
    vec_free(&t->at);
    *t = (CoverTraces){0};
}

// The number of draws so far is the seed of the next one. The result is in [0, limit].
static uint64_t draw(CoverTraces *t, uint64_t limit)
{
    return limit == UINT64_MAX ? 0 : hash_u64(++t->draws) % (limit + 1);
}

static void replace(CoverTrace *old, CoverTrace trace)
{
    vec_free(&old->refs);
    *old = trace;
}

// Takes the trace over.
static void add(CoverTraces *t, CoverTrace trace)
{
    if (t->seen < COVER_TRACES_MAX) {
        vec_push(NULL, &t->at, trace);
    } else {
        uint64_t place = draw(t, t->seen);
        if (place < t->at.len)
            replace(&t->at.at[place], trace);
        else
            vec_free(&trace.refs);
    }
    t->seen++;
}

void cover_traces_add(CoverTraces *t, uint64_t weight, Bytes refs)
{
    size_t count = MIN(refs.len / 8, (size_t)COVER_TRACE_FUNCTIONS_MAX);
    CoverTrace trace = {.weight = weight};
    if (count == 0)
        return;
    vec_extend(NULL, &trace.refs, count);
    memcpy(trace.refs.at, refs.ptr, count * 8);
    add(t, trace);
}

// A function of a raw profile that ran.
typedef struct FirstRun {
    uint64_t time, ref;
} FirstRun;

static int compare_runs(const void *a, const void *b)
{
    const FirstRun *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return (x->ref > y->ref) - (x->ref < y->ref);
}

void cover_traces_add_raw(CoverTraces *t, uint64_t weight, const ProfRaw *p)
{
    Vec(FirstRun) runs = {0};
    U64Vec refs = {0};
    for (uint64_t i = 0; i < p->record_count; i++) {
        ProfRecord r;
        uint64_t time = profraw_first_run(p, i);
        if (time && profraw_record(p, i, &r, NULL))
            vec_push(NULL, &runs, ((FirstRun){time, r.name_ref}));
    }
    if (runs.len)
        qsort(runs.at, runs.len, sizeof(runs.at[0]), compare_runs);
    for (size_t i = 0; i < runs.len; i++)
        vec_push(NULL, &refs, runs.at[i].ref);
    if (refs.len)
        cover_traces_add(t, weight, bytes_over(refs.at, refs.len * 8));
    vec_free(&refs);
    vec_free(&runs);
}

// Adds a sample of a stream of M traces to a sample of N: trace by trace, each place would have
// kept its trace with probability N / (N + M). Any trace of the other sample may stand in a place.
static void add_sample(CoverTraces *t, CoverTraces *from)
{
    uint64_t seen = t->seen + from->seen;
    for (size_t i = 0, taken = 0; i < t->at.len && taken < from->at.len; i++) {
        if (draw(t, seen - 1) < t->seen)
            continue;
        // The next one of a random order: one of those that are left.
        size_t chosen = taken + (size_t)draw(t, from->at.len - taken - 1);
        CoverTrace trace = from->at.at[chosen];
        from->at.at[chosen] = from->at.at[taken];
        from->at.at[taken++] = (CoverTrace){0};
        replace(&t->at.at[i], trace);
    }
    t->seen = MIN(seen, COVER_TRACES_SEEN_MAX);
}

void cover_traces_take(CoverTraces *t, CoverTraces *from)
{
    from->seen = MIN(MAX(from->seen, from->at.len), COVER_TRACES_SEEN_MAX);
    // Of two, the one that was sampled is the one that the other is added to.
    if (t->seen <= COVER_TRACES_MAX && from->seen > COVER_TRACES_MAX) {
        CoverTraces swap = *t;
        *t = *from;
        *from = swap;
    }
    if (from->seen > COVER_TRACES_MAX) {
        add_sample(t, from);
    } else {
        for (size_t i = 0; i < from->at.len; i++) {
            add(t, from->at.at[i]);
            from->at.at[i] = (CoverTrace){0};
        }
    }
    cover_traces_deinit(from);
}
