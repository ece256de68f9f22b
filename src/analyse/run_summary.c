// SPDX-License-Identifier: Apache-2.0
// From rows of runs to arrays that stats/ computes with.

#include "analyse/run_summary.h"

#include <math.h>

#include "base/table.h"
#include "model/facts.h"
#include "model/run_names.h"

static double fact_double(const Profile *p, const char *key, double otherwise)
{
    double value;
    return str_parse_double(profile_fact(p, str_from_c(key)), &value) && isfinite(value)
               ? value
               : otherwise;
}

static uint64_t fact_u64(const Profile *p, const char *key)
{
    uint64_t value;
    return profile_fact_u64(p, str_from_c(key), &value) ? value : 0;
}

static bool fact_is(const Profile *p, const char *key, Str value)
{
    return str_equal(profile_fact(p, str_from_c(key)), value);
}

bool run_summaries_apply(const Profile *p)
{
    return p->runs.name.len > 0 && fact_is(p, FACT_COLLECTOR, STR(COLLECTOR_BENCH));
}

// ---- Values ----------------------------------------------------------------

// A value of a file as an integer. The limit leaves room for sums.
static uint64_t as_u64(double value)
{
    const double limit = 0x1p60;
    return !(value > 0) ? 0 : (uint64_t)MIN(value, limit);
}

static int64_t as_i64(double value)
{
    return (int64_t)as_u64(value);
}

// The data of a run that the summary keeps while it reads the rows.
typedef struct RawRun {
    MeasuredRun run;
    double peak, coarse, floor; // NaN: no such row
    uint32_t group;
    uint8_t flags;
} RawRun;

typedef void (*TakeValue)(RawRun *to, double value);

static void take_time(RawRun *to, double v)
{
    to->run.time_s = v;
}
static void take_user(RawRun *to, double v)
{
    to->run.user_s = v;
}
static void take_system(RawRun *to, double v)
{
    to->run.system_s = v;
}
static void take_waited(RawRun *to, double v)
{
    to->run.waited_ns = as_i64(v);
}
static void take_waiting(RawRun *to, double v)
{
    to->run.waiting_s = v;
}
static void take_delay(RawRun *to, double v)
{
    to->run.run_delay_ns = as_i64(v);
}
static void take_steal(RawRun *to, double v)
{
    to->run.steal_ns = as_i64(v);
}
static void take_peak(RawRun *to, double v)
{
    to->peak = v;
}
static void take_coarse(RawRun *to, double v)
{
    to->coarse = v;
}
static void take_floor(RawRun *to, double v)
{
    to->floor = v;
}
static void take_minor(RawRun *to, double v)
{
    to->run.minor_faults = as_u64(v);
}
static void take_major(RawRun *to, double v)
{
    to->run.major_faults = as_u64(v);
}
static void take_voluntary(RawRun *to, double v)
{
    to->run.voluntary_switches = as_u64(v);
}
static void take_involuntary(RawRun *to, double v)
{
    to->run.involuntary_switches = as_u64(v);
}
static void take_blocks(RawRun *to, double v)
{
    to->run.blocks_in = as_u64(v);
}

static void take_blocks_out(RawRun *to, double v)
{
    to->run.blocks_out = as_u64(v);
}
static void take_main_cpu(RawRun *to, double v)
{
    to->run.on_cpu_ns = as_i64(v);
}
static void take_disk_wait(RawRun *to, double v)
{
    to->run.disk_wait_ns = as_i64(v);
}

static TakeValue taker_of(Str metric)
{
    static const struct {
        const char *name;
        TakeValue take;
    } takers[] = {
        {RUN_METRIC_TIME, take_time},
        {RUN_METRIC_USER_TIME, take_user},
        {RUN_METRIC_SYSTEM_TIME, take_system},
        {RUN_METRIC_WAITED, take_waited},
        {RUN_METRIC_WAITING, take_waiting},
        {RUN_METRIC_RUN_DELAY, take_delay},
        {RUN_METRIC_STEAL, take_steal},
        {RUN_METRIC_PEAK_MEMORY, take_peak},
        {RUN_METRIC_PEAK_MEMORY_COARSE, take_coarse},
        {RUN_METRIC_MEMORY_FLOOR, take_floor},
        {RUN_METRIC_MINOR_FAULTS, take_minor},
        {RUN_METRIC_MAJOR_FAULTS, take_major},
        {RUN_METRIC_VOLUNTARY_SWITCHES, take_voluntary},
        {RUN_METRIC_INVOLUNTARY_SWITCHES, take_involuntary},
        {RUN_METRIC_BLOCKS_IN, take_blocks},
        {RUN_METRIC_BLOCKS_OUT, take_blocks_out},
        {RUN_METRIC_MAIN_CPU, take_main_cpu},
        {RUN_METRIC_DISK_WAIT, take_disk_wait},
    };
    for (size_t i = 0; i < ARRAY_LEN(takers); i++)
        if (str_equal(metric, str_from_c(takers[i].name)))
            return takers[i].take;
    return NULL;
}

// Where a metric's values go: to a counter, or through a function.
typedef struct MetricUse {
    TakeValue take;
    uint32_t counter; // RUN_COUNTERS_MAX: none
} MetricUse;

static MetricUse *metric_uses(RunSummaries *s)
{
    const Profile *p = s->profile;
    MetricUse *uses = arena_array(&s->arena, MetricUse, p->metrics.name.len + 1);
    for (size_t i = 0; i < p->metrics.name.len; i++) {
        uses[i] = (MetricUse){.counter = RUN_COUNTERS_MAX};
        if (p->metrics.event.at[i].v == 0) {
            uses[i].take = taker_of(profile_text(p, p->metrics.name.at[i]));
        } else if (s->set.counters < RUN_COUNTERS_MAX) {
            uses[i].counter = s->set.counters++;
            s->counters[uses[i].counter] = (RunCounter){
                .name = profile_text(p, p->metrics.event.at[i]),
                .is_time = str_equal(profile_text(p, p->metrics.unit.at[i]), STR("ns"))};
        }
    }
    return uses;
}

static void read_values(RunSummaries *s, RawRun *runs)
{
    const RunValues *v = &s->profile->run_values;
    const MetricUse *uses = metric_uses(s);
    for (size_t i = 0; i < s->profile->runs.name.len; i++)
        for (uint32_t c = 0; c < s->set.counters; c++)
            runs[i].run.counts[c] = NAN;
    for (size_t i = 0; i < v->run.len; i++) {
        const MetricUse *use = &uses[v->metric.at[i].v];
        RawRun *to = &runs[v->run.at[i].v];
        if (v->part.at[i].v != 0 || !isfinite(v->value.at[i]))
            continue;
        if (use->counter < RUN_COUNTERS_MAX)
            to->run.counts[use->counter] = v->value.at[i];
        else if (use->take)
            use->take(to, v->value.at[i]);
    }
}

// ---- Commands --------------------------------------------------------------

static void read_conditions(RunSummaries *s, Str text, RunCommand *to)
{
    const Str prefix = STR(RUN_CONDITION_PARAMETER);
    Str key, value;
    while (run_conditions_next(&s->arena, &text, &key, &value)) {
        if (str_starts_with(key, prefix))
            vec_push(&s->arena, &to->parameters,
                     (RunParameter){str_slice(key, prefix.len, key.len), value});
        else if (str_equal(key, STR(RUN_CONDITION_SHELL)))
            to->via_shell = str_equal(value, STR("yes"));
    }
}

typedef Vec(RunCommand) RunCommandVec;

// The number of each run's command; commands are added as they are first seen.
static void group_runs(RunSummaries *s, RawRun *raw)
{
    const Profile *p = s->profile;
    Table table = {0};
    RunCommandVec commands = {0};
    U32Vec firsts = {0};
    for (uint32_t i = 0; i < p->runs.name.len; i++) {
        StrId name = p->runs.name.at[i], conditions = p->runs.conditions.at[i];
        uint64_t hash = hash_pair(name.v, conditions.v);
        uint32_t group = UINT32_MAX, row;
        for (TableProbe t = table_probe(&table, hash); table_next(&table, &t, &row);)
            if (p->runs.name.at[firsts.at[row]].v == name.v &&
                p->runs.conditions.at[firsts.at[row]].v == conditions.v)
                group = row;
        if (group == UINT32_MAX) {
            RunCommand c = {.name = profile_text(p, name),
                            .command = profile_text(p, p->runs.command.at[i]),
                            .revision = profile_text(p, p->runs.revision.at[i])};
            read_conditions(s, profile_text(p, conditions), &c);
            group = (uint32_t)commands.len;
            vec_push(&s->arena, &commands, c);
            vec_push(&s->arena, &firsts, i);
            table_insert(&table, hash, group);
        }
        raw[i].group = group;
    }
    table_deinit(&table);
    s->commands = commands.at;
    s->set.count = (uint32_t)commands.len;
    s->set.groups = arena_array(&s->arena, RunGroup, commands.len + 1);
}

// ---- Runs ------------------------------------------------------------------

static RawRun raw_run(const Profile *p, uint32_t row, int64_t start_ns, bool kernel_clock)
{
    RunRow r = profile_run(p, (RunId){row});
    bool timed = r.wall_ns != TIME_NONE && r.wall_ns >= 0;
    RawRun raw = {.peak = NAN, .coarse = NAN, .floor = NAN, .flags = r.flags};
    raw.run = (MeasuredRun){
        .time_s = timed ? (double)r.wall_ns * 1e-9 : NAN,
        .user_s = r.user_ns >= 0 ? (double)r.user_ns * 1e-9 : 0,
        .system_s = r.system_ns >= 0 ? (double)r.system_ns * 1e-9 : 0,
        .waiting_s = NAN,
        // As unsigned numbers: a file may hold any.
        .start_ns =
            r.start_ns == TIME_NONE ? 0 : (int64_t)((uint64_t)r.start_ns + (uint64_t)start_ns),
        .wall_ns = timed ? r.wall_ns : 0,
        .waited_ns = timed ? r.wall_ns : 0,
        .user_ns = MAX(r.user_ns, (int64_t)0),
        .system_ns = MAX(r.system_ns, (int64_t)0),
        .run_delay_ns = -1,
        .steal_ns = -1,
        .on_cpu_ns = -1,
        .disk_wait_ns = -1,
        .round = r.round,
        .position = r.position,
        .status = r.status == RUN_STATUS_NONE ? 0 : r.status,
        .kernel_clocked = kernel_clock && !(r.flags & RUN_BY_WAIT),
    };
    return raw;
}

static bool check_run(const RunSummaries *s, const RawRun *r, uint32_t row, Error *err)
{
    const MeasuredRun *m = &r->run;
    const double most = 1e10; // seconds; sums and squares of such times are numbers
    if (m->time_s >= 0 && m->time_s <= most && m->user_s >= 0 && m->user_s <= most &&
        m->system_s >= 0 && m->system_s <= most)
        return true;
    return error_set(err, ERROR_FORMAT, "run %u of '%" STR_FMT "' has no time that can be", row,
                     STR_ARG(s->commands[r->group].name));
}

static void take_weighed(RunGroup *g, const RawRun *r)
{
    if (!isfinite(r->peak) || !isfinite(r->coarse) || !isfinite(r->floor))
        return;
    g->weighed = (WeighedRun){.known = true,
                              .correction_bytes = as_i64(r->peak) - as_i64(r->coarse),
                              .floor_bytes = as_u64(r->floor),
                              .exact_bytes = as_u64(r->peak)};
}

static bool sort_runs(RunSummaries *s, RawRun *raw, Error *err)
{
    for (uint32_t i = 0; i < s->profile->runs.name.len; i++) {
        RawRun *r = &raw[i];
        RunGroup *g = &s->set.groups[r->group];
        // Before the correction, where there is one.
        r->run.max_rss_bytes = as_u64(isfinite(r->coarse) ? r->coarse : r->peak);
        if (r->flags & RUN_WEIGHED)
            take_weighed(g, r);
        s->commands[r->group].warmups += (r->flags & RUN_WARMUP) != 0;
        if (r->flags & RUN_NO_STATISTIC)
            continue;
        if (!check_run(s, r, i, err))
            return false;
        vec_push(&s->arena, &g->runs, r->run);
    }
    return true;
}

// ---- Facts -----------------------------------------------------------------

static double share_between(double value, double otherwise)
{
    return value > 0 && value < 1 ? value : otherwise;
}

void run_summaries_read_facts(RunSummaries *s)
{
    const Profile *p = s->profile;
    RunSet *set = &s->set;
    set->plan = (RunPlan){
        .reference = (uint32_t)MIN(fact_u64(p, FACT_REFERENCE), (uint64_t)UINT32_MAX),
        .level = share_between(fact_double(p, FACT_LEVEL, 0.95), 0.95),
        .margin = MAX(0.0, fact_double(p, FACT_MARGIN, 0.01)),
        .until = MAX(0.0, fact_double(p, FACT_UNTIL, 0)),
        .max_runs = fact_u64(p, FACT_MAX_RUNS),
        .grouped = fact_is(p, FACT_ORDER, STR("grouped")),
        .cpu_clock = fact_is(p, FACT_CLOCK, STR("cpu")),
        .with_waiting = fact_is(p, FACT_WITH_WAITING, STR("yes")),
    };
    set->rss_floor_bytes = fact_u64(p, FACT_MEMORY_FLOOR);
    if (profile_fact(p, STR(FACT_WITHOUT_WAITING)).len) {
        set->clock_settled = true;
        set->without_waiting = fact_is(p, FACT_WITHOUT_WAITING, STR("yes"));
        set->waiting_share = fact_double(p, FACT_WAITING_SHARE, 0);
    }
    s->command_line = profile_fact(p, STR(FACT_COMMAND));
    s->clock = profile_fact(p, STR(FACT_CLOCK));
    s->clock_reason = profile_fact(p, STR(FACT_CLOCK_REASON));
    s->seed = fact_u64(p, FACT_SEED);
    s->interrupted = fact_is(p, FACT_INTERRUPTED, STR("yes"));
    s->speed_change = fact_double(p, FACT_SPEED_CHANGE, 0);
    s->shell_time_s = fact_double(p, FACT_SHELL_TIME, 0);
    s->shell_error_s = fact_double(p, FACT_SHELL_ERROR, 0);
    s->machine =
        (RunMachine){.hostname = profile_fact(p, STR(FACT_HOSTNAME)),
                     .kernel = profile_fact(p, STR(FACT_KERNEL)),
                     .cpu_model = profile_fact(p, STR(FACT_CPU_MODEL)),
                     .governor = profile_fact(p, STR(FACT_GOVERNOR)),
                     .cpus = (uint32_t)MIN(fact_u64(p, FACT_CPU_COUNT), (uint64_t)UINT32_MAX),
                     .load = fact_double(p, FACT_LOAD, 0)};
}

bool run_summaries_init(RunSummaries *s, const Profile *p, Error *err)
{
    *s = (RunSummaries){.profile = p};
    RawRun *raw = heap_alloc((p->runs.name.len + 1) * sizeof(*raw));
    run_summaries_read_facts(s);
    // A recording gives a reason when the kernel clock was not used, also with the clock "cpu".
    bool kernel_clock = profile_fact(p, STR(FACT_CLOCK_REASON)).len == 0;
    int64_t start_ns = (int64_t)fact_u64(p, FACT_START_MONOTONIC);
    for (uint32_t i = 0; i < p->runs.name.len; i++)
        raw[i] = raw_run(p, i, start_ns, kernel_clock);
    group_runs(s, raw);
    read_values(s, raw);
    bool ok = s->set.plan.reference < s->set.count ||
              error_set(err, ERROR_FORMAT, "the reference is command %u of %u",
                        s->set.plan.reference, s->set.count);
    ok = ok && sort_runs(s, raw, err);
    heap_free(raw);
    if (!ok) {
        run_summaries_deinit(s);
        return false;
    }
    runs_summarise(&s->set);
    return true;
}

void run_summaries_deinit(RunSummaries *s)
{
    arena_deinit(&s->arena);
    *s = (RunSummaries){0};
}
