// SPDX-License-Identifier: Apache-2.0
// From the processes of functions to runs of commands.

#include "analyse/function_families.h"

#include <math.h>

static void add_process(RunSummaries *s, uint32_t group, const Replicate *r, double seconds)
{
    MeasuredRun run = {.time_s = seconds,
                       .waiting_s = NAN,
                       .start_ns = r ? r->start_ns : 0,
                       .run_delay_ns = -1,
                       .steal_ns = -1,
                       .on_cpu_ns = -1,
                       .disk_wait_ns = -1,
                       .round = r ? r->round : 0};
    vec_push(&s->arena, &s->set.groups[group].runs, run);
}

// A bench of `count` measurements, which the caller fills.
static void init_bench(RunSummaries *s, const FunctionSummaries *f, uint32_t count)
{
    *s = (RunSummaries){.profile = f->profile};
    run_summaries_read_facts(s);
    s->set.groups = arena_array(&s->arena, RunGroup, count);
    s->set.count = count;
    s->commands = arena_array(&s->arena, RunCommand, count);
    s->set.plan.reference = 0;
    // The wait for a CPU was taken off the samples already.
    s->set.clock_settled = true;
    s->set.without_waiting = false;
}

// Runs of this build, or with `build` 1 of the other.
static void add_build(RunSummaries *s, uint32_t group, FunctionSummaries *f,
                      const FunctionRuns *function, int build)
{
    const ReplicateVec *runs = &function->runs[build];
    for (size_t i = 0; i < runs->len; i++)
        add_process(s, group, &runs->at[i], runs->at[i].median);
    s->commands[group] =
        (RunCommand){.name = function_label(f, function, build), .command = function->name};
}

static void add_function(RunSummaries *s, FunctionSummaries *f, const FunctionRuns *function)
{
    const SavedTimes *saved = f->has_against ? NULL : function_saved_times(f, function);
    bool compared = saved || function->runs[1].len > 0;
    init_bench(s, f, compared ? 2 : 1);
    if (saved) {
        for (size_t i = 0; i < saved->count; i++)
            add_process(s, 0, NULL, saved->seconds[i]);
        s->commands[0] =
            (RunCommand){.name = function_label(f, function, 1), .command = function->name};
        s->set.plan.grouped = true;
    } else if (compared) {
        add_build(s, 0, f, function, 1);
    }
    add_build(s, s->set.count - 1, f, function, 0);
    runs_summarise(&s->set);
    if (compared && !function_change(f, function, &s->set.groups[1].comparison))
        s->set.groups[1].comparison = (Comparison){0};
    for (uint32_t i = 0; i < s->set.count; i++)
        s->set.groups[i].summary.user = s->set.groups[i].summary.system = NAN;
}

void function_families_init(RunFamilies *ret, FunctionSummaries *f)
{
    *ret = (RunFamilies){.at = heap_alloc((f->list.len + 1) * sizeof(*ret->at))};
    for (size_t i = 0; i < f->list.len; i++)
        if (f->list.at[i].runs[0].len)
            add_function(&ret->at[ret->len++], f, &f->list.at[i]);
}

// ---- Growth ----------------------------------------------------------------

// "sort/1000" is "sort" with 1000. False without a positive number.
static bool split_argument(Str name, Str *base, Str *argument)
{
    size_t at = name.len;
    double value;
    while (at > 0 && name.ptr[at - 1] != '/')
        at--;
    if (at < 2)
        return false;
    *base = str_slice(name, 0, at - 1);
    *argument = str_slice(name, at, name.len);
    return str_parse_double(*argument, &value) && value > 0;
}

// The functions of the list with that base, `ret` of them into `rows`.
static uint32_t find_family(const FunctionSummaries *f, Str base, uint32_t *rows)
{
    uint32_t n = 0;
    for (size_t i = 0; i < f->list.len; i++) {
        Str other, argument;
        if (f->list.at[i].runs[0].len && split_argument(f->list.at[i].name, &other, &argument) &&
            str_equal(base, other))
            rows[n++] = (uint32_t)i;
    }
    return n;
}

void function_growths_init(RunFamilies *ret, FunctionSummaries *f)
{
    enum { LEAST = 3 };
    uint32_t *rows = arena_array(&f->arena, uint32_t, f->list.len + 1);
    *ret = (RunFamilies){.at = heap_alloc((f->list.len + 1) * sizeof(*ret->at))};
    for (size_t i = 0; i < f->list.len; i++) {
        Str base, argument;
        if (!split_argument(f->list.at[i].name, &base, &argument))
            continue;
        uint32_t n = find_family(f, base, rows);
        if (n < LEAST || rows[0] != i)
            continue;
        RunSummaries *s = &ret->at[ret->len++];
        init_bench(s, f, n);
        for (uint32_t k = 0; k < n; k++) {
            add_build(s, k, f, &f->list.at[rows[k]], 0);
            (void)split_argument(f->list.at[rows[k]].name, &base, &argument);
            vec_push(&s->arena, &s->commands[k].parameters, ((RunParameter){base, argument}));
        }
    }
}

void function_families_deinit(RunFamilies *families)
{
    for (size_t i = 0; i < families->len; i++)
        run_summaries_deinit(&families->at[i]);
    heap_free(families->at);
    *families = (RunFamilies){0};
}
