// SPDX-License-Identifier: Apache-2.0
// assay import: turns another tool's recording into an .assay file.

#include <stdio.h>

#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/recording.h"
#include "store/store.h"

typedef struct ImportCommand {
    RecordingFiles files;
    Str output;
    bool force;
} ImportCommand;

static const Choices formats = {
    CHOICES_WITH_HELP(import_formats, import_format_count, name, writers)};

static const Option import_options[] = {
    OPT_TEXT('o', "output", ImportCommand, output, "FILE",
             "write FILE; the default is the input's name with .assay added"),
    OPT_FLAG('f', "force", ImportCommand, force, "replace an existing output file"),
    RECORDING_FILE_OPTIONS(ImportCommand, files),
};

static bool import_one(const ImportCommand *o, Str input, Arena *arena, Error *err)
{
    Profile p;
    const ImportFormat *format;
    if (!load_recording(input, &o->files, true, &p, &format, err))
        return false;
    Str output = o->output;
    if (output.len == 0)
        output = arena_printf(arena, "%" STR_FMT ".assay", STR_ARG(input));
    StoreOptions store = {.force = o->force};
    bool ok = store_write(output, &store, &p, err);
    // Formats without times hold a sum for each stack, not samples.
    bool is_summed = format && p.samples.time_ns.len && p.samples.time_ns.at[0] == TIME_NONE;
    if (ok)
        cli_say("%zu %s of %s '%" STR_FMT "' are now in '%" STR_FMT "'", p.samples.stack.len,
                is_summed ? "sums" : "samples", format ? format->name : "recording", STR_ARG(input),
                STR_ARG(output));
    profile_deinit(&p);
    return ok;
}

static int import_all(CommandLine *line, void *values)
{
    const ImportCommand *o = values;
    const StrVec *inputs = &line->operands;
    if (inputs->len == 0)
        return usage_error(line->cmd,
                           "no recording is named: give its file, or - for standard input");
    if (o->output.len && inputs->len > 1)
        return usage_error(line->cmd, "-o names one file, but there are %zu inputs", inputs->len);
    if (str_equal(o->output, STR("-")))
        return usage_error(line->cmd,
                           "a recording is not written to standard output: name a file with -o");
    if (o->output.len == 0 && str_equal(inputs->at[0], STR("-")))
        return usage_error(line->cmd, "standard input has no name: name the output file with -o");
    for (size_t i = 0; i < inputs->len; i++) {
        Error err;
        if (!import_one(o, inputs->at[i], line->arena, &err))
            return cli_fail(&err);
    }
    return STATUS_OK;
}

static int run_import(const Command *cmd, int argc, char **argv)
{
    ImportCommand o = {0};
    return command_run_parsed(cmd, argc, argv, &o, import_all);
}

const Command import_command = {
    .name = "import",
    .group = "move",
    .summary = "turn another tool's recording into one of assay's",
    .first = "  assay import FILE  write FILE.assay\n"
             "  assay report FILE  look at once, without importing\n",
    .usage = "[OPTION ...] FILE ...",
    .options = import_options,
    .option_count = ARRAY_LEN(import_options),
    .list_heading = "formats, and the programs that write them",
    .list = &formats,
    .details =
        "The content of a file decides its format, not its name; a file may be packed by\n"
        "gzip, zstd, xz or bzip2. Every command that takes a recording takes these files too:\n"
        "import only saves reading them each time.\n"
        "\n"
        "perf.data holds addresses and copied stacks. Names are read from the files that\n"
        "were mapped: below --symfs and --sysroot, at their own path, or by build-id in\n"
        "perf's cache (~/.debug), below --debug-dir and in /usr/lib/debug. A file of another\n"
        "build is not used. The result contains the names and the source lines.\n"
        "\n"
        "Examples:\n"
        "  assay import perf.data\n"
        "  assay import perf.data --sysroot /mnt/board\n"
        "  assay import cpu.pprof\n"
        "  perf script | assay import - -o prog.assay\n"
        "  perf script | assay report -\n",
    .run = run_import,
};
