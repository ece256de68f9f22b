// SPDX-License-Identifier: Apache-2.0
// assay cover: counts of executions beside every source line.

#include "cli/commands.h"
#include "cli/cover/cover_commands.h"

#define COVER_COMMAND_ROW(name) &cover_##name##_command,
static const Command *const sub_commands[] = {COVER_COMMANDS(COVER_COMMAND_ROW)};

// lprof has no commands: -m merges, its other letters list.
static const char *lprof_command(int argc, char *const *argv)
{
    for (int i = 1; i < argc; i++)
        if (str_equal(str_from_c(argv[i]), STR("-m")))
            return "merge";
    Str letter = str_slice(str_from_c(argv[1]), 1, 2);
    return letter.len && str_find_char(STR("psxIrcoCF"), letter.ptr[0]) != SIZE_MAX ? "show" : NULL;
}

const Command cover_command = {
    .name = "cover",
    .group = "see where",
    .summary = "which lines ran and how often, by coverage profiles",
    .first = "  assay cover run -- CMD        which lines a command runs\n"
             "  assay cover show -F FUNCTION  the lines of a function with their counts\n"
             "  assay cover diff main..HEAD   which lines of a change ran\n",
    .usage = "COMMAND [OPTION ...] INPUT ...\n"
             "[-psxC] [-I DIR] [-r FILE] [-F FUNCTION] [-c PROFILE] [-o PROG]\n"
             "-m PROFILE ... [-T] -d FILE",
    .details = "Programs built with clang -fprofile-instr-generate -fcoverage-mapping or rustc\n"
               "-C instrument-coverage write .profraw files when they end; gcc --coverage writes\n"
               ".gcno and .gcda files. Inputs are told apart by content and come in any order;\n"
               "folders are searched for profiles:\n"
               "  assay cover report ./prog a.profraw b.profraw\n"
               "  assay cover show build/\n"
               "Without inputs they are the results of 'assay cover run' (.assay/cover). lprof's\n"
               "letters without a command list, or with -m merge, as lprof does:\n"
               "  assay cover -x -r parse.c\n"
               "  assay cover -m a.profraw b.profraw -d sum.profdata\n",
    .sub = sub_commands,
    .sub_of_options = lprof_command,
    .sub_count = ARRAY_LEN(sub_commands),
};
