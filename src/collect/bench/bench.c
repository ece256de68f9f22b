// SPDX-License-Identifier: Apache-2.0
// The loop over rounds, when it stops, and what the runs amount to.

#include "collect/bench/bench.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>

#include "collect/bench/schedule.h"
#include "stats/hypothesis.h"
#include "stats/summary.h"

enum { OFFSET_MAX = 4096, CALIBRATION_RUNS = 50, CLOCK_SETTLES_AT = 20 };

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

void bench_init(Bench *b, const BenchOptions *options, const SpawnServer *server)
{
    *b = (Bench){.options = *options, .server = *server};
}

void bench_deinit(Bench *b)
{
    for (size_t i = 0; b->results && i < b->commands.len; i++)
        vec_free(&b->results[i].runs);
    arena_deinit(&b->arena);
    *b = (Bench){0};
}

const char *outlier_cause_name(OutlierCause c)
{
    static const char *const names[] = {"waited for something not counted", "waited for a CPU",
                                        "lost the CPU to other virtual machines", "read from disk",
                                        "used more CPU time"};
    return names[c];
}

Str bench_clock_name(const Bench *b)
{
    return b->clock_name            ? str_from_c(b->clock_name)
           : b->options.cpu_clock   ? STR("cpu")
           : b->server.kernel_clock ? STR("kernel")
                                    : STR("wait");
}

double *bench_times(Bench *b, uint32_t command, size_t *n)
{
    const BenchRunVec *runs = &b->results[command].runs;
    double *x = arena_array(&b->arena, double, runs->len + 1);
    for (size_t i = 0; i < runs->len; i++)
        x[i] = runs->at[i].time_s;
    *n = runs->len;
    return x;
}

// ---- One run ---------------------------------------------------------------

// What a round's runs share: the variables hyperfine gives a command.
typedef struct RunEnvironment {
    char offset[sizeof("HYPERFINE_RANDOMIZED_ENVIRONMENT_OFFSET=") + OFFSET_MAX];
    char iteration[64];
    const char *vars[3];
} RunEnvironment;

static void draw_environment(RunEnvironment *e, Random *random, const char *kind, uint64_t round)
{
    size_t length = (size_t)random_below(random, OFFSET_MAX);
    int at = snprintf(e->offset, sizeof(e->offset), "HYPERFINE_RANDOMIZED_ENVIRONMENT_OFFSET=");
    memset(e->offset + at, 'X', length);
    e->offset[(size_t)at + length] = '\0';
    snprintf(e->iteration, sizeof(e->iteration), "HYPERFINE_ITERATION=%s%llu", kind,
             (unsigned long long)round);
    e->vars[0] = e->offset;
    e->vars[1] = e->iteration;
    e->vars[2] = NULL;
}

static bool stopped(const Bench *b)
{
    return b->options.interrupted && *b->options.interrupted;
}

// Runs a shell command that is not measured; it must succeed.
static bool run_around(Bench *b, Str text, const char *what, SpawnOutput output, Error *err)
{
    if (text.len == 0 || stopped(b))
        return true;
    const char *argv[8];
    size_t n = 0;
    while (n < 6 && b->options.shell[n]) {
        argv[n] = b->options.shell[n];
        n++;
    }
    argv[n++] = arena_c_str(&b->arena, text);
    argv[n] = NULL;
    SpawnRequest request = {
        .path = argv[0],
        .argv = argv,
        .output = output == SPAWN_OUTPUT_INHERIT ? SPAWN_OUTPUT_INHERIT : SPAWN_OUTPUT_NULL,
        .errors = output == SPAWN_OUTPUT_INHERIT ? SPAWN_OUTPUT_INHERIT : SPAWN_OUTPUT_NULL,
        .quick = true,
    };
    SpawnResult result;
    if (!spawn_server_run(&b->server, &request, &result, err))
        return error_context(err, "the %s command", what);
    if (result.status == 0 || stopped(b))
        return true;
    error_set(err, ERROR_OS, "the %s command '%" STR_FMT "' failed with %s %d", what, STR_ARG(text),
              WIFSIGNALED(result.status) ? "signal" : "status",
              WIFSIGNALED(result.status) ? WTERMSIG(result.status) : WEXITSTATUS(result.status));
    return error_hint(err, "append ' || true' to it when that is expected");
}

bool bench_step(Bench *b, uint32_t command, BenchStep step, Error *err)
{
    static const char *const names[] = {"setup", "prepare", "conclude", "cleanup"};
    const BenchCommand *c = &b->commands.at[command];
    const Str texts[] = {c->setup, c->prepare, c->conclude, c->cleanup};
    return run_around(b, texts[step], names[step], c->output, err);
}

static bool accepts(const BenchIgnore *ignore, int status)
{
    if (status == 0 || ignore->all)
        return true;
    for (size_t i = 0; i < ignore->statuses.len; i++)
        if (ignore->statuses.at[i] == (uint32_t)status)
            return true;
    return false;
}

// What a run took, by the bench's clock, in seconds.
static double run_seconds(const Bench *b, const SpawnResult *r)
{
    if (!b->options.cpu_clock)
        return (double)r->wall_ns * 1e-9;
    bool counted = b->counter_count && b->counters[0].open && isfinite(r->counts[0]);
    return (counted ? r->counts[0] : (double)(r->user_ns + r->system_ns)) * 1e-9;
}

// The CPU time that was counted from exec to exit; NaN when it was not.
static double counted_cpu_ns(const Bench *b, const SpawnResult *r)
{
    for (uint32_t i = 0; i < b->counter_count; i++)
        if (b->counters[i].open &&
            str_starts_with(str_from_c(b->counters[i].name), STR("task-clock")))
            return r->counts[i];
    return NAN;
}

double bench_freeing_ns(double cpu_ns, double counted_ns, double *least_ns)
{
    const double way_to_exec_most = 150000, varies = 200000;
    double outside = MAX(0.0, cpu_ns - counted_ns);
    if (*least_ns == 0 || outside < *least_ns)
        *least_ns = MIN(outside, way_to_exec_most);
    return MAX(0.0, outside - *least_ns - varies);
}

// The time is from exec until the memory is free, by any kernel. Returns what it added.
static double add_freeing(Bench *b, SpawnResult *r)
{
    double counted = counted_cpu_ns(b, r);
    if (r->clock != SPAWN_CLOCK_KERNEL || !r->one_process || !isfinite(counted))
        return 0;
    double cpu = (double)(r->user_ns + r->system_ns);
    double freeing = bench_freeing_ns(cpu, counted, &b->least_outside_ns);
    r->wall_ns = MIN(r->wall_ns + (int64_t)freeing, r->waited_ns);
    return freeing;
}

// Of a run's time, what it waited for a CPU; NaN when not known. Only a command that is
// one thread can have waited for nobody but other programs. The kernel counts its wait
// beyond the exit record too: what it computed cannot have been waiting.
static double waiting_seconds(const Bench *b, const SpawnResult *r)
{
    if (!r->alone || r->clock != SPAWN_CLOCK_KERNEL || r->run_delay_ns < 0)
        return NAN;
    double all = (double)(r->user_ns + r->system_ns), counted = counted_cpu_ns(b, r), none = 1;
    double least = b->least_outside_ns > 0 ? b->least_outside_ns : none;
    double cpu = isfinite(counted) ? counted + bench_freeing_ns(all, counted, &least) : all;
    return MAX(0.0, MIN((double)r->run_delay_ns, (double)r->wall_ns - cpu)) * 1e-9;
}

// What a run is for.
typedef enum RunPurpose {
    RUN_MEASURED,
    RUN_WARM_UP,
    RUN_WEIGHED // for its exact peak memory; neither its time nor its status counts
} RunPurpose;

// A program that runs alone and as the user who started it; what a shell starts could
// be anything.
static bool can_be_weighed(const Bench *b, const BenchCommand *c)
{
    struct stat st;
    return b->server.kernel_clock && !c->via_shell && stat(c->path, &st) == 0 &&
           !(st.st_mode & (S_ISUID | S_ISGID)) &&
           getxattr(c->path, "security.capability", NULL, 0) < 0;
}

uint64_t bench_peak_memory(const BenchResult *result, const BenchRun *run)
{
    if (result->weighed && run->spawn.max_rss_bytes <= result->rss_floor_bytes)
        return result->exact_rss_bytes;
    int64_t bytes = (int64_t)run->spawn.max_rss_bytes + result->rss_correction_bytes;
    return (uint64_t)MAX(bytes, (int64_t)0);
}

static bool run_command(Bench *b, uint32_t command, const RunEnvironment *env, RunPurpose purpose,
                        uint32_t round, uint32_t position, Error *err)
{
    const BenchCommand *c = &b->commands.at[command];
    BenchResult *result = &b->results[command];
    if (!bench_step(b, command, BENCH_PREPARE, err))
        return false;
    for (size_t i = 0; b->options.cold && i < b->options.cold->len; i++) {
        size_t left;
        if (!bench_drop_cache(b->options.cold->at[i], &left, err))
            return false;
        b->cold_left = MAX(b->cold_left, left);
    }
    if (stopped(b))
        return true;
    SpawnRequest request = {
        .path = c->path,
        .argv = c->argv,
        .env = env->vars,
        .input = b->options.input,
        .output = c->output,
        .errors = c->output == SPAWN_OUTPUT_INHERIT ? SPAWN_OUTPUT_INHERIT : SPAWN_OUTPUT_NULL,
        .output_file = c->output_file,
        .timeout_ns = b->options.timeout_ns,
        .weigh = purpose == RUN_WEIGHED,
    };
    BenchRun run = {.round = round, .position = position};
    if (!spawn_server_run(&b->server, &request, &run.spawn, err))
        return false;
    if (stopped(b))
        return true; // Ctrl-C reached the command too: its time says nothing
    if (purpose == RUN_WEIGHED) {
        result->weighed = run.spawn.alone && run.spawn.exact_rss_bytes > 0;
        if (result->weighed) {
            result->exact_rss_bytes = run.spawn.exact_rss_bytes;
            result->rss_correction_bytes =
                (int64_t)run.spawn.exact_rss_bytes - (int64_t)run.spawn.max_rss_bytes;
            result->rss_floor_bytes = b->server.rss_floor_bytes + BENCH_RSS_ERROR;
        }
        return bench_step(b, command, BENCH_CONCLUDE, err);
    }
    int status = run.spawn.status;
    run.status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    double freeing_ns = add_freeing(b, &run.spawn);
    double took_s = run_seconds(b, &run.spawn) + (b->options.cpu_clock ? freeing_ns * 1e-9 : 0);
    run.time_s = MAX(took_s - result->shell_time_s, 0.0);
    run.waiting_s = waiting_seconds(b, &run.spawn);
    if (isfinite(run.waiting_s))
        run.spawn.run_delay_ns = (int64_t)(run.waiting_s * 1e9);
    run.user_s = MAX((double)run.spawn.user_ns * 1e-9 - result->shell_user_s, 0.0);
    run.system_s = MAX((double)run.spawn.system_ns * 1e-9 - result->shell_system_s, 0.0);
    for (uint32_t i = 0; i < b->counter_count; i++)
        run.spawn.counts[i] -= result->shell_counts[i];
    b->left_children |= run.spawn.left_children;
    if (run.spawn.timed_out && !b->options.ignore.all) {
        error_set(err, ERROR_LIMIT, "command '%" STR_FMT "' was killed after %.3g s",
                  STR_ARG(c->text), (double)b->options.timeout_ns * 1e-9);
        return error_hint(err, "raise --timeout, or take such runs with --ignore-failure");
    }
    if (!accepts(&b->options.ignore, run.status)) {
        error_set(err, ERROR_OS, "command '%" STR_FMT "' ended with %s %d in %s %u",
                  STR_ARG(c->text), WIFSIGNALED(status) ? "signal" : "status",
                  WIFSIGNALED(status) ? WTERMSIG(status) : run.status,
                  purpose == RUN_MEASURED ? "run" : "warm-up run", round + 1);
        return error_hint(err, "see its output with --show-output; accept it with "
                               "--ignore-failure (-i)");
    }
    if (purpose == RUN_MEASURED)
        vec_push(NULL, &result->runs, run);
    return bench_step(b, command, BENCH_CONCLUDE, err);
}

// Mean time of the shell doing nothing, by the same clock.
static bool calibrate_shell(Bench *b, BenchResult *ret, Error *err)
{
    const char *argv[8];
    size_t n = 0;
    for (; n < 6 && b->options.shell[n]; n++)
        argv[n] = b->options.shell[n];
    argv[n++] = "";
    argv[n] = NULL;
    SpawnRequest request = {.path = argv[0], .argv = argv};
    double times[CALIBRATION_RUNS];
    size_t count = 0;
    while (count < CALIBRATION_RUNS && !stopped(b)) {
        SpawnResult r;
        if (b->progress)
            b->progress(b->progress_ctx, b, "measuring the shell");
        if (!spawn_server_run(&b->server, &request, &r, err))
            return error_context(err, "the shell cannot be started");
        if (r.status != 0)
            return error_set(err, ERROR_OS, "the shell '%s' failed on an empty command", argv[0]);
        times[count++] = run_seconds(b, &r);
        ret->shell_user_s += (double)r.user_ns * 1e-9 / CALIBRATION_RUNS;
        ret->shell_system_s += (double)r.system_ns * 1e-9 / CALIBRATION_RUNS;
        for (uint32_t i = 0; i < b->counter_count; i++)
            ret->shell_counts[i] += r.counts[i] / CALIBRATION_RUNS;
    }
    // The mean of what is not an outlier: one descheduled calibration run would
    // shift every result.
    stats_sort(times, count);
    if (count > 1) {
        ret->shell_time_s = stats_trimmed_mean_sorted(times, count, 0.1);
        ret->shell_error_s =
            stats_deviation(times + count / 10, count - 2 * (count / 10)) / sqrt((double)count);
    }
    return true;
}

// ---- When to stop ----------------------------------------------------------

static size_t completed_rounds(const Bench *b)
{
    size_t least = SIZE_MAX;
    for (size_t i = 0; i < b->commands.len; i++)
        least = MIN(least, b->results[i].runs.len);
    return least;
}

// Every comparison decided at the margin `until`; one command alone: its
// typical time known to ± that share.
static bool decided(Bench *b)
{
    Arena scratch = {0};
    bool all = true;
    double margin = b->options.until;
    if (b->commands.len == 1) {
        size_t n = b->results[0].runs.len;
        double *logs = arena_array(&scratch, double, n + 1);
        for (size_t i = 0; i < n; i++)
            logs[i] = log(MAX(1e-9, b->results[0].runs.at[i].time_s));
        Interval in = stats_sequence_interval(&scratch, logs, n, b->options.level, 100);
        all = (in.high - in.low) / 2 <= log1p(margin);
    } else {
        bench_summarise(b);
        // From here on the sequence that is looked at is one and the same; before, next to
        // none of its error is spent, and too few runs say whether they wait.
        b->clock_settled = completed_rounds(b) >= CLOCK_SETTLES_AT;
        for (size_t i = 0; i < b->commands.len; i++)
            if (i != b->options.reference && b->comparisons[i].verdict == VERDICT_INCONCLUSIVE)
                all = false;
    }
    arena_deinit(&scratch);
    return all;
}

static bool enough(Bench *b, uint64_t rounds, int64_t measured_ns, int64_t *next_look)
{
    const BenchOptions *o = &b->options;
    if (o->max_time_ns && now_ns() - b->begin_ns >= o->max_time_ns && rounds > 0) {
        b->timed_out = true;
        return true;
    }
    if (o->runs)
        return rounds >= o->runs;
    uint64_t most = o->max_runs ? o->max_runs : UINT64_MAX;
    if (rounds >= most)
        return true;
    if (rounds < MIN(o->min_runs, most))
        return false;
    if (o->until > 0) {
        if ((int64_t)rounds < *next_look)
            return false;
        *next_look = (int64_t)rounds + MAX((int64_t)1, (int64_t)rounds / 20);
        return decided(b);
    }
    size_t commands = o->grouped ? 1 : b->commands.len;
    bool balanced = o->grouped || b->commands.len != 2 || rounds % b->block == 0;
    return balanced && measured_ns >= o->min_time_ns * (int64_t)commands;
}

// ---- The loops -------------------------------------------------------------

// The last warm-up run is weighed: its time is nobody's concern.
static RunPurpose warm_up_purpose(const Bench *b, uint32_t command, uint64_t w)
{
    bool last = w + 1 == b->options.warmup;
    return last && can_be_weighed(b, &b->commands.at[command]) ? RUN_WEIGHED : RUN_WARM_UP;
}

// One more run to weigh a command: only of a short one, whose number of runs nobody set,
// and whose memory is so little that the kernel's figure is more than 1 % off.
static bool weigh_after(Bench *b, uint32_t command, Error *err)
{
    const BenchOptions *o = &b->options;
    const BenchCommand *c = &b->commands.at[command];
    const BenchResult *r = &b->results[command];
    const BenchRun *last = r->runs.len ? &r->runs.at[r->runs.len - 1] : NULL;
    bool wanted = last && !r->weighed && o->runs == 0 && o->max_runs == 0 && !b->timed_out &&
                  last->spawn.max_rss_bytes < BENCH_RSS_EXACT_FROM && last->time_s < 0.1 &&
                  last->spawn.alone && c->output == SPAWN_OUTPUT_NULL;
    if (!wanted || stopped(b) || !can_be_weighed(b, c))
        return true;
    Random random = random_seeded(o->seed);
    RunEnvironment env;
    draw_environment(&env, &random, "memory-", 0);
    return run_command(b, command, &env, RUN_WEIGHED, 0, 0, err);
}

static bool run_rounds(Bench *b, uint32_t from, uint32_t count, Error *err)
{
    const BenchOptions *o = &b->options;
    Schedule schedule;
    schedule_init(&schedule, &b->arena, count, o->seed + from);
    Random random = random_seeded(o->seed ^ 0x5bd1e995);
    RunEnvironment env;
    for (uint64_t w = 0; w < o->warmup; w++) {
        draw_environment(&env, &random, "warmup-", w);
        for (uint32_t i = 0; i < count && !stopped(b); i++) {
            if (b->progress)
                b->progress(b->progress_ctx, b, "warming up");
            if (!run_command(b, from + i, &env, warm_up_purpose(b, from + i, w), (uint32_t)w, i,
                             err))
                return false;
        }
    }
    int64_t start_ns = now_ns(), next_look = 0;
    for (uint64_t round = 0; !stopped(b); round++) {
        int64_t measured_ns = now_ns() - start_ns;
        if (enough(b, round, measured_ns, &next_look))
            break;
        b->planned_ns = 0;
        if (o->until <= 0 && o->runs)
            b->planned_ns = round ? measured_ns / (int64_t)round * (int64_t)o->runs : 0;
        else if (o->until <= 0)
            b->planned_ns = o->min_time_ns * (int64_t)count;
        const uint32_t *order = schedule_next(&schedule);
        draw_environment(&env, &random, "", round);
        for (uint32_t i = 0; i < count && !stopped(b); i++) {
            if (!run_command(b, from + order[i], &env, RUN_MEASURED, (uint32_t)round, i, err))
                return false;
            if (b->progress)
                b->progress(b->progress_ctx, b, "measuring");
        }
    }
    return true;
}

static bool run_all(Bench *b, Error *err)
{
    bool shell_needed = false;
    BenchResult shell = {0};
    uint32_t count = (uint32_t)b->commands.len;
    for (uint32_t i = 0; i < count; i++)
        shell_needed |= b->commands.at[i].via_shell;
    if (shell_needed && !calibrate_shell(b, &shell, err))
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (b->commands.at[i].via_shell)
            b->results[i] = shell;
    b->begin_ns = now_ns();
    uint32_t group = b->options.grouped ? 1 : count;
    for (uint32_t from = 0; from < count && !stopped(b); from += group) {
        uint32_t ready = 0;
        bool ok = true;
        for (; ok && ready < group; ready++)
            ok = bench_step(b, from + ready, BENCH_SETUP, err);
        ok = ok && run_rounds(b, from, group, err);
        for (uint32_t i = 0; ok && i < group; i++)
            ok = weigh_after(b, from + i, err);
        // What was set up is cleaned up, also after a failure.
        Error later;
        for (uint32_t i = 0; i < ready; i++)
            if (!bench_step(b, from + i, BENCH_CLEANUP, ok ? err : &later))
                ok = false;
        if (!ok)
            return false;
    }
    return true;
}

bool bench_run(Bench *b, Error *err)
{
    size_t n = b->commands.len;
    b->results = arena_array(&b->arena, BenchResult, n);
    b->comparisons = arena_array(&b->arena, Comparison, n);
    b->adjusted_p = arena_array(&b->arena, double, n);
    b->block = b->options.grouped ? 1 : (uint32_t)n;
    if (b->options.events && b->options.events->len) {
        if (!spawn_server_count(&b->server, b->options.events, b->counters, err))
            return false;
        b->counter_count = (uint32_t)b->options.events->len;
    }
    int64_t probe_ns = bench_speed_probe_ns();
    bool ok = run_all(b, err);
    b->speed_change = (double)bench_speed_probe_ns() / (double)MAX(probe_ns, (int64_t)1) - 1;
    b->interrupted = stopped(b);
    bench_summarise(b);
    return ok;
}

// ---- What it amounts to ----------------------------------------------------

static OutlierCause explain(const BenchRun *run, const BenchSummary *s, double median_cpu,
                            double median_delay)
{
    const SpawnResult *r = &run->spawn;
    double excess = run->time_s - s->median;
    if (r->run_delay_ns >= 0 && (double)r->run_delay_ns * 1e-9 - median_delay >= excess / 2)
        return CAUSE_RUN_DELAY;
    if ((double)r->major_faults > s->major_faults || r->blocks_in > 0)
        return CAUSE_DISK;
    if (r->steal_ns > 0 && (double)r->steal_ns * 1e-9 >= excess / 2)
        return CAUSE_STEAL;
    if (run->user_s + run->system_s - median_cpu >= excess / 2)
        return CAUSE_CPU;
    return CAUSE_UNKNOWN;
}

typedef double (*RunFigure)(const BenchRun *run);

static double figure_cpu(const BenchRun *r)
{
    return r->user_s + r->system_s;
}
static double figure_delay(const BenchRun *r)
{
    return (double)r->spawn.run_delay_ns * 1e-9;
}
static double figure_minor(const BenchRun *r)
{
    return (double)r->spawn.minor_faults;
}
static double figure_major(const BenchRun *r)
{
    return (double)r->spawn.major_faults;
}
static double figure_switches(const BenchRun *r)
{
    return (double)(r->spawn.voluntary_switches + r->spawn.involuntary_switches);
}

static double median_figure(Arena *scratch, const BenchRunVec *runs, RunFigure figure)
{
    double *x = arena_array(scratch, double, runs->len + 1);
    for (size_t i = 0; i < runs->len; i++)
        x[i] = figure(&runs->at[i]);
    return stats_median(scratch, x, runs->len);
}

static void summarise_counts(Arena *scratch, const BenchRunVec *runs, uint32_t counters,
                             double *ret)
{
    double *x = arena_array(scratch, double, runs->len + 1);
    for (uint32_t c = 0; c < counters; c++) {
        size_t n = 0;
        for (size_t i = 0; i < runs->len; i++)
            if (isfinite(runs->at[i].spawn.counts[c]))
                x[n++] = MAX(0.0, runs->at[i].spawn.counts[c]);
        ret[c] = stats_median(scratch, x, n);
    }
}

static void summarise(Arena *scratch, BenchResult *result, uint32_t counters, uint64_t floor_bytes,
                      double level)
{
    const BenchRunVec *runs = &result->runs;
    size_t n = runs->len;
    BenchSummary s = {.run_delay_s = NAN};
    if (n == 0) {
        result->summary = s;
        return;
    }
    double *x = arena_array(scratch, double, n);
    double user = 0, system = 0, delay = 0;
    bool delay_known = true;
    for (size_t i = 0; i < n; i++) {
        const BenchRun *run = &runs->at[i];
        x[i] = run->time_s;
        user += run->user_s;
        system += run->system_s;
        delay += (double)run->spawn.run_delay_ns * 1e-9;
        delay_known &= run->spawn.run_delay_ns >= 0;
        s.peak_rss_bytes = MAX(s.peak_rss_bytes, bench_peak_memory(result, run));
        s.kernel_clocked += run->spawn.clock == SPAWN_CLOCK_KERNEL;
    }
    if (!result->weighed) {
        s.peak_rss_error_bytes = BENCH_RSS_ERROR;
        s.peak_rss_is_floor = s.peak_rss_bytes <= floor_bytes + BENCH_RSS_ERROR;
    }
    double *sorted = stats_sorted(scratch, x, n);
    s.mean = stats_mean(x, n);
    s.deviation = stats_deviation(x, n);
    s.median = stats_median_sorted(sorted, n);
    s.mad = stats_mad(scratch, x, n);
    s.min = sorted[0];
    s.max = sorted[n - 1];
    s.user = user / (double)n;
    s.system = system / (double)n;
    s.run_delay_s = delay_known ? delay / (double)n : NAN;
    s.median_interval = stats_median_interval_sorted(sorted, n, level);
    s.minor_faults = median_figure(scratch, runs, figure_minor);
    s.major_faults = median_figure(scratch, runs, figure_major);
    s.switches = median_figure(scratch, runs, figure_switches);
    summarise_counts(scratch, runs, counters, s.counts);
    s.lag1 = stats_autocorrelation(x, n, 1);
    s.effective_runs = stats_effective_size(x, n);
    s.steady = stats_steady_state(scratch, x, n, 1);
    TukeyFences fences = stats_fences_sorted(sorted, n);
    double cpu = median_figure(scratch, runs, figure_cpu);
    double waited = median_figure(scratch, runs, figure_delay);
    for (size_t i = 0; i < n; i++) {
        Outlier o = stats_outlier(&fences, x[i]);
        s.outliers[o]++;
        if (o == OUTLIER_HIGH_MILD || o == OUTLIER_HIGH_SEVERE)
            s.causes[explain(&runs->at[i], &s, cpu, waited)]++;
        if (i == 0)
            s.first_slow = o == OUTLIER_HIGH_SEVERE;
    }
    result->summary = s;
}

// Whether comparisons leave the wait for a CPU out: where it was a good part of the time
// and is known of every run. Nothing of that tells the commands apart, so that the
// choice favours no outcome of a comparison.
static void choose_clock(Bench *b)
{
    const double matters = 0.02;
    double all = 0, waited = 0;
    b->without_waiting = false;
    b->waiting_share = 0;
    if (b->options.cpu_clock)
        return;
    for (size_t i = 0; i < b->commands.len; i++)
        for (size_t k = 0; k < b->results[i].runs.len; k++) {
            all += b->results[i].runs.at[k].time_s;
            waited += b->results[i].runs.at[k].waiting_s;
        }
    if (!(all > 0) || !isfinite(waited))
        return;
    b->waiting_share = waited / all;
    b->without_waiting = b->waiting_share > matters && !b->options.with_waiting;
}

static double compared_seconds(const BenchRun *run, bool without_waiting)
{
    bool known = without_waiting && isfinite(run->waiting_s);
    return known ? MAX(0.0, run->time_s - run->waiting_s) : run->time_s;
}

double bench_compared_seconds(const Bench *b, const BenchRun *run)
{
    return compared_seconds(run, b->without_waiting);
}

// Pairs of complete rounds, without those that have a time of 0.
static Comparison compare(Bench *b, Arena *scratch, uint32_t command, bool without_waiting,
                          const CompareOptions *options)
{
    const BenchRunVec *base = &b->results[b->options.reference].runs;
    const BenchRunVec *other = &b->results[command].runs;
    size_t n = MIN(base->len, other->len), kept = 0;
    double *x = arena_array(scratch, double, MAX(base->len, other->len) + 1);
    double *y = arena_array(scratch, double, MAX(base->len, other->len) + 1);
    if (b->options.grouped) {
        size_t nx = 0, ny = 0;
        for (size_t i = 0; i < base->len; i++)
            if ((x[nx] = compared_seconds(&base->at[i], without_waiting)) > 0)
                nx++;
        for (size_t i = 0; i < other->len; i++)
            if ((y[ny] = compared_seconds(&other->at[i], without_waiting)) > 0)
                ny++;
        return stats_compare_unpaired(scratch, x, nx, y, ny, options);
    }
    double *gaps = arena_array(scratch, double, n + 1);
    for (size_t i = 0; i < n; i++) {
        // A run that failed to be kept would shift the pairs: rounds are compared.
        if (base->at[i].round != other->at[i].round)
            break;
        x[kept] = compared_seconds(&base->at[i], without_waiting);
        y[kept] = compared_seconds(&other->at[i], without_waiting);
        if (x[kept] > 0 && y[kept] > 0) {
            int64_t gap = base->at[i].spawn.start_ns - other->at[i].spawn.start_ns;
            gaps[kept++] = fabs((double)gap) * 1e-9 / MAX(base->at[i].time_s, other->at[i].time_s);
        }
    }
    b->pairs_dropped += (uint32_t)(n - kept);
    b->gap_ratio = kept ? MAX(b->gap_ratio, stats_median(scratch, gaps, kept)) : b->gap_ratio;
    return stats_compare_paired(scratch, x, y, kept, options);
}

// Ratios of what was counted, as compare() has it for times.
static void compare_counts(Bench *b, Arena *scratch, uint32_t command, const CompareOptions *given)
{
    const BenchRunVec *base = &b->results[b->options.reference].runs;
    BenchResult *other = &b->results[command];
    size_t n = MIN(base->len, other->runs.len);
    double *x = arena_array(scratch, double, n + 1), *y = arena_array(scratch, double, n + 1);
    CompareOptions options = *given;
    options.sequence = false;
    for (uint32_t c = 0; c < b->counter_count; c++) {
        size_t kept = 0;
        for (size_t i = 0; i < n; i++) {
            x[kept] = base->at[i].spawn.counts[c];
            y[kept] = other->runs.at[i].spawn.counts[c];
            kept += x[kept] > 0 && y[kept] > 0;
        }
        other->count_ratios[c] = (Interval){0};
        if (kept > n / 2 && b->options.grouped)
            other->count_ratios[c] =
                stats_compare_unpaired(scratch, x, kept, y, kept, &options).ratio;
        else if (kept > n / 2)
            other->count_ratios[c] = stats_compare_paired(scratch, x, y, kept, &options).ratio;
    }
}

void bench_summarise(Bench *b)
{
    Arena scratch = {0};
    size_t n = b->commands.len, others = 0;
    for (size_t i = 0; i < n; i++)
        summarise(&scratch, &b->results[i], b->counter_count, b->server.rss_floor_bytes, 0.95);
    b->pairs_dropped = 0;
    b->gap_ratio = 0;
    if (!b->clock_settled)
        choose_clock(b);
    if (n > 1 && completed_rounds(b) > 0) {
        // Several comparisons: all intervals hold at once (Bonferroni).
        CompareOptions options = {
            .level = 1 - (1 - b->options.level) / (double)(n - 1),
            .margin = b->options.until > 0 ? b->options.until : b->options.margin,
            .sequence = b->options.until > 0,
            .horizon = b->options.max_runs,
            .block_pairs = n == 2 ? 2 : 0,
        };
        double *p = arena_array(&scratch, double, n);
        for (uint32_t i = 0; i < n; i++) {
            if (i == b->options.reference)
                continue;
            b->comparisons[i] = compare(b, &scratch, i, b->without_waiting, &options);
            uint32_t dropped = b->pairs_dropped;
            b->results[i].elapsed_ratio =
                b->without_waiting ? compare(b, &scratch, i, false, &options).ratio : (Interval){0};
            b->pairs_dropped = dropped;
            compare_counts(b, &scratch, i, &options);
            p[others++] = b->comparisons[i].p;
        }
        stats_adjust_holm(&scratch, p, others);
        others = 0;
        for (uint32_t i = 0; i < n; i++)
            if (i != b->options.reference)
                b->adjusted_p[i] = p[others++];
    }
    arena_deinit(&scratch);
}
