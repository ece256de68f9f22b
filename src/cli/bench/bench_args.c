// SPDX-License-Identifier: Apache-2.0
// From the words of `assay bench` to commands and options of the bench.

#include "cli/bench/bench_args.h"
#include "base/shell_words.h"

#include "cli/cli.h"
#include "os/file.h"

// ---- Words of hyperfine that take several arguments --------------------------

// Appends a word, or puts it before the word at `*cargo` when that is not 0.
static void insert_word(char **out, int *n, int *cargo, char *word)
{
    int at = *cargo ? (*cargo)++ : *n;
    for (int k = *n; k > at; k--)
        out[k] = out[k - 1];
    out[at] = word;
    ++*n;
}

char **bench_join_arguments(Arena *arena, int *argc, char **argv)
{
    char **out = arena_array(arena, char *, (size_t)*argc + 1);
    int n = 0, cargo = 0; // the place of --cargo in `out`; 0: none so far
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
        } else if (i > 0 && str_equal(word, STR("--revisions"))) {
            // All words up to the next option or "--".
            while (i + parts + 1 < *argc && argv[i + parts + 1][0] != '-')
                parts++;
            name = "--revisions=";
        }
        if (parts && i + parts < *argc) {
            StrBuf joined = {0};
            strbuf_add(&joined, str_from_c(name));
            for (int k = 1; k <= parts; k++) {
                if (k > 1)
                    strbuf_add_char(&joined, BENCH_PART_SEPARATOR);
                strbuf_add(&joined, str_from_c(argv[i + k]));
            }
            insert_word(out, &n, &cargo, arena_c_str(arena, strbuf_str(&joined)));
            strbuf_deinit(&joined);
            i += parts;
        } else if (cargo && str_equal(word, STR("--dirty"))) {
            insert_word(out, &n, &cargo, argv[i]);
        } else if (str_starts_with(word, STR("-i="))) {
            out[n++] = arena_c_str(arena, arena_printf(arena, "--ignore-failure=%s", argv[i] + 3));
        } else {
            if (!cargo && i > 0 && str_equal(word, STR("--cargo")))
                cargo = n;
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
        while (count < 3 && str_next_part(&rest, BENCH_PART_SEPARATOR, &part))
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

const char bench_not_given[] = "";

static bool parse_ignore(Arena *arena, Str text, BenchIgnore *ret, Error *err)
{
    *ret = (BenchIgnore){0};
    if (text.ptr == bench_not_given)
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
                             "'%" STR_FMT "' is not an exit status for --ignore-failure",
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
    if (!shell_split_words(arena, *is_default ? STR("sh") : text, &words, err))
        return false;
    if (words.len == 0 || words.len > 4)
        return error_set(err, ERROR_USAGE, "'%" STR_FMT "' is not a shell", STR_ARG(text));
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
                         "--%s is given %zu times for %zu command%s; give it once, or once for "
                         "each command",
                         what, given->len, commands, plural_s(commands));
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
        if (!os_check_not_planted(where, err))
            return error_hint(err, "choose another file");
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
static Str name_with_unused(Arena *arena, Str text, Str filled, const RunParameterVec *parameters)
{
    StrBuf name = {0};
    const char *separator = " (";
    strbuf_add(&name, filled);
    for (size_t i = 0; i < parameters->len; i++) {
        RunParameter p = parameters->at[i];
        RunParameterVec one = {0};
        vec_push(arena, &one, ((RunParameter){p.name, STR("")}));
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
                        size_t template_index, const RunParameterVec *parameters, Error *err)
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

static bool combine(CommandContext *x, const StrVec *templates, const BenchVariableVec *variables,
                    BenchCommandVec *out, Error *err)
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
        return error_set(err, ERROR_USAGE, "%zu name%s for %zu command%s", names->len,
                         plural_s(names->len), x->commands, plural_s(x->commands));
    RunParameterVec none = {0};
    if (reference &&
        !add_command(x, out, x->args->reference, x->args->reference_name, 0, &none, err))
        return false;
    for (size_t k = 0; k < combinations; k++) {
        RunParameterVec parameters = {0};
        size_t rest = k;
        for (size_t i = 0; i < variables->len; i++) {
            const BenchVariable *v = &variables->at[i];
            vec_push(x->arena, &parameters,
                     (RunParameter){v->name, v->values.at[rest % v->values.len]});
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

// ---- Options -----------------------------------------------------------------

bool bench_settle_counts(BenchArgs *args, Error *err)
{
    if (args->runs == 0 || args->min_runs == 0 || args->max_runs == 0)
        return error_set(err, ERROR_USAGE, "--%s is 1 or more",
                         args->runs == 0       ? "runs"
                         : args->min_runs == 0 ? "min-runs"
                                               : "max-runs");
    if (args->runs == UINT64_MAX)
        args->runs = 0;
    if (args->max_runs == UINT64_MAX)
        args->max_runs = 0;
    return true;
}

bool bench_check_args(const BenchArgs *args, const StrVec *commands, Error *err)
{
    if (commands->len == 0 && !args->reference.len) {
        (void)error_set(err, ERROR_USAGE, "no command to time");
        return error_hint(err, "assay bench './prog ARG'; with two commands they are compared");
    }
    if (commands->len == 0)
        return error_set(err, ERROR_USAGE, "nothing to compare with the reference");
    if (args->reference_name.len && !args->reference.len)
        return error_set(err, ERROR_USAGE, "--reference-name needs --reference");
    if (args->no_shell && args->shell.len)
        return error_set(err, ERROR_USAGE, "-N excludes --shell");
    if (args->show_output && args->output.len)
        return error_set(err, ERROR_USAGE, "--show-output excludes --output");
    if (args->cpu_clock && args->wait_clock)
        return error_set(err, ERROR_USAGE, "--cpu-clock excludes --wait-clock");
    if (args->cpu_clock && args->with_waiting)
        return error_set(err, ERROR_USAGE, "--cpu-clock excludes --with-waiting");
    if (args->until > 0 && args->runs)
        return error_set(err, ERROR_USAGE,
                         "--runs excludes --until; --max-runs limits the runs of --until");
    if (args->grouped && args->interleaved)
        return error_set(err, ERROR_USAGE, "--grouped excludes --interleaved");
    if (args->bisect.len && (args->revisions.len || args->dirty))
        return error_set(err, ERROR_USAGE, "--bisect excludes --revisions and --dirty");
    if (args->judge.len && !args->bisect.len)
        return error_set(err, ERROR_USAGE, "--judge needs --bisect");
    if (args->build.len && !args->bisect.len && !args->revisions.len && !args->dirty)
        return error_set(err, ERROR_USAGE, "--build needs --revisions, --dirty or --bisect");
    if (args->profile.ptr != bench_not_given && commands->len + (args->reference.len > 0) < 2 &&
        !args->revisions.len && !args->dirty && !args->scans.len && !args->lists.len &&
        !args->rerun_baseline)
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

// Chooses the events that are counted in each run: those that the user named, or those of the
// usual ones that the machine has. With --wait-clock, which is for comparisons with other tools,
// none are counted by default.
static bool choose_events(Arena *arena, const BenchArgs *args, const EventSpecVec **ret, Error *err)
{
    const char *usual = "task-clock,cycles,instructions,cache-misses,branch-misses";
    const StrVec *asked = &args->events;
    EventSpecVec *events = arena_array(arena, EventSpecVec, 1);
    EventSources sources = event_sources_default();
    *ret = events;
    // The first one is the clock.
    if (args->cpu_clock && !events_parse(arena, &sources, STR("task-clock"), events, err))
        return false;
    if (args->cpu_clock && asked->len == 0)
        usual = strchr(usual, ',') + 1;
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

bool bench_fill_options(Arena *arena, const BenchArgs *args, BenchOptions *o, Error *err)
{
    if (args->runs && (args->min_runs != UINT64_MAX || args->max_runs))
        return error_set(err, ERROR_USAGE, "--runs excludes --min-runs and --max-runs");
    o->warmup = args->warmup;
    o->runs = args->runs;
    // The sequence tells nothing of fewer than 8 pairs.
    uint64_t usual = args->until > 0 ? 8 : 10;
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
    o->cpu_clock = args->cpu_clock;
    o->with_waiting = args->with_waiting;
    o->seed = args->seed;
    if (args->input.len && !str_equal(args->input, STR("null")))
        o->input = arena_c_str(arena, args->input);
    return parse_ignore(arena, args->ignore, &o->ignore, err);
}

// How many commands have that name or text, and the last of them.
static size_t find_named(const BenchCommandVec *commands, Str name, size_t *index)
{
    size_t matches = 0;
    for (size_t i = 0; i < commands->len; i++)
        if (str_equal(commands->at[i].name, name) || str_equal(commands->at[i].text, name)) {
            *index = i;
            matches++;
        }
    return matches;
}

bool bench_build_commands(Arena *arena, const BenchArgs *args, const StrVec *templates,
                          BenchOptions *options, BenchCommandVec *ret, Error *err)
{
    BenchVariableVec variables = {0};
    CommandContext context = {.arena = arena, .args = args};
    BenchArgs selected;
    const char *const *shell;
    bool is_default;
    if (!parse_variables(arena, args, &variables, err) ||
        !parse_shell(arena, args->no_shell ? STR("none") : args->shell, &shell, &is_default, err))
        return false;
    context.shell = shell;
    context.plain_direct = is_default;
    // The commands around the runs need a shell even if the runs do not.
    options->shell = shell;
    if (!shell && !parse_shell(arena, STR("sh"), &options->shell, &is_default, err))
        return false;
    // hyperfine 1.21: with parameters, --reference may name one of the commands that they make.
    if (args->reference.len && variables.len) {
        size_t index = 0, matches;
        selected = *args;
        selected.reference = selected.reference_name = STR("");
        context.args = &selected;
        if (!combine(&context, templates, &variables, ret, err))
            return false;
        matches = find_named(ret, args->reference, &index);
        if (matches > 1)
            return error_set(err, ERROR_USAGE, "--reference '%" STR_FMT "' names %zu commands",
                             STR_ARG(args->reference), matches);
        if (matches == 1) {
            options->reference = (uint32_t)index;
            if (args->reference_name.len)
                ret->at[index].name = args->reference_name;
            return true;
        }
        context.args = args; // a command of its own, which has no parameters
        ret->len = 0;
    }
    return combine(&context, templates, &variables, ret, err);
}
