// SPDX-License-Identifier: Apache-2.0
// From sites to the rows of a profile.

#include "collect/heap/rows.h"

#include "model/facts.h"
#include "model/heap_metrics.h"

#include <inttypes.h>

enum { SLICES_MAX = 1000, FIRST_SLICE_NS = 10000000 };

// ---- Over time --------------------------------------------------------------------------

static void add_slice(HeapTimeline *t, HeapSlice s)
{
    HeapSlice *last = t->slices.len ? &t->slices.at[t->slices.len - 1] : NULL;
    if (!last || last->time_ns / t->slice_ns != s.time_ns / t->slice_ns)
        vec_push(NULL, &t->slices, s);
    else if (s.bytes >= last->bytes)
        *last = s;
}

void heap_timeline_add(HeapTimeline *t, int64_t time_ns, uint64_t bytes, uint64_t blocks)
{
    if (!t->slice_ns)
        t->slice_ns = FIRST_SLICE_NS;
    add_slice(t, (HeapSlice){time_ns, bytes, blocks});
    if (t->slices.len <= SLICES_MAX)
        return;
    size_t count = t->slices.len;
    t->slice_ns *= 2;
    t->slices.len = 0;
    for (size_t i = 0; i < count; i++)
        add_slice(t, t->slices.at[i]);
}

void heap_timeline_deinit(HeapTimeline *t)
{
    vec_free(&t->slices);
}

static void add_series(Profile *p, const HeapTimeline *t)
{
    if (t->slices.len == 0)
        return;
    MetricId bytes = profile_add_metric(p, STR(HEAP_LIVE_BYTES), STR("bytes"), METRIC_MAX, STR(""));
    MetricId blocks = profile_add_metric(p, STR(HEAP_LIVE_BLOCKS), STR(""), METRIC_MAX, STR(""));
    StrId whole = profile_str(p, STR(""));
    for (size_t i = 0; i < t->slices.len; i++) {
        const HeapSlice *s = &t->slices.at[i];
        profile_add_point(p, bytes, s->time_ns, (double)s->bytes, 0, 0, whole);
        profile_add_point(p, blocks, s->time_ns, (double)s->blocks, 0, 0, whole);
    }
}

// ---- Sites ------------------------------------------------------------------------------

// The program that the process ran at a time of the monotonic clock.
static const AgentHeap *heap_of(const AgentHeaps *heaps, uint32_t pid, uint64_t at_ns)
{
    const AgentHeap *found = NULL;
    for (size_t i = 0; i < heaps->at.len; i++) {
        const AgentHeap *h = &heaps->at.at[i];
        if (h->pid == pid && h->started_ns <= at_ns &&
            (!found || h->started_ns >= found->started_ns))
            found = h;
    }
    return found;
}

static void values_of(const AgentHeap *h, const WireSite *s, int64_t ret[HEAP_METRIC_COUNT])
{
    bool at_peak = atomic_load(&h->sums.at_peak);
    bool changed = !at_peak && s->peak_epoch == atomic_load(&h->sums.epoch);
    const uint64_t value[HEAP_METRIC_COUNT] = {
        [HEAP_BLOCKS] = s->blocks,
        [HEAP_BYTES] = s->bytes,
        [HEAP_PEAK_BYTES] = changed ? s->peak_bytes : s->live_bytes,
        [HEAP_PEAK_BLOCKS] = changed ? s->peak_blocks : s->live_blocks,
        [HEAP_END_BYTES] = s->live_bytes,
        [HEAP_END_BLOCKS] = s->live_blocks,
        [HEAP_MAX_BYTES] = s->max_bytes,
        [HEAP_MAX_BLOCKS] = s->max_blocks,
        [HEAP_FREED] = s->freed_blocks,
        [HEAP_SHORT_LIVED] = s->short_lived,
        [HEAP_LIFETIME] = s->lifetime,
        [HEAP_ELSEWHERE] = s->freed_elsewhere,
        [HEAP_REALLOCS] = s->reallocs,
        [HEAP_COPIED] = s->copied_bytes,
        [HEAP_SMALLEST] = s->smallest,
        [HEAP_LARGEST] = s->largest,
    };
    for (size_t i = 0; i < HEAP_METRIC_COUNT; i++)
        ret[i] = (int64_t)MIN(value[i], (uint64_t)INT64_MAX);
}

static void note_sums(Profile *p, const AgentHeaps *heaps)
{
    uint64_t unknown = 0, nested = 0, no_room = 0, no_table = 0, stuck = 0;
    for (size_t i = 0; i < heaps->at.len; i++) {
        const WireHeap *s = &heaps->at.at[i].sums;
        unknown += atomic_load(&s->unknown_frees);
        nested += atomic_load(&s->nested);
        no_room += atomic_load(&s->no_room);
        no_table += atomic_load(&s->no_table);
        stuck += atomic_load(&s->stuck);
    }
    if (unknown)
        profile_note(p, NOTE_INFO, STR("unknown-frees"),
                     "%" PRIu64 " freed blocks were allocated before the recording, by a parent "
                     "process, or are among those left out",
                     unknown);
    if (nested)
        profile_note(p, NOTE_WARNING, STR("left-out-allocations"),
                     "%" PRIu64 " allocations in signal handlers and at the very end of threads "
                     "were left out",
                     nested);
    if (no_room)
        profile_note(p, NOTE_WARNING, STR("no-room"),
                     "%" PRIu64 " allocations were left out: there was no room for another of "
                     "their stacks (at most %d for each process)",
                     no_room, WIRE_SITES_MAX);
    if (no_table)
        profile_note(p, NOTE_WARNING, STR("no-address-space"),
                     "%" PRIu64 " blocks count as freed at once: there was no address space to "
                     "keep account of them (ulimit -v)",
                     no_table);
    if (stuck)
        profile_note(p, NOTE_WARNING, STR("stuck"),
                     "%" PRIu64 " times another thread held a site's sums too long, and the sums "
                     "lack one change",
                     stuck);
}

void heap_fill_rows(Profile *p, MetricId site_metric, const AgentHeaps *heaps,
                    const HeapTimeline *timeline, int64_t origin_ns)
{
    static const struct {
        const char *name, *unit;
        MetricKind kind;
    } metrics[] = {
#define ROW(name, text, unit, kind) {text, unit, kind},
        HEAP_METRICS(ROW)
#undef ROW
    };
    MetricId ids[HEAP_METRIC_COUNT] = {site_metric};
    uint64_t lost = 0;
    for (size_t i = 1; i < HEAP_METRIC_COUNT; i++)
        ids[i] = profile_add_metric(p, str_from_c(metrics[i].name), str_from_c(metrics[i].unit),
                                    metrics[i].kind, STR(""));
    const I64Vec *site_of = &p->samples.values[site_metric.v];
    for (size_t row = 0; row < p->samples.stack.len; row++) {
        int64_t number = site_of->at[row], value[HEAP_METRIC_COUNT] = {0};
        if (number <= 0)
            continue;
        uint32_t pid = p->processes.pid.at[p->threads.process.at[p->samples.thread.at[row].v].v];
        const AgentHeap *h =
            heap_of(heaps, pid, (uint64_t)(p->samples.time_ns.at[row] + origin_ns));
        if (h && (uint64_t)number <= h->site_count)
            values_of(h, &h->sites[number - 1], value);
        else
            lost++;
        for (size_t i = 0; i < HEAP_METRIC_COUNT; i++)
            profile_sample_set(p, row, ids[i], value[i]);
    }
    if (lost)
        profile_note(p, NOTE_WARNING, STR("lost-sites"),
                     "of %" PRIu64 " stacks the sums were damaged or are gone", lost);
    add_series(p, timeline);
    note_sums(p, heaps);
    profile_set_fact(p, STR(FACT_COLLECTOR), STR(COLLECTOR_HEAP));
}
