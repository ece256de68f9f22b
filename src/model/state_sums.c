// SPDX-License-Identifier: Apache-2.0
// Adds single waits up.

#include "model/state_sums.h"

#include "base/table.h"

enum { BUCKETS = 128 };

typedef struct StateSum {
    WaitRow row;
    uint64_t buckets[BUCKETS];
} StateSum;

typedef struct StateSums {
    Vec(StateSum) sums;
    Table by_key;
} StateSums;

static StateSum *need_sum(StateSums *s, const WaitRow *key)
{
    uint64_t hash = hash_pair((uint64_t)key->thread.v << 32 | key->stack.v,
                              (uint64_t)key->object.v << 8 | key->state);
    uint32_t row;
    for (TableProbe t = table_probe(&s->by_key, hash); table_next(&s->by_key, &t, &row);) {
        const WaitRow *r = &s->sums.at[row].row;
        if (r->thread.v == key->thread.v && r->stack.v == key->stack.v && r->state == key->state &&
            r->object.v == key->object.v)
            return &s->sums.at[row];
    }
    table_insert(&s->by_key, hash, (uint32_t)s->sums.len);
    vec_push(NULL, &s->sums, (StateSum){.row = *key});
    return &vec_last(&s->sums);
}

// Two for each power of two: wait_bucket_ns.
static uint32_t bucket_of(uint64_t ns)
{
    if (ns < 2)
        return 0;
    uint32_t log = 63 - (uint32_t)__builtin_clzll(ns);
    return MIN(2 * log + (uint32_t)(ns >> (log - 1) & 1), BUCKETS - 1u);
}

static void add_states(StateSums *sums, const Profile *p)
{
    const States *s = &p->states;
    for (size_t i = 0; i < s->thread.len; i++) {
        WaitClass state =
            s->state.at[i] < WAIT_CLASS_COUNT ? (WaitClass)s->state.at[i] : WAIT_OTHER;
        StateSum *sum = need_sum(sums, &(WaitRow){.thread = s->thread.at[i],
                                                  .stack = s->stack.at[i],
                                                  .state = state,
                                                  .object = s->object.at[i]});
        int64_t end = s->end_ns.at[i], all = MAX(end - s->start_ns.at[i], (int64_t)0);
        int64_t runnable = state == WAIT_RUNNABLE ? 0 : MAX(end - s->woken_ns.at[i], (int64_t)0);
        runnable = MIN(runnable, all);
        sum->row.count++;
        sum->row.blocked_ns += (uint64_t)(all - runnable);
        sum->row.runnable_ns += (uint64_t)runnable;
        sum->row.longest_ns = MAX(sum->row.longest_ns, (uint64_t)all);
        sum->buckets[bucket_of((uint64_t)all)]++;
    }
}

static void add_running(StateSums *sums, const Profile *p)
{
    const Samples *s = &p->samples;
    bool is_time = s->value_columns && str_equal(profile_text(p, p->metrics.unit.at[0]), STR("ns"));
    for (size_t i = 0; is_time && i < s->stack.len; i++) {
        if (s->values[0].at[i] <= 0)
            continue;
        StateSum *sum =
            need_sum(sums, &(WaitRow){.thread = s->thread.at[i], .state = WAIT_RUNNING});
        sum->row.count++;
        sum->row.blocked_ns += (uint64_t)s->values[0].at[i];
    }
}

static bool find_metric(const Profile *p, Str name, Str event, MetricId *ret)
{
    for (uint32_t i = 0; i < p->metrics.name.len; i++)
        if (str_equal(profile_text(p, p->metrics.name.at[i]), name) &&
            str_equal(profile_text(p, p->metrics.event.at[i]), event)) {
            *ret = (MetricId){i};
            return true;
        }
    return false;
}

static void add_sum(Profile *p, const StateSum *s, const MetricId *metrics, MetricId wall)
{
    uint32_t wait = profile_add_wait(p, &s->row);
    for (uint32_t b = 0; b < BUCKETS; b++)
        if (s->buckets[b])
            profile_add_wait_time(p, wait, b, s->buckets[b]);
    if (s->row.state == WAIT_RUNNING)
        return;
    size_t row = profile_add_sample(p, TIME_NONE, s->row.thread, s->row.stack, SAMPLE_CPU_NONE);
    profile_sample_set(p, row, metrics[s->row.state], (int64_t)s->row.blocked_ns);
    if (s->row.state != WAIT_RUNNABLE)
        profile_sample_set(p, row, metrics[WAIT_RUNNABLE], (int64_t)s->row.runnable_ns);
    profile_sample_set(p, row, wall, (int64_t)(s->row.blocked_ns + s->row.runnable_ns));
}

void profile_sum_states(Profile *p)
{
    MetricId metrics[WAIT_CLASS_COUNT] = {0}, wall;
    StateSums sums = {0};
    bool known = find_metric(p, STR("wall time"), STR("wall time"), &wall);
    for (int i = WAIT_RUNNABLE; i < WAIT_CLASS_COUNT; i++)
        known = known && find_metric(p, str_from_c(wait_class_name((WaitClass)i)), STR("waiting"),
                                     &metrics[i]);
    if (!known || p->waits.thread.len)
        return;
    add_running(&sums, p);
    add_states(&sums, p);
    for (size_t i = 0; i < sums.sums.len; i++)
        add_sum(p, &sums.sums.at[i], metrics, wall);
    vec_free(&sums.sums);
    table_deinit(&sums.by_key);
}
