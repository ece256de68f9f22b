// SPDX-License-Identifier: Apache-2.0
// assay cover: counts of executions beside every source line.

#include "cli/commands.h"
#include "cli/cover_commands.h"

static const Command *const command_list[] = {
    &cover_run_command,   &cover_report_command, &cover_show_command,      &cover_export_command,
    &cover_merge_command, &cover_add_command,    &cover_intersect_command, &cover_subtract_command,
    &cover_flags_command, &cover_tests_command,  &cover_diff_command,
};

static Command sub_commands[ARRAY_LEN(command_list)];

// A table wants its rows side by side, and each command's stands in its own file.
__attribute__((constructor)) static void gather(void)
{
    for (size_t i = 0; i < ARRAY_LEN(command_list); i++)
        sub_commands[i] = *command_list[i];
}

const Command cover_command = {
    .name = "cover",
    .group = "see where",
    .summary = "which lines ran and how often, out of coverage profiles",
    .usage = "COMMAND [OPTION ...] INPUT ...",
    .details = "Programs built with clang -fprofile-instr-generate -fcoverage-mapping or rustc\n"
               "-C instrument-coverage write .profraw files when they end; gcc --coverage writes\n"
               ".gcno and .gcda files. Inputs are told apart by content and come in any order;\n"
               "folders are searched for profiles:\n"
               "  assay cover report ./prog a.profraw b.profraw\n"
               "  assay cover show build/\n",
    .sub = sub_commands,
    .sub_count = ARRAY_LEN(command_list),
};
