// SPDX-License-Identifier: Apache-2.0
// assay cover flags: what to give a compiler so that programs count.

#include "cli/cli.h"
#include "cli/cover/cover_commands.h"

static const struct {
    const char *compiler;
    const char *flags;
    const char *continuous; // more of them, NULL: there is no such mode
} compilers[] = {
    {"clang", "-fprofile-instr-generate -fcoverage-mapping", "-mllvm -runtime-counter-relocation"},
    {"gcc", "--coverage", NULL},
    {"rustc", "-C instrument-coverage", "-C llvm-args=-runtime-counter-relocation"},
};

typedef struct CoverFlagsOptions {
    bool continuous;
} CoverFlagsOptions;

static const Option options[] = {
    OPT_FLAG(0, "continuous", CoverFlagsOptions, continuous,
             "for 'assay cover run --continuous', which keeps the counts of killed programs"),
};

static int print_flags(CommandLine *line, void *values)
{
    const CoverFlagsOptions *o = values;
    for (size_t i = 0; i < ARRAY_LEN(compilers) && line->operands.len == 1; i++) {
        if (!str_equal(line->operands.at[0], str_from_c(compilers[i].compiler)))
            continue;
        if (o->continuous && !compilers[i].continuous)
            return usage_error(line->cmd, "gcc's counters are written at the end only");
        Str flags =
            arena_printf(line->arena, "%s%s%s\n", compilers[i].flags, o->continuous ? " " : "",
                         o->continuous ? compilers[i].continuous : "");
        return cli_print(flags) ? STATUS_OK : STATUS_FAILED;
    }
    return usage_error(line->cmd, "give the name of one compiler: clang, gcc or rustc");
}

static int run(const Command *cmd, int argc, char **argv)
{
    CoverFlagsOptions o = {0};
    return command_run_parsed(cmd, argc, argv, &o, print_flags);
}

const Command cover_flags_command = {
    .name = "flags",
    .summary = "print the flags with which a compiler makes programs that count",
    .first = "  cc $(assay cover flags gcc) -g prog.c -o prog    with gcc\n"
             "  clang $(assay cover flags clang) prog.c -o prog  with clang\n",
    .usage = "[OPTION ...] clang|gcc|rustc",
    .details =
        "For compiling and for linking:\n"
        "  clang $(assay cover flags clang) -o prog prog.c\n"
        "  make CC=gcc CFLAGS=\"-g $(assay cover flags gcc)\"\n"
        "  CFLAGS=$(assay cover flags clang) ./configure CC=clang\n"
        "  cmake -B build -DCMAKE_C_COMPILER=clang -DCMAKE_C_FLAGS=\"$(assay cover flags clang)\"\n"
        "Not for cargo: 'assay cover run -- cargo test' adds them.\n",
    .options = options,
    .option_count = ARRAY_LEN(options),
    .run = run,
};
