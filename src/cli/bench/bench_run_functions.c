// SPDX-License-Identifier: Apache-2.0
// `assay bench ./benches`: a program of function benchmarks as an operand.

#include "cli/bench/bench_run_functions.h"

#include "analyse/function_families.h"
#include "cli/bench/bench_baseline.h"
#include "cli/bench/bench_cargo.h"
#include "cli/bench/bench_files.h"
#include "cli/bench/bench_revisions.h"
#include "cli/bench/bench_session.h"
#include "cli/cli.h"
#include "cli/runs/function_report.h"
#include "cli/runs/runs_page.h"
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
        {a->min_time_s != BENCH_MIN_TIME_S, "--min-benchmarking-time"},
        {a->setup.len, "--setup"},
        {a->prepare.len, "--prepare"},
        {a->conclude.len, "--conclude"},
        {a->cleanup.len, "--cleanup"},
        {a->reference.len, "--reference"},
        {a->reference_name.len, "--reference-name"},
        {a->scans.len, "--parameter-scan"},
        {a->lists.len, "--parameter-list"},
        {a->step.len, "--parameter-step-size"},
        {a->no_shell, "-N"},
        {a->shell.len, "--shell"},
        {a->ignore.ptr != bench_not_given, "--ignore-failure"},
        {a->grouped, "--grouped"},
        {a->interleaved, "--interleaved"},
        {a->profile.ptr != bench_not_given, "--profile"},
        {a->explain, "--explain"},
        {a->cold.len, "--cold"},
        {a->events.len, "--event"},
        {a->wait_clock, "--wait-clock"},
        {a->output.len, "--output"},
        {a->input.len, "--input"},
        {a->show_output, "--show-output"},
        {a->bisect.len, "--bisect"},
        {a->judge.len, "--judge"},
    };
    for (size_t i = 0; i < ARRAY_LEN(options); i++)
        if (options[i].given)
            return options[i].name;
    return NULL;
}

// Fails on options that contradict each other. `until` is refused where runs are not interleaved,
// because only a sequence of pairs may be looked at again and again.
static bool check_counts(const BenchArgs *a, Error *err)
{
    if (a->until < 0 || a->until >= 100)
        return error_set(err, ERROR_USAGE, "--until is between 0 and 100 %%");
    if (a->until > 0 && (a->runs || a->processes))
        return error_set(err, ERROR_USAGE,
                         "--runs and --processes exclude --until; --max-runs limits its processes");
    if (a->runs && a->processes)
        return error_set(err, ERROR_USAGE, "--runs and --processes are the same; give one");
    if (!(a->until > 0) && (a->min_runs != UINT64_MAX || a->max_runs))
        return error_set(err, ERROR_USAGE, "--min-runs and --max-runs of functions need --until");
    if (a->max_runs && a->min_runs != UINT64_MAX && a->max_runs < a->min_runs)
        return error_set(err, ERROR_USAGE, "--max-runs is below --min-runs");
    if (a->until > 0 && a->baseline.len && !a->rerun_baseline)
        return error_set(err, ERROR_USAGE,
                         "--until needs interleaved runs: add --rerun-baseline to --baseline");
    if (a->processes > 100000 || a->runs > 100000 || !(a->function_time_s > 0))
        return error_set(err, ERROR_USAGE,
                         "--function-time is above 0, and --processes at most 100000");
    return true;
}

static bool check_functions(const BenchArgs *args, Error *err)
{
    const char *other = command_option(args);
    if (other) {
        error_set(err, ERROR_USAGE, "%s is for commands, not for function benchmarks", other);
        return error_hint(err, "give the program an argument (--time 1) to time it as one command");
    }
    if (args->cpu_clock && args->with_waiting)
        return error_set(err, ERROR_USAGE, "--cpu-clock excludes --with-waiting");
    if (args->margin < 0 || args->margin >= 100)
        return error_set(err, ERROR_USAGE, "--margin is between 0 and 100 %%");
    if (args->confidence < 50 || args->confidence > 99.99)
        return error_set(err, ERROR_USAGE, "--confidence is between 50 and 99.99 %%");
    if (args->names.len > 1u + (args->against.len || bench_wants_revisions(args)))
        return error_set(err, ERROR_USAGE, "%zu name%s for %d build%s", args->names.len,
                         plural_s(args->names.len), args->against.len ? 2 : 1,
                         args->against.len ? "s" : "");
    if (args->build.len && !bench_wants_revisions(args))
        return error_set(err, ERROR_USAGE, "--build needs --revisions or --dirty");
    if (args->rerun_baseline && (!args->baseline.len || args->against.len))
        return error_set(err, ERROR_USAGE,
                         "--rerun-baseline needs --baseline and excludes --against");
    if (args->baseline.len && args->against.len)
        return error_set(err, ERROR_USAGE, "--baseline excludes --against");
    if (bench_wants_revisions(args) && args->against.len)
        return error_set(err, ERROR_USAGE, "--revisions excludes --against");
    return check_counts(args, err);
}

// Loads the results that --baseline names; with --rerun-baseline the program that was saved
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
    const FunctionProgram then = {.path = arena_c_str(arena, session->commands.at[0].program_copy)};
    vec_push(arena, &o->against, then);
    return bench_is_functions(session->commands.at[0].program_copy) ||
           error_set(err, ERROR_USAGE, "'%" STR_FMT "' holds results of commands, not of functions",
                     STR_ARG(args->baseline));
}

static bool save_functions(const BenchArgs *args, const Profile *p, const BenchContext *context,
                           Error *err)
{
    BaselineDb *db = NULL;
    Bench bench;
    functions_as_bench(p, &bench);
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

// The inputs of the files.
typedef struct Output {
    FunctionSummaries *summaries;
    RunFamilies families, growths;
    RunStyle style;
} Output;

static void add_json(StrBuf *out, void *ctx, const RunFiles *form)
{
    Output *o = ctx;
    (void)form;
    function_report_json(out, o->summaries);
}

static void add_svg(StrBuf *out, void *ctx)
{
    Output *o = ctx;
    run_plot_functions_svg(out, &o->families, &o->growths);
}

static bool add_html(StrBuf *out, void *ctx, Error *err)
{
    Output *o = ctx;
    const RunStyle plain = {.unit = o->style.unit, .sort = o->style.sort, .details = true};
    StrBuf text = {0};
    function_report(&text, &plain, o->summaries, STR("text"));
    const RunPage page = {.title =
                              o->families.len ? o->families.at[0].command_line : STR("assay bench"),
                          .families = o->families,
                          .growths = o->growths,
                          .report = strbuf_str(&text)};
    bool ok = run_page_write(out, &page, err);
    strbuf_deinit(&text);
    return ok;
}

static bool write_files(const BenchArgs *args, FunctionSummaries *f)
{
    Output o = {.summaries = f, .style = bench_style(args)};
    function_families_init(&o.families, f);
    function_growths_init(&o.growths, f);
    const BenchFiles files = {.families = o.families,
                              .functions = true,
                              .add_json = add_json,
                              .add_svg = add_svg,
                              .add_html = add_html,
                              .ctx = &o};
    bool ok = bench_write_files(args, &o.style, &files);
    function_families_deinit(&o.families);
    function_families_deinit(&o.growths);
    return ok;
}

static bool print_report(const BenchArgs *args, FunctionSummaries *f,
                         const BaselineSession *baseline, const BenchContext *context, Error *err)
{
    const RunStyle style = bench_style(args);
    StrBuf text = {0};
    bool ok = true;
    function_report(&text, &style, f, args->format);
    if (baseline && args->format.len == 0)
        bench_report_saved(&text, &style.terminal, STR("in process"), &context->machine, baseline);
    if (!str_equal(args->style, STR("none")) && !cli_print_text(strbuf_str(&text)))
        ok = error_set(err, ERROR_OS, "cannot write the result");
    strbuf_deinit(&text);
    return ok;
}

// For --until: whether the runs so far decide all functions. Samples that cannot be read end it
// too; the report then states their defects.
static bool all_decided(void *ctx, const Profile *p)
{
    FunctionSummaries f;
    Error err;
    (void)ctx;
    if (!function_summaries_init(&f, p, &err))
        return true;
    bool decided = function_decided(&f);
    function_summaries_deinit(&f);
    return decided;
}

static FunctionsOptions functions_options(const BenchArgs *args, const BenchContext *context)
{
    enum { USUAL = 10, USUAL_UNTIL = 8, USUAL_MAX_TIME_S = 300 };
    FunctionsOptions o = {.filter = args->filter,
                          .warmup = args->warmup,
                          .processes = args->processes ? args->processes
                                       : args->runs    ? args->runs
                                                       : USUAL,
                          .time_s = args->function_time_s,
                          .max_time_ns = args->max_time,
                          .level = args->confidence / 100,
                          .margin = args->margin / 100,
                          .clock = args->cpu_clock      ? FUNCTIONS_CPU
                                   : args->with_waiting ? FUNCTIONS_WHOLE
                                                        : FUNCTIONS_WITHOUT_WAITING,
                          .seed = args->seed,
                          .timeout_ns = args->timeout,
                          .search_path = cli_env("PATH"),
                          .scratch = cli_env("TMPDIR"),
                          .revision = context->revision,
                          .interrupted = &bench_interrupted};
    if (args->until > 0) {
        o.until = args->until / 100;
        o.processes = args->min_runs == UINT64_MAX ? USUAL_UNTIL : args->min_runs;
        o.most = args->max_runs;
        o.decided = all_decided;
        if (!o.max_time_ns)
            o.max_time_ns = (int64_t)USUAL_MAX_TIME_S * 1000000000;
    }
    for (size_t i = 0; i < args->names.len && i < ARRAY_LEN(o.names); i++)
        o.names[i] = args->names.at[i];
    if (!o.scratch.len)
        o.scratch = STR("/tmp");
    return o;
}

// Takes the builds of two revisions, of which the first is the reference.
static bool use_revisions(Arena *arena, FunctionsOptions *o, const BenchCommandVec *builds,
                          Error *err)
{
    if (builds->len != 2)
        return error_set(err, ERROR_USAGE, "functions are compared between two revisions, not %zu",
                         builds->len);
    const BenchCommand *then = &builds->at[0], *now = &builds->at[1];
    const FunctionProgram old = {.path = then->path, .folder = then->folder};
    const FunctionProgram new = {.path = now->path, .folder = now->folder};
    vec_push(arena, &o->against, old);
    vec_push(arena, &o->programs, new);
    o->revision = now->revision;
    for (size_t i = 0; i < ARRAY_LEN(o->names); i++)
        if (!o->names[i].len)
            o->names[i] = i ? then->name : now->name;
    return true;
}

static bool find_builds(Arena *arena, const BenchArgs *args, const StrVec *operands,
                        const BenchCommandVec *revisions, FunctionsOptions *o, Error *err)
{
    FunctionProgram program = {0}, against = {0};
    if (args->cargo.given)
        return bench_cargo_programs(arena, args, operands, o, err);
    if (revisions)
        return use_revisions(arena, o, revisions, err);
    if (operands->len != 1)
        return error_set(err, ERROR_USAGE,
                         "function benchmarks are of one program; an older "
                         "build is given with --against");
    if (!find_build(arena, operands->at[0], &program.path, err) ||
        (args->against.len && !find_build(arena, args->against, &against.path, err)))
        return false;
    vec_push(arena, &o->programs, program);
    if (args->against.len)
        vec_push(arena, &o->against, against);
    return true;
}

int bench_run_functions(Arena *arena, const BenchArgs *args, const StrVec *operands,
                        const BenchCommandVec *revisions, int argc, char **argv,
                        SpawnServer *server)
{
    BenchContext context = bench_context(arena, args, argc, argv);
    FunctionsOptions o = functions_options(args, &context);
    BaselineSession baseline = {0};
    Profile profile;
    FunctionSummaries summaries = {0};
    StoreWriter *recording = NULL;
    Error err;
    int gate = 0;
    profile_init(&profile);
    bench_catch_signals(server);
    bool ok = check_functions(args, &err) && bench_check_outputs(args, &err) &&
              bench_open_recording(args, &recording, &err) &&
              find_builds(arena, args, operands, revisions, &o, &err) &&
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
    ok = ok && print_report(args, &summaries, compares_saved ? &baseline : NULL, &context, &err);
    bool written = !ok || write_files(args, &summaries);
    if (ok)
        gate = function_gate(&summaries, MAX(0.0, args->fail_if_slower) / 100);
    // A bench that Ctrl-C cut short is not a baseline.
    if (ok && args->save.len && !bench_interrupted)
        ok = save_functions(args, &profile, &context, &err);
    int status = !ok ? cli_fail(&err) : written ? STATUS_OK : STATUS_FAILED;
    store_writer_abandon(recording);
    function_summaries_deinit(&summaries);
    profile_deinit(&profile);
    if (bench_interrupted)
        return 130;
    return status == STATUS_OK && args->fail_if_slower >= 0 ? gate : status;
}

// ---- Which operands are such programs ----------------------------------------

// A program without arguments that carries the note of bench.h.
static bool is_driver(Arena *arena, Str operand)
{
    const char *path;
    return str_find_char(operand, ' ') == SIZE_MAX &&
           bench_find_program(arena, operand, cli_env("PATH"), &path) &&
           bench_is_functions(str_from_c(path));
}

bool bench_operands_are_functions(Arena *arena, const BenchArgs *args, const StrVec *operands)
{
    return operands->len == 1 && !bench_wants_revisions(args) && !args->bisect.len &&
           is_driver(arena, operands->at[0]);
}

bool bench_revisions_are_functions(const BenchCommandVec *revisions)
{
    for (size_t i = 0; i < revisions->len; i++) {
        const BenchCommand *c = &revisions->at[i];
        if (c->via_shell || !c->path || c->argv[1] || !bench_is_functions(str_from_c(c->path)))
            return false;
    }
    return revisions->len > 0;
}

bool bench_check_operands(Arena *arena, const StrVec *operands, Error *err)
{
    for (size_t i = 0; operands->len > 1 && i < operands->len; i++)
        if (is_driver(arena, operands->at[i])) {
            Str name = operands->at[i], other = operands->at[i ? 0 : 1];
            error_set(err, ERROR_USAGE,
                      "'%" STR_FMT "' is a program of function benchmarks, which is given alone",
                      STR_ARG(name));
            return error_hint(
                err, "to compare two builds, run: assay bench %" STR_FMT " --against %" STR_FMT,
                STR_ARG(name), STR_ARG(other));
        }
    return true;
}

void bench_note_functions(const BenchCommandVec *commands, Profile *p)
{
    for (size_t i = 0; i < commands->len; i++) {
        const BenchCommand *c = &commands->at[i];
        if (!c->via_shell && c->path && bench_is_functions(str_from_c(c->path)))
            profile_note(p, NOTE_WARNING, STR("functions"),
                         "'%s' is a program of function benchmarks and was timed as one command; "
                         "its functions are timed by: assay bench %s",
                         c->argv[0], c->argv[0]);
    }
}
