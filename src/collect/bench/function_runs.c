// SPDX-License-Identifier: Apache-2.0
// Function benchmarks, a process being one replicate: samples within a process share its
// layout and its luck, and say little about the next one.

#include "collect/bench/function_runs.h"

#include <math.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/json.h"
#include "collect/bench/schedule.h"
#include "elf/elf.h"
#include "model/facts.h"
#include "model/run_names.h"
#include "os/clock.h"
#include "os/file.h"
#include "os/unnamed_file.h"

typedef struct Runner {
    Arena scratch;
    const FunctionsOptions *options;
    Profile *p;
    RunRow run;        // of the process that was run last
    StrId commands[2]; // the program, the build that it is run against
    StrId conditions[2];
    MetricId time, mean, slope, iterations, sample_iterations, sample_time, bytes, elements;
    MetricId sample_wait, cpu_time, cycle;
    double waited_s, took_s; // all samples
    bool wait_unknown;       // of some function
    int64_t begin_ns;
} Runner;

static double number_of(const JsonValue *v)
{
    return v && v->kind == JSON_NUMBER ? v->number : NAN;
}

static void runner_init(Runner *f, const FunctionsOptions *o, Profile *p)
{
    const Str s = STR("s"), none = STR("");
    StrBuf against = {0};
    *f = (Runner){
        .options = o,
        .p = p,
        .run = RUN_NOT_KNOWN,
        .time = run_metric(p, STR(RUN_METRIC_TIME), s, METRIC_SUM, none),
        .mean = run_metric(p, STR(RUN_METRIC_MEAN_TIME), s, METRIC_SUM, none),
        .slope = run_metric(p, STR(RUN_METRIC_SLOPE_TIME), s, METRIC_SUM, none),
        .iterations = run_metric(p, STR(RUN_METRIC_ITERATIONS), none, METRIC_SUM, none),
        .sample_iterations =
            run_metric(p, STR(RUN_METRIC_SAMPLE_ITERATIONS), none, METRIC_SUM, none),
        .sample_time = run_metric(p, STR(RUN_METRIC_SAMPLE_TIME), s, METRIC_SUM, none),
        .bytes = run_metric(p, STR(RUN_METRIC_BYTES), STR("bytes"), METRIC_SUM, none),
        .elements = run_metric(p, STR(RUN_METRIC_ELEMENTS), none, METRIC_SUM, none),
        .sample_wait = run_metric(p, STR(RUN_METRIC_SAMPLE_WAIT), s, METRIC_SUM, none),
        .cpu_time = run_metric(p, STR(RUN_METRIC_CPU_TIME), s, METRIC_SUM, none),
        .cycle = run_metric(p, STR(RUN_METRIC_CYCLE), s, METRIC_SUM, none),
        .begin_ns = os_monotonic_ns(),
    };
    f->run.revision = profile_str(p, o->revision);
    run_conditions_add(&against, STR(RUN_CONDITION_BUILD), STR("against"));
    f->conditions[1] = profile_str(p, strbuf_str(&against));
    f->commands[0] = profile_str(p, str_from_c(o->program));
    f->commands[1] = profile_str(p, str_from_c(o->against ? o->against : ""));
    strbuf_deinit(&against);
}

static void record_facts(const Runner *f)
{
    const FunctionsOptions *o = f->options;
    Profile *p = f->p;
    profile_set_fact(p, STR(FACT_COLLECTOR), STR(COLLECTOR_FUNCTIONS));
    profile_set_fact(p, STR(FACT_CLOCK),
                     o->clock == FUNCTIONS_CPU ? STR("in process, CPU time") : STR("in process"));
    if (o->clock == FUNCTIONS_WHOLE)
        profile_set_fact(p, STR(FACT_WITH_WAITING), STR("yes"));
    profile_set_fact(p, STR(FACT_ORDER), o->against ? STR("interleaved") : STR("grouped"));
    profile_set_fact(p, STR(FACT_LEVEL), arena_printf(&p->arena, "%.17g", o->level));
    profile_set_fact(p, STR(FACT_MARGIN), arena_printf(&p->arena, "%.17g", o->margin));
    if (o->until > 0)
        profile_set_fact(p, STR(FACT_UNTIL), arena_printf(&p->arena, "%.17g", o->until));
    if (o->most)
        profile_set_fact(p, STR(FACT_MAX_RUNS),
                         arena_printf(&p->arena, "%llu", (unsigned long long)o->most));
    if (o->names[0].len)
        profile_set_fact(p, STR(FACT_BUILD_NAME), o->names[0]);
    if (o->names[1].len)
        profile_set_fact(p, STR(FACT_AGAINST_NAME), o->names[1]);
    profile_set_fact(p, STR(FACT_SEED),
                     arena_printf(&p->arena, "%llu", (unsigned long long)o->seed));
    profile_set_fact(p, STR(FACT_START_MONOTONIC),
                     arena_printf(&p->arena, "%lld", (long long)f->begin_ns));
    profile_set_fact(
        p, STR(FACT_START_REALTIME),
        arena_printf(&p->arena, "%lld",
                     (long long)(os_realtime_ns() - (os_monotonic_ns() - f->begin_ns))));
}

// What was left out of the samples' times, known when all processes have run.
static void record_waiting(const Runner *f)
{
    const FunctionsOptions *o = f->options;
    if (o->clock == FUNCTIONS_CPU || !(f->took_s > 0))
        return;
    if (f->wait_unknown)
        profile_note(f->p, NOTE_WARNING, STR("wait-unknown"),
                     "the wait for a CPU is in these times: this kernel does not tell it, or the "
                     "program has an older <assay/bench.h>");
    else
        profile_set_fact(f->p, STR(FACT_WITHOUT_WAITING),
                         o->clock == FUNCTIONS_WHOLE ? STR("no") : STR("yes"));
    profile_set_fact(f->p, STR(FACT_WAITING_SHARE),
                     arena_printf(&f->p->arena, "%.6g", f->waited_s / f->took_s));
}

// What a benchmark states about an iteration, where it does.
static void add_stated(Runner *f, RunId run, MetricId metric, const JsonValue *v)
{
    double value = number_of(v);
    if (isfinite(value))
        profile_add_run_value(f->p, run, metric, value);
}

// The samples of a function in one process, in seconds.
typedef struct BenchSamples {
    size_t count;
    double *iterations, *times; // as the clock takes them
    double *waits;              // NULL: not known
    double cpu;                 // of all; NaN: not known
} BenchSamples;

// An array of times in nanoseconds, `count` long; NULL where there is none.
static double *read_seconds(Runner *f, const JsonValue *v, size_t count)
{
    size_t k = 0;
    if (!v || v->count != count)
        return NULL;
    double *x = arena_array(&f->scratch, double, count + 1);
    for (const JsonValue *i = v->child; i; i = i->next)
        x[k++] = number_of(i) * 1e-9;
    return x;
}

static bool read_samples(Runner *f, const JsonValue *v, Str name, BenchSamples *ret, Error *err)
{
    const JsonValue *iterations = json_find(v, "iters"), *times = json_find(v, "times");
    if (!iterations || !times || iterations->count == 0 || iterations->count != times->count)
        return error_set(err, ERROR_FORMAT, "a line is no result");
    size_t n = iterations->count, k = 0;
    BenchSamples s = {.count = n, .cpu = NAN, .times = read_seconds(f, times, n)};
    double *cpus = read_seconds(f, json_find(v, "cpus"), n);
    FunctionsClock clock = f->options->clock;
    s.iterations = arena_array(&f->scratch, double, n);
    s.waits = read_seconds(f, json_find(v, "waits"), n);
    f->wait_unknown |= s.waits == NULL;
    if (clock == FUNCTIONS_CPU && !cpus) {
        error_set(err, ERROR_USAGE, "'%" STR_FMT "' does not say its CPU time", STR_ARG(name));
        return error_hint(err, "build it again with the <assay/bench.h> of this assay");
    }
    for (const JsonValue *i = iterations->child; i; i = i->next, k++) {
        s.iterations[k] = number_of(i);
        f->took_s += s.times[k] > 0 ? s.times[k] : 0;
        double wait = s.waits && s.waits[k] > 0 ? MIN(s.waits[k], s.times[k]) : 0;
        f->waited_s += wait;
        if (clock == FUNCTIONS_CPU)
            s.times[k] = cpus[k];
        else if (clock == FUNCTIONS_WITHOUT_WAITING)
            s.times[k] -= wait;
        if (!(s.iterations[k] > 0) || !(s.times[k] >= 0))
            return error_set(err, ERROR_FORMAT, "a sample of '%" STR_FMT "' is no time",
                             STR_ARG(name));
    }
    for (k = 0, s.cpu = cpus ? 0 : NAN; cpus && k < n; k++)
        s.cpu += cpus[k];
    *ret = s;
    return true;
}

// One line of a process' output: a function's samples become a run.
static bool take_line(Runner *f, Str line, int build, Error *err)
{
    JsonValue *v;
    BenchSamples s;
    if (!json_parse(&f->scratch, line, &v, err))
        return false;
    const JsonValue *name = json_find(v, "name");
    if (!name || name->kind != JSON_STRING)
        return error_set(err, ERROR_FORMAT, "a line is no result");
    if (!read_samples(f, v, name->text, &s, err))
        return false;
    double *each = arena_array(&f->scratch, double, s.count), all = 0, xy = 0, xx = 0;
    for (size_t i = 0; i < s.count; i++) {
        each[i] = s.times[i] / s.iterations[i];
        all += s.iterations[i];
        xy += s.iterations[i] * s.times[i];
        xx += s.iterations[i] * s.iterations[i];
    }
    f->run.name = profile_str(f->p, name->text);
    f->run.command = f->commands[build];
    f->run.conditions = f->conditions[build];
    RunId run = profile_add_run(f->p, &f->run);
    profile_add_run_value(f->p, run, f->time, stats_median(&f->scratch, each, s.count));
    profile_add_run_value(f->p, run, f->mean, stats_mean(each, s.count));
    profile_add_run_value(f->p, run, f->slope, xy / xx);
    profile_add_run_value(f->p, run, f->iterations, all);
    for (size_t i = 0; i < s.count; i++) {
        profile_add_run_value(f->p, run, f->sample_iterations, s.iterations[i]);
        profile_add_run_value(f->p, run, f->sample_time, s.times[i]);
        if (s.waits)
            profile_add_run_value(f->p, run, f->sample_wait, s.waits[i]);
    }
    if (isfinite(s.cpu))
        profile_add_run_value(f->p, run, f->cpu_time, s.cpu / all);
    double cycle = number_of(json_find(v, "cycle_ns"));
    if (isfinite(cycle))
        profile_add_run_value(f->p, run, f->cycle, cycle * 1e-9);
    add_stated(f, run, f->bytes, json_find(v, "bytes"));
    add_stated(f, run, f->elements, json_find(v, "elements"));
    return true;
}

static bool read_output(Runner *f, int fd, const char *program, Bytes *ret, Error *err)
{
    Str name = arena_printf(&f->scratch, "output of %s", program);
    if (lseek(fd, 0, SEEK_SET) < 0)
        return error_os(err, "cannot read the output of '%s'", program);
    return os_read_fd(&f->scratch, fd, name, OS_READ_MAX_BYTES, ret, err);
}

// With `keep` false a warm-up, whose samples are dropped.
static bool run_process(Runner *f, SpawnServer *server, int build, uint64_t number,
                        uint32_t position, bool keep, Error *err)
{
    const FunctionsOptions *o = f->options;
    const char *program = build ? o->against : o->program;
    const char *time = arena_c_str(&f->scratch, arena_printf(&f->scratch, "%.6g", o->time_s));
    const char *warm = arena_c_str(&f->scratch, arena_printf(&f->scratch, "%.6g", o->time_s / 4));
    const char *argv[16];
    size_t n = 0;
    argv[n++] = program;
    argv[n++] = "--json";
    argv[n++] = "--time";
    argv[n++] = time;
    argv[n++] = "--warm-up";
    argv[n++] = warm;
    argv[n++] = "--samples";
    argv[n++] = "20";
    argv[n++] = "--filter";
    argv[n++] = arena_c_str(&f->scratch, o->filter);
    // Every other process goes through the functions from the end, so that none
    // always runs in the wake of the same other.
    if (number % 2)
        argv[n++] = "--reverse";
    argv[n] = NULL;
    SpawnRequest request = {.path = program,
                            .argv = argv,
                            .output = SPAWN_OUTPUT_FD,
                            .output_fd = os_open_unnamed(o->scratch, err),
                            .timeout_ns = o->timeout_ns,
                            .folder = build ? o->against_folder : o->folder,
                            .errors = SPAWN_OUTPUT_INHERIT};
    SpawnResult result = {0};
    Bytes text = {0};
    bool ok = request.output_fd >= 0 && spawn_server_run(server, &request, &result, err);
    bool stopped = o->interrupted && *o->interrupted;
    if (ok && !stopped && result.timed_out)
        ok = error_set(err, ERROR_LIMIT, "'%s' was killed after %.3g s", program,
                       (double)o->timeout_ns * 1e-9);
    if (ok && !stopped && result.status != 0) {
        ok = error_set(err, ERROR_OS, "'%s' failed with status %d", program,
                       WIFSIGNALED(result.status) ? 128 + WTERMSIG(result.status)
                                                  : WEXITSTATUS(result.status));
        error_hint(err, "is it made with <assay/bench.h>?");
    }
    ok = ok && (stopped || read_output(f, request.output_fd, program, &text, err));
    if (request.output_fd >= 0)
        close(request.output_fd);
    f->run.start_ns = result.start_ns - f->begin_ns;
    f->run.round = (uint32_t)number;
    f->run.position = position;
    f->run.status = 0;
    Str rest = str_from_bytes(text), line;
    while (ok && keep && !stopped && str_next_line(&rest, &line))
        if (line.len && !take_line(f, line, build, err)) {
            ok = error_context(err, "cannot understand '%s'", program);
            error_hint(err, "is it made with <assay/bench.h>?");
        }
    return ok;
}

static bool is_interrupted(const FunctionsOptions *o)
{
    return o->interrupted && *o->interrupted;
}

// Whether `rounds` are all. `*look` is the round after which the runs are looked at next: seldom
// among many, because a look reads them all.
static bool enough(Runner *f, uint64_t rounds, uint64_t *look)
{
    const FunctionsOptions *o = f->options;
    if (o->max_time_ns && rounds && os_monotonic_ns() - f->begin_ns >= o->max_time_ns) {
        profile_note(f->p, NOTE_WARNING, STR("max-time"), "stopped by --max-time");
        return true;
    }
    if (!o->decided)
        return rounds >= o->processes;
    if (o->most && rounds >= o->most)
        return true;
    if (rounds < o->processes || rounds < *look)
        return false;
    *look = rounds + MAX((uint64_t)1, rounds / 20);
    return o->decided(o->ctx, f->p);
}

bool functions_run(SpawnServer *server, const FunctionsOptions *o, Profile *p, Error *err)
{
    Runner f;
    Schedule schedule;
    uint32_t builds = o->against ? 2 : 1;
    bool ok = true;
    runner_init(&f, o, p);
    record_facts(&f);
    schedule_init(&schedule, &f.scratch, builds, o->seed);
    for (uint64_t n = 0; ok && n < o->warmup && !is_interrupted(o); n++)
        for (uint32_t i = 0; ok && i < builds && !is_interrupted(o); i++)
            ok = run_process(&f, server, (int)i, n, i, false, err);
    for (uint64_t n = 0, look = 0; ok && !enough(&f, n, &look) && !is_interrupted(o); n++) {
        const uint32_t *order = schedule_next(&schedule);
        for (uint32_t i = 0; ok && i < builds && !is_interrupted(o); i++)
            ok = run_process(&f, server, (int)order[i], n, i, true, err);
    }
    record_waiting(&f);
    arena_deinit(&f.scratch);
    if (is_interrupted(o))
        profile_set_fact(p, STR(FACT_INTERRUPTED), STR("yes"));
    return ok &&
           (p->runs.name.len || is_interrupted(o) ||
            error_set(err, ERROR_NOT_FOUND, "'%s' has no benchmark that matches", o->program));
}

static double run_time(const Profile *p, uint32_t run, MetricId time, size_t *at)
{
    const RunValues *v = &p->run_values;
    while (*at < v->run.len && v->run.at[*at].v < run)
        ++*at;
    for (size_t i = *at; i < v->run.len && v->run.at[i].v == run; i++)
        if (v->metric.at[i].v == time.v)
            return v->value.at[i];
    return NAN;
}

void functions_as_bench(const Profile *p, const char *program, Bench *ret)
{
    Bench b = {.clock_name = "in process"};
    const Runs *runs = &p->runs;
    const MetricId time = {0}; // runner_init adds it first
    Table rows = {0};
    U32Vec names = {0}, command = {0};
    size_t at = 0;
    for (uint32_t i = 0; i < runs->name.len; i++) {
        uint32_t row, name = runs->name.at[i].v, found = UINT32_MAX;
        if (runs->conditions.at[i].v) { // of the build that it is run against
            vec_push(&b.arena, &command, UINT32_MAX);
            continue;
        }
        for (TableProbe t = table_probe(&rows, hash_u64(name)); table_next(&rows, &t, &row);)
            if (names.at[row] == name)
                found = row;
        if (found == UINT32_MAX) {
            Str text = arena_str(&b.arena, profile_text(p, runs->name.at[i]));
            found = (uint32_t)names.len;
            table_insert(&rows, hash_u64(name), found);
            vec_push(&b.arena, &names, name);
            vec_push(&b.arena, &b.commands,
                     (BenchCommand){.name = text, .text = text, .path = program});
        }
        vec_push(&b.arena, &command, found);
    }
    bench_prepare(&b);
    for (uint32_t i = 0; i < runs->name.len; i++)
        if (command.at[i] != UINT32_MAX)
            vec_push(NULL, &b.set.groups[command.at[i]].runs,
                     (MeasuredRun){.time_s = run_time(p, i, time, &at),
                                   .round = runs->round.at[i],
                                   .run_delay_ns = 0});
    table_deinit(&rows);
    *ret = b;
}

bool bench_is_functions(Str path)
{
    Arena arena = {0};
    MappedFile file;
    Elf elf;
    bool found = false;
    if (!os_map_file(path, &file, NULL))
        return false;
    found = elf_parse(&arena, file.bytes, &elf, NULL) &&
            elf_section_find(&elf, STR(".note.assay.bench")) != NULL;
    os_unmap_file(&file);
    arena_deinit(&arena);
    return found;
}
