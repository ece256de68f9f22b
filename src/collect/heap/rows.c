// SPDX-License-Identifier: Apache-2.0
// From sites to the rows of a profile.

#include "collect/heap/rows.h"

#include "model/facts.h"
#include "model/heap_metrics.h"
#include "os/clock.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    SLICES_MAX = 1000,
    FIRST_SLICE_NS = 10000000,
    SUMMING_SHARE = 200,
    SITES_SHOWN = 16, // over time
};

// ---- Over time --------------------------------------------------------------------------

static void add_slice(HeapTimeline *t, HeapSlice s)
{
    HeapSlice *last = t->slices.len ? &t->slices.at[t->slices.len - 1] : NULL;
    if (!last || last->time_ns / t->slice_ns != s.time_ns / t->slice_ns)
        vec_push(NULL, &t->slices, s);
    else if (s.bytes >= last->bytes)
        *last = s;
}

static void merge_slices(HeapTimeline *t)
{
    size_t count = t->slices.len;
    t->slice_ns *= 2;
    t->slices.len = 0;
    for (size_t i = 0; i < count; i++)
        add_slice(t, t->slices.at[i]);
}

void heap_timeline_add(HeapTimeline *t, int64_t time_ns, AgentHeaps *heaps)
{
    if (!t->slice_ns)
        t->slice_ns = FIRST_SLICE_NS;
    AgentHeapLevel level = agent_heaps_level(heaps);
    if (level.is_peak)
        t->peak_ns = time_ns;
    // The cost of looking at many sites must stay small beside the cost that it shows.
    if (time_ns - t->summed_ns >= SUMMING_SHARE * t->summing_ns || t->slices.len == 0) {
        int64_t begin_ns = os_monotonic_ns();
        agent_heaps_sum(heaps, &t->sums);
        t->summing_ns = os_monotonic_ns() - begin_ns;
        t->summed_ns = time_ns;
    }
    add_slice(t, (HeapSlice){time_ns, level.bytes, level.blocks, t->sums});
    if (t->slices.len > SLICES_MAX)
        merge_slices(t);
}

void heap_timeline_deinit(HeapTimeline *t)
{
    vec_free(&t->slices);
}

// A site in the timeline, and the largest that it was there.
typedef struct ShownSite {
    uint32_t heap, site;
    uint64_t most;
    size_t row; // its sample; SIZE_MAX: none
} ShownSite;

typedef Vec(ShownSite) ShownSites;

static ShownSite *find_shown(ShownSites *v, uint32_t heap, uint32_t site)
{
    for (size_t i = 0; i < v->len; i++)
        if (v->at[i].heap == heap && v->at[i].site == site)
            return &v->at[i];
    return NULL;
}

static int by_most(const void *a, const void *b)
{
    const ShownSite *x = a, *y = b;
    return x->most > y->most ? -1 : x->most < y->most;
}

// The sites that were largest at some time.
static void choose_sites(const HeapTimeline *t, ShownSites *ret)
{
    for (size_t i = 0; i < t->slices.len; i++) {
        const AgentHeapSums *sums = &t->slices.at[i].sums;
        for (uint32_t k = 0; k < sums->count; k++) {
            const AgentTopSite *s = &sums->top[k];
            ShownSite *shown = find_shown(ret, s->heap, s->site);
            if (!shown) {
                vec_push(NULL, ret, ((ShownSite){s->heap, s->site, 0, SIZE_MAX}));
                shown = &ret->at[ret->len - 1];
            }
            shown->most = MAX(shown->most, s->bytes);
        }
    }
    if (ret->len)
        qsort(ret->at, ret->len, sizeof(*ret->at), by_most);
    ret->len = MIN(ret->len, (size_t)SITES_SHOWN);
}

// The sites of processes with one stack are one part.
static void add_sites(Profile *p, const HeapSlice *s, ShownSites *shown, MetricId bytes,
                      MetricId blocks)
{
    for (size_t i = 0; i < shown->len; i++) {
        char part[32];
        uint64_t live_bytes = 0, live_blocks = 0;
        if (shown->at[i].row == SIZE_MAX)
            continue;
        StackId stack = p->samples.stack.at[shown->at[i].row];
        for (uint32_t k = 0; k < s->sums.count; k++) {
            const AgentTopSite *top = &s->sums.top[k];
            const ShownSite *of = find_shown(shown, top->heap, top->site);
            if (of && of->row != SIZE_MAX && p->samples.stack.at[of->row].v == stack.v) {
                live_bytes += top->bytes;
                live_blocks += top->blocks;
            }
        }
        bool is_first = true;
        for (size_t k = 0; k < i; k++)
            is_first &=
                shown->at[k].row == SIZE_MAX || p->samples.stack.at[shown->at[k].row].v != stack.v;
        if (!is_first)
            continue;
        snprintf(part, sizeof(part), HEAP_SITE_PART "%" PRIu32, stack.v);
        StrId name = profile_str(p, str_from_c(part));
        profile_add_point(p, bytes, s->time_ns, (double)live_bytes, 0, 0, name);
        profile_add_point(p, blocks, s->time_ns, (double)live_blocks, 0, 0, name);
    }
}

// 0 where a sum has fallen, which only a program that rewrites it can do.
static double rise(uint64_t before, uint64_t now)
{
    return now > before ? (double)(now - before) : 0;
}

static void add_series(Profile *p, const HeapTimeline *t, ShownSites *shown,
                       const MetricId ids[HEAP_METRIC_COUNT])
{
    if (t->slices.len == 0)
        return;
    MetricId bytes = profile_add_metric(p, STR(HEAP_LIVE_BYTES), STR("bytes"), METRIC_MAX, STR(""));
    MetricId blocks = profile_add_metric(p, STR(HEAP_LIVE_BLOCKS), STR(""), METRIC_MAX, STR(""));
    StrId whole = profile_str(p, STR(""));
    AgentHeapSums before = {0};
    for (size_t i = 0; i < t->slices.len; i++) {
        const HeapSlice *s = &t->slices.at[i];
        const AgentHeapSums *sums = &s->sums;
        profile_add_point(p, bytes, s->time_ns, (double)s->bytes, 0, 0, whole);
        profile_add_point(p, blocks, s->time_ns, (double)s->blocks, 0, 0, whole);
        profile_add_point(p, ids[HEAP_BYTES], s->time_ns, rise(before.bytes, sums->bytes), 0, 0,
                          whole);
        profile_add_point(p, ids[HEAP_BLOCKS], s->time_ns, rise(before.blocks, sums->blocks), 0, 0,
                          whole);
        add_sites(p, s, shown, bytes, blocks);
        before = *sums;
    }
}

// ---- Sites ------------------------------------------------------------------------------

// The program that the process ran at a time of the monotonic clock; SIZE_MAX: none is known.
static size_t heap_of(const AgentHeaps *heaps, uint32_t pid, uint64_t at_ns)
{
    size_t found = SIZE_MAX;
    for (size_t i = 0; i < heaps->at.len; i++) {
        const AgentHeap *h = &heaps->at.at[i];
        if (h->pid == pid && h->started_ns <= at_ns &&
            (found == SIZE_MAX || h->started_ns >= heaps->at.at[found].started_ns))
            found = i;
    }
    return found;
}

// Timed calls stand for all of them; sampled ones are weighed already.
static uint64_t time_of(const AgentHeap *h, uint64_t units)
{
    int shift = h->sums.is_sampled ? 0 : WIRE_TIMED_SHIFT;
    double ns = (double)units * h->sums.timer_ns * (1 << shift);
    return ns > 0 && ns < (double)INT64_MAX ? (uint64_t)ns : 0;
}

static uint64_t lifetime_of(const AgentHeap *h, const WireSite *s)
{
    double ns = (double)s->lifetime * h->sums.timer_ns * (1 << WIRE_TIMER_SHIFT);
    if (h->sums.clock_kind != HEAP_CLOCK_NS)
        return s->lifetime;
    return ns > 0 && ns < (double)INT64_MAX ? (uint64_t)ns : 0;
}

static bool changed_since_peak(const AgentHeap *h, const WireSite *s)
{
    return !atomic_load(&h->sums.at_peak) && s->peak_epoch == atomic_load(&h->sums.epoch);
}

static void values_of_mappings(const WireSite *s, uint64_t value[HEAP_METRIC_COUNT])
{
    value[HEAP_MAPPINGS] = s->blocks;
    value[HEAP_MAPPED] = s->bytes;
    value[HEAP_MAPPED_PEAK] = s->max_bytes;
    value[HEAP_MAPPED_END] = s->live_bytes;
}

static void values_of_marks(const WireSite *s, uint64_t value[HEAP_METRIC_COUNT])
{
    value[HEAP_MARKS] = s->blocks;
    value[HEAP_MARK_WEIGHT] = s->bytes;
}

static void values_of_copies(const WireSite *s, uint64_t value[HEAP_METRIC_COUNT])
{
    value[HEAP_COPIES] = s->blocks;
    value[HEAP_COPY_BYTES] = s->bytes;
}

// Blocks from before the agent was attached, whose stack nobody knows: each is as if it were
// allocated when it is freed.
static void values_of_before(Profile *p, size_t row, const WireSite *s,
                             uint64_t value[HEAP_METRIC_COUNT])
{
    FunctionId name = profile_function(p, STR("[before attach]"), STR(""), STR(""), 0);
    FrameId frame = profile_named_frame(p, (ModuleId){0}, 0, name, (StrId){0}, 0, 0);
    p->samples.stack.at[row] = profile_stack(p, (StackId){0}, frame);
    value[HEAP_BLOCKS] = value[HEAP_FREED] = s->blocks;
    value[HEAP_BYTES] = s->bytes;
}

static void values_of_blocks(const AgentHeap *h, const WireSite *s,
                             uint64_t value[HEAP_METRIC_COUNT])
{
    bool changed = changed_since_peak(h, s);
    // Sums of sampled blocks have fractions.
    unsigned shift = h->sums.is_sampled ? WIRE_SAMPLED_SHIFT : 0;
    uint64_t half = shift ? (uint64_t)1 << (shift - 1) : 0;
#define WHOLE(v) (((v) + half) >> shift)
    value[HEAP_BLOCKS] = WHOLE(s->blocks);
    value[HEAP_BYTES] = WHOLE(s->bytes);
    value[HEAP_PEAK_BYTES] = WHOLE(changed ? s->peak_bytes : s->live_bytes);
    value[HEAP_PEAK_BLOCKS] = WHOLE(changed ? s->peak_blocks : s->live_blocks);
    value[HEAP_END_BYTES] = WHOLE(s->live_bytes);
    value[HEAP_END_BLOCKS] = WHOLE(s->live_blocks);
    value[HEAP_MAX_BYTES] = WHOLE(s->max_bytes);
    value[HEAP_MAX_BLOCKS] = WHOLE(s->max_blocks);
    value[HEAP_FREED] = WHOLE(s->freed_blocks);
    value[HEAP_SHORT_LIVED] = WHOLE(s->short_lived);
    value[HEAP_LIFETIME] = lifetime_of(h, s);
    value[HEAP_ELSEWHERE] = WHOLE(s->freed_elsewhere);
    value[HEAP_REALLOCS] = WHOLE(s->reallocs);
    value[HEAP_COPIED] = WHOLE(s->copied_bytes);
    value[HEAP_IN_FRAME] = WHOLE(s->freed_in_frame);
    value[HEAP_LAST_FIRST] = WHOLE(s->freed_last);
    value[HEAP_MOVED] = WHOLE(s->moved);
    value[HEAP_GROWN] = WHOLE(s->grown_bytes);
#undef WHOLE
    value[HEAP_SMALLEST] = s->smallest;
    value[HEAP_LARGEST] = s->largest;
    value[HEAP_MALLOC_NS] = time_of(h, s->mallocs_timed);
    value[HEAP_FREE_NS] = time_of(h, s->frees_timed);
    value[HEAP_VAR_BLOCKS] = s->var_blocks;
    value[HEAP_VAR_BYTES] = s->var_bytes;
    value[HEAP_VAR_PEAK_BLOCKS] = changed ? s->var_peak_blocks : s->var_live_blocks;
    value[HEAP_VAR_PEAK_BYTES] = changed ? s->var_peak_bytes : s->var_live_bytes;
    value[HEAP_VAR_END_BLOCKS] = s->var_live_blocks;
    value[HEAP_VAR_END_BYTES] = s->var_live_bytes;
}

static void set_values(Profile *p, size_t row, const MetricId ids[HEAP_METRIC_COUNT],
                       const uint64_t value[HEAP_METRIC_COUNT])
{
    for (size_t i = 0; i < HEAP_METRIC_COUNT; i++)
        if (i == 0 || ids[i].v != ids[0].v)
            profile_sample_set(p, row, ids[i], (int64_t)MIN(value[i], (uint64_t)INT64_MAX));
}

// ---- Sizes ------------------------------------------------------------------------------

typedef struct SizeMetrics {
    bool has[HEAP_SIZE_CLASSES];
    MetricId of[HEAP_SIZE_CLASSES];
} SizeMetrics;

// How many blocks a site has of each class.
static void sizes_of(const AgentHeap *h, const WireSite *s, uint64_t ret[HEAP_SIZE_CLASSES])
{
    unsigned shift = h->sums.is_sampled ? WIRE_SAMPLED_SHIFT : 0;
    uint64_t others = 0;
    memset(ret, 0, HEAP_SIZE_CLASSES * sizeof(*ret));
    if (s->kind != WIRE_SITE_BLOCKS)
        return;
    for (unsigned i = 0; i < WIRE_SIZE_CLASSES; i++) {
        ret[i] = s->by_size[i] >> shift;
        others += s->by_size[i];
    }
    ret[heap_size_class(s->first_size)] += s->blocks > others ? (s->blocks - others) >> shift : 0;
}

static void add_size_metrics(Profile *p, const AgentHeaps *heaps, SizeMetrics *ret)
{
    for (size_t i = 0; i < heaps->at.len; i++)
        for (uint32_t site = 0; site < heaps->at.at[i].site_count; site++) {
            uint64_t sizes[HEAP_SIZE_CLASSES];
            sizes_of(&heaps->at.at[i], &heaps->at.at[i].sites[site], sizes);
            for (unsigned c = 0; c < HEAP_SIZE_CLASSES; c++)
                ret->has[c] |= sizes[c] != 0;
        }
    for (unsigned c = 0; c < HEAP_SIZE_CLASSES; c++) {
        char name[HEAP_SIZE_NAME_MAX];
        if (ret->has[c])
            ret->of[c] =
                profile_add_metric(p, heap_size_name(c, name), STR(""), METRIC_SUM, STR(""));
    }
}

static void set_sizes(Profile *p, size_t row, const SizeMetrics *m, const AgentHeap *h,
                      const WireSite *s)
{
    uint64_t sizes[HEAP_SIZE_CLASSES];
    sizes_of(h, s, sizes);
    for (unsigned c = 0; c < HEAP_SIZE_CLASSES; c++)
        if (sizes[c])
            profile_sample_set(p, row, m->of[c], (int64_t)MIN(sizes[c], (uint64_t)INT64_MAX));
}

// ---- The whole --------------------------------------------------------------------------

static void note_sums(Profile *p, const AgentHeaps *heaps, bool copies)
{
    uint32_t least = WIRE_SITES_MAX;
    uint64_t unknown = 0, nested = 0, no_room = 0, no_table = 0, stuck = 0, missed = 0;
    uint64_t refused = 0, of_children = 0, unloading = 0;
    Str path = {0};
    for (size_t i = 0; i < heaps->at.len; i++) {
        const WireHeap *s = &heaps->at.at[i].sums;
        unknown += atomic_load(&s->unknown_frees);
        nested += atomic_load(&s->nested);
        no_room += atomic_load(&s->no_room);
        no_table += atomic_load(&s->no_table);
        stuck += atomic_load(&s->stuck);
        missed += s->entries_missed;
        of_children += atomic_load(&s->calls_of_children);
        if (atomic_load(&s->unloading) && !path.len)
            path =
                str_over(s->unloading_path, strnlen(s->unloading_path, sizeof(s->unloading_path)));
        unloading += atomic_load(&s->unloading);
        refused += s->sites_max == 0;
        if (s->sites_max && s->sites_max < least)
            least = s->sites_max;
    }
    if (unknown)
        profile_note(p, NOTE_INFO, STR("unknown-frees"),
                     "%" PRIu64 " freed blocks were allocated before the recording, by a parent "
                     "process, or are among those left out",
                     unknown);
    if (nested)
        profile_note(p, NOTE_WARNING, STR("left-out-allocations"),
                     "%" PRIu64
                     " %s in signal handlers and at the very end of threads were left out",
                     nested, copies ? "allocations and copies" : "allocations");
    if (no_room)
        profile_note(p, NOTE_WARNING, STR("no-room"),
                     "%" PRIu64 " %s were left out: there was no room for another of "
                     "their stacks (at most %u for each process)",
                     no_room, copies ? "allocations and copies" : "allocations", least);
    if (least < WIRE_SITES_MAX)
        profile_note(p, NOTE_INFO, STR("fewer-sites"),
                     "little address space (ulimit -v): a process has room for %u stacks that "
                     "allocate, instead of %d",
                     least, WIRE_SITES_MAX);
    if (refused)
        profile_note(p, NOTE_WARNING, STR("too-few-addresses"),
                     "%" PRIu64 " %s may have less than %d MiB of addresses (ulimit -v), which "
                     "leaves no room for an account of the blocks: what they allocate is not in "
                     "this recording",
                     refused, refused == 1 ? "process" : "processes", WIRE_LEAST_ADDRESSES >> 20);
    if (no_table)
        profile_note(p, NOTE_WARNING, STR("no-address-space"),
                     "%" PRIu64 " blocks count as freed at once: there was no address space to "
                     "keep account of them (ulimit -v)",
                     no_table);
    if (missed)
        profile_note(p, NOTE_WARNING, STR("missed-entries"),
                     "%" PRIu64 " functions of the program that allocate could not be hooked, "
                     "because their code may not be changed (SELinux, seccomp); what they gave out "
                     "is not in this recording",
                     missed);
    if (unloading)
        profile_note(p, NOTE_WARNING, STR("loads-nothing"),
                     "programs that load no library (statically linked, or of 32 bits) were "
                     "executed %" PRIu64 " %s, and their blocks are not in this recording; the "
                     "first is '%" STR_FMT "'; assay heap -- PROGRAM records a static program that "
                     "has symbols",
                     unloading, unloading == 1 ? "time" : "times", STR_ARG(path));
    if (of_children)
        profile_note(p, NOTE_WARNING, STR("child-processes"),
                     "%" PRIu64 " calls that allocate or free, of processes that the program "
                     "forked, are not in this recording: blocks of children are recorded where "
                     "the program is linked dynamically and started by assay heap",
                     of_children);
    if (stuck)
        profile_note(p, NOTE_WARNING, STR("stuck"),
                     "%" PRIu64 " times another thread held a site's sums too long, and the sums "
                     "lack one change",
                     stuck);
}

static bool has_kind(const AgentHeaps *heaps, WireSiteKind kind)
{
    for (size_t i = 0; i < heaps->at.len; i++)
        for (uint32_t site = 0; site < heaps->at.at[i].site_count; site++)
            if (heaps->at.at[i].sites[site].kind == kind)
                return true;
    return false;
}

static void add_metrics(Profile *p, const AgentHeaps *heaps, const HeapRowOptions *o,
                        MetricId ids[HEAP_METRIC_COUNT])
{
    static const struct {
        const char *name, *unit;
        MetricKind kind;
        int which;
    } metrics[] = {
#define ROW(name, text, unit, kind, which) {text, unit, kind, which},
        HEAP_METRICS(ROW)
#undef ROW
    };
    bool marks = has_kind(heaps, WIRE_SITE_MARKS);
    for (size_t i = 1; i < HEAP_METRIC_COUNT; i++) {
        ids[i] = ids[0];
        if ((metrics[i].which == HEAP_MAPPED_ONLY && !o->mappings) ||
            (metrics[i].which == HEAP_MARKED_ONLY && !marks) ||
            (metrics[i].which == HEAP_COPIES_ONLY && !o->copies) ||
            (metrics[i].which == HEAP_SAMPLED_ONLY && !o->sample_bytes))
            continue;
        const char *unit = i == HEAP_LIFETIME ? heap_clock_name(o->clock) : metrics[i].unit;
        ids[i] = profile_add_metric(p, str_from_c(metrics[i].name), str_from_c(unit),
                                    metrics[i].kind, STR(""));
    }
}

static void set_number(Profile *p, Str key, uint64_t value)
{
    char text[32];
    snprintf(text, sizeof(text), "%" PRIu64, value);
    profile_set_fact(p, key, str_from_c(text));
}

static void set_facts(Profile *p, const HeapRowOptions *o, const HeapTimeline *t)
{
    profile_set_fact(p, STR(FACT_COLLECTOR), STR(COLLECTOR_HEAP));
    profile_set_fact(p, STR(FACT_HEAP_CLOCK), str_from_c(heap_clock_name(o->clock)));
    set_number(p, STR(FACT_HEAP_SHORT_LIVED), o->short_lived);
    if (o->sample_bytes)
        set_number(p, STR(FACT_HEAP_SAMPLE), o->sample_bytes);
    if (t->peak_ns > 0)
        set_number(p, STR(FACT_HEAP_PEAK_NS), (uint64_t)t->peak_ns);
}

void heap_fill_rows(Profile *p, MetricId site_metric, const AgentHeaps *heaps,
                    const HeapTimeline *timeline, int64_t origin_ns, const HeapRowOptions *options)
{
    MetricId ids[HEAP_METRIC_COUNT] = {site_metric};
    SizeMetrics sizes = {0};
    ShownSites shown = {0};
    uint64_t lost = 0;
    add_metrics(p, heaps, options, ids);
    add_size_metrics(p, heaps, &sizes);
    choose_sites(timeline, &shown);
    const I64Vec *site_of = &p->samples.values[site_metric.v];
    for (size_t row = 0; row < p->samples.stack.len; row++) {
        int64_t number = site_of->at[row];
        uint64_t value[HEAP_METRIC_COUNT] = {0};
        if (number <= 0)
            continue;
        uint32_t pid = p->processes.pid.at[p->threads.process.at[p->samples.thread.at[row].v].v];
        size_t of = heap_of(heaps, pid, (uint64_t)(p->samples.time_ns.at[row] + origin_ns));
        const AgentHeap *h = of == SIZE_MAX ? NULL : &heaps->at.at[of];
        if (h && (uint64_t)number <= h->site_count) {
            const WireSite *s = &h->sites[number - 1];
            ShownSite *in_timeline = find_shown(&shown, (uint32_t)of, (uint32_t)number - 1);
            if (in_timeline)
                in_timeline->row = row;
            if (s->kind == WIRE_SITE_MAPPINGS)
                values_of_mappings(s, value);
            else if (s->kind == WIRE_SITE_MARKS)
                values_of_marks(s, value);
            else if (s->kind == WIRE_SITE_COPIES)
                values_of_copies(s, value);
            else if (s->kind == WIRE_SITE_BEFORE)
                values_of_before(p, row, s, value);
            else
                values_of_blocks(h, s, value);
            set_sizes(p, row, &sizes, h, s);
        } else {
            lost++;
        }
        set_values(p, row, ids, value);
    }
    if (lost)
        profile_note(p, NOTE_WARNING, STR("lost-sites"),
                     "of %" PRIu64 " stacks the sums were damaged or are gone", lost);
    add_series(p, timeline, &shown, ids);
    vec_free(&shown);
    note_sums(p, heaps, options->copies);
    set_facts(p, options, timeline);
}
