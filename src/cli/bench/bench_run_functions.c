// SPDX-License-Identifier: Apache-2.0
// `assay bench ./benches`: a program of function benchmarks as an operand.

#include "cli/bench/bench_run_functions.h"

#include "cli/bench/bench_baseline.h"
#include "cli/bench/bench_session.h"
#include "cli/cli.h"
#include "cli/runs/function_report.h"
#include "collect/bench/function_runs.h"

static bool find_build(Arena *arena, Str name, const char **ret, Error *err)
{
    return bench_find_program(arena, name, cli_env("PATH"), ret) ||
           error_set(err, ERROR_NOT_FOUND, "there is no program '%" STR_FMT "'", STR_ARG(name));
}

// An option that means something for commands only; NULL when there is none.
static const char *command_option(const BenchArgs *a)
{
    const struct {
        bool given;
        const char *name;
    } options[] = {
        {a->warmup, "--warmup"},
        {a->runs, "--runs"},
        {a->min_runs != UINT64_MAX, "--min-runs"},
        {a->max_runs, "--max-runs"},
        {a->setup.len, "--setup"},
        {a->prepare.len, "--prepare"},
        {a->conclude.len, "--conclude"},
        {a->cleanup.len, "--cleanup"},
        {a->reference.len, "--reference"},
        {a->scans.len, "--parameter-scan"},
        {a->lists.len, "--parameter-list"},
        {a->no_shell || a->shell.len, "--shell"},
        {a->ignore.ptr != bench_not_given, "--ignore-failure"},
        {a->grouped, "--grouped"},
        {a->until > 0, "--until"},
        {a->max_time, "--max-time"},
        {a->profile.ptr != bench_not_given, "--profile"},
        {a->cold.len, "--cold"},
        {a->events.len, "--event"},
        {a->wait_clock, "--wait-clock"},
        {a->interleaved, "--interleaved"},
        {a->step.len, "--parameter-step-size"},
        {a->names.len, "--command-name"},
        {a->output.len, "--output"},
        {a->input.len, "--input"},
        {a->show_output, "--show-output"},
        {a->csv.len, "--export-csv"},
        {a->markdown.len, "--export-markdown"},
        {a->asciidoc.len, "--export-asciidoc"},
        {a->orgmode.len, "--export-orgmode"},
        {a->junit.len, "--export-junit"},
        {a->svg.len, "--svg"},
        {a->html.len, "--html"},
    };
    for (size_t i = 0; i < ARRAY_LEN(options); i++)
        if (options[i].given)
            return options[i].name;
    return NULL;
}

static bool check_functions(const BenchArgs *args, const StrVec *operands, Error *err)
{
    if (operands->len != 1)
        return error_set(err, ERROR_USAGE,
                         "function benchmarks are of one program; an older "
                         "build is given with --against");
    const char *other = command_option(args);
    if (other)
        return error_set(err, ERROR_USAGE, "%s is for commands, not for function benchmarks",
                         other);
    if (args->cpu_clock && args->with_waiting)
        return error_set(err, ERROR_USAGE, "--cpu-clock excludes --with-waiting");
    if (args->processes < 1 || args->processes > 100000 || !(args->function_time_s > 0))
        return error_set(err, ERROR_USAGE, "--processes and --function-time are above 0");
    if (args->rerun_baseline && (!args->baseline.len || args->against.len))
        return error_set(err, ERROR_USAGE,
                         "--rerun-baseline needs --baseline and excludes --against");
    if (args->baseline.len && args->against.len)
        return error_set(err, ERROR_USAGE, "--baseline excludes --against");
    return true;
}

// Loads what --baseline names; with --rerun-baseline the program that was saved
// becomes the build to run against.
static bool load_function_baseline(Arena *arena, const BenchArgs *args, FunctionsOptions *o,
                                   BaselineSession *session, Error *err)
{
    BaselineDb *db;
    if (!args->baseline.len)
        return true;
    if (!baseline_open(bench_database_path(args), false, &db, err))
        return false;
    bool ok = baseline_load(db, arena, args->baseline, session, err);
    baseline_close(db);
    if (!ok)
        return false;
    if (!args->rerun_baseline)
        return true;
    if (session->commands.len == 0 || !session->commands.at[0].program_copy.len)
        return error_set(err, ERROR_NOT_FOUND, "no copy of the program of '%" STR_FMT "' was kept",
                         STR_ARG(args->baseline));
    o->against = arena_c_str(arena, session->commands.at[0].program_copy);
    return bench_is_functions(session->commands.at[0].program_copy) ||
           error_set(err, ERROR_USAGE, "'%" STR_FMT "' was saved of commands, not of functions",
                     STR_ARG(args->baseline));
}

static bool save_functions(const BenchArgs *args, const Profile *p, const char *program,
                           const BenchContext *context, Error *err)
{
    BaselineDb *db = NULL;
    Bench bench;
    functions_as_bench(p, program, &bench);
    bool ok = baseline_open(bench_database_path(args), true, &db, err) &&
              baseline_save(db, args->save, &bench, &context->machine, context->command_line, err);
    baseline_close(db);
    bench_deinit(&bench);
    return ok;
}

// Has functions compared with the saved times.
static void use_baseline(FunctionSummaries *f, const BaselineSession *session)
{
    SavedTimes *saved = arena_array(&f->arena, SavedTimes, session->commands.len + 1);
    for (size_t i = 0; i < session->commands.len; i++) {
        const BaselineCommand *c = &session->commands.at[i];
        saved[i] = (SavedTimes){c->name, c->times.at, c->times.len};
    }
    f->saved = saved;
    f->saved_count = session->commands.len;
    f->compares_saved = true;
}

// Prints the report and writes the JSON file.
static bool report_functions(const BenchArgs *args, FunctionSummaries *f,
                             const BaselineSession *baseline, const BenchContext *context,
                             Error *err)
{
    Terminal terminal = bench_terminal(args->style);
    StrBuf text = {0}, json = {0};
    bool ok = true;
    function_report(&text, &terminal, f, args->format);
    if (baseline && args->format.len == 0)
        bench_report_saved(&text, &terminal, STR("in process"), &context->machine, baseline);
    if (!str_equal(args->style, STR("none")) && !cli_print_text(strbuf_str(&text)))
        ok = error_set(err, ERROR_OS, "cannot write the result");
    if (ok && args->json.len) {
        function_report_json(&json, f);
        ok = bench_write_text(args->json, strbuf_str(&json), err);
    }
    strbuf_deinit(&text);
    strbuf_deinit(&json);
    return ok;
}

int bench_run_functions(Arena *arena, const BenchArgs *args, const StrVec *operands, int argc,
                        char **argv, SpawnServer *server)
{
    BenchContext context = bench_context(arena, args, argc, argv);
    FunctionsOptions o = {.filter = args->filter,
                          .processes = args->processes,
                          .time_s = args->function_time_s,
                          .level = args->confidence / 100,
                          .margin = args->margin / 100,
                          .clock = args->cpu_clock      ? FUNCTIONS_CPU
                                   : args->with_waiting ? FUNCTIONS_WHOLE
                                                        : FUNCTIONS_WITHOUT_WAITING,
                          .seed = args->seed,
                          .timeout_ns = args->timeout,
                          .scratch = cli_env("TMPDIR"),
                          .revision = context.revision,
                          .interrupted = &bench_interrupted};
    BaselineSession baseline = {0};
    Profile profile;
    FunctionSummaries summaries = {0};
    StoreWriter *recording = NULL;
    Error err;
    int gate = 0;
    if (!o.scratch.len)
        o.scratch = STR("/tmp");
    profile_init(&profile);
    bench_catch_signals(server);
    bool ok = check_functions(args, operands, &err) && bench_check_outputs(args, &err) &&
              bench_open_recording(args, &recording, &err) &&
              find_build(arena, operands->at[0], &o.program, &err) &&
              (!args->against.len || find_build(arena, args->against, &o.against, &err)) &&
              load_function_baseline(arena, args, &o, &baseline, &err) &&
              functions_run(server, &o, &profile, &err);
    if (ok) {
        bench_record_context(&context, &profile);
        ok = bench_finish_recording(&recording, &profile, &err) &&
             function_summaries_init(&summaries, &profile, &err);
    }
    bool compares_saved = ok && args->baseline.len && !args->rerun_baseline;
    if (compares_saved)
        use_baseline(&summaries, &baseline);
    ok =
        ok && report_functions(args, &summaries, compares_saved ? &baseline : NULL, &context, &err);
    if (ok)
        gate = function_gate(&summaries, MAX(0.0, args->fail_if_slower) / 100);
    // What Ctrl-C cut short is no baseline.
    if (ok && args->save.len && !bench_interrupted)
        ok = save_functions(args, &profile, o.program, &context, &err);
    int status = ok ? STATUS_OK : cli_fail(&err);
    store_writer_abandon(recording);
    function_summaries_deinit(&summaries);
    profile_deinit(&profile);
    if (bench_interrupted)
        return 130;
    return status == STATUS_OK && args->fail_if_slower >= 0 ? gate : status;
}

// `assay bench ./benches`, the program being made with bench.h. With arguments, or
// with options for commands, it is a command like any other.
bool bench_operands_are_functions(Arena *arena, const BenchArgs *args, const StrVec *operands)
{
    const char *path;
    return operands->len == 1 && !command_option(args) &&
           str_find_char(operands->at[0], ' ') == SIZE_MAX &&
           bench_find_program(arena, operands->at[0], cli_env("PATH"), &path) &&
           bench_is_functions(str_from_c(path));
}
