// SPDX-License-Identifier: Apache-2.0
// `assay bench ./benches`: a program of function benchmarks as an operand.

#include "cli/bench/bench_args.h"

#include "cli/bench/bench_functions.h"
#include "cli/cli.h"
#include "os/file.h"

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
    if (!args->rerun_baseline) {
        o->baseline = session;
        return true;
    }
    if (session->commands.len == 0 || !session->commands.at[0].program_copy.len)
        return error_set(err, ERROR_NOT_FOUND, "no copy of the program of '%" STR_FMT "' was kept",
                         STR_ARG(args->baseline));
    o->against = arena_c_str(arena, session->commands.at[0].program_copy);
    return bench_is_functions(session->commands.at[0].program_copy) ||
           error_set(err, ERROR_USAGE, "'%" STR_FMT "' was saved of commands, not of functions",
                     STR_ARG(args->baseline));
}

static bool save_functions(const BenchArgs *args, Bench *bench, const BenchMachine *machine,
                           Str command_line, Error *err)
{
    BaselineDb *db = NULL;
    bool ok = baseline_open(bench_database_path(args), true, &db, err) &&
              baseline_save(db, args->save, bench, machine, command_line, err);
    baseline_close(db);
    return ok;
}

static bool write_text(Str path, Str text, Error *err)
{
    OutputFile file;
    if (str_equal(path, STR("-")))
        return cli_print(text) || error_set(err, ERROR_OS, "cannot write the result");
    if (!os_output_open(path, OUTPUT_REPLACE, &file, err))
        return false;
    fwrite(text.ptr, 1, text.len, file.stream);
    return os_output_commit(&file, err);
}

int bench_run_functions(Arena *arena, const BenchArgs *args, const StrVec *operands, int argc,
                        char **argv, SpawnServer *server)
{
    FunctionsOptions o = {.filter = args->filter,
                          .format = args->format,
                          .processes = args->processes,
                          .time_s = args->function_time_s,
                          .level = args->confidence / 100,
                          .margin = args->margin / 100,
                          .seed = args->seed,
                          .timeout_ns = args->timeout,
                          .scratch = cli_env("TMPDIR"),
                          .interrupted = &bench_interrupted};
    Terminal terminal = bench_terminal(args->style);
    StrBuf text = {0}, json = {0};
    BaselineSession baseline = {0};
    Bench bench = {0};
    BenchMachine machine;
    FunctionsOutput out = {.text = &text, .json = args->json.len ? &json : NULL};
    Error err;
    if (args->save.len)
        out.bench = &bench;
    if (!o.scratch.len)
        o.scratch = STR("/tmp");
    bench_catch_signals(server);
    bench_machine(arena, &machine);
    bool ok =
        check_functions(args, operands, &err) &&
        find_build(arena, operands->at[0], &o.program, &err) &&
        (!args->against.len || find_build(arena, args->against, &o.against, &err)) &&
        load_function_baseline(arena, args, &o, &baseline, &err) &&
        bench_functions(&out, &terminal, server, &o, MAX(0.0, args->fail_if_slower) / 100, &err);
    if (ok && o.baseline && args->format.len == 0)
        bench_report_saved(&text, &terminal, STR("in process"), &machine, &baseline);
    if (ok && !str_equal(args->style, STR("none")) && !cli_print_text(strbuf_str(&text)))
        ok = error_set(&err, ERROR_OS, "cannot write the result");
    ok = ok && (!args->json.len || write_text(args->json, strbuf_str(&json), &err));
    // What Ctrl-C cut short is no baseline.
    if (ok && args->save.len && !bench_interrupted)
        ok = save_functions(args, &bench, &machine, bench_command_line(arena, argc, argv), &err);
    int status = ok ? STATUS_OK : cli_fail(&err);
    strbuf_deinit(&text);
    strbuf_deinit(&json);
    bench_deinit(&bench);
    if (bench_interrupted)
        return 130;
    return status == STATUS_OK && args->fail_if_slower >= 0 ? out.gate : status;
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
