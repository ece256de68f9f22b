// SPDX-License-Identifier: Apache-2.0
// assay cover add, intersect, subtract: sets of counted lines, branches and
// functions, of any format that is read.

#include "cli/cli.h"
#include "cli/cover/cover_commands.h"
#include "cli/cover/cover_export.h"
#include "export/cover/formats.h"

typedef struct CoverAlgebraOptions {
    CoverExportOptions export;
    bool covered;
} CoverAlgebraOptions;

// llvm-json needs what sets of lines do not hold.
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

// The counts of one operand as a set, whatever it was read from.
static bool load_set(const CoverAlgebraOptions *o, Str operand, CoverResult *r, Error *err)
{
    StrVec one = {&operand, 1, 1};
    if (!cover_load(&o->export.inputs, &one, r, err)) {
        // Neither an object nor a raw profile alone says which lines ran.
        if (err->kind != ERROR_USAGE)
            return false;
        (void)error_context(err, "'%" STR_FMT "'", STR_ARG(operand));
        return error_hint(err, "each input is read by itself; give objects by --object FILE");
    }
    if (r->has_regions || r->has_gcov) {
        r->project.without_regions = true;
        cover_project(r);
        if (r->has_set) { // it was summed into the profile
            cover_set_deinit(&r->set);
            cover_set_init(&r->set, &r->arena);
        }
        cover_set_take_profile(&r->set, &r->profile);
        r->has_regions = r->has_gcov = false;
        r->has_set = true;
    }
    if (o->covered)
        cover_set_drop_zeros(&r->set);
    return true;
}

// The first operand's set, restricted by those of the others.
static int restrict_first(const CoverAlgebraOptions *o, const StrVec *operands,
                          CoverSetOperation op, Arena *arena)
{
    CoverResult *results = arena_array(arena, CoverResult, operands->len);
    Error err;
    int status = STATUS_OK;
    size_t loaded = 0;
    while (loaded < operands->len && status == STATUS_OK) {
        Str operand = operands->at[loaded];
        if (!load_set(o, operand, &results[loaded], &err))
            status = cli_fail(&err);
        loaded++;
    }
    for (size_t i = 1; i < operands->len && status == STATUS_OK; i++)
        cover_set_restrict(&results[0].set, &results[i].set, op);
    if (status == STATUS_OK) {
        cover_set_drop_empty_files(&results[0].set);
        status = cover_export_result(&results[0], &o->export);
    }
    for (size_t i = 0; i < loaded; i++)
        cover_result_deinit(&results[i]);
    return status;
}

static int combine(CommandLine *line, void *values)
{
    const CoverAlgebraOptions *o = values;
    if (line->cmd->options == add_options)
        return cover_show_inputs(&o->export.inputs, &line->operands, cover_export_result,
                                 &o->export);
    if (line->operands.len < 2)
        return usage_error(line->cmd, "two inputs or more");
    bool subtract = str_equal(str_from_c(line->cmd->name), STR("subtract"));
    return restrict_first(o, &line->operands, subtract ? COVER_SET_SUBTRACT : COVER_SET_INTERSECT,
                          line->arena);
}

static int run(const Command *cmd, int argc, char **argv)
{
    CoverAlgebraOptions o = {.export = {.format = STR("lcov")}};
    return command_run_parsed(cmd, argc, argv, &o, combine);
}

const Command cover_add_command = {
    .name = "add",
    .summary = "sum the counts of any inputs",
    .usage = "[OPTION ...] INPUT ...",
    .options = add_options,
    .option_count = ARRAY_LEN(add_options),
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
