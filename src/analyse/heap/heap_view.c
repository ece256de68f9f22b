// SPDX-License-Identifier: Apache-2.0
// Computes the sites of a recording of the heap.

#include "analyse/heap/heap_view.h"

#include "analyse/keys.h"
#include "base/table.h"
#include "model/facts.h"

#include <math.h>
#include <stdlib.h>

static const struct {
    const char *name;
    MetricKind kind;
} metrics[] = {
#define ROW(name, text, unit, kind, which) {text, kind},
    HEAP_METRICS(ROW)
#undef ROW
};

bool heap_metric_find(const Profile *p, enum HeapMetric metric, MetricId *ret)
{
    Str name = str_from_c(metrics[metric].name);
    for (uint32_t m = 0; m < p->metrics.name.len; m++)
        if (str_equal(profile_text(p, p->metrics.name.at[m]), name)) {
            ret->v = m;
            return true;
        }
    return false;
}

bool heap_view_applies(const Profile *p)
{
    MetricId m;
    bool counts = heap_metric_find(p, HEAP_BLOCKS, &m) || heap_metric_find(p, HEAP_BYTES, &m);
    return counts || heap_metric_find(p, HEAP_PEAK_BYTES, &m);
}

// ---- Rows -------------------------------------------------------------------------------

static uint64_t add_capped(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

// Adds the values of a stack. Of levels the highest stays, of the smallest block the smallest.
static void add_values(uint64_t *into, const uint64_t *more)
{
    bool first = into[HEAP_BLOCKS] == 0 && into[HEAP_LARGEST] == 0;
    uint64_t smallest = first ? more[HEAP_SMALLEST] : MIN(into[HEAP_SMALLEST], more[HEAP_SMALLEST]);
    if (more[HEAP_BLOCKS] == 0 && more[HEAP_LARGEST] == 0)
        smallest = into[HEAP_SMALLEST];
    for (size_t m = 0; m < HEAP_METRIC_COUNT; m++)
        into[m] =
            metrics[m].kind == METRIC_MAX ? MAX(into[m], more[m]) : add_capped(into[m], more[m]);
    into[HEAP_SMALLEST] = smallest;
}

typedef struct Builder {
    HeapView *v;
    uint32_t *of_stack; // [stack]: row of v->stacks + 1
    Table of_place;     // {function, file, line} to row of v->places
    uint8_t *libraries;
} Builder;

static uint32_t place_of(Builder *b, const HeapRow *stack)
{
    const Frames *f = &b->v->p->frames;
    uint32_t at = stack->place.frame.v, row;
    uint64_t hash = hash_pair((uint64_t)f->function.at[at].v << 32 | f->line.at[at],
                              (uint64_t)f->file.at[at].v << 32 | f->module.at[at].v);
    bool is_named = f->function.at[at].v != 0;
    for (TableProbe t = table_probe(&b->of_place, hash); table_next(&b->of_place, &t, &row);) {
        uint32_t other = b->v->places.at[row].place.frame.v;
        if (f->function.at[other].v == f->function.at[at].v &&
            f->line.at[other] == f->line.at[at] && f->file.at[other].v == f->file.at[at].v &&
            f->module.at[other].v == f->module.at[at].v && (is_named || other == at))
            return row;
    }
    row = (uint32_t)b->v->places.len;
    table_insert(&b->of_place, hash, row);
    vec_push(NULL, &b->v->places, (HeapRow){.stack = stack->stack, .place = stack->place});
    return row;
}

static void add_places(Builder *b)
{
    HeapView *v = b->v;
    U64Vec most = {0}; // [place]: blocks of its greatest stack
    for (size_t i = 0; i < v->stacks.len; i++) {
        HeapRow *stack = &v->stacks.at[i];
        stack->place = user_place_of(v->p, b->libraries, stack->stack);
        uint32_t row = place_of(b, stack);
        HeapRow *place = &v->places.at[row];
        stack->first = row;
        while (most.len <= row)
            vec_push(NULL, &most, 0);
        if (place->first == 0 || stack->value[HEAP_BLOCKS] > most.at[row]) {
            most.at[row] = stack->value[HEAP_BLOCKS];
            place->stack = stack->stack;
            place->place = stack->place;
        }
        add_values(place->value, stack->value);
        place->first++;
    }
    vec_free(&most);
}

static void add_sample(Builder *b, uint32_t sample, const MetricId *ids)
{
    HeapView *v = b->v;
    const Samples *s = &v->p->samples;
    uint64_t value[HEAP_METRIC_COUNT] = {0};
    for (size_t m = 0; m < HEAP_METRIC_COUNT; m++)
        if (v->has[m])
            value[m] = (uint64_t)MAX(s->values[ids[m].v].at[sample], (int64_t)0);
    StackId stack = s->stack.at[sample];
    uint32_t *row = &b->of_stack[stack.v];
    if (*row == 0) {
        vec_push(NULL, &v->stacks, (HeapRow){.stack = stack});
        *row = (uint32_t)v->stacks.len;
    }
    add_values(v->stacks.at[*row - 1].value, value);
    add_values(v->total, value);
}

static void add_sizes(HeapView *v, const U32Vec *samples)
{
    const Profile *p = v->p;
    char name[HEAP_SIZE_NAME_MAX];
    for (size_t m = 0; m < p->metrics.name.len; m++) {
        Str metric = profile_text(p, p->metrics.name.at[m]);
        if (!str_starts_with(metric, STR("blocks of ")))
            continue;
        unsigned c = 0;
        while (c < HEAP_SIZE_CLASSES && !str_equal(heap_size_name(c, name), metric))
            c++;
        for (size_t i = 0; i < samples->len && c < HEAP_SIZE_CLASSES; i++)
            v->sizes[c] += (uint64_t)MAX(p->samples.values[m].at[samples->at[i]], (int64_t)0);
    }
}

// ---- Processes ---------------------------------------------------------------------------

// A peak is that of one process: those of several need not have been at one time.
static void find_peak(HeapView *v, const U32Vec *samples, const MetricId *ids)
{
    const Profile *p = v->p;
    size_t processes = p->processes.pid.len;
    uint64_t *sums = heap_alloc((processes + 1) * 3 * sizeof(*sums));
    for (size_t i = 0; i < samples->len; i++) {
        uint32_t sample = samples->at[i];
        ThreadId thread = p->samples.thread.at[sample];
        uint32_t process = p->threads.process.at[thread.v].v;
        if (v->has[HEAP_PEAK_BYTES])
            sums[3 * process] +=
                (uint64_t)MAX(p->samples.values[ids[HEAP_PEAK_BYTES].v].at[sample], (int64_t)0);
        if (v->has[HEAP_PEAK_BLOCKS])
            sums[3 * process + 1] +=
                (uint64_t)MAX(p->samples.values[ids[HEAP_PEAK_BLOCKS].v].at[sample], (int64_t)0);
        sums[3 * process + 2]++;
    }
    for (size_t i = 0; i < processes; i++) {
        v->processes += sums[3 * i + 2] > 0;
        if (sums[3 * i] <= v->peak_bytes && v->peak_bytes)
            continue;
        v->peak_bytes = sums[3 * i];
        v->peak_blocks = sums[3 * i + 1];
        v->peak_pid = p->processes.pid.at[i];
    }
    heap_free(sums);
}

bool heap_view_init(HeapView *v, const Profile *p, const Selection *s, Error *err)
{
    U32Vec samples = {0};
    MetricId ids[HEAP_METRIC_COUNT] = {{0}};
    *v = (HeapView){.p = p};
    if (!selection_samples(p, s, true, &samples, err))
        return false;
    for (size_t m = 0; m < HEAP_METRIC_COUNT; m++)
        v->has[m] = heap_metric_find(p, (enum HeapMetric)m, &ids[m]);
    Builder b = {.v = v};
    b.of_stack = heap_alloc((p->stacks.parent.len + 1) * sizeof(*b.of_stack));
    b.libraries = user_code_libraries(p);
    for (size_t i = 0; i < samples.len; i++) {
        bool counts = false;
        for (size_t m = 0; m < HEAP_METRIC_COUNT && !counts; m++)
            counts = v->has[m] && p->samples.values[ids[m].v].at[samples.at[i]] > 0;
        if (counts) // else a sample of a recording that has samples of time, too
            add_sample(&b, samples.at[i], ids);
    }
    add_places(&b);
    add_sizes(v, &samples);
    (void)profile_fact_u64(p, STR(FACT_HEAP_SAMPLE), &v->sample_bytes);
    find_peak(v, &samples, ids);
    (void)profile_fact_u64(p, STR(FACT_WALL_NS), &v->wall_ns);
    heap_free(b.of_stack);
    heap_free(b.libraries);
    table_deinit(&b.of_place);
    vec_free(&samples);
    return true;
}

void heap_view_deinit(HeapView *v)
{
    vec_free(&v->stacks);
    vec_free(&v->places);
}

// ---- Order -------------------------------------------------------------------------------

typedef struct SortRow {
    uint64_t key[3];
    size_t at;
} SortRow;

static int compare_rows(const void *left, const void *right)
{
    const SortRow *a = left, *b = right;
    for (size_t i = 0; i < ARRAY_LEN(a->key); i++)
        if (a->key[i] != b->key[i])
            return a->key[i] > b->key[i] ? -1 : 1;
    return a->at < b->at ? -1 : a->at > b->at;
}

static uint64_t sort_value(const HeapRow *row, enum HeapMetric by)
{
    if (by != HEAP_LIFETIME)
        return row->value[by];
    return row->value[HEAP_FREED] ? row->value[by] / row->value[HEAP_FREED] : 0;
}

void heap_places_sort(HeapView *v, enum HeapMetric by)
{
    HeapRowVec *rows = &v->places;
    if (rows->len == 0)
        return;
    SortRow *order = heap_alloc(rows->len * sizeof(*order));
    HeapRow *sorted = heap_alloc(rows->len * sizeof(*sorted));
    for (size_t i = 0; i < rows->len; i++) {
        const HeapRow *row = &rows->at[i];
        order[i] =
            (SortRow){{sort_value(row, by), row->value[HEAP_BLOCKS], row->value[HEAP_BYTES]}, i};
    }
    qsort(order, rows->len, sizeof(*order), compare_rows);
    uint32_t *place = heap_alloc(rows->len * sizeof(*place)); // [as it was]: now
    for (uint32_t i = 0; i < rows->len; i++) {
        sorted[i] = rows->at[order[i].at];
        place[order[i].at] = i;
    }
    for (size_t i = 0; i < v->stacks.len; i++)
        v->stacks.at[i].first = place[v->stacks.at[i].first];
    heap_free(place);
    memcpy(rows->at, sorted, rows->len * sizeof(*sorted));
    heap_free(sorted);
    heap_free(order);
}

double heap_mean_lifetime(const HeapView *v, const uint64_t *value)
{
    if (!v->has[HEAP_LIFETIME] || value[HEAP_FREED] == 0)
        return NAN;
    return (double)value[HEAP_LIFETIME] / (double)value[HEAP_FREED];
}

double heap_interval(const HeapView *v, const uint64_t *value, enum HeapMetric metric)
{
    static const double two_sided = 1.96, kib = 1024;
    static const struct {
        enum HeapMetric of, variance;
    } variances[] = {
        {HEAP_BLOCKS, HEAP_VAR_BLOCKS},           {HEAP_BYTES, HEAP_VAR_BYTES},
        {HEAP_PEAK_BLOCKS, HEAP_VAR_PEAK_BLOCKS}, {HEAP_PEAK_BYTES, HEAP_VAR_PEAK_BYTES},
        {HEAP_END_BLOCKS, HEAP_VAR_END_BLOCKS},   {HEAP_END_BYTES, HEAP_VAR_END_BYTES},
    };
    for (size_t i = 0; i < ARRAY_LEN(variances); i++)
        if (variances[i].of == metric && v->has[variances[i].variance]) {
            bool is_bytes = i % 2 == 1;
            double unit = is_bytes ? kib : 1;
            return two_sided * sqrt((double)value[variances[i].variance]) * unit;
        }
    return NAN;
}

void heap_row_add_name(const HeapView *v, const HeapRow *row, StrBuf *out)
{
    frame_add_function_name(v->p, row->place.frame, out);
}
