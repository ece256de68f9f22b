// SPDX-License-Identifier: Apache-2.0
// assay merge: joins recordings of many machines or hours into one.

#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/recording.h"
#include "model/merge_profiles.h"
#include "store/store.h"

typedef struct MergeCommand {
    RecordingFiles files;
    Str output;
    bool force;
} MergeCommand;

static const Option merge_options[] = {
    OPT_TEXT('o', "output", MergeCommand, output, "FILE", "write FILE (default merged.assay)"),
    OPT_FLAG('f', "force", MergeCommand, force, "replace an existing output file"),
    RECORDING_FILE_OPTIONS(MergeCommand, files),
};

static bool add_recording(const MergeCommand *o, Str path, Profile *into, Error *err)
{
    Profile p;
    const ImportFormat *format;
    if (!load_recording(path, &o->files, true, &p, &format, err))
        return false;
    bool ok = profile_merge(into, &p, err) ||
              error_context(err, "cannot merge '%" STR_FMT "'", STR_ARG(path));
    profile_deinit(&p);
    return ok;
}

static int merge(CommandLine *line, void *values)
{
    const MergeCommand *o = values;
    const StrVec *inputs = &line->operands;
    if (inputs->len < 2)
        return usage_error(line->cmd, "name two recordings or more; profiles of coverage "
                                      "are joined by 'assay cover merge'");
    Str output = o->output.len ? o->output : STR("merged.assay");
    Profile all;
    Error err;
    bool ok = true;
    profile_init(&all);
    for (size_t i = 0; ok && i < inputs->len; i++)
        ok = add_recording(o, inputs->at[i], &all, &err);
    StoreOptions store = {.force = o->force};
    ok = ok && store_write(output, &store, &all, &err);
    if (ok)
        cli_say("%zu sample%s of %zu recording%s written to '%" STR_FMT "'", all.samples.stack.len,
                plural_s(all.samples.stack.len), inputs->len, plural_s(inputs->len),
                STR_ARG(output));
    profile_deinit(&all);
    return ok ? STATUS_OK : cli_fail(&err);
}

static int run_merge(const Command *cmd, int argc, char **argv)
{
    MergeCommand o = {0};
    return command_run_parsed(cmd, argc, argv, &o, merge);
}

// Spellings that users of llvm-profdata know.
static const ForeignOption foreign[] = {
    {0, "sparse", FOREIGN_REFUSED, "profiles of coverage: assay cover merge --sparse"},
    {0, "instr", FOREIGN_REFUSED, "profiles of coverage: assay cover merge"},
    {0, "text", FOREIGN_REFUSED, "profiles of coverage: assay cover merge --text"},
    {0, "weighted-input", FOREIGN_REFUSED, "profiles of coverage: assay cover merge"},
};

const Command merge_command = {
    .name = "merge",
    .group = "move",
    .summary = "join recordings of many machines or hours into one",
    .first = "  assay merge monday.assay tuesday.assay   write merged.assay\n"
             "  assay merge web-*.assay -o web.assay     one recording of many machines\n",
    .usage = "[OPTION ...] FILE FILE ...",
    .options = merge_options,
    .option_count = ARRAY_LEN(merge_options),
    .foreign = foreign,
    .foreign_count = ARRAY_LEN(foreign),
    .details = "Times count from the earliest start, by the clocks of the machines. Processes and\n"
               "threads stay apart; with several machines, @HOST stands behind the names of\n"
               "processes. The order in which recordings are joined in groups does not matter.\n",
    .run = run_merge,
};
