// SPDX-License-Identifier: Apache-2.0
// The loop over rounds, and when it stops.

#include "collect/bench/bench.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>

#include "collect/bench/command.h"
#include "collect/bench/conditions.h"
#include "collect/bench/schedule.h"
#include "stats/intervals.h"

_Static_assert(SPAWN_COUNTERS_MAX <= (int)RUN_COUNTERS_MAX, "a run has room for every counter");

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

void bench_prepare(Bench *b)
{
    const BenchOptions *o = &b->options;
    uint32_t n = (uint32_t)b->commands.len;
    b->results = arena_array(&b->arena, BenchResult, n);
    b->set = (RunSet){.groups = arena_array(&b->arena, RunGroup, n),
                      .count = n,
                      .plan = {.reference = o->reference,
                               .level = o->level,
                               .margin = o->margin,
                               .until = o->until,
                               .max_runs = o->max_runs,
                               .grouped = o->grouped,
                               .cpu_clock = o->cpu_clock,
                               .with_waiting = o->with_waiting}};
}

void bench_deinit(Bench *b)
{
    for (size_t i = 0; b->results && i < b->commands.len; i++) {
        vec_free(&b->set.groups[i].runs);
        vec_free(&b->results[i].warmups);
    }
    arena_deinit(&b->arena);
    *b = (Bench){0};
}

Str bench_clock_name(const Bench *b)
{
    return b->clock_name            ? str_from_c(b->clock_name)
           : b->options.cpu_clock   ? STR("cpu")
           : b->server.kernel_clock ? STR("kernel")
                                    : STR("wait");
}

// ---- One run ---------------------------------------------------------------

// Properties shared by the runs of a round: the variables hyperfine gives a command.
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
static bool run_around(Bench *b, Str text, const char *what, const BenchCommand *c, Error *err)
{
    SpawnOutput output = c->output;
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
        .folder = c->folder,
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
    return run_around(b, texts[step], names[step], c, err);
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

// The time of a run by the bench's clock, in seconds.
static double run_seconds(const Bench *b, const SpawnResult *r)
{
    if (!b->options.cpu_clock)
        return (double)r->wall_ns * 1e-9;
    bool counted = b->set.counters && b->counters[0].open && isfinite(r->counts[0]);
    return (counted ? r->counts[0] : (double)(r->user_ns + r->system_ns)) * 1e-9;
}

// The CPU time that was counted from exec to exit; NaN when it was not.
static double counted_cpu_ns(const Bench *b, const SpawnResult *r)
{
    for (uint32_t i = 0; i < b->set.counters; i++)
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

// Adds the time of freeing the memory, so that a run's time ends there by any kernel. Returns the
// added time.
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

// The part of a run's time in which it waited for a CPU; NaN when not known. Only of a command
// with one thread, because threads of one command also wait for each other. The kernel goes on
// counting after the exit record, so the wait is limited to the time that was not computed.
static double waiting_seconds(const Bench *b, const SpawnResult *r)
{
    if (!r->alone || r->clock != SPAWN_CLOCK_KERNEL || r->run_delay_ns < 0)
        return NAN;
    double all = (double)(r->user_ns + r->system_ns), counted = counted_cpu_ns(b, r), none = 1;
    double least = b->least_outside_ns > 0 ? b->least_outside_ns : none;
    double cpu = isfinite(counted) ? counted + bench_freeing_ns(all, counted, &least) : all;
    return MAX(0.0, MIN((double)r->run_delay_ns, (double)r->wall_ns - cpu)) * 1e-9;
}

// The purpose of a run.
typedef enum RunPurpose {
    PURPOSE_MEASURE,
    PURPOSE_WARM_UP,
    PURPOSE_WEIGH // for its exact peak memory; neither its time nor its status counts
} RunPurpose;

// Whether the command is one program that runs as the user who started it. A shell could start
// any program.
static bool can_be_weighed(const Bench *b, const BenchCommand *c)
{
    struct stat st;
    return b->server.kernel_clock && !c->via_shell && c->path && stat(c->path, &st) == 0 &&
           !(st.st_mode & (S_ISUID | S_ISGID)) &&
           getxattr(c->path, "security.capability", NULL, 0) < 0;
}

// The share of the CPU time by wait4 that lies after exec. The rest is our own way to exec, which
// is many times what a short program computes.
static double own_share(const Bench *b, const SpawnResult *r, double freeing_ns)
{
    double all = (double)(r->user_ns + r->system_ns), counted = counted_cpu_ns(b, r);
    bool known = r->clock == SPAWN_CLOCK_KERNEL && isfinite(counted) && all > 0;
    return known ? MIN(1.0, (counted + freeing_ns) / all) : 1;
}

// The figures of a run that ended, less the shell's.
static MeasuredRun measured_run(Bench *b, const BenchResult *shell, SpawnResult *r)
{
    int status = r->status;
    double freeing_ns = add_freeing(b, r);
    double took_s = run_seconds(b, r) + (b->options.cpu_clock ? freeing_ns * 1e-9 : 0);
    double own = own_share(b, r, freeing_ns);
    MeasuredRun run = {
        .time_s = MAX(took_s - shell->shell_time_s, 0.0),
        .user_s = MAX(own * (double)r->user_ns * 1e-9 - shell->shell_user_s, 0.0),
        .system_s = MAX(own * (double)r->system_ns * 1e-9 - shell->shell_system_s, 0.0),
        .waiting_s = waiting_seconds(b, r),
        .start_ns = r->start_ns,
        .wall_ns = r->wall_ns,
        .waited_ns = r->waited_ns,
        .user_ns = r->user_ns,
        .system_ns = r->system_ns,
        .run_delay_ns = r->run_delay_ns,
        .steal_ns = r->steal_ns,
        .max_rss_bytes = r->max_rss_bytes,
        .minor_faults = r->minor_faults,
        .major_faults = r->major_faults,
        .voluntary_switches = r->voluntary_switches,
        .involuntary_switches = r->involuntary_switches,
        .blocks_in = r->blocks_in,
        .blocks_out = r->blocks_out,
        .on_cpu_ns = r->on_cpu_ns,
        .disk_wait_ns = r->disk_wait_ns,
        .status = (uint32_t)(WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status)),
        .kernel_clocked = r->clock == SPAWN_CLOCK_KERNEL,
    };
    if (isfinite(run.waiting_s))
        run.run_delay_ns = (int64_t)(run.waiting_s * 1e9);
    for (uint32_t i = 0; i < b->set.counters; i++)
        run.counts[i] = r->counts[i] - shell->shell_counts[i];
    return run;
}

static bool run_command(Bench *b, uint32_t command, const RunEnvironment *env, RunPurpose purpose,
                        uint32_t round, uint32_t position, Error *err)
{
    BenchCommand *c = &b->commands.at[command];
    BenchResult *result = &b->results[command];
    RunGroup *group = &b->set.groups[command];
    SpawnResult spawned;
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
    if (!bench_find_late(&b->arena, c, err))
        return error_hint(err, "neither the setup nor the prepare command has created it");
    SpawnRequest request = {
        .path = c->path,
        .argv = c->argv,
        .env = env->vars,
        .input = b->options.input,
        .output = c->output,
        .errors = c->output == SPAWN_OUTPUT_INHERIT ? SPAWN_OUTPUT_INHERIT : SPAWN_OUTPUT_NULL,
        .output_file = c->output_file,
        .folder = c->folder,
        .timeout_ns = b->options.timeout_ns,
        .weigh = purpose == PURPOSE_WEIGH,
    };
    if (!spawn_server_run(&b->server, &request, &spawned, err))
        return false;
    if (stopped(b))
        return true; // Ctrl-C reached the command too: its time says nothing
    if (purpose == PURPOSE_WEIGH) {
        group->weighed.known = spawned.alone && spawned.exact_rss_bytes > 0;
        if (group->weighed.known) {
            group->weighed.exact_bytes = spawned.exact_rss_bytes;
            group->weighed.correction_bytes =
                (int64_t)spawned.exact_rss_bytes - (int64_t)spawned.max_rss_bytes;
            group->weighed.floor_bytes = b->server.rss_floor_bytes + RUN_RSS_ERROR;
        }
        return bench_step(b, command, BENCH_CONCLUDE, err);
    }
    int status = spawned.status;
    MeasuredRun run = measured_run(b, result, &spawned);
    run.round = round;
    run.position = position;
    result->last_alone = spawned.alone;
    b->left_children |= spawned.left_children;
    if (spawned.timed_out && !b->options.ignore.all) {
        error_set(err, ERROR_LIMIT, "command '%" STR_FMT "' was killed after %.3g s",
                  STR_ARG(c->text), (double)b->options.timeout_ns * 1e-9);
        return error_hint(err, "raise --timeout, or accept such runs with --ignore-failure");
    }
    if (!accepts(&b->options.ignore, (int)run.status)) {
        error_set(err, ERROR_OS, "command '%" STR_FMT "' ended with %s %d in %s %u",
                  STR_ARG(c->text), WIFSIGNALED(status) ? "signal" : "status",
                  WIFSIGNALED(status) ? WTERMSIG(status) : (int)run.status,
                  purpose == PURPOSE_MEASURE ? "run" : "warm-up run", round + 1);
        enum { NOT_FOUND = 127 }; // of a shell
        if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_FOUND && b->commands.len > 1)
            return error_hint(err,
                              "no such command; write a command and its arguments as one word: "
                              "'CMD ARG'");
        return error_hint(err, "see its output with --show-output; accept it with "
                               "--ignore-failure (-i)");
    }
    vec_push(NULL, purpose == PURPOSE_MEASURE ? &group->runs : &result->warmups, run);
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
        double own = own_share(b, &r, 0);
        ret->shell_user_s += own * (double)r.user_ns * 1e-9 / CALIBRATION_RUNS;
        ret->shell_system_s += own * (double)r.system_ns * 1e-9 / CALIBRATION_RUNS;
        for (uint32_t i = 0; i < b->set.counters; i++)
            ret->shell_counts[i] += r.counts[i] / CALIBRATION_RUNS;
    }
    // The mean of the times that are not outliers: one descheduled calibration run would
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

// Every comparison decided at the margin `until`; one command alone: its
// median known to ± that share.
static bool decided(Bench *b)
{
    Arena scratch = {0};
    bool all = true;
    double margin = b->options.until;
    if (b->commands.len == 1) {
        const MeasuredRunVec *runs = &b->set.groups[0].runs;
        size_t n = runs->len;
        double *times = runs_times(&scratch, &b->set.groups[0]);
        Interval in =
            stats_sequence_median(&scratch, times, n, b->options.level, SEQUENCE_TUNED_AT);
        all = in.low > 0 && log(in.high / in.low) / 2 <= log1p(margin);
    } else {
        runs_summarise(&b->set);
        // From here on the sequence that is looked at is one and the same; before, next to
        // none of its error is spent, and too few runs say whether they wait.
        b->set.clock_settled = runs_completed_rounds(&b->set) >= CLOCK_SETTLES_AT;
        for (size_t i = 0; i < b->commands.len; i++)
            if (i != b->options.reference &&
                b->set.groups[i].comparison.verdict == VERDICT_INCONCLUSIVE)
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
    return measured_ns >= o->min_time_ns * (int64_t)commands;
}

// ---- The loops -------------------------------------------------------------

// The last warm-up run is weighed: its time does not matter.
static RunPurpose warm_up_purpose(const Bench *b, uint32_t command, uint64_t w)
{
    bool last = w + 1 == b->options.warmup;
    return last && can_be_weighed(b, &b->commands.at[command]) ? PURPOSE_WEIGH : PURPOSE_WARM_UP;
}

// Makes one more run to weigh a command. Only for short commands whose number of runs the user
// did not set, and whose memory is so little that the kernel's figure is more than 1 % off.
static bool weigh_after(Bench *b, uint32_t command, Error *err)
{
    const BenchOptions *o = &b->options;
    const BenchCommand *c = &b->commands.at[command];
    const RunGroup *g = &b->set.groups[command];
    const MeasuredRun *last = g->runs.len ? &vec_last(&g->runs) : NULL;
    bool wanted = last && !g->weighed.known && o->runs == 0 && o->max_runs == 0 && !b->timed_out &&
                  last->max_rss_bytes < RUN_RSS_EXACT_FROM && last->time_s < 0.1 &&
                  b->results[command].last_alone && c->output == SPAWN_OUTPUT_NULL;
    if (!wanted || stopped(b) || !can_be_weighed(b, c))
        return true;
    Random random = random_seeded(o->seed);
    RunEnvironment env;
    draw_environment(&env, &random, "memory-", 0);
    return run_command(b, command, &env, PURPOSE_WEIGH, 0, 0, err);
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
            if (!run_command(b, from + order[i], &env, PURPOSE_MEASURE, (uint32_t)round, i, err))
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
        // --cleanup follows --setup, also after a failure.
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
    bench_prepare(b);
    if (b->options.events && b->options.events->len) {
        if (!spawn_server_count(&b->server, b->options.events, b->counters, err))
            return false;
        b->set.counters = (uint32_t)b->options.events->len;
    }
    int64_t probe_ns = bench_speed_probe_ns();
    bool ok = run_all(b, err);
    b->speed_change = (double)bench_speed_probe_ns() / (double)MAX(probe_ns, (int64_t)1) - 1;
    b->interrupted = stopped(b);
    b->set.rss_floor_bytes = b->server.rss_floor_bytes;
    runs_summarise(&b->set);
    return ok;
}
