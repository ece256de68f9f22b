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

typedef struct Runner {
    Arena scratch;
    const FunctionsOptions *options;
    Profile *p;
    RunRow run;        // of the process that was run last
    StrId commands[2]; // the program, the build that it is run against
    StrId conditions[2];
    MetricId time, mean, slope, iterations, sample_iterations, sample_time, bytes, elements;
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
    profile_set_fact(p, STR(FACT_CLOCK), STR("in process"));
    profile_set_fact(p, STR(FACT_ORDER), o->against ? STR("interleaved") : STR("grouped"));
    profile_set_fact(p, STR(FACT_LEVEL), arena_printf(&p->arena, "%.17g", o->level));
    profile_set_fact(p, STR(FACT_MARGIN), arena_printf(&p->arena, "%.17g", o->margin));
    profile_set_fact(p, STR(FACT_SEED),
                     arena_printf(&p->arena, "%llu", (unsigned long long)o->seed));
    profile_set_fact(p, STR(FACT_START_MONOTONIC),
                     arena_printf(&p->arena, "%lld", (long long)f->begin_ns));
    profile_set_fact(
        p, STR(FACT_START_REALTIME),
        arena_printf(&p->arena, "%lld",
                     (long long)(os_realtime_ns() - (os_monotonic_ns() - f->begin_ns))));
}

// What a benchmark states about an iteration, where it does.
static void add_stated(Runner *f, RunId run, MetricId metric, const JsonValue *v)
{
    double value = number_of(v);
    if (isfinite(value))
        profile_add_run_value(f->p, run, metric, value);
}

// One line of a process' output: a function's samples become a run.
static bool take_line(Runner *f, Str line, int build, Error *err)
{
    JsonValue *v;
    if (!json_parse(&f->scratch, line, &v, err))
        return false;
    const JsonValue *name = json_find(v, "name"), *iterations = json_find(v, "iters");
    const JsonValue *times = json_find(v, "times");
    if (!name || name->kind != JSON_STRING || !iterations || !times || iterations->count == 0 ||
        iterations->count != times->count)
        return error_set(err, ERROR_FORMAT, "a line is no result");
    size_t n = iterations->count, k = 0;
    double *counts = arena_array(&f->scratch, double, n),
           *took = arena_array(&f->scratch, double, n);
    double *each = arena_array(&f->scratch, double, n), all = 0, xy = 0, xx = 0;
    const JsonValue *t = times->child;
    for (const JsonValue *i = iterations->child; i && t; i = i->next, t = t->next, k++) {
        counts[k] = number_of(i);
        took[k] = number_of(t) * 1e-9;
        if (!(counts[k] > 0) || !(took[k] >= 0))
            return error_set(err, ERROR_FORMAT, "a sample of '%" STR_FMT "' is no time",
                             STR_ARG(name->text));
        each[k] = took[k] / counts[k];
        all += counts[k];
        xy += counts[k] * took[k];
        xx += counts[k] * counts[k];
    }
    f->run.name = profile_str(f->p, name->text);
    f->run.command = f->commands[build];
    f->run.conditions = f->conditions[build];
    RunId run = profile_add_run(f->p, &f->run);
    profile_add_run_value(f->p, run, f->time, stats_median(&f->scratch, each, k));
    profile_add_run_value(f->p, run, f->mean, stats_mean(each, k));
    profile_add_run_value(f->p, run, f->slope, xy / xx);
    profile_add_run_value(f->p, run, f->iterations, all);
    for (size_t i = 0; i < k; i++) {
        profile_add_run_value(f->p, run, f->sample_iterations, counts[i]);
        profile_add_run_value(f->p, run, f->sample_time, took[i]);
    }
    add_stated(f, run, f->bytes, json_find(v, "bytes"));
    add_stated(f, run, f->elements, json_find(v, "elements"));
    return true;
}

static bool run_process(Runner *f, SpawnServer *server, int build, uint64_t number,
                        uint32_t position, Error *err)
{
    const FunctionsOptions *o = f->options;
    const char *program = build ? o->against : o->program;
    const char *path =
        arena_c_str(&f->scratch, arena_printf(&f->scratch, "%" STR_FMT "/assay-functions-%d",
                                              STR_ARG(o->scratch), (int)getpid()));
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
                            .output = SPAWN_OUTPUT_FILE,
                            .output_file = path,
                            .timeout_ns = o->timeout_ns,
                            .errors = SPAWN_OUTPUT_INHERIT};
    SpawnResult result = {0};
    Bytes text = {0};
    bool ok = spawn_server_run(server, &request, &result, err);
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
    ok = ok &&
         (stopped || os_read_file(&f->scratch, str_from_c(path), OS_READ_MAX_BYTES, &text, err));
    unlink(path);
    f->run.start_ns = result.start_ns - f->begin_ns;
    f->run.round = (uint32_t)number;
    f->run.position = position;
    f->run.status = 0;
    Str rest = str_from_bytes(text), line;
    while (ok && !stopped && str_next_line(&rest, &line))
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

bool functions_run(SpawnServer *server, const FunctionsOptions *o, Profile *p, Error *err)
{
    Runner f;
    Schedule schedule;
    uint32_t builds = o->against ? 2 : 1;
    bool ok = true;
    runner_init(&f, o, p);
    record_facts(&f);
    schedule_init(&schedule, &f.scratch, builds, o->seed);
    for (uint64_t n = 0; ok && n < o->processes && !is_interrupted(o); n++) {
        const uint32_t *order = schedule_next(&schedule);
        for (uint32_t i = 0; ok && i < builds && !is_interrupted(o); i++)
            ok = run_process(&f, server, (int)order[i], n, i, err);
    }
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
