// SPDX-License-Identifier: Apache-2.0
// assay dump: asks a running `assay record --flight` to write what it keeps.

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>

#include "cli/cli.h"
#include "cli/commands.h"
#include "os/file.h"

typedef struct DumpCommand {
    bool quiet;
} DumpCommand;

static const Option dump_options[] = {
    OPT_FLAG('q', "quiet", DumpCommand, quiet, "print nothing when all is well"),
};

// Whether the process is a recorder that takes the signal: others it would end.
static bool is_flight(uint32_t pid, Error *err)
{
    char path[64], text[4096];
    Str words, word;
    bool is_recorder = false, has_flight = false;
    snprintf(path, sizeof(path), "/proc/%u/cmdline", pid);
    if (!os_read_small(path, text, sizeof(text), &words))
        return error_set(err, ERROR_NOT_FOUND, "no process %u", pid);
    for (size_t i = 0; str_next_part(&words, '\0', &word); i++) {
        is_recorder |= i <= 1 && str_equal(word, STR("record"));
        has_flight |= str_equal(word, STR("--flight"));
        if (str_equal(word, STR("--")))
            break;
    }
    if (is_recorder && has_flight)
        return true;
    (void)error_set(err, ERROR_USAGE, "process %u is not a running assay record --flight", pid);
    return error_hint(err, "pgrep -f 'assay record --flight' finds them");
}

// Whether the process keeps SIGUSR2 for itself; before that it would end by it.
static bool takes_signal(uint32_t pid)
{
    char path[64], text[4096];
    Str status, line, key, value;
    uint64_t held = 0;
    snprintf(path, sizeof(path), "/proc/%u/status", pid);
    if (!os_read_small(path, text, sizeof(text), &status))
        return false;
    while (str_next_line(&status, &line))
        if (str_split(line, ':', &key, &value) && str_equal(key, STR("SigBlk")))
            (void)!str_parse_u64(str_trim(value), 16, &held);
    return held >> (SIGUSR2 - 1) & 1;
}

// A recorder that has just started takes the signal a moment later.
static bool wait_until_ready(uint32_t pid, Error *err)
{
    enum { LOOKS = 500, LOOK_MS = 10 };
    const struct timespec pause = {.tv_nsec = LOOK_MS * 1000000};
    for (int i = 0; i < LOOKS; i++) {
        if (takes_signal(pid))
            return true;
        if (!is_flight(pid, err))
            return false;
        nanosleep(&pause, NULL);
    }
    return error_set(err, ERROR_OS, "process %u is not ready to write what it keeps", pid);
}

static int dump(CommandLine *line, void *values)
{
    const DumpCommand *o = values;
    if (line->operands.len == 0)
        return usage_error(line->cmd, "name the process of assay record --flight");
    for (size_t i = 0; i < line->operands.len; i++) {
        uint64_t pid;
        Error err;
        if (!str_parse_u64(line->operands.at[i], 10, &pid) || pid == 0 || pid > INT32_MAX)
            return usage_error(line->cmd, "'%" STR_FMT "' is not the number of a process",
                               STR_ARG(line->operands.at[i]));
        if (!is_flight((uint32_t)pid, &err) || !wait_until_ready((uint32_t)pid, &err))
            return cli_fail(&err);
        if (kill((pid_t)pid, SIGUSR2) != 0) {
            (void)error_os(&err, "cannot signal process %llu", (unsigned long long)pid);
            return cli_fail(&err);
        }
        if (!o->quiet)
            cli_say("process %llu writes what it keeps, and names the file on its own output",
                    (unsigned long long)pid);
    }
    return STATUS_OK;
}

static int run_dump(const Command *cmd, int argc, char **argv)
{
    DumpCommand o = {0};
    return command_run_parsed(cmd, argc, argv, &o, dump);
}

// As other commands name a process.
static const ForeignOption foreign[] = {{'p', "pid", FOREIGN_OPERAND, NULL}};

const Command dump_command = {
    .name = "dump",
    .group = "see where",
    .summary = "write what a running assay record --flight keeps",
    .first = "  assay record --flight -p PID   keep the newest part in memory\n"
             "  assay dump RECORDER            write it now, and go on\n",
    .usage = "[OPTION ...] PID ...",
    .options = dump_options,
    .option_count = ARRAY_LEN(dump_options),
    .foreign = foreign,
    .foreign_count = ARRAY_LEN(foreign),
    .run = run_dump,
};
