// SPDX-License-Identifier: Apache-2.0
// `assay bench`: time commands, interleaved, and say what the difference is.

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "cli/bench_baseline.h"
#include "cli/bench_functions.h"
#include "cli/bench_profile.h"
#include "cli/bench_report.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/terminal.h"
#include "collect/bench/command.h"
#include "os/file.h"

// A format of export and where to.
typedef struct Export {
    Str path;
    void (*write)(StrBuf *out, Bench *b, const BenchView *v);
} Export;

typedef struct BenchArgs {
    uint64_t warmup, min_runs, max_runs, runs, seed;
    double min_time_s;
    StrVec setup, prepare, conclude, cleanup, names, output, scans, lists, cold, events;
    Str reference, reference_name, step, shell, style, sort, unit, input, ignore;
    Str save, baseline, db, against, filter, format;
    uint64_t processes;
    double function_time_s;
    bool functions, version;
    Str profile;
    bool no_shell, show_output, grouped, interleaved, wait_clock, rerun_baseline, compare;
    Str json, csv, markdown, asciidoc, orgmode, junit, svg, html;
    double until, margin, confidence, fail_if_slower;
    int64_t max_time, timeout;
} BenchArgs;

static const Option bench_options[] = {
    OPT_U64('w', "warmup", BenchArgs, warmup, "N", "runs before the measured ones"),
    OPT_U64('m', "min-runs", BenchArgs, min_runs, "N",
            "at least N runs of each command (10; 6 with --until)"),
    OPT_U64('M', "max-runs", BenchArgs, max_runs, "N", "at most N runs of each command"),
    OPT_U64('r', "runs", BenchArgs, runs, "N", "exactly N runs of each command"),
    OPT_DOUBLE(0, "min-benchmarking-time", BenchArgs, min_time_s, "SECONDS",
               "measure each command for so long when no number of runs is given (3)"),
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
                "differences below this do not matter (1%)"),
    OPT_PERCENT(0, "confidence", BenchArgs, confidence, "PERCENT", "level of the intervals (95%)"),
    OPT_PERCENT(0, "until", BenchArgs, until, "PERCENT",
                "go on until each comparison is decided at this margin, or the time of a single "
                "command is known to within this"),
    OPT_DURATION(0, "max-time", BenchArgs, max_time, "TIME",
                 "stop after this time (with --until: 5m)"),
    OPT_DURATION(0, "timeout", BenchArgs, timeout, "TIME", "kill a run that takes longer"),
    OPT_PERCENT(0, "fail-if-slower", BenchArgs, fail_if_slower, "PERCENT",
                "exit with 3 when a command is slower than the reference by more, 4 when that is "
                "undecided"),
    OPT_OPTIONAL(0, "profile", BenchArgs, profile, "FOLDER", NULL,
                 "afterwards record the commands and say which functions and lines account for "
                 "the difference; FOLDER keeps the recordings"),
    OPT_TEXT(0, "save", BenchArgs, save, "NAME", "keep the runs in the project's database"),
    OPT_TEXT(0, "baseline", BenchArgs, baseline, "NAME",
             "compare with what was last saved as NAME; history NAME lists what was saved"),
    OPT_FLAG(0, "rerun-baseline", BenchArgs, rerun_baseline,
             "with --baseline, run the program that was saved again, interleaved with this one"),
    OPT_TEXT(0, "db", BenchArgs, db, "FILE", "the database (.assay/bench.db)"),
    OPT_FLAG(0, "compare", BenchArgs, compare,
             "the operands are saved results: JSON of assay bench, hyperfine, Google Benchmark, "
             "pyperf or Criterion; compare the first with the others"),
    OPT_FLAG(0, "functions", BenchArgs, functions,
             "the operand is a program of function benchmarks, made with <assay/bench.h>; one that "
             "carries the header's note is known without this, unless -N makes it a command"),
    OPT_TEXT(0, "against", BenchArgs, against, "PROGRAM",
             "of function benchmarks, an older build to run in turns with this one"),
    OPT_TEXT(0, "filter", BenchArgs, filter, "TEXT",
             "of function benchmarks, only those whose name has TEXT in it"),
    OPT_U64(0, "processes", BenchArgs, processes, "N",
            "of function benchmarks, processes of each build (10)"),
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
    OPT_U64(0, "seed", BenchArgs, seed, "N", "seed of the random order (1)"),
    OPT_CHOICE(0, "style", BenchArgs, style, "TYPE", "auto|basic|full|nocolor|color|none",
               "auto, basic, full, nocolor, color or none"),
    OPT_CHOICE(0, "sort", BenchArgs, sort, "METHOD", "auto|command|mean-time",
               "order of comparisons and tables: auto, command or mean-time"),
    OPT_CHOICE('u', "time-unit", BenchArgs, unit, "UNIT", "microsecond|millisecond|second|us|ms|s",
               "microsecond, millisecond or second"),
    OPT_TEXT(0, "export-json", BenchArgs, json, "FILE",
             "all runs and figures as JSON; - is stdout"),
    OPT_TEXT(0, "export-csv", BenchArgs, csv, "FILE", "figures of each command as CSV"),
    OPT_TEXT(0, "export-markdown", BenchArgs, markdown, "FILE", "a Markdown table"),
    OPT_TEXT(0, "export-asciidoc", BenchArgs, asciidoc, "FILE", "an AsciiDoc table"),
    OPT_TEXT(0, "export-orgmode", BenchArgs, orgmode, "FILE", "an Emacs org-mode table"),
    OPT_TEXT(0, "export-junit", BenchArgs, junit, "FILE",
             "comparisons as JUnit test cases, failing as --fail-if-slower says (5%)"),
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

static volatile sig_atomic_t interrupted;
static const SpawnServer *interrupted_server;

static void on_interrupt(int signal)
{
    interrupted = 1;
    if (interrupted_server)
        spawn_server_signal(interrupted_server, signal);
}

// ---- Words of hyperfine that take several arguments --------------------------

enum { PART_SEPARATOR = '\x1f' };

// -P VAR MIN MAX and -L VAR VALUES become one argument with separators; -i=…
// becomes the long option.
static char **join_arguments(Arena *arena, int *argc, char **argv)
{
    char **out = arena_array(arena, char *, (size_t)*argc + 1);
    int n = 0;
    for (int i = 0; i < *argc; i++) {
        Str word = str_from_c(argv[i]);
        int parts = 0;
        const char *name = NULL;
        if (str_equal(word, STR("--"))) {
            while (i < *argc)
                out[n++] = argv[i++];
            break;
        }
        if (i > 0 && (str_equal(word, STR("-P")) || str_equal(word, STR("--parameter-scan")))) {
            parts = 3;
            name = "--parameter-scan=";
        } else if (i > 0 &&
                   (str_equal(word, STR("-L")) || str_equal(word, STR("--parameter-list")))) {
            parts = 2;
            name = "--parameter-list=";
        }
        if (parts && i + parts < *argc) {
            StrBuf joined = {0};
            strbuf_add(&joined, str_from_c(name));
            for (int k = 1; k <= parts; k++) {
                if (k > 1)
                    strbuf_add_char(&joined, PART_SEPARATOR);
                strbuf_add(&joined, str_from_c(argv[i + k]));
            }
            out[n++] = arena_c_str(arena, strbuf_str(&joined));
            strbuf_deinit(&joined);
            i += parts;
        } else if (str_starts_with(word, STR("-i="))) {
            out[n++] = arena_c_str(arena, arena_printf(arena, "--ignore-failure=%s", argv[i] + 3));
        } else {
            out[n++] = argv[i];
        }
    }
    *argc = n;
    out[n] = NULL;
    return out;
}

static bool parse_variables(Arena *arena, const BenchArgs *args, BenchVariableVec *ret, Error *err)
{
    if (args->scans.len > 1)
        return error_set(err, ERROR_USAGE, "only one --parameter-scan is possible");
    if (args->scans.len && args->lists.len)
        return error_set(err, ERROR_USAGE, "--parameter-scan excludes --parameter-list");
    if (args->step.len && !args->scans.len)
        return error_set(err, ERROR_USAGE, "--parameter-step-size needs --parameter-scan");
    for (size_t i = 0; i < args->scans.len + args->lists.len; i++) {
        bool scan = i < args->scans.len;
        Str rest = scan ? args->scans.at[i] : args->lists.at[i], part;
        Str parts[3] = {{0}};
        size_t count = 0;
        while (count < 3 && str_next_part(&rest, PART_SEPARATOR, &part))
            parts[count++] = part;
        if (count != (scan ? 3u : 2u))
            return error_set(err, ERROR_USAGE,
                             scan ? "--parameter-scan takes VAR MIN MAX"
                                  : "--parameter-list takes VAR VALUES");
        BenchVariable v = {.name = parts[0]};
        for (size_t k = 0; k < ret->len; k++)
            if (str_equal(ret->at[k].name, v.name))
                return error_set(err, ERROR_USAGE, "parameter '%" STR_FMT "' is given twice",
                                 STR_ARG(v.name));
        if (!scan)
            bench_split_list(arena, parts[1], &v.values);
        else if (!bench_scan_values(arena, parts[1], parts[2], args->step, &v.values, err))
            return false;
        vec_push(arena, ret, v);
    }
    return true;
}

// The value of an optional argument whose option was not given at all.
static const char not_given[] = "";

static bool parse_ignore(Arena *arena, Str text, BenchIgnore *ret, Error *err)
{
    *ret = (BenchIgnore){0};
    if (text.ptr == not_given)
        return true;
    if (text.len == 0 || str_equal(text, STR("all-non-zero"))) {
        ret->all = true;
        return true;
    }
    Str part;
    while (str_next_part(&text, ',', &part)) {
        uint64_t status;
        if (!str_parse_u64(part, 10, &status) || status > 255)
            return error_set(err, ERROR_USAGE,
                             "'%" STR_FMT "' is no exit status for --ignore-failure",
                             STR_ARG(part));
        vec_push(arena, &ret->statuses, (uint32_t)status);
    }
    return true;
}

// The shell's words up to "-c"; *ret NULL for no shell.
static bool parse_shell(Arena *arena, Str text, const char *const **ret, bool *is_default,
                        Error *err)
{
    StrVec words = {0};
    *is_default = text.len == 0 || str_equal(text, STR("default"));
    *ret = NULL;
    if (str_equal(text, STR("none")))
        return true;
    if (!bench_split_words(arena, *is_default ? STR("sh") : text, &words, err))
        return false;
    if (words.len == 0 || words.len > 4)
        return error_set(err, ERROR_USAGE, "'%" STR_FMT "' is no shell", STR_ARG(text));
    const char **argv = arena_array(arena, const char *, words.len + 2);
    if (!bench_find_program(arena, words.at[0], cli_env("PATH"), &argv[0]))
        return error_set(err, ERROR_NOT_FOUND, "there is no shell '%" STR_FMT "'",
                         STR_ARG(words.at[0]));
    for (size_t i = 1; i < words.len; i++)
        argv[i] = arena_c_str(arena, words.at[i]);
    argv[words.len] = "-c";
    *ret = argv;
    return true;
}

// One option that may be given once for all commands or once for each.
static bool pick(const StrVec *given, const char *what, size_t index, size_t template_index,
                 size_t commands, size_t templates, Str *ret, Error *err)
{
    *ret = STR("");
    if (given->len == 0)
        return true;
    if (given->len == 1)
        *ret = given->at[0];
    else if (given->len == commands)
        *ret = given->at[index];
    else if (given->len == templates)
        *ret = given->at[template_index];
    else
        return error_set(err, ERROR_USAGE,
                         "%zu times --%s for %zu commands; give it once or %zu times", given->len,
                         what, commands, commands);
    return true;
}

static bool set_output(Arena *arena, BenchCommand *c, Str where, Error *err)
{
    if (where.len == 0 || str_equal(where, STR("null"))) {
        c->output = SPAWN_OUTPUT_NULL;
    } else if (str_equal(where, STR("pipe"))) {
        c->output = SPAWN_OUTPUT_PIPE;
    } else if (str_equal(where, STR("inherit"))) {
        c->output = SPAWN_OUTPUT_INHERIT;
    } else if (str_find_char(where, '/') != SIZE_MAX) {
        c->output = SPAWN_OUTPUT_FILE;
        c->output_file = arena_c_str(arena, where);
    } else {
        return error_set(err, ERROR_USAGE,
                         "--output is null, pipe, inherit, or a file with a '/': not '%" STR_FMT
                         "'",
                         STR_ARG(where));
    }
    return true;
}

typedef struct CommandContext {
    Arena *arena;
    const BenchArgs *args;
    const char *const *shell;
    bool plain_direct;
    size_t commands, templates; // how many there are, with the reference
} CommandContext;

// Parameters that the text does not show are added to it: "make (branch = main)".
static Str name_with_unused(Arena *arena, Str text, Str filled, const BenchParameterVec *parameters)
{
    StrBuf name = {0};
    const char *separator = " (";
    strbuf_add(&name, filled);
    for (size_t i = 0; i < parameters->len; i++) {
        BenchParameter p = parameters->at[i];
        BenchParameterVec one = {0};
        vec_push(arena, &one, ((BenchParameter){p.name, STR("")}));
        if (bench_fill_in(arena, text, &one).len != text.len)
            continue;
        strbuf_printf(&name, "%s%" STR_FMT " = %" STR_FMT, separator, STR_ARG(p.name),
                      STR_ARG(p.value));
        separator = ", ";
    }
    if (separator[0] == ',')
        strbuf_add_char(&name, ')');
    Str kept = arena_str(arena, strbuf_str(&name));
    strbuf_deinit(&name);
    return kept;
}

static bool add_command(const CommandContext *x, BenchCommandVec *out, Str text, Str name,
                        size_t template_index, const BenchParameterVec *parameters, Error *err)
{
    size_t index = out->len;
    BenchCommand c = {.parameters = *parameters};
    const struct {
        const StrVec *given;
        const char *what;
        Str *to;
    } around[] = {{&x->args->setup, "setup", &c.setup},
                  {&x->args->prepare, "prepare", &c.prepare},
                  {&x->args->conclude, "conclude", &c.conclude},
                  {&x->args->cleanup, "cleanup", &c.cleanup}};
    for (size_t i = 0; i < ARRAY_LEN(around); i++) {
        if (!pick(around[i].given, around[i].what, index, template_index, x->commands, x->templates,
                  around[i].to, err))
            return false;
        *around[i].to = bench_fill_in(x->arena, *around[i].to, parameters);
    }
    Str where = STR("");
    if (!pick(&x->args->output, "output", index, template_index, x->commands, x->templates, &where,
              err))
        return false;
    if (x->args->show_output)
        where = STR("inherit");
    c.text = bench_fill_in(x->arena, text, parameters);
    c.name = name.len ? bench_fill_in(x->arena, name, parameters)
                      : name_with_unused(x->arena, text, c.text, parameters);
    if (!set_output(x->arena, &c, where, err) ||
        !bench_prepare_command(x->arena, &c, x->shell, x->plain_direct, cli_env("PATH"), err))
        return false;
    vec_push(x->arena, out, c);
    return true;
}

// All commands: the reference first, then each template with each combination of
// values, the template changing fastest.
static bool build_commands(CommandContext *x, const StrVec *templates,
                           const BenchVariableVec *variables, BenchCommandVec *out, Error *err)
{
    size_t combinations = 1, reference = x->args->reference.len ? 1 : 0;
    for (size_t i = 0; i < variables->len; i++) {
        combinations *= variables->at[i].values.len;
        if (combinations * templates->len > 100000)
            return error_set(err, ERROR_USAGE, "the parameters give more than 100000 commands");
    }
    x->templates = templates->len + reference;
    x->commands = combinations * templates->len + reference;
    const StrVec *names = &x->args->names;
    if (names->len > x->commands)
        return error_set(err, ERROR_USAGE, "%zu names for %zu commands", names->len, x->commands);
    BenchParameterVec none = {0};
    if (reference &&
        !add_command(x, out, x->args->reference, x->args->reference_name, 0, &none, err))
        return false;
    for (size_t k = 0; k < combinations; k++) {
        BenchParameterVec parameters = {0};
        size_t rest = k;
        for (size_t i = 0; i < variables->len; i++) {
            const BenchVariable *v = &variables->at[i];
            vec_push(x->arena, &parameters,
                     (BenchParameter){v->name, v->values.at[rest % v->values.len]});
            rest /= v->values.len;
        }
        for (size_t t = 0; t < templates->len; t++) {
            size_t index = k * templates->len + t;
            // One name with variables in it serves all their values.
            Str name = names->len > templates->len
                           ? (index < names->len ? names->at[index] : STR(""))
                       : t < names->len ? names->at[t]
                                        : STR("");
            if (!add_command(x, out, templates->at[t], name, t + reference, &parameters, err))
                return false;
        }
    }
    return true;
}

// ---- While it runs ---------------------------------------------------------

typedef struct Progress {
    Terminal terminal;
    int64_t shown_ns;
} Progress;

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
        runs = MIN(runs, b->results[i].runs.len);
    if (runs)
        strbuf_printf(&line, ", %zu run%s", runs, runs == 1 ? "" : "s");
    if (b->commands.len == 2 && runs >= 6 && !b->options.grouped) {
        // Few pairs are cheap to look at; many are thinned by time above.
        Bench *live = (Bench *)(uintptr_t)b;
        bench_summarise(live);
        const Comparison *c = &b->comparisons[1 - b->options.reference];
        strbuf_printf(&line, ": %+.2f %% [%+.2f … %+.2f]", (c->ratio.point - 1) * 100,
                      (c->ratio.low - 1) * 100, (c->ratio.high - 1) * 100);
    } else if (runs && runs != SIZE_MAX) {
        Bench *live = (Bench *)(uintptr_t)b;
        bench_summarise(live);
        strbuf_add(&line, STR(": median "));
        bench_add_time(&line, b->results[b->options.reference].summary.median, BENCH_UNIT_AUTO);
    }
    if (b->planned_ns && b->begin_ns) {
        double left = (double)(b->begin_ns + b->planned_ns - now) * 1e-9;
        if (left > 0)
            strbuf_printf(&line, ", %.0f s left", ceil(left));
    }
    strbuf_add(&line, STR("\033[K"));
    if (write(STDERR_FILENO, line.ptr, line.len) < 0)
        p->shown_ns = INT64_MAX; // nobody looks
    strbuf_deinit(&line);
}

// ---- Output ----------------------------------------------------------------

static bool write_export(const Export *e, Bench *b, const BenchView *v)
{
    StrBuf out = {0};
    Error err;
    OutputFile file;
    bool ok = true;
    e->write(&out, b, v);
    if (str_equal(e->path, STR("-"))) {
        ok = cli_print(strbuf_str(&out));
    } else {
        ok = os_output_open(e->path, OUTPUT_REPLACE, &file, &err);
        if (ok) {
            fwrite(out.ptr, 1, out.len, file.stream);
            ok = os_output_commit(&file, &err);
        }
        if (!ok)
            cli_fail(&err);
    }
    strbuf_deinit(&out);
    return ok;
}

static double junit_limit;

static void export_junit(StrBuf *out, Bench *b, const BenchView *v)
{
    bench_export_junit(out, b, v, junit_limit);
}

static Terminal terminal_of_style(Str style)
{
    bool never = str_equal(style, STR("basic")) || str_equal(style, STR("nocolor")) ||
                 str_equal(style, STR("none"));
    bool always = str_equal(style, STR("full")) || str_equal(style, STR("color"));
    return terminal_get(never ? STR("never") : always ? STR("always") : STR("auto"));
}

static Str database_path(const BenchArgs *args)
{
    return args->db.len ? args->db : STR(".assay/bench.db");
}

static int finish(Bench *b, const BenchArgs *args, BenchView *view, const Terminal *terminal,
                  const BaselineSession *baseline, int *baseline_gate)
{
    bool quiet = str_equal(args->style, STR("none"));
    StrBuf out = {0};
    BenchProfile profile = {0};
    Error err;
    bool profiled = true;
    for (uint32_t i = 0; i < b->commands.len; i++)
        bench_report_command(&out, terminal, b, view, i);
    bench_report_comparisons(&out, terminal, b, view);
    *baseline_gate = 0;
    if (baseline && !args->rerun_baseline)
        *baseline_gate = bench_report_baseline(&out, terminal, b, view, baseline,
                                               MAX(0.0, args->fail_if_slower) / 100);
    bench_report_truth(&out, terminal, b, view);
    bool ok = quiet || cli_print(strbuf_str(&out));
    strbuf_clear(&out);
    // The verdict is out before the program is run again.
    if (args->profile.ptr != not_given && !interrupted) {
        profiled = bench_profile_run(b, args->profile, &profile, &err);
        if (profiled) {
            view->profile = &profile;
            bench_profile_report(&out, terminal, b, &profile);
            ok = (quiet || cli_print(strbuf_str(&out))) && ok;
        } else {
            cli_fail(&err);
        }
    }
    strbuf_deinit(&out);
    junit_limit = args->fail_if_slower >= 0 ? args->fail_if_slower / 100 : 0.05;
    const Export exports[] = {
        {args->json, bench_export_json},         {args->csv, bench_export_csv},
        {args->markdown, bench_export_markdown}, {args->asciidoc, bench_export_asciidoc},
        {args->orgmode, bench_export_orgmode},   {args->junit, export_junit},
        {args->svg, bench_export_svg},           {args->html, bench_export_html}};
    for (size_t i = 0; i < ARRAY_LEN(exports); i++)
        if (exports[i].path.len && !write_export(&exports[i], b, view))
            ok = false;
    if (args->save.len) {
        BaselineDb *db = NULL;
        if (!baseline_open(database_path(args), true, &db, &err) ||
            !baseline_save(db, args->save, b, &view->machine, view->command_line, &err)) {
            cli_fail(&err);
            ok = false;
        }
        baseline_close(db);
    }
    view->profile = NULL;
    bench_profile_deinit(&profile);
    return ok && profiled ? STATUS_OK : STATUS_FAILED;
}

static Str joined_command_line(Arena *arena, int argc, char **argv)
{
    StrBuf line = {0};
    strbuf_add(&line, STR("assay"));
    for (int i = 0; i < argc; i++) {
        strbuf_add_char(&line, ' ');
        add_shell_word(&line, str_from_c(argv[i]));
    }
    Str text = arena_str(arena, strbuf_str(&line));
    strbuf_deinit(&line);
    return text;
}

// What contradicts itself, before anything runs.
static bool check_args(const BenchArgs *args, const StrVec *commands, Error *err)
{
    if (commands->len == 0 && !args->reference.len)
        return error_set(err, ERROR_USAGE, "no command to time");
    if (commands->len == 0)
        return error_set(err, ERROR_USAGE, "nothing to compare with the reference");
    if (args->reference_name.len && !args->reference.len)
        return error_set(err, ERROR_USAGE, "--reference-name needs --reference");
    if (args->no_shell && args->shell.len)
        return error_set(err, ERROR_USAGE, "-N excludes --shell");
    if (args->show_output && args->output.len)
        return error_set(err, ERROR_USAGE, "--show-output excludes --output");
    if (args->grouped && args->interleaved)
        return error_set(err, ERROR_USAGE, "--grouped excludes --interleaved");
    if (args->profile.ptr != not_given && commands->len + (args->reference.len > 0) < 2 &&
        !args->scans.len && !args->lists.len && !args->rerun_baseline)
        return error_set(err, ERROR_USAGE, "--profile needs two commands to compare");
    if (args->grouped && args->until > 0)
        return error_set(err, ERROR_USAGE, "--until needs interleaved runs");
    if (args->rerun_baseline && !args->baseline.len)
        return error_set(err, ERROR_USAGE, "--rerun-baseline needs --baseline");
    if (args->rerun_baseline &&
        (commands->len != 1 || args->reference.len || args->scans.len || args->lists.len))
        return error_set(err, ERROR_USAGE, "--rerun-baseline takes one command");
    if (args->margin < 0 || args->margin >= 100 || args->until < 0 || args->until >= 100)
        return error_set(err, ERROR_USAGE, "--margin and --until are between 0 and 100 %%");
    if (args->confidence < 50 || args->confidence > 99.99)
        return error_set(err, ERROR_USAGE, "--confidence is between 50 and 99.99 %%");
    return true;
}

// What is counted in each run: what was asked for, or what the machine has of the
// usual. The wait's clock is for comparing with other tools: nothing is added then.
static bool choose_events(Arena *arena, const BenchArgs *args, const EventSpecVec **ret, Error *err)
{
    static const char *const usual = "task-clock,cycles,instructions,cache-misses,branch-misses";
    const StrVec *asked = &args->events;
    EventSpecVec *events = arena_array(arena, EventSpecVec, 1);
    EventSources sources = event_sources_default();
    *ret = events;
    if (asked->len == 0 && !args->wait_clock)
        return events_parse(arena, &sources, str_from_c(usual), events, err);
    for (size_t i = 0; i < asked->len; i++)
        if (!str_equal(asked->at[i], STR("none")) &&
            !events_parse(arena, &sources, asked->at[i], events, err))
            return false;
    if (events->len > SPAWN_COUNTERS_MAX)
        return error_set(err, ERROR_USAGE, "%zu events; at most %d can be counted in a run",
                         events->len, SPAWN_COUNTERS_MAX);
    return true;
}

static bool fill_options(Arena *arena, const BenchArgs *args, BenchOptions *o, Error *err)
{
    if (args->runs && (args->min_runs != UINT64_MAX || args->max_runs))
        return error_set(err, ERROR_USAGE, "--runs excludes --min-runs and --max-runs");
    o->warmup = args->warmup;
    o->runs = args->runs;
    // The sequence is sound from its first look on, at 6 pairs.
    uint64_t usual = args->until > 0 ? 6 : 10;
    o->min_runs = args->min_runs == UINT64_MAX ? usual : args->min_runs;
    o->max_runs = args->max_runs;
    if (o->max_runs && args->min_runs != UINT64_MAX && o->max_runs < o->min_runs)
        return error_set(err, ERROR_USAGE, "--max-runs is below --min-runs");
    o->min_time_ns = (int64_t)(args->min_time_s * 1e9);
    o->until = args->until / 100;
    o->max_time_ns = args->max_time;
    if (o->until > 0 && !o->max_time_ns)
        o->max_time_ns = 300000000000;
    o->margin = args->margin / 100;
    o->level = args->confidence / 100;
    o->grouped = args->grouped || (!args->interleaved && (args->setup.len || args->cleanup.len));
    o->timeout_ns = args->timeout;
    o->cold = args->cold.len ? &args->cold : NULL;
    if (!choose_events(arena, args, &o->events, err))
        return false;
    o->seed = args->seed;
    o->interrupted = &interrupted;
    if (args->input.len && !str_equal(args->input, STR("null")))
        o->input = arena_c_str(arena, args->input);
    return parse_ignore(arena, args->ignore, &o->ignore, err);
}

static BenchView view_of(Arena *arena, const BenchArgs *args, int argc, char **argv)
{
    BenchView v = {.command_line = joined_command_line(arena, argc, argv),
                   .events_asked = args->events.len > 0};
    if (args->unit.len)
        v.unit = str_starts_with(args->unit, STR("s")) ? BENCH_UNIT_S
                 : str_starts_with(args->unit, STR("u")) || str_starts_with(args->unit, STR("mic"))
                     ? BENCH_UNIT_US
                     : BENCH_UNIT_MS;
    v.sort = str_equal(args->sort, STR("command"))     ? BENCH_SORT_COMMAND
             : str_equal(args->sort, STR("mean-time")) ? BENCH_SORT_MEAN
                                                       : BENCH_SORT_AUTO;
    bench_machine(arena, &v.machine);
    return v;
}

// Slower (3) outweighs undecided (4), which outweighs fine (0).
static int worse_gate(int a, int b)
{
    return a == 3 || b == 3 ? 3 : MAX(a, b);
}

// Loads what --baseline names; with --rerun-baseline its program becomes the
// reference that the command is run against.
static bool load_baseline(Arena *arena, const BenchArgs *args, BenchCommandVec *commands,
                          BaselineSession *ret, Error *err)
{
    BaselineDb *db;
    if (!baseline_open(database_path(args), false, &db, err))
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
    BenchVariableVec variables = {0};
    const char *const *shell;
    bool default_shell;
    CommandContext context = {.arena = arena, .args = args};
    Bench bench;
    if (!check_args(args, commands, &err) || !fill_options(arena, args, &options, &err) ||
        !parse_variables(arena, args, &variables, &err) ||
        !parse_shell(arena, args->no_shell ? STR("none") : args->shell, &shell, &default_shell,
                     &err))
        return cli_fail(&err);
    context.shell = shell;
    context.plain_direct = default_shell;
    // What stands around the runs needs a shell even where the runs do not.
    options.shell = shell;
    if (!shell && !parse_shell(arena, STR("sh"), &options.shell, &default_shell, &err))
        return cli_fail(&err);
    bench_init(&bench, &options, server);
    if (!build_commands(&context, commands, &variables, &bench.commands, &err))
        return cli_fail(&err);
    if (bench.commands.len < 2)
        bench.options.grouped = false;

    BaselineSession baseline = {0};
    if (args->baseline.len && !load_baseline(arena, args, &bench.commands, &baseline, &err))
        return cli_fail(&err);
    BenchView view = view_of(arena, args, argc, argv);
    Terminal terminal = terminal_of_style(args->style);
    Progress progress = {.terminal = terminal};
    bool animate = isatty(STDERR_FILENO) && !str_equal(args->style, STR("basic")) &&
                   !str_equal(args->style, STR("color")) && !str_equal(args->style, STR("none"));
    if (animate) {
        bench.progress = show_progress;
        bench.progress_ctx = &progress;
    }
    interrupted_server = server;
    struct sigaction act = {.sa_handler = on_interrupt};
    sigaction(SIGINT, &act, NULL);
    sigaction(SIGTERM, &act, NULL);
    bool ok = bench_run(&bench, &err);
    if (animate && progress.shown_ns)
        if (write(STDERR_FILENO, "\r\033[K", 4) < 0)
            progress.shown_ns = 0; // nobody looks
    size_t measured = 0;
    for (size_t i = 0; bench.results && i < bench.commands.len; i++)
        measured += bench.results[i].runs.len;
    int baseline_gate = 0;
    int status = measured ? finish(&bench, args, &view, &terminal,
                                   args->baseline.len ? &baseline : NULL, &baseline_gate)
                          : STATUS_OK;
    if (!ok)
        status = cli_fail(&err);
    else if (interrupted)
        status = 130;
    else if (status == STATUS_OK && args->fail_if_slower >= 0)
        status = worse_gate(bench_gate(&bench, args->fail_if_slower / 100), baseline_gate);
    bench_deinit(&bench);
    return status;
}

static const BenchArgs bench_defaults = {.min_runs = UINT64_MAX,
                                         .min_time_s = 3,
                                         .margin = 1,
                                         .confidence = 95,
                                         .fail_if_slower = -1,
                                         .ignore = {not_given, 0},
                                         .profile = {not_given, 0},
                                         .processes = 10,
                                         .function_time_s = 0.1,
                                         .seed = 1};

// What needs no program to be run: --compare, and `bench history NAME`.
static int run_saved(const BenchArgs *args, const StrVec *operands, bool history)
{
    Terminal terminal = terminal_of_style(args->style);
    StrBuf out = {0};
    Error err;
    int gate = 0;
    CompareOptions options = {.level = args->confidence / 100, .margin = args->margin / 100};
    bool ok = history ? bench_history(&out, &terminal, database_path(args),
                                      operands->len > 1 ? operands->at[1] : STR(""), &err)
                      : bench_compare_files(&out, &terminal, operands, &options,
                                            MAX(0.0, args->fail_if_slower) / 100, &gate, &err);
    ok = ok ? cli_print(strbuf_str(&out)) : (cli_fail(&err), false);
    strbuf_deinit(&out);
    return !ok ? STATUS_FAILED : args->fail_if_slower >= 0 ? gate : STATUS_OK;
}

static bool find_build(Arena *arena, Str name, const char **ret, Error *err)
{
    return bench_find_program(arena, name, cli_env("PATH"), ret) ||
           error_set(err, ERROR_NOT_FOUND, "there is no program '%" STR_FMT "'", STR_ARG(name));
}

static bool check_functions(const BenchArgs *args, const StrVec *operands, Error *err)
{
    if (operands->len != 1)
        return error_set(err, ERROR_USAGE,
                         "function benchmarks are of one program; an older "
                         "build is given with --against");
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
    if (!baseline_open(database_path(args), false, &db, err))
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
    bool ok = baseline_open(database_path(args), true, &db, err) &&
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

static int run_functions(Arena *arena, const BenchArgs *args, const StrVec *operands, int argc,
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
                          .interrupted = &interrupted};
    Terminal terminal = terminal_of_style(args->style);
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
    interrupted_server = server;
    struct sigaction act = {.sa_handler = on_interrupt};
    sigaction(SIGINT, &act, NULL);
    sigaction(SIGTERM, &act, NULL);
    bench_machine(arena, &machine);
    bool ok =
        check_functions(args, operands, &err) &&
        find_build(arena, operands->at[0], &o.program, &err) &&
        (!args->against.len || find_build(arena, args->against, &o.against, &err)) &&
        load_function_baseline(arena, args, &o, &baseline, &err) &&
        bench_functions(&out, &terminal, server, &o, MAX(0.0, args->fail_if_slower) / 100, &err);
    if (ok && o.baseline && args->format.len == 0)
        bench_report_saved(&text, &terminal, STR("in process"), &machine, &baseline);
    ok = ok &&
         (str_equal(args->style, STR("none")) || write_text(STR("-"), strbuf_str(&text), &err));
    ok = ok && (!args->json.len || write_text(args->json, strbuf_str(&json), &err));
    // What Ctrl-C cut short is no baseline.
    if (ok && args->save.len && !interrupted)
        ok = save_functions(args, &bench, &machine, joined_command_line(arena, argc, argv), &err);
    int status = ok ? STATUS_OK : cli_fail(&err);
    strbuf_deinit(&text);
    strbuf_deinit(&json);
    bench_deinit(&bench);
    if (interrupted)
        return 130;
    return status == STATUS_OK && args->fail_if_slower >= 0 ? out.gate : status;
}

// `assay bench ./benches`, the program being made with bench.h. With arguments,
// in a shell's syntax or with -N it is a command like any other.
static bool operands_are_functions(Arena *arena, const BenchArgs *args, const StrVec *operands)
{
    const char *path;
    return operands->len == 1 && !args->no_shell && !args->shell.len &&
           str_find_char(operands->at[0], ' ') == SIZE_MAX &&
           bench_find_program(arena, operands->at[0], cli_env("PATH"), &path) &&
           bench_is_functions(str_from_c(path));
}

static int run_bench(const Command *cmd, int argc, char **argv)
{
    // First of all, while this process is small: see spawn_server.h.
    SpawnServer server;
    Error err;
    bool wait_clock = false;
    for (int i = 1; i < argc; i++)
        wait_clock |= str_equal(str_from_c(argv[i]), STR("--wait-clock"));
    if (!spawn_server_open(environ, !wait_clock, &server, &err))
        return cli_fail(&err);

    Arena arena = {0};
    BenchArgs args = bench_defaults;
    StrVec commands = {0};
    int joined = argc;
    char **words = join_arguments(&arena, &joined, argv);
    ParseResult parsed = options_parse(cmd, joined, words, &args, &arena, &commands);
    bool history =
        commands.len > 0 && commands.len <= 2 && str_equal(commands.at[0], STR("history"));
    int status = STATUS_OK;
    if (parsed == PARSE_BAD)
        status = STATUS_USAGE;
    else if (parsed == PARSE_OK && args.version)
        status = cli_print(STR("assay " ASSAY_VERSION "\n")) ? STATUS_OK : STATUS_FAILED;
    else if (parsed == PARSE_OK && (args.compare || history))
        status = run_saved(&args, &commands, history);
    else if (parsed == PARSE_OK &&
             (args.functions || operands_are_functions(&arena, &args, &commands)))
        status = run_functions(&arena, &args, &commands, argc, argv, &server);
    else if (parsed == PARSE_OK)
        status = run_prepared(&arena, &args, &commands, argc, argv, &server);
    interrupted_server = NULL;
    spawn_server_close(&server);
    arena_deinit(&arena);
    return status;
}

const Command bench_command = {
    .name = "bench",
    .group = "time it",
    .summary = "time commands against each other, interleaved, with intervals and a verdict",
    .usage = "[OPTION ...] CMD [CMD ...]\n[OPTION ...] --compare FILE FILE ...\n[OPTION ...] "
             "PROGRAM-OF-BENCHMARKS\nhistory [NAME]",
    .options = bench_options,
    .option_count = ARRAY_LEN(bench_options),
    .details =
        "Each CMD is a shell command in one word. Several are run in turns, in random\n"
        "balanced order, so that a drift of the machine hits all of them alike. The first\n"
        "(or --reference) is what the others are compared with. A comparison ends in one of\n"
        "three verdicts: faster or slower by more than the margin, the same within the\n"
        "margin, or inconclusive, with the number of runs that would tell.\n"
        "\n"
        "Times are the kernel's, from exec to exit. A command without shell syntax is run\n"
        "without a shell; where one is needed, its own time is measured and taken off.\n"
        "\n"
        "A program made with <assay/bench.h> is run as its functions' benchmarks: several\n"
        "processes, each function with its interval, against a baseline or another build.\n"
        "\n"
        "Options that hyperfine has are spelled and meant as there.\n"
        "\n"
        "  assay bench ./old ./new\n"
        "  assay bench --until 1% 'sort a.txt' 'sort -S1G a.txt'\n"
        "  assay bench -L n 1,2,4 -N './prog {n}' --export-json times.json\n"
        "  assay bench --reference ./old ./new --fail-if-slower 5%\n"
        "  assay bench ./benches --against ./benches.old\n"
        "  assay bench --save main ./prog; ...; assay bench --baseline main --rerun-baseline "
        "./prog\n"
        "\n"
        "Exit status: 0 done, 1 a command failed, 2 usage; with --fail-if-slower also 3\n"
        "slower, 4 undecided; 130 interrupted.\n",
    .run = run_bench,
};
