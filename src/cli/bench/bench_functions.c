// SPDX-License-Identifier: Apache-2.0
// Function benchmarks, a process being one replicate: samples within a process
// share its layout and its luck, and say little about the next one.

#include "cli/bench/bench_functions.h"

#include <math.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/json.h"
#include "cli/bench/bench_functions_internal.h"
#include "collect/bench/schedule.h"
#include "elf/elf.h"
#include "os/file.h"

static Function *find_or_add(Functions *f, Str name)
{
    for (size_t i = 0; i < f->list.len; i++)
        if (str_equal(f->list.at[i].name, name))
            return &f->list.at[i];
    vec_push(&f->arena, &f->list, (Function){.name = arena_str(&f->arena, name)});
    return &vec_last(&f->list);
}

double *function_medians(Arena *arena, const ReplicateVec *runs)
{
    double *x = arena_array(arena, double, runs->len + 1);
    for (size_t i = 0; i < runs->len; i++)
        x[i] = runs->at[i].median;
    return x;
}

static double number_of(const JsonValue *v)
{
    return v && v->kind == JSON_NUMBER ? v->number : NAN;
}

// One line of a process' output.
static bool take_line(Functions *f, Str line, int build, Error *err)
{
    JsonValue *v;
    if (!json_parse(&f->arena, line, &v, err))
        return false;
    const JsonValue *name = json_find(v, "name"), *iterations = json_find(v, "iters");
    const JsonValue *times = json_find(v, "times");
    if (!name || name->kind != JSON_STRING || !iterations || !times || iterations->count == 0 ||
        iterations->count != times->count)
        return error_set(err, ERROR_FORMAT, "a line is no result");
    Function *function = find_or_add(f, name->text);
    double *each = arena_array(&f->arena, double, iterations->count);
    Replicate r = {0};
    const JsonValue *t = times->child;
    for (const JsonValue *i = iterations->child; i && t; i = i->next, t = t->next) {
        double n = number_of(i), seconds = number_of(t) * 1e-9;
        if (!(n > 0) || !(seconds >= 0))
            return error_set(err, ERROR_FORMAT, "a sample of '%" STR_FMT "' is no time",
                             STR_ARG(name->text));
        each[r.samples++] = seconds / n;
        r.sum_each += seconds / n;
        r.xy += n * seconds;
        r.xx += n * n;
        if (build == 0)
            vec_push(&f->arena, &function->each, seconds / n);
    }
    r.median = stats_median(&f->arena, each, r.samples);
    vec_push(&f->arena, &function->runs[build], r);
    if (build == 0) {
        function->bytes = number_of(json_find(v, "bytes"));
        function->elements = number_of(json_find(v, "elements"));
    }
    return true;
}

static bool run_process(Functions *f, SpawnServer *server, int build, uint64_t number, Error *err)
{
    const FunctionsOptions *o = f->options;
    const char *program = build ? o->against : o->program;
    const char *path =
        arena_c_str(&f->arena, arena_printf(&f->arena, "%" STR_FMT "/assay-functions-%d",
                                            STR_ARG(o->scratch), (int)getpid()));
    const char *time = arena_c_str(&f->arena, arena_printf(&f->arena, "%.6g", o->time_s));
    const char *warm = arena_c_str(&f->arena, arena_printf(&f->arena, "%.6g", o->time_s / 4));
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
    argv[n++] = arena_c_str(&f->arena, o->filter);
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
    SpawnResult result;
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
    ok =
        ok && (stopped || os_read_file(&f->arena, str_from_c(path), OS_READ_MAX_BYTES, &text, err));
    unlink(path);
    Str rest = str_from_bytes(text), line;
    while (ok && str_next_line(&rest, &line))
        if (line.len && !take_line(f, line, build, err)) {
            ok = error_context(err, "cannot understand '%s'", program);
            error_hint(err, "is it made with <assay/bench.h>?");
        }
    return ok;
}

// As a bench of commands, which is what the database keeps.
static void fill_bench(Functions *f, Bench *b)
{
    *b = (Bench){.clock_name = "in process"};
    b->results = arena_array(&b->arena, BenchResult, f->list.len + 1);
    for (size_t i = 0; i < f->list.len; i++) {
        const Function *function = &f->list.at[i];
        const ReplicateVec *runs = &function->runs[0];
        Str name = arena_str(&b->arena, function->name);
        Str program = arena_str(&b->arena, str_from_c(f->options->program));
        vec_push(
            &b->arena, &b->commands,
            (BenchCommand){.name = name, .text = name, .path = arena_c_str(&b->arena, program)});
        for (size_t k = 0; k < runs->len; k++)
            vec_push(NULL, &b->results[i].runs,
                     (BenchRun){.time_s = runs->at[k].median, .round = (uint32_t)k});
    }
}

static bool is_interrupted(const FunctionsOptions *o)
{
    return o->interrupted && *o->interrupted;
}

static bool run_all(Functions *f, SpawnServer *server, Error *err)
{
    const FunctionsOptions *o = f->options;
    Schedule schedule;
    uint32_t builds = o->against ? 2 : 1;
    schedule_init(&schedule, &f->arena, builds, o->seed);
    for (uint64_t p = 0; p < o->processes && !is_interrupted(o); p++) {
        const uint32_t *order = schedule_next(&schedule);
        for (uint32_t i = 0; i < builds && !is_interrupted(o); i++)
            if (!run_process(f, server, (int)order[i], p, err))
                return false;
    }
    return f->list.len || is_interrupted(o) ||
           error_set(err, ERROR_NOT_FOUND, "'%s' has no benchmark that matches", o->program);
}

bool bench_functions(FunctionsOutput *out, const Terminal *t, SpawnServer *server,
                     const FunctionsOptions *options, double limit, Error *err)
{
    Functions f = {.options = options};
    bool ok = run_all(&f, server, err);
    if (ok && out->text)
        functions_report(&f, out->text, t);
    if (ok && out->json)
        functions_json(&f, out->json);
    if (ok && out->bench)
        fill_bench(&f, out->bench);
    out->gate = ok ? functions_gate(&f, limit) : 0;
    arena_deinit(&f.arena);
    return ok;
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
