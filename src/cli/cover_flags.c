// SPDX-License-Identifier: Apache-2.0
// assay cover flags: what to give a compiler so that programs count.

#include "cli/cli.h"
#include "cli/cover_commands.h"

static const struct {
    const char *compiler;
    const char *flags;
} compilers[] = {
    {"clang", "-fprofile-instr-generate -fcoverage-mapping\n"},
    {"gcc", "--coverage\n"},
    {"rustc", "-C instrument-coverage\n"},
};

static int print_flags(CommandLine *line, void *values)
{
    (void)values;
    for (size_t i = 0; i < ARRAY_LEN(compilers) && line->operands.len == 1; i++)
        if (str_equal(line->operands.at[0], str_from_c(compilers[i].compiler)))
            return cli_print(str_from_c(compilers[i].flags)) ? STATUS_OK : STATUS_FAILED;
    return usage_error(line->cmd, "which compiler? clang, gcc or rustc");
}

static int run(const Command *cmd, int argc, char **argv)
{
    return command_run_parsed(cmd, argc, argv, NULL, print_flags);
}

const Command cover_flags_command = {
    .name = "flags",
    .summary = "print the flags with which a compiler makes programs that count",
    .usage = "clang|gcc|rustc",
    .run = run,
};
