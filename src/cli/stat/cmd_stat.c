// SPDX-License-Identifier: Apache-2.0
// `assay stat`: count events over a command, a process or the machine.
// The result goes to stderr, or to --output: stdout belongs to the command.

#include <signal.h>
#include <stdio.h>

#include "analyse/counted_runs.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/runs/counts_text.h"
#include "cli/stat/stat_html.h"
#include "cli/stat/stat_rows.h"
#include "collect/counters/counting.h"
#include "os/clock.h"
#include "os/file.h"
#include "store/store.h"

typedef struct StatArgs {
    StrVec events;
    uint64_t repeat, interval_count;
    int64_t interval, timeout, delay;
    bool all_cpus, json, table, force, per_thread, per_cpu, no_inherit, null_run;
    unsigned detailed;
    Str cpus, pids, tids, separator, output, html, recording;
} StatArgs;

static const Option stat_options[] = {
    OPT_LIST(
        'e', "event", StatArgs, events, "EVENT",
        "events to count, as in perf: names, rNNN, pmu/.../, category:tracepoint, {groups}, :u :k"),
    OPT_U64('r', "repeat", StatArgs, repeat, "N",
            "run the command N times and show the mean with its error; 0 repeats until Ctrl-C"),
    OPT_FLAG('a', "all-cpus", StatArgs, all_cpus, "count everything on all CPUs"),
    OPT_TEXT('C', "cpu", StatArgs, cpus, "LIST", "count everything on these CPUs: 0,2-3"),
    OPT_TEXT('p', "pid", StatArgs, pids, "PID", "count running processes, separated by commas"),
    OPT_TEXT('t', "tid", StatArgs, tids, "TID", "count running threads, separated by commas"),
    OPT_COUNT('d', "detailed", StatArgs, detailed,
              "count L1 and last-level cache loads too; -dd: instruction cache and TLBs, -ddd: "
              "prefetches"),
    OPT_MILLIS('I', "interval-print", StatArgs, interval, "MS",
               "print what was counted every MS milliseconds"),
    OPT_U64(0, "interval-count", StatArgs, interval_count, "N", "stop after N such intervals"),
    OPT_MILLIS(0, "timeout", StatArgs, timeout, "MS", "stop after MS milliseconds"),
    OPT_MILLIS('D', "delay", StatArgs, delay, "MS",
               "start to count MS milliseconds after the start"),
    OPT_TEXT('x', "field-separator", StatArgs, separator, "SEP", "CSV with this separator"),
    OPT_FLAG('j', "json-output", StatArgs, json, "one JSON object a line"),
    OPT_FLAG(0, "table", StatArgs, table, "with -r, list each run's time"),
    OPT_FLAG(0, "per-thread", StatArgs, per_thread, "with -p or -t, a row for each thread"),
    OPT_FLAG('A', "no-aggr", StatArgs, per_cpu, "with -a or -C, a row for each CPU"),
    OPT_FLAG('i', "no-inherit", StatArgs, no_inherit,
             "leave the command's children and threads out"),
    OPT_FLAG('n', "null", StatArgs, null_run, "count nothing: times only"),
    OPT_TEXT('o', "output", StatArgs, output, "FILE", "write the result to FILE instead of stderr"),
    OPT_TEXT(0, "html", StatArgs, html, "FILE",
             "also write a page with the table and a picture of each event, over the runs of -r or "
             "the intervals of -I"),
    OPT_TEXT(0, "recording", StatArgs, recording, "FILE",
             "also write a recording, which 'assay report' and 'assay export' read"),
    OPT_FLAG(0, "force", StatArgs, force, "with --recording, replace an existing recording"),
};

static volatile sig_atomic_t interrupted;

static void on_interrupt(int signal)
{
    (void)signal;
    interrupted = 1;
}

typedef struct Stat {
    Arena *arena;
    const StatArgs *args;
    Program program;
    CountingOptions options;
    Counting counting;
    Profile profile;
    StoreWriter *store; // NULL without --recording
    int64_t stored_ns;  // when the store was flushed last
    FILE *to;           // where the result goes
    StrBuf out;
} Stat;

// ---- What to count ---------------------------------------------------------

static bool choose_targets(Stat *s, const StrVec *command, Error *err)
{
    const StatArgs *a = s->args;
    CountingTargets *targets = &s->options.targets;
    if (a->pids.len || a->tids.len) {
        if (a->all_cpus || a->cpus.len)
            return error_set(err, ERROR_USAGE, "-p and -t exclude -a and -C");
        targets->apart = a->per_thread;
        return counting_add_threads(s->arena, a->pids, true, targets, err) &&
               counting_add_threads(s->arena, a->tids, false, targets, err);
    }
    if (a->per_thread)
        return error_set(err, ERROR_USAGE, "--per-thread needs -p or -t");
    if (a->all_cpus || a->cpus.len) {
        targets->apart = a->per_cpu;
        return counting_add_cpus(s->arena, a->cpus, targets, err);
    }
    if (a->per_cpu)
        return error_set(err, ERROR_USAGE, "--no-aggr needs -a or -C");
    if (command->len == 0)
        return error_set(err, ERROR_USAGE, "nothing to count: give a command, -p, -t, -a or -C");
    return true;
}

static bool find_command(Stat *s, const StrVec *command, Error *err)
{
    if (command->len == 0)
        return true;
    char **argv = arena_array(s->arena, char *, command->len + 1);
    for (size_t i = 0; i < command->len; i++)
        argv[i] = arena_c_str(s->arena, command->at[i]);
    s->options.argv = argv;
    s->options.program = &s->program;
    return program_find(s->arena, command->at[0], cli_env("PATH"), &s->program, err);
}

static bool check_arguments(const StatArgs *a, Error *err)
{
    if (a->table && a->repeat == UINT64_MAX)
        return error_set(err, ERROR_USAGE, "--table needs -r");
    if (a->repeat != UINT64_MAX && a->interval)
        return error_set(err, ERROR_USAGE, "-r excludes -I");
    if (a->interval_count && !a->interval)
        return error_set(err, ERROR_USAGE, "--interval-count needs -I");
    if (a->json && a->separator.len)
        return error_set(err, ERROR_USAGE, "-j excludes -x");
    if (a->force && a->recording.len == 0)
        return error_set(err, ERROR_USAGE, "--force needs --recording");
    return true;
}

// ---- The result ------------------------------------------------------------

static bool is_for_programs(const StatArgs *a)
{
    return a->json || a->separator.len > 0;
}

// `at_s` below 0: the whole, else the end of an interval.
static void add_rows(Stat *s, const CountRowVec *rows, double at_s)
{
    if (s->args->json)
        stat_add_json(&s->out, &s->profile, rows, at_s);
    else if (s->args->separator.len)
        stat_add_csv(&s->out, &s->profile, rows, s->args->separator, at_s);
    else
        counts_add_rows(&s->out, &s->profile, rows, at_s);
}

static bool write_out(Stat *s, Error *err)
{
    StrBuf text = {0};
    if (s->to == stderr && !is_for_programs(s->args))
        cli_add_text(&text, strbuf_str(&s->out));
    else
        strbuf_add(&text, strbuf_str(&s->out));
    bool ok = fwrite(text.ptr, 1, text.len, s->to) == text.len && fflush(s->to) == 0;
    strbuf_deinit(&text);
    strbuf_clear(&s->out);
    return ok || error_os(err, "cannot write the result");
}

// Prints an interval, and stores it now and then, so that little is lost with a long run.
static bool on_interval(void *ctx, size_t first, int64_t length_ns, Error *err)
{
    enum { STORE_EACH_S = 10 };
    Stat *s = ctx;
    const I64Vec *times = &s->profile.series.time_ns;
    if (times->len == first)
        return true;
    Arena scratch = {0};
    CountSpan span = {first, times->len - first, times->at[first], length_ns};
    CountRowVec rows = counts_of_span(&scratch, &s->profile, &span);
    add_rows(s, &rows, (double)span.end_ns * 1e-9);
    arena_deinit(&scratch);
    int64_t now = os_monotonic_ns();
    if (s->store && now - s->stored_ns > (int64_t)STORE_EACH_S * 1000000000) {
        s->stored_ns = now;
        if (!store_writer_flush(s->store, &s->profile, err))
            return false;
    }
    return write_out(s, err);
}

static void report(Stat *s, const Counts *c)
{
    if (is_for_programs(s->args)) {
        if (!s->args->interval)
            add_rows(s, &c->rows, -1);
        return;
    }
    strbuf_add_char(&s->out, '\n');
    counts_add_heading(&s->out, c);
    if (!s->args->interval && c->rows.len) {
        add_rows(s, &c->rows, -1);
        strbuf_add_char(&s->out, '\n');
    }
    counts_add_times(&s->out, c, s->args->table);
    counts_add_warnings(&s->out, &s->profile);
}

static bool write_html(Stat *s, const Counts *c, Error *err)
{
    StrBuf page = {0};
    OutputFile file;
    stat_html(&page, s->arena, c, s->args->table);
    bool ok = os_output_open(s->args->html, OUTPUT_REPLACE, &file, err);
    if (ok) {
        fwrite(page.ptr, 1, page.len, file.stream);
        ok = os_output_commit(&file, err);
    }
    strbuf_deinit(&page);
    return ok;
}

// Prints and writes what was counted. The first failure stands in `err`.
static bool finish(Stat *s, bool ok, Error *err)
{
    Error late;
    Counts counts;
    if (s->args->html.len || s->store)
        counting_add_facts(&s->counting, STR(ASSAY_VERSION));
    counts_init(&counts, s->arena, &s->profile, s->counting.name);
    report(s, &counts);
    if (!write_out(s, ok ? err : &late))
        ok = false;
    if (s->args->html.len && !write_html(s, &counts, ok ? err : &late))
        ok = false;
    StoreWriter *store = s->store;
    s->store = NULL;
    if (store && !store_writer_finish(store, &s->profile, ok ? err : &late))
        ok = false;
    return ok;
}

// ---- Running ---------------------------------------------------------------

static int run_all(Stat *s)
{
    Error err;
    const StatArgs *a = s->args;
    Counting *c = &s->counting;
    StoreOptions store = {.force = a->force};
    if (a->recording.len && !store_writer_open(a->recording, &store, &s->store, &err)) {
        if (!a->force && os_file_exists(a->recording)) // -o is another file here
            error_hint(&err, "give --force to replace it, or another name with --recording");
        return cli_fail(&err);
    }
    s->stored_ns = os_monotonic_ns();
    uint64_t times = a->repeat == UINT64_MAX || !s->options.program ? 1 : a->repeat;
    bool ok = true;
    for (uint64_t i = 0; ok && !interrupted && (times == 0 || i < times); i++)
        ok = counting_run(c, &err);
    // Rows for programs have no place for what could not be counted.
    if (is_for_programs(a) && a->events.len)
        for (size_t i = 0; i < c->missing.len; i++)
            cli_say("%s", c->missing.at[i].reason.text);
    if (c->runs)
        ok = finish(s, ok, &err);
    store_writer_abandon(s->store);
    if (!ok)
        return cli_fail(&err);
    return c->runs && s->options.program ? (int)c->status : STATUS_OK;
}

static int count_into_file(Stat *s)
{
    OutputFile file;
    Error err;
    if (!os_output_open(s->args->output, OUTPUT_REPLACE, &file, &err))
        return cli_fail(&err);
    s->to = file.stream;
    int status = run_all(s);
    if (s->counting.runs == 0) // nothing was counted, and an older result is worth more
        os_output_abort(&file);
    else if (!os_output_commit(&file, &err))
        status = cli_fail(&err);
    return status;
}

static int count(CommandLine *line, void *values)
{
    const StatArgs *a = values;
    Stat s = {.arena = line->arena, .args = a, .to = stderr};
    s.options = (CountingOptions){.no_inherit = a->no_inherit,
                                  .times_only = a->null_run,
                                  .interval_ns = a->interval,
                                  .timeout_ns = a->timeout,
                                  .delay_ns = a->delay,
                                  .interval_count = a->interval_count,
                                  .on_interval = on_interval,
                                  .ctx = &s,
                                  .keep_series = a->html.len || a->recording.len,
                                  .interrupted = &interrupted};
    Error err;
    if (!check_arguments(a, &err) || !choose_targets(&s, &line->operands, &err) ||
        !counting_choose_events(s.arena, &a->events, a->detailed, &s.options.events, &err) ||
        !find_command(&s, &line->operands, &err))
        return cli_fail(&err);
    struct sigaction act = {.sa_handler = on_interrupt};
    sigaction(SIGINT, &act, NULL);
    profile_init(&s.profile);
    counting_init(&s.counting, &s.profile, &s.options);
    int status = a->output.len ? count_into_file(&s) : run_all(&s);
    counting_deinit(&s.counting);
    profile_deinit(&s.profile);
    strbuf_deinit(&s.out);
    return status;
}

static int run_stat(const Command *cmd, int argc, char **argv)
{
    StatArgs args = {.repeat = UINT64_MAX};
    return command_run_parsed(cmd, argc, argv, &args, count);
}

const Command stat_command = {
    .name = "stat",
    .group = "time it",
    .summary = "count events over a command, a process or the machine",
    .usage = "[OPTION ...] [--] CMD [ARG ...]\n[OPTION ...] -p PID | -t TID | -a | -C LIST",
    .options = stat_options,
    .option_count = ARRAY_LEN(stat_options),
    .details =
        "Options that perf stat has are spelled and meant as there. Without -e: task-clock,\n"
        "context-switches, cpu-migrations, page-faults, and where the machine has hardware\n"
        "counters cycles, instructions, branches, branch-misses. What cannot be counted\n"
        "is named below the result, with the reason.\n"
        "\n"
        "The result is written to stderr, the exit status is the command's.\n"
        "\n"
        "  assay stat make -j4\n"
        "  assay stat -r 10 -e task-clock,page-faults ./prog\n"
        "  assay stat -a -I 1000\n"
        "  assay stat -r 10 --recording before.assay ./prog\n",
    .operands_end_options = true,
    .run = run_stat,
};
