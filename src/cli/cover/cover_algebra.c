// SPDX-License-Identifier: Apache-2.0
// assay cover add, intersect, subtract: sets of counted lines, branches and
// functions, of any format that is read.

#include "cli/cli.h"
#include "cli/cover/cover_commands.h"
#include "cli/cover/cover_export.h"
#include "cli/cover/cover_load.h"
#include "export/cover/formats.h"

typedef struct CoverAlgebraOptions {
    CoverExportOptions export;
    bool covered;
} CoverAlgebraOptions;

// llvm-json needs data that sets of lines do not hold.
static bool is_of_lines(const void *row)
{
    return ((const CoverFormatName *)row)->format != NULL;
}

static const Choices formats = {
    CHOICES_WITH_HELP(cover_format_names, cover_format_count, name, holds), .takes = is_of_lines};

#define ALGEBRA_OPTIONS                                                                            \
    OPT_CHOICE_OF(0, "format", CoverAlgebraOptions, export.format, "FORMAT", &formats,             \
                  "the format to write"),                                                          \
        COVER_OUTPUT_OPTIONS(CoverAlgebraOptions, export),                                         \
        COVER_INPUT_OPTIONS(CoverAlgebraOptions, export.inputs)

static const Option add_options[] = {ALGEBRA_OPTIONS};

static const Option set_options[] = {
    OPT_FLAG(0, "covered", CoverAlgebraOptions, covered,
             "a line, branch or function belongs to an input only where it ran"),
    ALGEBRA_OPTIONS,
};

// The first operand's set, restricted by those of the others.
static int restrict_first(const CoverAlgebraOptions *o, const StrVec *operands,
                          CoverSetOperation op)
{
    CoverRequest request = o->export.inputs;
    Profile p;
    Error err;
    Arena arena = {0};
    request.wants = COVER_WANT_ROWS;
    bool ok = cover_load_restricted(&request, operands, op, o->covered, &p, &err);
    cover_print_notes(&p);
    int status = ok ? cover_export_profile(&p, &o->export, &arena) : cli_fail(&err);
    arena_deinit(&arena);
    profile_deinit(&p);
    return status;
}

static int combine(CommandLine *line, void *values)
{
    CoverAlgebraOptions *o = values;
    if (line->cmd->options == add_options)
        return cover_export_inputs(&o->export, &line->operands);
    if (line->operands.len < 2)
        return usage_error(line->cmd, "two inputs or more");
    bool subtract = str_equal(str_from_c(line->cmd->name), STR("subtract"));
    return restrict_first(o, &line->operands, subtract ? COVER_SET_SUBTRACT : COVER_SET_INTERSECT);
}

static int run(const Command *cmd, int argc, char **argv)
{
    CoverAlgebraOptions o = {.export = {.format = STR("lcov"), .is_sum = true}};
    return command_run_parsed(cmd, argc, argv, &o, combine);
}

// Spellings that users of lcov and gcovr know.
static const ForeignOption add_foreign[] = {
    {'a', "add-tracefile", FOREIGN_OPERAND, NULL},
};

const Command cover_add_command = {
    .name = "add",
    .summary = "sum the counts of any inputs",
    .first = "  assay cover add --format lcov -o FILE A B  the counts of both\n"
             "  assay cover add --format html -o FILE A B  one page of both\n",
    .usage = "[OPTION ...] INPUT ...",
    .options = add_options,
    .option_count = ARRAY_LEN(add_options),
    .foreign = add_foreign,
    .foreign_count = ARRAY_LEN(add_foreign),
    .details = "Inputs are tracefiles, folders of gcc's notes and counts, or a program with its\n"
               "profiles; all are summed into one.\n",
    .run = run,
};

const Command cover_intersect_command = {
    .name = "intersect",
    .summary = "keep what every input has, with the counts summed",
    .usage = "[OPTION ...] INPUT INPUT ...",
    .options = set_options,
    .option_count = ARRAY_LEN(set_options),
    .details =
        "Each input is a set by itself: a tracefile, a folder of gcc's notes and counts, or\n"
        "a profile of the program that --object names.\n",
    .run = run,
};

const Command cover_subtract_command = {
    .name = "subtract",
    .summary = "keep what the first input has and no other",
    .usage = "[OPTION ...] INPUT INPUT ...",
    .options = set_options,
    .option_count = ARRAY_LEN(set_options),
    .details =
        "Each input is a set by itself: a tracefile, a folder of gcc's notes and counts, or\n"
        "a profile of the program that --object names. What only one run reached:\n"
        "  assay cover subtract --covered --object ./prog new.profraw old.profraw\n",
    .run = run,
};
