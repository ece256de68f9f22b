// SPDX-License-Identifier: Apache-2.0
// The program's entry: the table of commands, and the overview.

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "base/log.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/habits.h"
#include "cli/licenses.h"
#include "cli/option.h"

#ifndef ASSAY_VERSION
#error "the build defines ASSAY_VERSION"
#endif

static int run_help(const Command *cmd, int argc, char **argv);

const Command help_command = {
    .name = "help",
    .group = "help",
    .summary = "show the overview, or the help of one command",
    .usage = "[COMMAND [SUBCOMMAND]]",
    .run = run_help,
};

#define COMMAND_ROW(name) &name##_command,
static const Command *const command_table[] = {COMMANDS(COMMAND_ROW)};

static void add_overview(StrBuf *out)
{
    strbuf_add(out, STR("usage: assay COMMAND [OPTION ...]\n\n"
                        "Tells where a native program's time, memory and executions go, line by\n"
                        "line, and proves whether a change made it better.\n"
                        "\nstart with\n"
                        "  assay bench 'CMD A' 'CMD B'   which is faster, and how sure\n"
                        "  assay record -- CMD           where its time goes, then: assay report\n"
                        "  assay cover run -- CMD        which lines ran, and how often\n"));
    commands_add_list(command_table, ARRAY_LEN(command_table), 10, out);
    strbuf_add(out,
               STR("\n'assay COMMAND --help' explains a command, 'man assay-COMMAND' says more, "
                   "'assay\n--version' says which this is.\n"));
}

static int show_overview(void)
{
    StrBuf out = {0};
    add_overview(&out);
    bool written = cli_print(strbuf_str(&out));
    strbuf_deinit(&out);
    return written ? STATUS_OK : STATUS_FAILED;
}

static int run_help(const Command *cmd, int argc, char **argv)
{
    if (argc < 2)
        return show_overview();
    if (argv[1][0] == '-') {
        StrBuf out = {0};
        command_help(cmd, &out);
        bool written = cli_print_text(strbuf_str(&out));
        strbuf_deinit(&out);
        return written ? STATUS_OK : STATUS_FAILED;
    }
    // "help cover report" is "cover report --help".
    char help[] = "--help";
    char *words[8] = {argv[0]};
    int count = 1;
    for (int i = 1; i < argc && count < 6; i++)
        words[count++] = argv[i];
    words[count++] = help;
    return commands_run(NULL, command_table, ARRAY_LEN(command_table), count, words);
}

static int show_version(int argc, char **argv)
{
    bool shown = cli_print(STR("assay " ASSAY_VERSION "\n"));
    if (argc > 2 && str_equal(str_from_c(argv[2]), STR("--licenses")))
        shown = shown && cli_print(STR("\n")) && cli_print(licenses_text());
    return shown ? STATUS_OK : STATUS_FAILED;
}

static void debug_sink(void *ctx, Str line)
{
    (void)ctx;
    cli_say("%" STR_FMT, STR_ARG(line));
}

static int print_options(void)
{
    StrBuf out = {0};
    commands_dump_json(command_table, ARRAY_LEN(command_table), &out);
    bool written = cli_print(strbuf_str(&out));
    strbuf_deinit(&out);
    return written ? STATUS_OK : STATUS_FAILED;
}

// Spellings of other tools, and the command of assay that does the same.
static bool is_habit(int argc, char **argv)
{
    StrBuf hint = {0};
    bool is_one = habit_hint(argc, argv, &hint);
    if (is_one) {
        Error err;
        bool is_cover = str_equal(str_from_c(argv[1]), STR("cover"));
        const char *word = is_cover ? argv[2] : argv[1];
        const char *parent = is_cover ? "assay cover" : "assay";
        (void)error_set(&err, ERROR_USAGE,
                        word[0] == '-' ? "'%s' has no option '%s'" : "no command '%s %s'", parent,
                        word);
        (void)error_hint(&err, "%" STR_FMT, STR_ARG(strbuf_str(&hint)));
        (void)cli_fail(&err);
    }
    strbuf_deinit(&hint);
    return is_one;
}

// A handler, not SIG_IGN: programs that we start get the default back by exec.
static void on_file_size_limit(int number)
{
    (void)number;
}

int main(int argc, char **argv)
{
    // A write over RLIMIT_FSIZE is then an error like a full disk, and does not end the process.
    if (signal(SIGXFSZ, on_file_size_limit) == SIG_IGN)
        signal(SIGXFSZ, SIG_IGN);
    log_init(cli_env("ASSAY_DEBUG"), debug_sink, NULL);

    Str first = str_from_c(argc > 1 ? argv[1] : NULL);
    if (first.len == 0) {
        show_overview();
        return STATUS_USAGE;
    }
    if (str_equal(first, STR("--help")) || str_equal(first, STR("-h")))
        return show_overview();
    if (str_equal(first, STR("--version")) || str_equal(first, STR("-V")))
        return show_version(argc, argv);
    // For the shell completions and the check of the man pages.
    if (str_equal(first, STR("__options")))
        return print_options();
    if (is_habit(argc, argv))
        return STATUS_USAGE;
    return commands_run(NULL, command_table, ARRAY_LEN(command_table), argc, argv);
}
