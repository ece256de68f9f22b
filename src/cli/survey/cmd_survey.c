// SPDX-License-Identifier: Apache-2.0
// assay survey: every collector on one program, one result, one page.

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/shell_words.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/survey/survey_child.h"
#include "cli/survey/survey_input.h"
#include "cli/survey/survey_run.h"
#include "cli/survey/survey_show.h"
#include "cli/symbols.h"
#include "os/file.h"
#include "os/folder_tree.h"

typedef struct SurveyOptions {
    Str output, page, against, counted, counted_old, input, colour;
    StrVec steps, sources_old;
    int64_t max_time_ns;
    double precision;
    bool force, json, no_page, show_output, quiet;
} SurveyOptions;

static const Option survey_options[] = {
    OPT_TEXT('o', "output", SurveyOptions, output, "DIR",
             "the folder of the results (default PROGRAM.survey); an older one becomes DIR.old"),
    OPT_FLAG('f', "force", SurveyOptions, force, "replace an older survey in DIR"),
    OPT_TEXT(0, "html", SurveyOptions, page, "FILE",
             "the page (default DIR.html, without .survey)"),
    OPT_FLAG(0, "no-html", SurveyOptions, no_page, "write no page"),
    OPT_TEXT(0, "against", SurveyOptions, against, "'CMD'",
             "the old command: both are surveyed, and the result says what changed"),
    OPT_TEXT(
        0, "counted", SurveyOptions, counted, "'CMD'",
        "the same command with a program built for counting; the step that counts lines runs it"),
    OPT_TEXT(0, "counted-old", SurveyOptions, counted_old, "'CMD'",
             "with --against: the same for the old command"),
    OPT_LIST(0, "source-path-old", SurveyOptions, sources_old, "OLD=NEW",
             "with --against: read source files of the old command whose path begins with OLD at "
             "NEW"),
    OPT_LIST(0, "steps", SurveyOptions, steps, "LIST",
             "only these steps, separated by commas: time, cpu, waits, heap, counts"),
    OPT_DURATION('M', "max-time", SurveyOptions, max_time_ns, "TIME",
                 "spend at most this time on timing (default 10s)"),
    OPT_PERCENT(0, "until", SurveyOptions, precision, "PERCENT",
                "time until the interval is as narrow as this (default 2%)"),
    OPT_TEXT(0, "input", SurveyOptions, input, "WHERE",
             "standard input of each run: null or a file (default: the survey's own input)"),
    OPT_FLAG(0, "show-output", SurveyOptions, show_output,
             "show the output of the command in the run that is sampled"),
    OPT_FLAG(0, "json", SurveyOptions, json, "print JSON, see docs/formats/survey-json.md"),
    OPT_FLAG('q', "quiet", SurveyOptions, quiet, "print nothing but errors"),
    COLOUR_OPTION(SurveyOptions, colour),
};

// ---- What is asked for -------------------------------------------------------------------------

static bool parse_steps(const StrVec *lists, bool wanted[SURVEY_STEPS], Error *err)
{
    for (int step = 0; step < SURVEY_STEPS; step++)
        wanted[step] = lists->len == 0;
    for (size_t i = 0; i < lists->len; i++) {
        Str rest = lists->at[i], name;
        while (str_next_part(&rest, ',', &name)) {
            SurveyStep step;
            if (!survey_step_find(str_trim(name), &step))
                return error_set(err, ERROR_USAGE,
                                 "--steps takes time, cpu, waits, heap and counts, not '%" STR_FMT
                                 "'",
                                 STR_ARG(name));
            wanted[step] = true;
        }
    }
    // Waits are in the recording of the samples.
    wanted[SURVEY_CPU] |= wanted[SURVEY_WAITS];
    return true;
}

static bool split(Arena *arena, Str text, const char *option, StrVec *ret, Error *err)
{
    if (text.len == 0)
        return true;
    if (!shell_split_words(arena, text, ret, err))
        return error_context(err, "%s", option);
    return ret->len > 0 || error_set(err, ERROR_USAGE, "%s names no command", option);
}

static bool make_plan(const SurveyOptions *o, CommandLine *line, SurveyPlan *plan, Error *err)
{
    *plan = (SurveyPlan){.arena = line->arena,
                         .show_output = o->show_output,
                         .max_time_ns = o->max_time_ns,
                         .precision = o->precision};
    plan->side[SURVEY_NEW].words = line->operands;
    plan->side[SURVEY_OLD].sources = o->sources_old;
    if (!parse_steps(&o->steps, plan->wanted, err) ||
        !split(line->arena, o->against, "--against", &plan->side[SURVEY_OLD].words, err) ||
        !split(line->arena, o->counted, "--counted", &plan->side[SURVEY_NEW].counted, err) ||
        !split(line->arena, o->counted_old, "--counted-old", &plan->side[SURVEY_OLD].counted, err))
        return false;
    for (int side = 0; side < SURVEY_SIDES; side++)
        plan->side[side].quoted = survey_quote_words(line->arena, &plan->side[side].words);
    SourceOptions unused;
    return symbols_source_options(line->arena, &o->sources_old, &unused, err) &&
           survey_input_find(line->arena, o->input, &plan->input, err);
}

// ---- The folder --------------------------------------------------------------------------------

typedef struct Place {
    Str output;    // the folder that the user gets
    Str page;      // "": none
    Str temporary; // where the survey works until it is whole
} Place;

static bool ends_in_slash(Str path)
{
    return path.len > 1 && path.ptr[path.len - 1] == '/';
}

static void find_place(const SurveyOptions *o, CommandLine *line, Place *ret)
{
    Arena *arena = line->arena;
    Str output = o->output;
    while (ends_in_slash(output))
        output = str_slice(output, 0, output.len - 1);
    if (output.len == 0)
        output = arena_printf(arena, "%" STR_FMT ".survey",
                              STR_ARG(str_base_name(line->operands.at[0])));
    Str stem = output;
    if (str_ends_with(stem, STR(".survey")))
        stem = str_slice(stem, 0, stem.len - strlen(".survey"));
    ret->output = output;
    ret->page = o->page.len ? o->page : arena_printf(arena, "%" STR_FMT ".html", STR_ARG(stem));
    if (o->no_page)
        ret->page = STR("");
}

// Refuses what is in the way before the work begins.
static bool check_place(const SurveyOptions *o, const Place *place, Error *err)
{
    if (!os_check_way_not_planted(place->output, err))
        return false;
    if (os_file_exists(place->output) && !survey_folder_is(place->output))
        return error_set(err, ERROR_USAGE, "'%" STR_FMT "' exists and is not a survey",
                         STR_ARG(place->output));
    bool is_named = o->page.len > 0;
    if (is_named && !o->force && os_file_exists(o->page)) {
        error_set(err, ERROR_LIMIT, "'%" STR_FMT "' exists", STR_ARG(o->page));
        return error_hint(err, "use --force to replace it");
    }
    return true;
}

static bool make_temporary(Arena *arena, Place *place, Error *err)
{
    char *name =
        arena_c_str(arena, arena_printf(arena, "%" STR_FMT ".XXXXXX", STR_ARG(place->output)));
    if (!mkdtemp(name))
        return error_os(err, "cannot make a folder beside '%" STR_FMT "'", STR_ARG(place->output));
    place->temporary = str_from_c(name);
    return true;
}

// Moves an older survey, which lies in the folder `from`, away, or removes it.
static bool clear_older(const SurveyOptions *o, Arena *arena, Str output, Str from, Error *err)
{
    const char *older = arena_c_str(arena, from);
    Str old = arena_printf(arena, "%" STR_FMT ".old", STR_ARG(output));
    if (o->force)
        return os_tree_remove(AT_FDCWD, older) || error_os(err, "cannot remove '%s'", older);
    if (os_file_exists(old) && !survey_folder_is(old))
        return error_set(err, ERROR_USAGE, "'%" STR_FMT "' exists and is not a survey",
                         STR_ARG(old));
    if (os_file_exists(old) && !os_tree_remove(AT_FDCWD, old.ptr))
        return error_os(err, "cannot remove '%s'", old.ptr);
    return rename(older, old.ptr) == 0 || error_os(err, "cannot rename '%s'", older);
}

// Gives the finished folder its name. The older one gets the temporary name in the same moment, so
// that there is one of the two when this process is killed.
static bool publish(const SurveyOptions *o, Arena *arena, Place *place, Error *err)
{
    const char *output = arena_c_str(arena, place->output);
    bool has_older = os_file_exists(place->output);
    if (has_older &&
        renameat2(AT_FDCWD, place->temporary.ptr, AT_FDCWD, output, RENAME_EXCHANGE) == 0) {
        Str older = place->temporary;
        place->temporary = STR("");
        return clear_older(o, arena, place->output, older, err) ||
               error_hint(err, "the older survey is in %" STR_FMT, STR_ARG(older));
    }
    // Some file systems exchange no names.
    if (has_older && !clear_older(o, arena, place->output, place->output, err))
        return error_hint(err, "the new results are in %" STR_FMT, STR_ARG(place->temporary));
    if (rename(place->temporary.ptr, output) != 0) {
        error_os(err, "cannot rename '%" STR_FMT "'", STR_ARG(place->temporary));
        return error_hint(err, "the results are in it");
    }
    place->temporary = STR("");
    return true;
}

// ---- The page ----------------------------------------------------------------------------------

// Writes the page from the folder, as `assay view` does. Says why when it cannot.
static bool write_page(Arena *arena, Str folder, Str page)
{
    StrVec words = {0};
    Str unused;
    Error err;
    const Str all[] = {STR("view"), STR("--no-open"), STR("--force"), STR("--html"), page, folder};
    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        vec_push(arena, &words, all[i]);
    if (survey_child_capture(arena, &words, &unused, &err))
        return true;
    cli_say("no page was written: see assay view %" STR_FMT, STR_ARG(folder));
    return false;
}

// ---- The command -------------------------------------------------------------------------------

static bool has_result(const SurveyManifest *m)
{
    for (int step = 0; step < SURVEY_STEPS; step++)
        if (m->part[SURVEY_NEW][step].file.len)
            return true;
    return false;
}

// No step gave anything: says why each did not.
static int fail_wholly(const SurveyManifest *m)
{
    for (int step = 0; step < SURVEY_STEPS; step++) {
        const SurveyPart *part = &m->part[SURVEY_NEW][step];
        if (!part->skipped && part->why.len)
            cli_say("no %s: %" STR_FMT, survey_step_name((SurveyStep)step), STR_ARG(part->why));
    }
    return STATUS_FAILED;
}

static int finish(const SurveyOptions *o, Arena *arena, Place *place, SurveyManifest *m)
{
    Error err;
    Terminal terminal = terminal_get(o->colour);
    if (!survey_manifest_write(place->temporary, m, &err) || !publish(o, arena, place, &err))
        return cli_fail(&err);
    bool has_views = m->part[SURVEY_NEW][SURVEY_CPU].file.len ||
                     m->part[SURVEY_NEW][SURVEY_HEAP].file.len ||
                     m->part[SURVEY_NEW][SURVEY_COUNTS].file.len;
    // Named by us, it may be a file of the user's.
    if (place->page.len && has_views && !o->force && o->page.len == 0 &&
        !os_keep_old(arena_c_str(arena, place->page), &err))
        return cli_fail(&err);
    if (place->page.len && has_views && write_page(arena, place->output, place->page)) {
        m->page = place->page;
        if (!survey_manifest_write(place->output, m, &err))
            return cli_fail(&err);
    }
    if (o->quiet && !o->json)
        return STATUS_OK;
    return survey_show(place->output, &terminal, o->json ? SURVEY_JSON : SURVEY_TEXT);
}

static int run_plan(const SurveyOptions *o, CommandLine *line, SurveyPlan *plan)
{
    enum { INTERRUPTED = 130 };
    SurveyManifest m = {0};
    Place place = {0};
    Error err;
    int status;
    find_place(o, line, &place);
    if (!check_place(o, &place, &err) || !make_temporary(line->arena, &place, &err))
        return cli_fail(&err);
    plan->folder = place.temporary;
    if (!survey_run(plan, &m, &err))
        status = cli_fail(&err);
    else if (!has_result(&m) && m.interrupted) {
        cli_say("interrupted before there was a result");
        status = INTERRUPTED;
    } else if (!has_result(&m))
        status = fail_wholly(&m);
    else
        status = finish(o, line->arena, &place, &m);
    if (place.temporary.len && !has_result(&m))
        (void)os_tree_remove(AT_FDCWD, place.temporary.ptr);
    if (status != STATUS_OK)
        return status;
    return m.interrupted ? INTERRUPTED : (int)m.status;
}

static int survey(CommandLine *line, void *values)
{
    const SurveyOptions *o = values;
    SurveyPlan plan;
    Error err;
    if (line->operands.len == 0)
        return usage_error(line->cmd, "no command is given: assay survey -- CMD");
    if (o->counted_old.len && o->against.len == 0)
        return usage_error(line->cmd, "--counted-old goes with --against");
    if (o->sources_old.len && o->against.len == 0)
        return usage_error(line->cmd, "--source-path-old goes with --against");
    if (!(o->precision > 0 && o->precision < 100) || o->max_time_ns <= 0)
        return usage_error(line->cmd, "--until is a percentage below 100, --max-time above 0");
    if (!make_plan(o, line, &plan, &err))
        return cli_fail(&err);
    return run_plan(o, line, &plan);
}

static int run_survey(const Command *cmd, int argc, char **argv)
{
    SurveyOptions o = {.max_time_ns = 10000000000, .precision = 2};
    return command_run_parsed(cmd, argc, argv, &o, survey);
}

const Command survey_command = {
    .name = "survey",
    .group = "see where",
    .summary = "run every collector on a program: one screen, one page, the line to look at",
    .first = "  assay survey -- CMD              time, CPU, waits, heap and counts of a command\n"
             "  assay survey --against './old' -- ./new   what a change made faster or slower\n",
    .usage = "[OPTION ...] [--] CMD [ARG ...]",
    .options = survey_options,
    .option_count = ARRAY_LEN(survey_options),
    .details =
        "Runs the command several times: timed, until the interval is narrow; sampled, with\n"
        "what its threads wait for; with an account of its heap; and, if it is built to count,\n"
        "for the executions of its lines. The first screen says how long it takes and how sure\n"
        "that is, where the CPU time is, what waits, what allocates, and which line to look at\n"
        "first and why. Time in libraries counts for the line of the program that calls them.\n"
        "A step that cannot run here is named, with what would enable it.\n"
        "\n"
        "The folder DIR holds a recording for each step, which all other commands take; report\n"
        "and view take the folder itself. Each run gets the same standard input: a pipe is kept\n"
        "first. What the command prints is dropped.\n"
        "\n"
        "Examples:\n"
        "  assay survey -- ./prog data.csv\n"
        "  assay survey -o slow --max-time 30 -- ./prog data.csv\n"
        "  assay survey --counted './prog-counted data.csv' -- ./prog data.csv\n"
        "  assay survey --against './old data.csv' -- ./new data.csv\n"
        "  assay survey --steps time,cpu -- make -j2\n"
        "  assay report prog.survey; assay view prog.survey\n"
        "\n"
        "Exit status: that of the command; 1 when the survey failed, 130 when it was\n"
        "interrupted\n",
    .operands_end_options = true,
    .run = run_survey,
};
