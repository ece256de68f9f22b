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

static int run(const Command *cmd, int argc, char **argv)
{
    Arena arena = {0};
    StrVec operands = {0};
    char nothing;
    int status = STATUS_USAGE;
    switch (options_parse(cmd, argc, argv, &nothing, &arena, &operands)) {
    case PARSE_DONE:
        status = STATUS_OK;
        break;
    case PARSE_BAD:
        break;
    case PARSE_OK:
        for (size_t i = 0; i < ARRAY_LEN(compilers); i++) {
            if (operands.len != 1 || !str_equal(operands.at[0], str_from_c(compilers[i].compiler)))
                continue;
            status = cli_print(str_from_c(compilers[i].flags)) ? STATUS_OK : STATUS_FAILED;
            arena_deinit(&arena);
            return status;
        }
        status = usage_error(cmd, "which compiler? clang, gcc or rustc");
        break;
    }
    arena_deinit(&arena);
    return status;
}

const Command cover_flags_command = {
    .name = "flags",
    .summary = "print the flags with which a compiler makes programs that count",
    .usage = "clang|gcc|rustc",
    .run = run,
};
