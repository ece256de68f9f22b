// SPDX-License-Identifier: Apache-2.0
// Function benchmarks, a process being one replicate: samples within a process share its
// layout and its luck, and say little about the next one.

#include "collect/bench/function_runs.h"

#include <math.h>

#include "collect/bench/schedule.h"
#include "elf/elf.h"
#include "model/facts.h"
#include "model/run_names.h"
#include "os/clock.h"
#include "os/file.h"
#include "os/spawn.h"

typedef struct Runner {
    Arena scratch;
    const FunctionsOptions *options;
    Profile *p;
    RunRow run; // of the process that was run last
    StrId conditions[2];
    MetricId time, mean, slope, iterations, sample_iterations, sample_time, bytes, elements;
    MetricId sample_wait, cpu_time, cycle;
    double waited_s, took_s;            // all samples of programs made with <assay/bench.h>
    double foreign_waited_s, foreign_s; // all processes of other harnesses
    bool wait_unknown;                  // of some function
    Arena programs;
    FunctionPrograms builds[2];
    const char *env; // path of env(1), for programs that cargo built
    int64_t begin_ns;
} Runner;

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
    profile_set_fact(p, STR(FACT_ORDER), o->against.len ? STR("interleaved") : STR("grouped"));
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

// Notes on programs with another harness.
static void note_harnesses(const Runner *f)
{
    const double much = 0.02;
    if (f->foreign_waited_s > much * f->foreign_s)
        profile_note(f->p, NOTE_WARNING, STR("wait-counted"),
                     "the machine was busy: the benchmarks waited %.0f %% of the time for a CPU, "
                     "and Criterion, libtest and divan count that wait",
                     100 * f->foreign_waited_s / f->foreign_s);
    for (size_t b = 0; b < ARRAY_LEN(f->builds); b++)
        for (size_t i = 0; i < f->builds[b].len; i++)
            if (f->builds[b].at[i].plain)
                profile_note(f->p, NOTE_WARNING, STR("plain-harness"),
                             "'%s' does not accept the options that set its time; it chose how "
                             "long to measure",
                             f->builds[b].at[i].path);
}

// The time left out of the samples, known after all processes have run.
static void record_waiting(const Runner *f)
{
    const FunctionsOptions *o = f->options;
    if (o->clock == FUNCTIONS_CPU || !(f->took_s > 0))
        return;
    if (f->wait_unknown)
        profile_note(f->p, NOTE_WARNING, STR("wait-unknown"),
                     "the wait for a CPU is in these times: this kernel does not report it, or the "
                     "program has an older <assay/bench.h>");
    else
        profile_set_fact(f->p, STR(FACT_WITHOUT_WAITING),
                         o->clock == FUNCTIONS_WHOLE ? STR("no") : STR("yes"));
    profile_set_fact(f->p, STR(FACT_WAITING_SHARE),
                     arena_printf(&f->p->arena, "%.6g", f->waited_s / f->took_s));
}

// Takes the time of each sample by the clock that is asked for. `*cpu_s` is the CPU time of all
// samples, NaN when not known.
static bool settle_times(Runner *f, const FunctionProgram *program, HarnessResult *r, double *cpu_s,
                         Error *err)
{
    FunctionsClock clock = f->options->clock;
    f->wait_unknown |= r->waits == NULL && program->harness == HARNESS_ASSAY;
    if (clock == FUNCTIONS_CPU && !r->cpus) {
        error_set(err, ERROR_USAGE, "'%" STR_FMT "' does not report its CPU time",
                  STR_ARG(r->name));
        return error_hint(err, program->harness == HARNESS_ASSAY
                                   ? "build it again with the <assay/bench.h> of this assay"
                                   : "--cpu-clock needs programs made with <assay/bench.h>");
    }
    *cpu_s = r->cpus ? 0 : NAN;
    for (size_t k = 0; k < r->count; k++) {
        double whole = r->seconds[k];
        double wait = r->waits && r->waits[k] > 0 ? MIN(r->waits[k], whole) : 0;
        if (program->harness == HARNESS_ASSAY) {
            f->took_s += whole > 0 ? whole : 0;
            f->waited_s += wait;
        }
        *cpu_s += r->cpus ? r->cpus[k] : 0;
        if (clock == FUNCTIONS_CPU)
            r->seconds[k] = r->cpus[k];
        else if (clock == FUNCTIONS_WITHOUT_WAITING)
            r->seconds[k] -= wait;
        if (!(r->iterations[k] > 0) || !(r->seconds[k] >= 0))
            return error_set(err, ERROR_FORMAT, "a sample of '%" STR_FMT "' is not a time",
                             STR_ARG(r->name));
    }
    return true;
}

static void add_if_known(Runner *f, RunId run, MetricId metric, double value)
{
    if (isfinite(value))
        profile_add_run_value(f->p, run, metric, value);
}

// The samples of a function in one process become a run.
static bool record_result(Runner *f, const FunctionProgram *program, HarnessResult *r, Error *err)
{
    double cpu_s, all = 0, xy = 0, xx = 0;
    double *each = arena_array(&f->scratch, double, r->count);
    if (!settle_times(f, program, r, &cpu_s, err))
        return false;
    for (size_t i = 0; i < r->count; i++) {
        each[i] = r->seconds[i] / r->iterations[i];
        all += r->iterations[i];
        xy += r->iterations[i] * r->seconds[i];
        xx += r->iterations[i] * r->iterations[i];
    }
    f->run.name =
        profile_str(f->p, program->name.len ? arena_printf(&f->scratch, "%" STR_FMT "/%" STR_FMT,
                                                           STR_ARG(program->name), STR_ARG(r->name))
                                            : r->name);
    RunId run = profile_add_run(f->p, &f->run);
    profile_add_run_value(f->p, run, f->time, stats_median(&f->scratch, each, r->count));
    profile_add_run_value(f->p, run, f->mean, stats_mean(each, r->count));
    profile_add_run_value(f->p, run, f->slope, xy / xx);
    profile_add_run_value(f->p, run, f->iterations, all);
    for (size_t i = 0; i < r->count; i++) {
        profile_add_run_value(f->p, run, f->sample_iterations, r->iterations[i]);
        profile_add_run_value(f->p, run, f->sample_time, r->seconds[i]);
        if (r->waits)
            profile_add_run_value(f->p, run, f->sample_wait, r->waits[i]);
    }
    add_if_known(f, run, f->cpu_time, cpu_s / all);
    add_if_known(f, run, f->cycle, r->cycle);
    add_if_known(f, run, f->bytes, r->bytes);
    add_if_known(f, run, f->elements, r->elements);
    return true;
}

// The position of a process: its build, and the number of the program in it.
typedef struct Place {
    uint32_t build, program, position;
    uint64_t round;
} Place;

// With `keep` false a warm-up, whose samples are dropped.
static bool run_process(Runner *f, SpawnServer *server, const Place *at, bool keep, Error *err)
{
    const FunctionsOptions *o = f->options;
    FunctionProgram *program = &f->builds[at->build].at[at->program];
    const FunctionRequest request = {.server = server,
                                     .env = f->env,
                                     .filter = o->filter,
                                     .scratch = o->scratch,
                                     .time_s = o->time_s,
                                     // So that no function always runs in the wake of the same
                                     // other.
                                     .reverse = at->round % 2,
                                     .timeout_ns = o->timeout_ns,
                                     .interrupted = o->interrupted};
    SpawnResult process = {0};
    HarnessResults results = {0};
    if (!function_process_run(&f->scratch, program, &request, &process, &results, err))
        return false;
    if (program->harness != HARNESS_ASSAY && process.run_delay_ns > 0) {
        f->foreign_s += (double)process.wall_ns * 1e-9;
        f->foreign_waited_s += (double)process.run_delay_ns * 1e-9;
    }
    f->run.command = profile_str(f->p, str_from_c(program->path));
    f->run.conditions = f->conditions[at->build];
    f->run.start_ns = process.start_ns - f->begin_ns;
    f->run.round = (uint32_t)at->round;
    f->run.position = at->position;
    f->run.status = 0;
    for (size_t i = 0; keep && i < results.len; i++)
        if (!record_result(f, program, &results.at[i], err))
            return false;
    return true;
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

// A process of each program in each build. Programs of the same number run close in time.
static bool run_round(Runner *f, SpawnServer *server, const uint32_t *order, uint64_t round,
                      bool keep, Error *err)
{
    uint32_t builds = f->builds[1].len ? 2 : 1;
    size_t programs = MAX(f->builds[0].len, f->builds[1].len);
    for (size_t k = 0; k < programs; k++)
        for (uint32_t i = 0; i < builds; i++) {
            size_t program = round % 2 ? programs - 1 - k : k;
            const Place at = {order[i], (uint32_t)program, i, round};
            if (is_interrupted(f->options))
                return true;
            if (program < f->builds[order[i]].len && !run_process(f, server, &at, keep, err))
                return false;
        }
    return true;
}

static void copy_programs(Runner *f, const FunctionPrograms *from, FunctionPrograms *to)
{
    for (size_t i = 0; i < from->len; i++)
        vec_push(&f->programs, to, from->at[i]);
}

// A warm-up always begins with the build that is measured.
static const uint32_t warm_up_order[] = {0, 1};

static bool run_rounds(Runner *f, SpawnServer *server, Error *err)
{
    const FunctionsOptions *o = f->options;
    Schedule schedule;
    bool ok = true;
    schedule_init(&schedule, &f->programs, f->builds[1].len ? 2 : 1, o->seed);
    for (uint64_t n = 0; ok && n < o->warmup && !is_interrupted(o); n++)
        ok = run_round(f, server, warm_up_order, n, false, err);
    for (uint64_t n = 0, look = 0; ok && !enough(f, n, &look) && !is_interrupted(o); n++)
        ok = run_round(f, server, schedule_next(&schedule), n, true, err);
    return ok;
}

bool functions_run(SpawnServer *server, const FunctionsOptions *o, Profile *p, Error *err)
{
    Runner f;
    runner_init(&f, o, p);
    copy_programs(&f, &o->programs, &f.builds[0]);
    copy_programs(&f, &o->against, &f.builds[1]);
    record_facts(&f);
    bool uses_env = o->programs.len && o->programs.at[0].manifest;
    Program env = {0};
    bool ok = !uses_env || program_find(&f.programs, STR("env"), o->search_path, &env, err);
    f.env = arena_c_str(&f.programs, env.path);
    ok = ok && run_rounds(&f, server, err);
    record_waiting(&f);
    note_harnesses(&f);
    if (ok && !p->runs.name.len && !is_interrupted(o))
        ok = error_set(err, ERROR_NOT_FOUND, "'%s' has no benchmark that matches",
                       o->programs.at[0].path);
    arena_deinit(&f.scratch);
    arena_deinit(&f.programs);
    if (is_interrupted(o))
        profile_set_fact(p, STR(FACT_INTERRUPTED), STR("yes"));
    return ok;
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

void functions_as_bench(const Profile *p, Bench *ret)
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
            const char *program = arena_c_str(&b.arena, profile_text(p, runs->command.at[i]));
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
