// SPDX-License-Identifier: Apache-2.0
// From a bench's arrays to rows of a profile.

#include "collect/bench/record.h"

#include <inttypes.h>
#include <math.h>

#include "model/facts.h"
#include "model/run_names.h"
#include "os/clock.h"

// The speed probe itself varies by a few percent on a loaded machine.
static const double SPEED_CHANGE_SHOWN = 0.1;

static void set_text(Profile *p, const char *key, Str value)
{
    profile_set_fact(p, str_from_c(key), value);
}

// With all digits, so that later computations give the same results as those here.
static void set_double(Profile *p, const char *key, double value)
{
    set_text(p, key, arena_printf(&p->arena, "%.17g", value));
}

static void set_u64(Profile *p, const char *key, uint64_t value)
{
    set_text(p, key, arena_printf(&p->arena, "%" PRIu64, value));
}

// ---- Runs ------------------------------------------------------------------

typedef struct RunMetrics {
    MetricId time, user, system, waited, waiting, delay, steal, peak, coarse, floor;
    MetricId minor, major, voluntary, involuntary, blocks_in, blocks_out, main_cpu, disk_wait;
    MetricId counters[SPAWN_COUNTERS_MAX];
} RunMetrics;

static RunMetrics add_metrics(const Bench *b, Profile *p)
{
    const Str s = STR("s"), bytes = STR("bytes"), none = STR("");
    RunMetrics m = {
        .time = run_metric(p, STR(RUN_METRIC_TIME), s, METRIC_SUM, none),
        .user = run_metric(p, STR(RUN_METRIC_USER_TIME), s, METRIC_SUM, none),
        .system = run_metric(p, STR(RUN_METRIC_SYSTEM_TIME), s, METRIC_SUM, none),
        .waited = run_metric(p, STR(RUN_METRIC_WAITED), STR("ns"), METRIC_SUM, none),
        .waiting = run_metric(p, STR(RUN_METRIC_WAITING), s, METRIC_SUM, none),
        .delay = run_metric(p, STR(RUN_METRIC_RUN_DELAY), STR("ns"), METRIC_SUM, none),
        .steal = run_metric(p, STR(RUN_METRIC_STEAL), STR("ns"), METRIC_SUM, none),
        .peak = run_metric(p, STR(RUN_METRIC_PEAK_MEMORY), bytes, METRIC_MAX, none),
        .coarse = run_metric(p, STR(RUN_METRIC_PEAK_MEMORY_COARSE), bytes, METRIC_MAX, none),
        .floor = run_metric(p, STR(RUN_METRIC_MEMORY_FLOOR), bytes, METRIC_MAX, none),
        .minor = run_metric(p, STR(RUN_METRIC_MINOR_FAULTS), none, METRIC_SUM, none),
        .major = run_metric(p, STR(RUN_METRIC_MAJOR_FAULTS), none, METRIC_SUM, none),
        .voluntary = run_metric(p, STR(RUN_METRIC_VOLUNTARY_SWITCHES), none, METRIC_SUM, none),
        .involuntary = run_metric(p, STR(RUN_METRIC_INVOLUNTARY_SWITCHES), none, METRIC_SUM, none),
        .blocks_in = run_metric(p, STR(RUN_METRIC_BLOCKS_IN), none, METRIC_SUM, none),
        .blocks_out = run_metric(p, STR(RUN_METRIC_BLOCKS_OUT), none, METRIC_SUM, none),
        .main_cpu = run_metric(p, STR(RUN_METRIC_MAIN_CPU), STR("ns"), METRIC_SUM, none),
        .disk_wait = run_metric(p, STR(RUN_METRIC_DISK_WAIT), STR("ns"), METRIC_SUM, none),
    };
    for (uint32_t i = 0; i < b->set.counters; i++) {
        Str name = str_from_c(b->counters[i].name);
        if (b->counters[i].open)
            m.counters[i] = profile_add_metric(p, name, b->counters[i].is_time ? STR("ns") : none,
                                               METRIC_SUM, name);
    }
    return m;
}

// The conditions that distinguish the measurement from others: two may have one name.
static StrId conditions_of(const Bench *b, uint32_t command, Profile *p)
{
    const BenchCommand *c = &b->commands.at[command];
    StrBuf text = {0}, key = {0};
    for (size_t i = 0; i < c->parameters.len; i++) {
        strbuf_clear(&key);
        strbuf_add(&key, STR(RUN_CONDITION_PARAMETER));
        strbuf_add(&key, c->parameters.at[i].name);
        run_conditions_add(&text, strbuf_str(&key), c->parameters.at[i].value);
    }
    if (c->via_shell)
        run_conditions_add(&text, STR(RUN_CONDITION_SHELL), STR("yes"));
    bool is_shared = false;
    for (uint32_t i = 0; i < command && !is_shared; i++)
        is_shared = str_equal(b->commands.at[i].name, c->name);
    if (is_shared) {
        Str number = arena_printf(&p->arena, "%u", command + 1);
        run_conditions_add(&text, STR(RUN_CONDITION_COMMAND), number);
    }
    StrId id = profile_str(p, strbuf_str(&text));
    strbuf_deinit(&key);
    strbuf_deinit(&text);
    return id;
}

static void add_known(Profile *p, RunId run, MetricId metric, double value, bool known)
{
    if (known)
        profile_add_run_value(p, run, metric, value);
}

static void add_run(const Bench *b, uint32_t command, const MeasuredRun *r, const RunRow *row,
                    const RunMetrics *m, Profile *p)
{
    const WeighedRun *weighed = &b->set.groups[command].weighed;
    RunRow made = *row;
    made.start_ns = r->start_ns - b->begin_ns;
    made.wall_ns = r->wall_ns;
    made.user_ns = r->user_ns;
    made.system_ns = r->system_ns;
    made.status = r->status;
    made.round = r->round;
    made.position = r->position;
    if (!r->kernel_clocked && b->server.kernel_clock)
        made.flags |= RUN_BY_WAIT;
    RunId run = profile_add_run(p, &made);
    add_known(p, run, m->time, r->time_s, r->time_s != (double)r->wall_ns * 1e-9);
    add_known(p, run, m->user, r->user_s, r->user_s != (double)r->user_ns * 1e-9);
    add_known(p, run, m->system, r->system_s, r->system_s != (double)r->system_ns * 1e-9);
    add_known(p, run, m->waited, (double)r->waited_ns, r->waited_ns != r->wall_ns);
    add_known(p, run, m->waiting, r->waiting_s, isfinite(r->waiting_s));
    add_known(p, run, m->delay, (double)r->run_delay_ns, r->run_delay_ns >= 0);
    add_known(p, run, m->steal, (double)r->steal_ns, r->steal_ns >= 0);
    profile_add_run_value(p, run, m->peak, (double)runs_peak_memory(weighed, r));
    add_known(p, run, m->coarse, (double)r->max_rss_bytes, weighed->known);
    profile_add_run_value(p, run, m->minor, (double)r->minor_faults);
    profile_add_run_value(p, run, m->major, (double)r->major_faults);
    profile_add_run_value(p, run, m->voluntary, (double)r->voluntary_switches);
    profile_add_run_value(p, run, m->involuntary, (double)r->involuntary_switches);
    profile_add_run_value(p, run, m->blocks_in, (double)r->blocks_in);
    profile_add_run_value(p, run, m->blocks_out, (double)r->blocks_out);
    add_known(p, run, m->main_cpu, (double)r->on_cpu_ns, r->on_cpu_ns >= 0);
    add_known(p, run, m->disk_wait, (double)r->disk_wait_ns, r->disk_wait_ns >= 0);
    for (uint32_t i = 0; i < b->set.counters; i++)
        add_known(p, run, m->counters[i], r->counts[i],
                  b->counters[i].open && isfinite(r->counts[i]));
}

static void add_weighed(const WeighedRun *w, const RunRow *row, const RunMetrics *m, Profile *p)
{
    RunRow made = *row;
    made.flags = RUN_WEIGHED;
    RunId run = profile_add_run(p, &made);
    profile_add_run_value(p, run, m->peak, (double)w->exact_bytes);
    profile_add_run_value(p, run, m->coarse,
                          (double)((int64_t)w->exact_bytes - w->correction_bytes));
    profile_add_run_value(p, run, m->floor, (double)w->floor_bytes);
}

static void add_command(const Bench *b, uint32_t command, Str revision, const RunMetrics *m,
                        Profile *p)
{
    const RunGroup *g = &b->set.groups[command];
    const BenchResult *result = &b->results[command];
    RunRow row = RUN_NOT_KNOWN;
    row.name = profile_str(p, b->commands.at[command].name);
    row.command = profile_str(p, b->commands.at[command].text);
    row.revision = profile_str(p, revision);
    row.conditions = conditions_of(b, command, p);
    for (size_t i = 0; i < g->runs.len; i++)
        add_run(b, command, &g->runs.at[i], &row, m, p);
    if (g->runs.len == 0) {
        row.flags = RUN_MISSING;
        profile_add_run(p, &row);
    }
    row.flags = RUN_WARMUP;
    for (size_t i = 0; i < result->warmups.len; i++)
        add_run(b, command, &result->warmups.at[i], &row, m, p);
    if (g->weighed.known)
        add_weighed(&g->weighed, &row, m, p);
}

// ---- Facts and notes -------------------------------------------------------

void bench_record_context(const BenchContext *context, Profile *p)
{
    const RunMachine *m = &context->machine;
    set_text(p, FACT_TOOL_VERSION, context->tool_version);
    set_text(p, FACT_COMMAND, context->command_line);
    set_text(p, FACT_HOSTNAME, m->hostname);
    set_text(p, FACT_KERNEL, m->kernel);
    set_text(p, FACT_CPU_MODEL, m->cpu_model);
    set_u64(p, FACT_CPU_COUNT, m->cpus);
    set_text(p, FACT_GOVERNOR, m->governor);
    set_double(p, FACT_LOAD, m->load);
}

static void record_facts(const Bench *b, Profile *p)
{
    const RunPlan *plan = &b->set.plan;
    set_text(p, FACT_COLLECTOR, STR(COLLECTOR_BENCH));
    set_u64(p, FACT_START_MONOTONIC, (uint64_t)b->begin_ns);
    set_u64(p, FACT_START_REALTIME,
            (uint64_t)(os_realtime_ns() - (os_monotonic_ns() - b->begin_ns)));
    set_text(p, FACT_CLOCK, bench_clock_name(b));
    if (!b->server.kernel_clock)
        set_text(p, FACT_CLOCK_REASON, str_from_c(b->server.clock_reason));
    set_text(p, FACT_ORDER, plan->grouped ? STR("grouped") : STR("interleaved"));
    set_u64(p, FACT_SEED, b->options.seed);
    set_u64(p, FACT_REFERENCE, plan->reference);
    set_double(p, FACT_LEVEL, plan->level);
    set_double(p, FACT_MARGIN, plan->margin);
    if (plan->until > 0)
        set_double(p, FACT_UNTIL, plan->until);
    if (plan->max_runs)
        set_u64(p, FACT_MAX_RUNS, plan->max_runs);
    if (plan->with_waiting)
        set_text(p, FACT_WITH_WAITING, STR("yes"));
    if (b->set.clock_settled) {
        set_text(p, FACT_WITHOUT_WAITING, b->set.without_waiting ? STR("yes") : STR("no"));
        set_double(p, FACT_WAITING_SHARE, b->set.waiting_share);
    }
    if (b->interrupted)
        set_text(p, FACT_INTERRUPTED, STR("yes"));
    set_double(p, FACT_SPEED_CHANGE, b->speed_change);
    set_u64(p, FACT_MEMORY_FLOOR, b->set.rss_floor_bytes);
    for (uint32_t i = 0; i < b->set.count; i++)
        if (b->commands.at[i].via_shell) {
            set_double(p, FACT_SHELL_TIME, b->results[i].shell_time_s);
            set_double(p, FACT_SHELL_ERROR, b->results[i].shell_error_s);
        }
}

static void note_clock(const Bench *b, Profile *p)
{
    uint32_t n = b->set.count;
    size_t runs = 0, kernel = 0;
    for (uint32_t i = 0; i < n; i++) {
        runs += b->set.groups[i].runs.len;
        kernel += b->set.groups[i].summary.kernel_clocked;
    }
    const Str key = STR(NOTE_CLOCK);
    if (b->options.cpu_clock)
        profile_note(p, NOTE_INFO, key,
                     "CPU time of the command and its children, waiting left out");
    else if (runs && kernel == runs)
        profile_note(p, NOTE_INFO, key, "the kernel's, from exec to exit");
    else if (kernel)
        profile_note(p, NOTE_INFO, key,
                     "the kernel's, from exec to exit; assay's own for %zu of %zu runs, whose "
                     "records were lost",
                     runs - kernel, runs);
    else if (runs)
        profile_note(p, NOTE_INFO, key, "assay's own, from start to wait (%s)",
                     b->server.clock_reason);
    if (n > 1)
        profile_note(p, NOTE_INFO, STR(NOTE_ORDER), "%s",
                     b->set.plan.grouped ? "one command after the other; drift of the machine is "
                                           "not controlled"
                                         : "drawn at random for each round");
}

// Events that cannot be counted, by reason.
static void note_missing_counters(const Bench *b, bool asked, Profile *p)
{
    for (uint32_t i = 0; i < b->set.counters; i++) {
        const SpawnCounter *c = &b->counters[i];
        if (!c->open)
            profile_note(p, asked ? NOTE_WARNING : NOTE_INFO, STR(NOTE_NOT_COUNTED), "%s; %s",
                         c->name, c->reason.hint[0] ? c->reason.hint : c->reason.text);
    }
}

static void note_trouble(const Bench *b, Profile *p)
{
    if (b->interrupted)
        profile_note(p, NOTE_WARNING, STR("interrupted"),
                     "interrupted; these are the runs up to then");
    if (b->timed_out)
        profile_note(p, NOTE_WARNING, STR("max-time"), "stopped by --max-time");
    if (b->cold_left == SIZE_MAX)
        profile_note(
            p, NOTE_WARNING, STR("cold"),
            "this kernel does not report whether --cold files were dropped from the page cache");
    else if (b->cold_left)
        profile_note(p, NOTE_WARNING, STR("cold"),
                     "up to %zu pages of a --cold file stayed in the page cache; another process "
                     "has it mapped",
                     b->cold_left);
    if (b->left_children)
        profile_note(p, NOTE_WARNING, STR("left-children"),
                     "a command left processes running; their time is not in these figures");
}

static void note_doubts(const Bench *b, const RunMachine *machine, Profile *p)
{
    const RunSet *s = &b->set;
    if (s->pairs_dropped)
        profile_note(p, NOTE_WARNING, STR("pairs-dropped"),
                     "%u pairs have a time of 0 after the shell's time was subtracted and are not "
                     "compared; use -N",
                     s->pairs_dropped);
    if (s->gap_ratio > 10 && s->count == 2)
        profile_note(p, NOTE_WARNING, STR("pairs-apart"),
                     "the runs of a pair start %.0f run times apart, which weakens the pairing",
                     s->gap_ratio);
    if (fabs(b->speed_change) > SPEED_CHANGE_SHOWN)
        profile_note(p, NOTE_WARNING, STR("cpu-speed"),
                     "the CPU was %.0f %% %s at the end than at the beginning (frequency, heat, or "
                     "another virtual machine)%s",
                     fabs(b->speed_change) * 100, b->speed_change > 0 ? "slower" : "faster",
                     s->count > 1 && !s->plan.grouped ? "; runs in turns make up for it" : "");
    if (machine->cpus && machine->load > (double)machine->cpus)
        profile_note(
            p, NOTE_WARNING, STR("load"), "the machine is loaded (%.1f runnable on %u CPUs); %s",
            machine->load, machine->cpus,
            s->without_waiting && s->count > 1 ? "times without the wait for a CPU are compared"
            : b->options.cpu_clock             ? "CPU time suffers least from it"
            : b->options.with_waiting          ? "expect wide intervals"
                                               : "expect wide intervals; --cpu-clock has narrower "
                                                 "ones");
}

void bench_record(const Bench *b, const BenchContext *context, Profile *p)
{
    record_facts(b, p);
    bench_record_context(context, p);
    RunMetrics metrics = add_metrics(b, p);
    for (uint32_t i = 0; i < b->set.count; i++)
        add_command(b, i,
                    b->commands.at[i].revision.len ? b->commands.at[i].revision : context->revision,
                    &metrics, p);
    note_clock(b, p);
    note_missing_counters(b, context->events_asked, p);
    note_trouble(b, p);
    note_doubts(b, &context->machine, p);
}
