// SPDX-License-Identifier: Apache-2.0
// `assay bench`: times commands in turns and compares them.

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/shell_words.h"
#include "cli/bench/bench_args.h"
#include "cli/bench/bench_baseline.h"
#include "cli/bench/bench_bisect.h"
#include "cli/bench/bench_explain.h"
#include "cli/bench/bench_files.h"
#include "cli/bench/bench_history.h"
#include "cli/bench/bench_profile.h"
#include "cli/bench/bench_revisions.h"
#include "cli/bench/bench_run_functions.h"
#include "cli/bench/bench_session.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/runs/runs_page.h"
#include "collect/bench/record.h"

static const Option bench_options[] = {
    OPT_U64('w', "warmup", BenchArgs, warmup, "N", "runs before the measured ones"),
    OPT_U64('m', "min-runs", BenchArgs, min_runs, "N",
            "at least N runs of each command (10; 8 with --until)"),
    OPT_U64('M', "max-runs", BenchArgs, max_runs, "N",
            "at most N runs of each command; --until then needs fewer runs near N"),
    OPT_U64('r', "runs", BenchArgs, runs, "N", "exactly N runs of each command"),
    OPT_DOUBLE(0, "min-benchmarking-time", BenchArgs, min_time_s, "SECONDS",
               "measure each command for this time if no number of runs is given (3)"),
    OPT_LIST('s', "setup", BenchArgs, setup, "CMD",
             "shell command before the runs of a command; runs one command after the other"),
    OPT_LIST('p', "prepare", BenchArgs, prepare, "CMD",
             "shell command before each run; once for all commands or one for each"),
    OPT_LIST('C', "conclude", BenchArgs, conclude, "CMD",
             "shell command after each run; once for all commands or one for each"),
    OPT_LIST('c', "cleanup", BenchArgs, cleanup, "CMD",
             "shell command after the runs of a command; runs one command after the other"),
    OPT_TEXT(0, "reference", BenchArgs, reference, "CMD",
             "compare all others with this command instead of the first"),
    OPT_TEXT(0, "reference-name", BenchArgs, reference_name, "NAME", "name of the reference"),
    OPT_LIST('P', "parameter-scan", BenchArgs, scans, "VAR MIN MAX",
             "one command for each value of {VAR} from MIN to MAX"),
    OPT_TEXT('D', "parameter-step-size", BenchArgs, step, "DELTA", "step of the scan (1)"),
    OPT_LIST(
        'L', "parameter-list", BenchArgs, lists, "VAR VALUES",
        "one command for each of the values, separated by commas; repeat for all combinations"),
    OPT_TEXT('S', "shell", BenchArgs, shell, "SHELL",
             "shell that runs the commands; 'none' starts them directly, 'default' is sh"),
    OPT_FLAG('N', NULL, BenchArgs, no_shell, "no shell: the same as --shell=none"),
    OPT_OPTIONAL('i', "ignore-failure", BenchArgs, ignore, "MODE", NULL,
                 "accept failing runs: all of them, or a list of statuses (-i=1,2)"),
    OPT_FLAG(0, "grouped", BenchArgs, grouped,
             "run one command after the other instead of interleaving them"),
    OPT_FLAG(0, "interleaved", BenchArgs, interleaved,
             "interleave although --setup or --cleanup is given"),
    OPT_PERCENT(0, "margin", BenchArgs, margin, "PERCENT",
                "differences below this do not matter (default 1%)"),
    OPT_PERCENT(0, "confidence", BenchArgs, confidence, "PERCENT",
                "level of the intervals (default 95%)"),
    OPT_PERCENT(0, "until", BenchArgs, until, "PERCENT",
                "go on until each comparison is decided at this margin, or the time of a single "
                "command is known with this precision"),
    OPT_DURATION(0, "max-time", BenchArgs, max_time, "TIME",
                 "stop after this time (with --until: 5m)"),
    OPT_DURATION(0, "timeout", BenchArgs, timeout, "TIME",
                 "kill a run that takes longer than this"),
    OPT_PERCENT(0, "fail-if-slower", BenchArgs, fail_if_slower, "PERCENT",
                "exit with 3 when a command is slower than the reference by more than this, 4 when "
                "that is undecided"),
    OPT_OPTIONAL(0, "profile", BenchArgs, profile, "FOLDER", NULL,
                 "afterwards record the commands and say which functions and lines account for "
                 "the difference; FOLDER keeps the recordings"),
    OPT_FLAG(
        0, "explain", BenchArgs, explain,
        "afterwards record runs of each command, and say what slow ones did or waited for that "
        "the others did not, and which programs had their CPU"),
    OPT_TEXT(0, "save", BenchArgs, save, "NAME", "keep the runs in the project's database"),
    OPT_TEXT(0, "baseline", BenchArgs, baseline, "NAME",
             "compare with the results last saved as NAME; history NAME lists them"),
    OPT_FLAG(0, "rerun-baseline", BenchArgs, rerun_baseline,
             "with --baseline, run the program that was saved again, interleaved with this one"),
    OPT_TEXT(0, "db", BenchArgs, db, "FILE", "the database (.assay/bench.db)"),
    OPT_FLAG(0, "compare", BenchArgs, compare,
             "the operands are saved results: recordings of assay bench, or JSON of it, hyperfine, "
             "Google Benchmark, pyperf or Criterion; compare the first with the others"),
    OPT_TEXT(0, "revisions", BenchArgs, revisions, "REV ...",
             "run the command built from each of these revisions, each in a git work tree of its "
             "own; the first is the reference; ends at the next option or --"),
    OPT_FLAG(0, "dirty", BenchArgs, dirty,
             "compare the work tree as it is with HEAD, or with --revisions"),
    OPT_TEXT(0, "build", BenchArgs, build, "CMD",
             "shell command that builds a revision; the built files are kept for the next time"),
    OPT_REST(0, "cargo", BenchArgs, cargo, "OPTION ...",
             "build and run the benchmarks of a cargo workspace (Criterion, libtest, divan, "
             "<assay/bench.h>), with all options of cargo bench up to --; the words after -- go to "
             "the programs"),
    OPT_TEXT(0, "bisect", BenchArgs, bisect, "GOOD..BAD",
             "find the commit that made the command slower, by at least --fail-if-slower if that "
             "is given"),
    OPT_TEXT(0, "judge", BenchArgs, judge, "QUANTITY",
             "with --bisect: time (the default), memory, or an event, such as instructions"),
    OPT_FLAG(0, "functions", BenchArgs, functions,
             "the operand is a program of function benchmarks, made with <assay/bench.h>; not "
             "needed for a program with the header's note and without arguments"),
    OPT_TEXT(0, "against", BenchArgs, against, "PROGRAM",
             "of function benchmarks, an older build to run in turns with this one"),
    OPT_TEXT(0, "filter", BenchArgs, filter, "TEXT",
             "of function benchmarks, only those whose name contains TEXT"),
    OPT_U64(0, "processes", BenchArgs, processes, "N",
            "of function benchmarks, processes of each build (10); the same as --runs"),
    OPT_DOUBLE(0, "function-time", BenchArgs, function_time_s, "SECONDS",
               "of function benchmarks, time measured in each process for each function (0.1)"),
    OPT_CHOICE(
        0, "format", BenchArgs, format, "FORMAT", "text|libtest|gbench",
        "of function benchmarks: text, libtest (rustc's line) or gbench (Google Benchmark's JSON)"),
    OPT_LIST(0, "cold", BenchArgs, cold, "FILE",
             "drop FILE from the page cache before each run; may be repeated"),
    OPT_LIST('e', "event", BenchArgs, events, "EVENT",
             "count events in each run, named as for assay stat; none counts nothing "
             "(task-clock, cycles, instructions, cache-misses, branch-misses)"),
    OPT_FLAG(0, "wait-clock", BenchArgs, wait_clock,
             "time from start to wait, as other tools do, instead of the kernel's exec to exit"),
    OPT_FLAG(0, "cpu-clock", BenchArgs, cpu_clock,
             "measure CPU time instead of elapsed time: steadier on a loaded machine, but without "
             "all waiting"),
    OPT_FLAG(0, "with-waiting", BenchArgs, with_waiting,
             "compare whole times even where much of them was spent waiting for a CPU"),
    OPT_FLAG(0, "details", BenchArgs, details,
             "also show memory, faults, counts and outliers of each command"),
    OPT_U64(0, "seed", BenchArgs, seed, "N", "seed of the random order (1)"),
    OPT_CHOICE(0, "style", BenchArgs, style, "TYPE", "auto|basic|full|nocolor|color|none",
               "auto, basic, full, nocolor, color or none"),
    OPT_CHOICE(0, "sort", BenchArgs, sort, "METHOD", "auto|command|mean-time",
               "order of comparisons and tables: auto, command or mean-time"),
    OPT_CHOICE('u', "time-unit", BenchArgs, unit, "UNIT", "microsecond|millisecond|second|us|ms|s",
               "microsecond, millisecond or second"),
    OPT_TEXT(0, "export-json", BenchArgs, json, "FILE",
             "all runs and figures as JSON; - is stdout"),
    OPT_TEXT(0, "export-csv", BenchArgs, csv, "FILE", "the figures of each command as CSV"),
    OPT_TEXT(0, "export-markdown", BenchArgs, markdown, "FILE", "a Markdown table"),
    OPT_TEXT(0, "export-asciidoc", BenchArgs, asciidoc, "FILE", "an AsciiDoc table"),
    OPT_TEXT(0, "export-orgmode", BenchArgs, orgmode, "FILE", "an Emacs org-mode table"),
    OPT_TEXT(0, "export-junit", BenchArgs, junit, "FILE",
             "comparisons as JUnit test cases, which fail by the limit of --fail-if-slower (5%)"),
    OPT_TEXT(0, "export-github", BenchArgs, github, "FILE",
             "medians as github-action-benchmark reads them (customSmallerIsBetter)"),
    OPT_TEXT(0, "export-bencher", BenchArgs, bencher, "FILE",
             "medians and memory in Bencher's metric format (BMF)"),
    OPT_TEXT(0, "recording", BenchArgs, recording, "FILE",
             "keep all runs in a recording, for assay report and assay export"),
    OPT_FLAG(0, "force", BenchArgs, force, "replace an existing recording"),
    OPT_TEXT(0, "svg", BenchArgs, svg, "FILE",
             "a picture: distributions, runs over time, pairs, growth over a parameter"),
    OPT_TEXT(0, "html", BenchArgs, html, "FILE", "the picture and the figures in one page"),
    OPT_FLAG(0, "show-output", BenchArgs, show_output, "do not hide what the commands print"),
    OPT_LIST(0, "output", BenchArgs, output, "WHERE",
             "stdout of the commands: null, pipe, inherit, or a file (with a '/' in it)"),
    OPT_TEXT(0, "input", BenchArgs, input, "WHERE", "stdin of the commands: null or a file"),
    OPT_LIST('n', "command-name", BenchArgs, names, "NAME", "name of a command; may be repeated"),
    OPT_FLAG('V', "version", BenchArgs, version, "print the version and end"),
};

// ---- While it runs ---------------------------------------------------------

typedef struct Progress {
    int64_t shown_ns;
} Progress;

// Until the bench is likely to end; 0 when that is not known.
static double seconds_left(const Bench *b, int64_t now_ns)
{
    double elapsed = (double)(now_ns - b->begin_ns) * 1e-9;
    if (!b->begin_ns)
        return 0;
    if (b->planned_ns)
        return (double)b->planned_ns * 1e-9 - elapsed;
    double limit = (double)b->options.max_time_ns * 1e-9 - elapsed;
    if (b->options.until <= 0 || b->commands.len != 2)
        return limit;
    // The time for the pairs that are still needed, at the pace so far.
    const Comparison *c = &b->set.groups[1 - b->set.plan.reference].comparison;
    if (c->pairs < 6 || !isfinite(c->more_pairs))
        return limit;
    return MIN(limit, c->more_pairs * elapsed / (double)c->pairs);
}

static void show_progress(void *ctx, const Bench *b, const char *phase)
{
    enum { EVERY_NS = 200000000 };
    Progress *p = ctx;
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    int64_t now = (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
    if (now - p->shown_ns < EVERY_NS)
        return;
    p->shown_ns = now;
    StrBuf line = {0};
    strbuf_printf(&line, "\r%s", phase);
    size_t runs = SIZE_MAX;
    for (size_t i = 0; i < b->commands.len; i++)
        runs = MIN(runs, b->set.groups[i].runs.len);
    if (runs)
        strbuf_printf(&line, ", %zu run%s", runs, runs == 1 ? "" : "s");
    if (b->commands.len == 2 && runs >= 6 && !b->options.grouped) {
        // Few pairs are cheap to look at; many are thinned by time above.
        Bench *live = (Bench *)(uintptr_t)b;
        runs_summarise(&live->set);
        const Comparison *c = &b->set.groups[1 - b->set.plan.reference].comparison;
        strbuf_printf(&line, ": %+.2f %% [%+.2f … %+.2f]", (c->ratio.point - 1) * 100,
                      (c->ratio.low - 1) * 100, (c->ratio.high - 1) * 100);
    } else if (runs && runs != SIZE_MAX) {
        Bench *live = (Bench *)(uintptr_t)b;
        runs_summarise(&live->set);
        strbuf_add(&line, STR(": median "));
        run_add_time(&line, b->set.groups[b->set.plan.reference].summary.median, RUN_UNIT_AUTO);
    }
    double left = seconds_left(b, now);
    if (left > 0)
        strbuf_printf(&line, ", %.0f s left", ceil(left));
    strbuf_add(&line, STR("\033[K"));
    StrBuf shown = {0};
    cli_add_text(&shown, strbuf_str(&line));
    if (write(STDERR_FILENO, shown.ptr, shown.len) < 0)
        p->shown_ns = INT64_MAX; // nobody looks
    strbuf_deinit(&shown);
    strbuf_deinit(&line);
}

// ---- Output ----------------------------------------------------------------

// The inputs of everything that follows the runs.
typedef struct Finish {
    const BenchArgs *args;
    Bench *bench;
    RunSummaries summaries;
    RunStyle style;
    const BaselineSession *baseline; // of --baseline; NULL: none
    const RunMachine *machine;
    BenchProfile profile; // of --profile
    BenchExplain explain; // of --explain
    bool has_profile, has_explain;
} Finish;

static void add_members(JsonWriter *w, void *ctx)
{
    Finish *f = ctx;
    if (f->has_profile)
        bench_profile_json(w, &f->summaries, &f->profile);
    if (f->has_explain)
        bench_explain_json(w, &f->summaries, &f->explain);
}

static bool add_html(StrBuf *out, void *ctx, Error *err)
{
    Finish *f = ctx;
    const RunStyle plain = {.unit = f->style.unit, .sort = f->style.sort};
    StrBuf text = {0};
    run_report_screen(&text, &plain, &f->summaries);
    strbuf_add_char(&text, '\n');
    run_report_details(&text, &plain, &f->summaries);
    if (f->has_profile)
        bench_profile_report(&text, &plain.terminal, &f->summaries, &f->profile);
    if (f->has_explain)
        bench_explain_report(&text, &plain.terminal, &f->summaries, &f->explain);
    run_report_truth(&text, &plain, &f->summaries);
    const RunPage page = {.title = f->summaries.command_line,
                          .families = {&f->summaries, 1},
                          .report = strbuf_str(&text),
                          .add_members = add_members,
                          .ctx = f};
    bool ok = run_page_write(out, &page, err);
    strbuf_deinit(&text);
    return ok;
}

static void add_svg(StrBuf *out, void *ctx)
{
    Finish *f = ctx;
    run_plot_svg(out, &f->summaries);
}

static void add_json(StrBuf *out, void *ctx, const RunFiles *form)
{
    Finish *f = ctx;
    run_files_json(out, &f->summaries, form);
}

static bool write_files(Finish *f)
{
    const BenchFiles files = {.families = {&f->summaries, 1},
                              .add_json = add_json,
                              .add_svg = add_svg,
                              .add_html = add_html,
                              .add_members = add_members,
                              .ctx = f};
    return bench_write_files(f->args, &f->style, &files);
}

static bool save_baseline(Finish *f)
{
    BaselineDb *db = NULL;
    Error err;
    bool ok =
        baseline_open(bench_database_path(f->args), true, &db, &err) &&
        baseline_save(db, f->args->save, f->bench, f->machine, f->summaries.command_line, &err);
    baseline_close(db);
    if (!ok)
        cli_fail(&err);
    return ok;
}

// Called after the verdict was printed, because the programs run again.
static bool profile_commands(Finish *f, StrBuf *out, bool quiet)
{
    Error err;
    if (!bench_profile_run(f->bench, f->args->profile, &f->profile, &err)) {
        cli_fail(&err);
        return false;
    }
    f->has_profile = true;
    bench_profile_report(out, &f->style.terminal, &f->summaries, &f->profile);
    return quiet || cli_print_text(strbuf_str(out));
}

static bool explain_commands(Finish *f, StrBuf *out, bool quiet)
{
    Error err;
    if (!bench_explain_run(f->bench, &f->explain, &err)) {
        cli_fail(&err);
        return false;
    }
    f->has_explain = true;
    bench_explain_report(out, &f->style.terminal, &f->summaries, &f->explain);
    return quiet || cli_print_text(strbuf_str(out));
}

static int finish(Finish *f, int *baseline_gate)
{
    const BenchArgs *args = f->args;
    bool quiet = str_equal(args->style, STR("none")), ok;
    StrBuf out = {0};
    run_report_screen(&out, &f->style, &f->summaries);
    strbuf_add_char(&out, '\n');
    *baseline_gate = 0;
    if (f->baseline && !args->rerun_baseline)
        *baseline_gate = bench_report_baseline(&out, &f->style.terminal, &f->summaries, f->baseline,
                                               MAX(0.0, args->fail_if_slower) / 100);
    if (args->details || f->summaries.set.count == 1)
        run_report_details(&out, &f->style, &f->summaries);
    run_report_truth(&out, &f->style, &f->summaries);
    ok = quiet || cli_print_text(strbuf_str(&out));
    strbuf_clear(&out);
    if (args->profile.ptr != bench_not_given && !bench_interrupted)
        ok = profile_commands(f, &out, quiet) && ok;
    strbuf_clear(&out);
    if (args->explain && !bench_interrupted)
        ok = explain_commands(f, &out, quiet) && ok;
    strbuf_deinit(&out);
    ok = write_files(f) && ok;
    ok = (args->save.len == 0 || save_baseline(f)) && ok;
    bench_profile_deinit(&f->profile);
    bench_explain_deinit(&f->explain);
    return ok ? STATUS_OK : STATUS_FAILED;
}

// Writes the runs as rows of a profile, and everything that is shown from these.
static int finish_runs(const BenchArgs *args, Bench *b, const BaselineSession *saved,
                       const BenchContext *context, StoreWriter **recording, int *baseline_gate)
{
    Finish f = {.args = args,
                .bench = b,
                .style = bench_style(args),
                .baseline = saved,
                .machine = &context->machine};
    Profile profile;
    Error err;
    profile_init(&profile);
    bench_record(b, context, &profile);
    bench_note_functions(&b->commands, &profile);
    int status = bench_finish_recording(recording, &profile, &err) ? STATUS_OK : cli_fail(&err);
    if (run_summaries_init(&f.summaries, &profile, &err)) {
        int finished = finish(&f, baseline_gate);
        status = status == STATUS_OK ? finished : status;
    } else {
        status = cli_fail(&err);
    }
    run_summaries_deinit(&f.summaries);
    profile_deinit(&profile);
    return status;
}

// Slower (3) outweighs undecided (4), which outweighs fine (0).
static int worse_gate(int a, int b)
{
    return a == 3 || b == 3 ? 3 : MAX(a, b);
}

// Loads the results that --baseline names; with --rerun-baseline its program becomes the
// reference that the command is run against.
static bool load_baseline(Arena *arena, const BenchArgs *args, BenchCommandVec *commands,
                          BaselineSession *ret, Error *err)
{
    BaselineDb *db;
    if (!baseline_open(bench_database_path(args), false, &db, err))
        return false;
    bool ok = baseline_load(db, arena, args->baseline, ret, err);
    baseline_close(db);
    if (!ok || !args->rerun_baseline)
        return ok;
    BenchCommand now = commands->at[0];
    const BaselineCommand *old = bench_find_baseline(ret, now.name, commands->len);
    if (now.via_shell)
        return error_set(err, ERROR_USAGE,
                         "--rerun-baseline needs a command that runs without a shell; use -N");
    if (!old)
        return error_set(err, ERROR_NOT_FOUND,
                         "'%" STR_FMT "' was not in the bench saved as '%" STR_FMT "'",
                         STR_ARG(now.name), STR_ARG(args->baseline));
    if (!old->program_copy.len)
        return error_set(err, ERROR_NOT_FOUND, "no copy of the program of '%" STR_FMT "' was kept",
                         STR_ARG(old->name));
    BenchCommand then = now;
    StrVec words = {0};
    if (!shell_split_words(arena, old->text, &words, err))
        return false;
    const char **argv = arena_array(arena, const char *, words.len + 1);
    for (size_t i = 0; i < words.len; i++)
        argv[i] = arena_c_str(arena, words.at[i]);
    then.text = old->text; // with the arguments of then
    then.argv = argv;
    then.path = arena_c_str(arena, old->program_copy);
    then.name =
        arena_printf(arena, "%" STR_FMT ": %" STR_FMT, STR_ARG(args->baseline), STR_ARG(old->name));
    commands->len = 0;
    vec_push(arena, commands, then);
    vec_push(arena, commands, now);
    return true;
}

static int run_prepared(Arena *arena, const BenchArgs *args, const StrVec *commands, int argc,
                        char **argv, SpawnServer *server)
{
    Error err;
    BenchOptions options = {0};
    Bench bench;
    BenchCommandVec built = {0};
    if (!bench_check_args(args, commands, &err) || !bench_check_operands(arena, commands, &err) ||
        !bench_check_outputs(args, &err) || !bench_fill_options(arena, args, &options, &err))
        return cli_fail(&err);
    if (args->bisect.len)
        return bench_bisect(arena, args, commands, &options, server);
    if (!(bench_wants_revisions(args)
              ? bench_revision_commands(arena, args, commands, &options, &built, &err)
              : bench_build_commands(arena, args, commands, &options, &built, &err)))
        return cli_fail(&err);
    if (bench_wants_revisions(args) && (args->functions || bench_revisions_are_functions(&built)))
        return bench_run_functions(arena, args, commands, &built, argc, argv, server);
    options.interrupted = &bench_interrupted;
    bench_init(&bench, &options, server);
    bench.commands = built;
    if (bench.commands.len < 2)
        bench.options.grouped = false;

    BaselineSession baseline = {0};
    if (args->baseline.len && !load_baseline(arena, args, &bench.commands, &baseline, &err))
        return cli_fail(&err);
    StoreWriter *recording;
    if (!bench_open_recording(args, &recording, &err))
        return cli_fail(&err);
    BenchContext context = bench_context(arena, args, argc, argv);
    Progress progress = {0};
    bool animate = isatty(STDERR_FILENO) && !str_equal(args->style, STR("basic")) &&
                   !str_equal(args->style, STR("color")) && !str_equal(args->style, STR("none"));
    if (animate) {
        bench.progress = show_progress;
        bench.progress_ctx = &progress;
    }
    bench_catch_signals(server);
    bool ok = bench_run(&bench, &err);
    if (animate && progress.shown_ns)
        if (write(STDERR_FILENO, "\r\033[K", 4) < 0)
            progress.shown_ns = 0; // nobody looks
    size_t measured = 0;
    for (size_t i = 0; bench.results && i < bench.commands.len; i++)
        measured += bench.set.groups[i].runs.len;
    int baseline_gate = 0;
    int status = measured ? finish_runs(args, &bench, args->baseline.len ? &baseline : NULL,
                                        &context, &recording, &baseline_gate)
                          : STATUS_OK;
    if (!ok)
        status = cli_fail(&err);
    else if (bench_interrupted)
        status = 130;
    else if (status == STATUS_OK && args->fail_if_slower >= 0)
        status = worse_gate(runs_gate(&bench.set, args->fail_if_slower / 100), baseline_gate);
    store_writer_abandon(recording); // of a bench without a run
    bench_deinit(&bench);
    return status;
}

static const BenchArgs bench_defaults = {.runs = UINT64_MAX,
                                         .min_runs = UINT64_MAX,
                                         .max_runs = UINT64_MAX,
                                         .min_time_s = BENCH_MIN_TIME_S,
                                         .margin = 1,
                                         .confidence = 95,
                                         .fail_if_slower = -1,
                                         .ignore = {bench_not_given, 0},
                                         .profile = {bench_not_given, 0},
                                         .function_time_s = 0.1,
                                         .seed = 1};

// The forms that run no program: --compare, and `bench history NAME`.
static int run_saved(const BenchArgs *args, const StrVec *operands, bool history)
{
    Terminal terminal = bench_terminal(args->style);
    StrBuf out = {0};
    Error err;
    int gate = 0;
    CompareOptions options = {.level = args->confidence / 100, .margin = args->margin / 100};
    bool ok = history ? bench_history(&out, args, bench_database_path(args),
                                      operands->len > 1 ? operands->at[1] : STR(""), &err)
                      : bench_compare_files(&out, &terminal, operands, &options,
                                            MAX(0.0, args->fail_if_slower) / 100, &gate, &err);
    ok = ok ? cli_print_text(strbuf_str(&out)) : (cli_fail(&err), false);
    strbuf_deinit(&out);
    return !ok ? STATUS_FAILED : args->fail_if_slower >= 0 ? gate : STATUS_OK;
}

static int run_bench(const Command *cmd, int argc, char **argv)
{
    SpawnServer server;
    Error err;
    Arena arena = {0};
    BenchArgs args = bench_defaults;
    StrVec commands = {0};
    int joined = argc;
    char **words = bench_join_arguments(&arena, &joined, argv);
    ParseResult parsed = options_parse(cmd, joined, words, &args, &arena, &commands, NULL);
    if (parsed == PARSE_OK && !bench_settle_counts(&args, &err)) {
        parsed = PARSE_BAD;
        cli_fail(&err);
    }
    // While this process is small: see spawn_server.h.
    if (parsed != PARSE_OK || !spawn_server_open(environ, !args.wait_clock, &server, &err)) {
        arena_deinit(&arena);
        return parsed == PARSE_DONE  ? STATUS_OK
               : parsed == PARSE_BAD ? STATUS_USAGE
                                     : cli_fail(&err);
    }
    bool history =
        commands.len > 0 && commands.len <= 2 && str_equal(commands.at[0], STR("history"));
    int status = STATUS_OK;
    if (args.version)
        status = cli_print(STR("assay " ASSAY_VERSION "\n")) ? STATUS_OK : STATUS_FAILED;
    else if (args.compare || history)
        status = run_saved(&args, &commands, history);
    else if (args.cargo.given)
        status = bench_run_functions(&arena, &args, &commands, NULL, argc, argv, &server);
    else if ((args.functions && !bench_wants_revisions(&args)) ||
             bench_operands_are_functions(&arena, &args, &commands))
        status = bench_run_functions(&arena, &args, &commands, NULL, argc, argv, &server);
    else
        status = run_prepared(&arena, &args, &commands, argc, argv, &server);
    bench_forget_server();
    spawn_server_close(&server);
    arena_deinit(&arena);
    return status;
}

static const ForeignOption foreign[] = {
    {0, "iterations", FOREIGN_REFUSED, "-r N"},
    {0, "times", FOREIGN_REFUSED, "-r N"},
    {0, "repeat", FOREIGN_REFUSED, "-r N"},
    {0, "min-benchmark-time", FOREIGN_REFUSED, "--min-benchmarking-time SECONDS"},
    {0, "ignore-failures", FOREIGN_REFUSED, "--ignore-failure"},
};

const Command bench_command = {
    .name = "bench",
    .group = "time it",
    .summary = "time commands against each other, interleaved, with intervals and a verdict",
    .first = "  assay bench 'CMD A' 'CMD B'  which is faster, and how sure\n"
             "  assay bench --until 1% A B   go on until that is sure\n"
             "  assay bench --explain CMD    why some runs are slow\n",
    .usage = "[OPTION ...] CMD [CMD ...]\n"
             "[OPTION ...] --revisions REV REV ... --build CMD -- CMD\n"
             "[OPTION ...] --cargo [OPTION ...] [-- FILTER]\n"
             "[OPTION ...] --bisect GOOD..BAD --build CMD -- CMD\n"
             "[OPTION ...] --compare FILE FILE ...\n[OPTION ...] "
             "PROGRAM-OF-BENCHMARKS\nhistory [NAME]",
    .options = bench_options,
    .option_count = ARRAY_LEN(bench_options),
    .foreign = foreign,
    .foreign_count = ARRAY_LEN(foreign),
    .details =
        "Each CMD is a shell command in one word. Several are run in turns, in random\n"
        "order, so that a drift of the machine hits all of them alike. The first\n"
        "(or --reference) is what the others are compared with. A comparison ends in one of\n"
        "three verdicts: faster or slower by more than the margin, the same within the\n"
        "margin, or inconclusive, with the number of runs that would tell.\n"
        "\n"
        "Times are the kernel's, from exec to exit. A command without shell syntax is run\n"
        "without a shell; where one is needed, its own time is measured and taken off.\n"
        "On a busy machine, where runs of one thread wait for a CPU, comparisons leave that\n"
        "wait out and say so; the comparison with it stands below.\n"
        "\n"
        "Peak memory is exact where a run could be weighed: the last warm-up run, or of a\n"
        "short command whose number of runs is not given one more.\n"
        "\n"
        "A program made with <assay/bench.h> is run as its functions' benchmarks: several\n"
        "processes, each function with its interval, against a baseline or another build.\n"
        "\n"
        "With --cargo the benchmark programs of a workspace run so, those of two --revisions in\n"
        "turns. Results of Criterion go to a folder of their own.\n"
        "\n"
        "Options that hyperfine has are spelled and meant as there.\n"
        "\n"
        "  assay bench ./old ./new\n"
        "  assay bench --until 1% 'sort a.txt' 'sort -S1G a.txt'\n"
        "  assay bench -L n 1,2,4 -N './prog {n}' --export-json times.json\n"
        "  assay bench --reference ./old ./new --fail-if-slower 5%\n"
        "  assay bench ./benches --against ./benches.old\n"
        "  assay bench --revisions main HEAD --cargo\n"
        "  assay bench ./old ./new --recording times.assay; assay report times.assay\n"
        "  assay bench --save main ./prog; ...; assay bench --baseline main --rerun-baseline "
        "./prog\n"
        "\n"
        "Exit status: 0 done, 1 a command failed, 2 usage; with --fail-if-slower also 3\n"
        "slower, 4 undecided; 130 interrupted.\n",
    .run = run_bench,
};
