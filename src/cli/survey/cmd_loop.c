// SPDX-License-Identifier: Apache-2.0
// assay loop: edit, measure, look, in one terminal.

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/survey/loop_build.h"
#include "cli/survey/loop_measure.h"
#include "cli/survey/loop_watch.h"
#include "os/clock.h"
#include "os/file.h"
#include "os/spawn.h"

typedef struct LoopOptions {
    Str build, watch, output, steps, max_time, input, colour;
    uint64_t rounds;
    bool no_build;
} LoopOptions;

static const Option loop_options[] = {
    OPT_TEXT('b', "build", LoopOptions, build, "'CMD'",
             "shell command that builds the program when a source changes (default: cargo, cmake, "
             "ninja or make, by the files in the program's folder)"),
    OPT_FLAG(0, "no-build", LoopOptions, no_build, "only watch the program; you build it yourself"),
    OPT_TEXT(0, "watch", LoopOptions, watch, "DIR",
             "the folder of the sources (default: the working folder)"),
    OPT_TEXT(0, "steps", LoopOptions, steps, "LIST",
             "the steps, as for assay survey (default time,cpu)"),
    OPT_TEXT('M', "max-time", LoopOptions, max_time, "TIME",
             "spend at most this time on timing in each round (default 3s)"),
    OPT_TEXT(0, "input", LoopOptions, input, "WHERE", "standard input of each run: null or a file"),
    OPT_U64(0, "rounds", LoopOptions, rounds, "N",
            "end after N rounds; the first is without a change"),
    OPT_TEXT('o', "output", LoopOptions, output, "DIR",
             "where to keep the surveys (default .assay/loop)"),
    COLOUR_OPTION(LoopOptions, colour),
};

typedef struct Loop {
    const LoopOptions *o;
    Arena *arena;
    LoopWatch watch;
    LoopMeasure measure;
    Str build;       // the command; "": none
    uint64_t hash;   // of the programs' content, at the last round
    uint64_t rounds; // done
} Loop;

// ---- What is watched ---------------------------------------------------------------------------

// The files whose change is a rebuild: the program, and scripts and programs among its arguments.
static bool find_programs(Loop *l, const StrVec *words, StrVec *ret, Error *err)
{
    Program program;
    FileIdentity file;
    if (!program_find(l->arena, words->at[0], cli_env("PATH"), &program, err))
        return error_hint(err, "build it first, or give --build");
    vec_push(l->arena, ret, arena_str(l->arena, program.path));
    // Arguments that are data are not: only sources, as of an interpreter, and programs.
    for (size_t i = 1; i < words->len; i++) {
        Str word = words->at[i];
        bool is_code =
            loop_is_source(str_base_name(word)) || access(arena_c_str(l->arena, word), X_OK) == 0;
        if (is_code && os_file_identity(word, &file, NULL))
            vec_push(l->arena, ret, word);
    }
    return true;
}

// A number that changes with the content of the programs.
static uint64_t hash_of_programs(const Loop *l)
{
    uint64_t hash = 1;
    for (size_t i = 0; i < l->watch.programs.len; i++) {
        MappedFile file = {0};
        if (os_map_file(l->watch.programs.at[i], &file, NULL))
            hash = bytes_hash_seeded(file.bytes, hash);
        os_unmap_file(&file);
    }
    return hash;
}

// ---- A round -----------------------------------------------------------------------------------

static void print_head(const Loop *l, Str what)
{
    char clock[16] = "";
    time_t now = time(NULL);
    struct tm parts;
    StrBuf out = {0};
    if (localtime_r(&now, &parts))
        strftime(clock, sizeof(clock), "%H:%M:%S", &parts);
    style_begin(&out, &l->measure.terminal, STYLE_BOLD);
    strbuf_printf(&out, "-- round %llu, %s: ", (unsigned long long)l->rounds + 1, clock);
    strbuf_add_terminal(&out, what);
    style_end(&out, &l->measure.terminal, STYLE_BOLD);
    strbuf_add_char(&out, '\n');
    (void)!cli_print_text(strbuf_str(&out));
    fflush(stdout);
    strbuf_deinit(&out);
}

// Builds; the text says how that went. False: there is nothing new to measure.
static bool build(Loop *l, Str changed, Str *what)
{
    int status = 0;
    Error err;
    int64_t begin = os_monotonic_ns();
    if (!loop_build_run(l->arena, l->build, &l->watch.old_mask, &status, &err)) {
        (void)cli_fail(&err);
        return false;
    }
    loop_watch_drain(&l->watch);
    if (status != 0) {
        cli_say("'%" STR_FMT "' failed with status %d; the next change builds again",
                STR_ARG(l->build), status);
        return false;
    }
    *what =
        arena_printf(l->arena, "%" STR_FMT "%sbuilt in %.1f s", STR_ARG(changed),
                     changed.len ? " changed, " : "", (double)(os_monotonic_ns() - begin) / 1e9);
    return true;
}

static LoopResult round_of(Loop *l, Str what)
{
    print_head(l, what);
    l->hash = hash_of_programs(l);
    LoopResult result = loop_measure(&l->measure);
    if (result == LOOP_MEASURED)
        l->rounds++;
    fflush(stdout);
    return result;
}

// What an event leads to. LOOP_STOPPED: the loop ends.
static LoopResult act(Loop *l, LoopEvent event, Str changed)
{
    Str what = STR("again");
    if (event == LOOP_SOURCE && l->build.len && !build(l, changed, &what))
        return LOOP_FAILED;
    if (event == LOOP_PROGRAM)
        what = arena_printf(l->arena, "%" STR_FMT " changed", STR_ARG(changed));
    if (event != LOOP_AGAIN && hash_of_programs(l) == l->hash) {
        if (event == LOOP_SOURCE)
            cli_say("%" STR_FMT "; the program is the same as before", STR_ARG(what));
        return LOOP_FAILED;
    }
    return round_of(l, what);
}

static void say_waiting(const Loop *l)
{
    bool has_keys = isatty(STDIN_FILENO) == 1;
    const char *keys =
        has_keys ? "; press r to run it again, q to end" : "; a signal (Ctrl-C) ends the loop";
    if (l->build.len)
        cli_say("waiting for changes of sources, to build with '%" STR_FMT "'%s", STR_ARG(l->build),
                keys);
    else
        cli_say("waiting for changes of '%" STR_FMT "'%s", STR_ARG(l->watch.programs.at[0]), keys);
}

static bool is_done(const Loop *l)
{
    return l->o->rounds && l->rounds >= l->o->rounds;
}

static void run_loop(Loop *l)
{
    LoopResult result = round_of(l, STR("the program as it is"));
    bool said = false;
    while (result != LOOP_STOPPED && !is_done(l)) {
        Str changed = STR("");
        if (!said)
            say_waiting(l);
        said = true;
        LoopEvent event = loop_watch_wait(&l->watch, &changed);
        result = event == LOOP_END ? LOOP_STOPPED : act(l, event, changed);
    }
}

// ---- The command -------------------------------------------------------------------------------

static bool settle_build(Loop *l, Str program, Error *err)
{
    int status = 0;
    const LoopOptions *o = l->o;
    sigset_t mask;
    if (o->build.len)
        l->build = o->build;
    else if (!o->no_build)
        l->build = loop_build_find(l->arena, program);
    if (l->build.len == 0)
        return true;
    sigprocmask(SIG_BLOCK, NULL, &mask);
    if (!loop_build_run(l->arena, l->build, &mask, &status, err))
        return false;
    return status == 0 || error_set(err, ERROR_NOT_FOUND, "'%" STR_FMT "' failed with status %d",
                                    STR_ARG(l->build), status);
}

static bool start(Loop *l, CommandLine *line, Error *err)
{
    const LoopOptions *o = l->o;
    StrVec programs = {0};
    Str folder = o->output.len ? o->output : STR(".assay/loop");
    Str sources = o->watch.len ? o->watch : STR(".");
    if (!settle_build(l, line->operands.at[0], err) ||
        !find_programs(l, &line->operands, &programs, err) || !os_make_folders(folder, err) ||
        !loop_watch_open(l->arena, &programs, l->build.len ? sources : STR(""), &l->watch, err))
        return false;
    l->measure = (LoopMeasure){.arena = l->arena,
                               .terminal = terminal_get(o->colour),
                               .words = line->operands,
                               .program = programs.len == 1 ? programs.at[0] : STR(""),
                               .folder = arena_str(l->arena, folder),
                               .input = o->input.len ? o->input : STR("null"),
                               .steps = o->steps.len ? o->steps : STR("time,cpu"),
                               .max_time = o->max_time.len ? o->max_time : STR("3s"),
                               .mask = &l->watch.old_mask};
    return true;
}

static int loop(CommandLine *line, void *values)
{
    const LoopOptions *o = values;
    Loop l = {.o = o, .arena = line->arena};
    Error err;
    if (line->operands.len == 0)
        return usage_error(line->cmd, "no command is given: assay loop -- CMD");
    if (o->build.len && o->no_build)
        return usage_error(line->cmd, "--build and --no-build cannot be combined");
    if (!start(&l, line, &err))
        return cli_fail(&err);
    if (l.watch.folders_left_out)
        cli_say("%zu folders are not watched, beyond the first 4096: --watch DIR names fewer",
                l.watch.folders_left_out);
    run_loop(&l);
    loop_measure_end(&l.measure);
    loop_watch_close(&l.watch);
    return STATUS_OK;
}

static int run_loop_command(const Command *cmd, int argc, char **argv)
{
    LoopOptions o = {0};
    return command_run_parsed(cmd, argc, argv, &o, loop);
}

const Command loop_command = {
    .name = "loop",
    .group = "look",
    .summary = "measure a program at each rebuild, and say what changed, line by line",
    .first = "  assay loop -- ./prog              measure again at each change of a source\n"
             "  assay loop --build CMD -- ./prog  build with this command\n"
             "  assay loop --no-build -- ./prog   you build the program yourself\n",
    .usage = "[OPTION ...] [--] CMD [ARG ...]",
    .options = loop_options,
    .option_count = ARRAY_LEN(loop_options),
    .details =
        "Surveys the command, then waits. When a source changes it builds and surveys again;\n"
        "when the program is built by others, it surveys at once. Each round prints whether\n"
        "the program became faster, which lines changed, and which line to look at now.\n"
        "\n"
        "A copy of the last program runs in turns with the new one, so that a drift of the\n"
        "machine hits both. Scripts, and programs with libraries of their own, are compared\n"
        "with the recordings of the last round.\n"
        "\n"
        "Ctrl-C or q ends, r measures again. DIR/now is the survey of the last round: assay\n"
        "report and assay view take it.\n"
        "\n"
        "Examples:\n"
        "  assay loop -- ./prog data.csv\n"
        "  assay loop --build 'make -j4 prog' -- ./prog data.csv\n"
        "  assay loop -- target/release/prog data.csv\n"
        "  assay loop --no-build --steps time,cpu,heap -- ./prog\n"
        "\n"
        "Exit status: 0 when it was ended, 1 failed, 2 usage\n",
    .operands_end_options = true,
    .run = run_loop_command,
};
