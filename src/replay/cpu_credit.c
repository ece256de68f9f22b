// SPDX-License-Identifier: Apache-2.0
// Keeps the time of running threads until a sample takes it.

#include "replay/cpu_credit.h"

enum {
    // Where each process makes the next one and ends, the groups would never meet.
    DEPTH_MAX = 32,
    // Records of switches may be lost: then a thread that sleeps seems to run.
    STRETCH_PERIODS = 8,
};

void credits_init(CpuCredits *c, uint64_t period_ns)
{
    c->stretch_max = period_ns * STRETCH_PERIODS;
    vec_push(NULL, &c->groups, (CreditGroup){0});
}

void credits_deinit(CpuCredits *c)
{
    vec_free(&c->groups);
    table_deinit(&c->by_origin);
    *c = (CpuCredits){0};
}

uint32_t credits_group(CpuCredits *c, uint32_t parent, StrId name, bool is_thread)
{
    if (c->groups.len == 0)
        return 0;
    if (c->groups.at[parent].depth >= DEPTH_MAX)
        parent = c->groups.at[parent].parent;
    uint64_t hash = hash_pair(parent, (uint64_t)name.v << 1 | is_thread);
    uint32_t row;
    for (TableProbe p = table_probe(&c->by_origin, hash); table_next(&c->by_origin, &p, &row);) {
        const CreditGroup *g = &c->groups.at[row];
        if (g->parent == parent && g->name.v == name.v && g->is_thread == is_thread)
            return row;
    }
    row = (uint32_t)c->groups.len;
    uint16_t depth = (uint16_t)(c->groups.at[parent].depth + 1);
    vec_push(NULL, &c->groups,
             (CreditGroup){.parent = parent, .name = name, .is_thread = is_thread, .depth = depth});
    table_insert(&c->by_origin, hash, row);
    return row;
}

void credits_begin(CpuCredits *c, uint64_t time)
{
    if (c->groups.len)
        c->from = time;
}

// Adds the time that the thread ran up to `time`, from where it goes on running.
static void run_until(const CpuCredits *c, ThreadCredit *t, uint64_t time)
{
    // Without a switch since the beginning, a thread that is seen running has run all the time.
    uint64_t since = t->is_known ? t->since : c->from;
    since = since ? MAX(since, c->from) : 0;
    if (c->from && since && time > since)
        t->unsampled += MIN(time - since, c->stretch_max);
    t->since = time;
    t->is_known = true;
}

void credits_switch(CpuCredits *c, ThreadCredit *t, uint64_t time, bool out)
{
    if (out) {
        run_until(c, t, time);
        t->since = 0;
    } else {
        t->since = time;
        t->is_known = true;
    }
}

static void give_to_group(CpuCredits *c, ThreadCredit *t)
{
    if (c->from)
        c->groups.at[t->group].unsampled += t->unsampled;
    t->unsampled = 0;
}

void credits_end(CpuCredits *c, ThreadCredit *t, uint64_t time)
{
    run_until(c, t, time);
    t->since = 0;
    give_to_group(c, t);
}

void credits_rename(CpuCredits *c, ThreadCredit *t, uint64_t time, StrId name)
{
    if (c->groups.len == 0)
        return;
    CreditGroup was = c->groups.at[t->group];
    if (was.name.v == name.v)
        return;
    run_until(c, t, time);
    give_to_group(c, t);
    t->group = credits_group(c, was.parent, name, was.is_thread);
}

uint64_t credits_take(CpuCredits *c, ThreadCredit *t, uint64_t time, uint64_t period)
{
    if (c->from == 0 || time <= c->from)
        return period;
    // A thread that runs although it was not given the processor: that record was lost.
    bool is_lost = t->is_known && t->since == 0;
    run_until(c, t, time);
    uint64_t value = t->unsampled + c->groups.at[t->group].unsampled;
    value = is_lost ? value + period : MAX(value, 1u);
    t->unsampled = 0;
    c->groups.at[t->group].unsampled = 0;
    c->given += value;
    return value;
}

uint64_t credits_unsampled(const CpuCredits *c)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < c->groups.len; i++)
        sum += c->groups.at[i].unsampled;
    return sum;
}
