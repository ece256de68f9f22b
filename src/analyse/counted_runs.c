// SPDX-License-Identifier: Apache-2.0
// Runs' values and series -> rows.

#include "analyse/counted_runs.h"

#include <math.h>

#include "model/facts.h"
#include "model/run_names.h"
#include "stats/summary.h"

// The sums of a row before its mean is computed.
typedef struct Gathered {
    DoubleVec values; // of the runs that have one
    uint64_t enabled_ns, running_ns;
} Gathered;

static CountMean mean_of(const DoubleVec *x)
{
    const Interval none = {NAN, NAN, NAN};
    double mean = stats_mean(x->at, x->len);
    if (x->len < 2)
        return (CountMean){mean, NAN, none};
    return (CountMean){mean, stats_deviation(x->at, x->len) / sqrt((double)x->len) / mean,
                       stats_mean_interval(x->at, x->len, 0.95)};
}

// The kernel's name of a metric's event, without modifiers.
static Str event_of(const Profile *p, MetricId metric)
{
    Str event = profile_text(p, p->metrics.event.at[metric.v]);
    return str_slice(event, 0, MIN(str_find_char(event, ':'), event.len));
}

// Rows of one part are neighbours, or the part has no more than one row of an event.
static void add_derived(Arena *arena, const Profile *p, CountRowVec *rows, double elapsed_s)
{
    Str *events = arena_array(arena, Str, rows->len + 1);
    double *values = arena_array(arena, double, rows->len + 1);
    for (size_t i = 0; i < rows->len; i++) {
        events[i] = event_of(p, rows->at[i].metric);
        values[i] = rows->at[i].value.mean;
    }
    for (size_t from = 0, end; from < rows->len; from = end) {
        for (end = from; end < rows->len && rows->at[end].part.v == rows->at[from].part.v;)
            end++;
        DerivedInput in = {events + from, values + from, end - from, elapsed_s};
        for (size_t i = from; i < end; i++)
            rows->at[i].derived = derive(&in, i - from);
    }
}

static bool is_measured(const Profile *p, uint32_t run, StrId name)
{
    return p->runs.name.at[run].v == name.v && !(p->runs.flags.at[run] & RUN_NO_STATISTIC);
}

static CountMean mean_seconds(const Counts *c, const I64Vec *column)
{
    DoubleVec x = {0};
    for (size_t i = 0; i < c->runs.len; i++)
        if (column->at[c->runs.at[i].v] != TIME_NONE)
            vec_push(NULL, &x, (double)column->at[c->runs.at[i].v] * 1e-9);
    CountMean mean = mean_of(&x);
    vec_free(&x);
    return mean;
}

static uint64_t row_hash(MetricId metric, StrId part)
{
    return hash_pair(metric.v, part.v);
}

static size_t row_find(const CountRowVec *rows, const Table *index, MetricId metric, StrId part)
{
    uint32_t row;
    for (TableProbe probe = table_probe(index, row_hash(metric, part));
         table_next(index, &probe, &row);)
        if (rows->at[row].metric.v == metric.v && rows->at[row].part.v == part.v)
            return row;
    return SIZE_MAX;
}

void counts_init(Counts *ret, Arena *arena, const Profile *p, StrId name)
{
    const RunValues *v = &p->run_values;
    Counts c = {.profile = p, .name = name};
    Vec(Gathered) gathered = {0};
    Table index = {0};
    for (uint32_t i = 0; i < p->runs.name.len; i++)
        if (is_measured(p, i, name))
            vec_push(arena, &c.runs, (RunId){i});
    for (size_t i = 0; i < v->run.len; i++) {
        if (!is_measured(p, v->run.at[i].v, name))
            continue;
        MetricId metric = v->metric.at[i];
        StrId part = v->part.at[i];
        size_t row = row_find(&c.rows, &index, metric, part);
        if (row == SIZE_MAX) {
            row = c.rows.len;
            table_insert(&index, row_hash(metric, part), (uint32_t)row);
            vec_push(arena, &c.rows, (CountRow){.metric = metric, .part = part});
            vec_push(arena, &gathered, (Gathered){0});
        }
        Gathered *g = &gathered.at[row];
        if (!isnan(v->value.at[i]))
            vec_push(arena, &g->values, v->value.at[i]);
        g->enabled_ns += v->enabled_ns.at[i];
        g->running_ns += v->running_ns.at[i];
    }
    table_deinit(&index);
    for (size_t i = 0; i < c.rows.len; i++) {
        const Gathered *g = &gathered.at[i];
        c.rows.at[i].value = mean_of(&g->values);
        c.rows.at[i].running_ns = g->running_ns / c.runs.len;
        c.rows.at[i].running_share =
            g->enabled_ns ? (double)g->running_ns / (double)g->enabled_ns * 100 : 0;
    }
    c.wall_s = mean_seconds(&c, &p->runs.wall_ns);
    c.user_s = mean_seconds(&c, &p->runs.user_ns);
    c.system_s = mean_seconds(&c, &p->runs.system_ns);
    add_derived(arena, p, &c.rows, c.wall_s.mean);
    *ret = c;
}

StrIdVec counts_names(Arena *arena, const Profile *p)
{
    StrIdVec names = {0};
    uint8_t *seen = heap_alloc(p->strings.texts.len + 1);
    for (size_t i = 0; i < p->runs.name.len; i++) {
        StrId name = p->runs.name.at[i];
        if (!seen[name.v])
            vec_push(arena, &names, name);
        seen[name.v] = 1;
    }
    heap_free(seen);
    return names;
}

bool counts_next_span(const Profile *p, CountSpan *at)
{
    const I64Vec *times = &p->series.time_ns;
    size_t from = at->first + at->count, end = from;
    if (from >= times->len)
        return false;
    while (end < times->len && times->at[end] == times->at[from])
        end++;
    int64_t before = at->count ? at->end_ns : 0, length;
    if (__builtin_sub_overflow(times->at[from], before, &length))
        length = 0; // the times of a damaged file
    *at = (CountSpan){from, end - from, times->at[from], length};
    return true;
}

CountRowVec counts_of_span(Arena *arena, const Profile *p, const CountSpan *span)
{
    const Series *s = &p->series;
    CountRowVec rows = {0};
    for (size_t i = span->first; i < span->first + span->count; i++) {
        uint64_t enabled = s->enabled_ns.at[i], running = s->running_ns.at[i];
        CountRow row = {.metric = s->metric.at[i],
                        .part = s->part.at[i],
                        .value = {s->value.at[i], NAN, {NAN, NAN, NAN}},
                        .running_ns = running,
                        .running_share = enabled ? (double)running / (double)enabled * 100 : 0};
        vec_push(arena, &rows, row);
    }
    add_derived(arena, p, &rows, (double)span->length_ns * 1e-9);
    return rows;
}

CountPoints *counts_points(Arena *arena, const Counts *c)
{
    const Profile *p = c->profile;
    const Series *s = &p->series;
    const RunValues *v = &p->run_values;
    CountPoints *points = arena_array(arena, CountPoints, c->rows.len + 1);
    Table index = {0};
    for (size_t i = 0; i < c->rows.len; i++)
        table_insert(&index, row_hash(c->rows.at[i].metric, c->rows.at[i].part), (uint32_t)i);
    for (CountSpan span = {0}; counts_next_span(p, &span);)
        for (size_t i = span.first; i < span.first + span.count && span.length_ns > 0; i++) {
            size_t row = row_find(&c->rows, &index, s->metric.at[i], s->part.at[i]);
            if (row == SIZE_MAX || isnan(s->value.at[i]))
                continue;
            vec_push(arena, &points[row].x, (double)span.end_ns * 1e-9);
            vec_push(arena, &points[row].y, s->value.at[i] / ((double)span.length_ns * 1e-9));
        }
    uint32_t *number = arena_array(arena, uint32_t, p->runs.name.len + 1); // from 1; 0: not ours
    for (size_t i = 0; i < c->runs.len; i++)
        number[c->runs.at[i].v] = (uint32_t)i + 1;
    for (size_t i = 0; i < v->run.len && s->time_ns.len == 0; i++) {
        size_t row = row_find(&c->rows, &index, v->metric.at[i], v->part.at[i]);
        if (row == SIZE_MAX || isnan(v->value.at[i]) || !number[v->run.at[i].v])
            continue;
        vec_push(arena, &points[row].x, number[v->run.at[i].v]);
        vec_push(arena, &points[row].y, v->value.at[i]);
    }
    table_deinit(&index);
    return points;
}

RunValueRows counts_values_by_run(Arena *arena, const Profile *p)
{
    const RunIdVec *run = &p->run_values.run;
    size_t runs = p->runs.name.len;
    RunValueRows rows = {arena_array(arena, uint32_t, run->len + 1),
                         arena_array(arena, size_t, runs + 2)};
    size_t *next = arena_array(arena, size_t, runs + 1);
    for (size_t i = 0; i < run->len; i++)
        rows.starts[run->at[i].v + 1]++;
    for (size_t i = 0; i < runs; i++) {
        rows.starts[i + 1] += rows.starts[i];
        next[i] = rows.starts[i];
    }
    for (size_t i = 0; i < run->len; i++)
        rows.order[next[run->at[i].v]++] = (uint32_t)i;
    return rows;
}

bool counts_apply(const Profile *p)
{
    return p->runs.name.len &&
           str_equal(profile_fact(p, STR(FACT_COLLECTOR)), STR(COLLECTOR_COUNTERS));
}

uint64_t counts_fact(const Profile *p, Str key)
{
    uint64_t number;
    return profile_fact_u64(p, key, &number) ? number : 0;
}

Str counts_reason(const Profile *p, MetricId metric)
{
    Str name = profile_text(p, p->metrics.name.at[metric.v]);
    for (size_t i = 0; i < p->notes.text.len; i++) {
        Str text = profile_text(p, p->notes.text.at[i]);
        if (str_equal(profile_text(p, p->notes.key.at[i]), STR(NOTE_EVENT_REASON)) &&
            str_starts_with(text, name) && text.len > name.len + 2 && text.ptr[name.len] == ':')
            return str_slice(text, name.len + 2, text.len);
    }
    return STR("");
}
