// SPDX-License-Identifier: Apache-2.0
// `assay stat`: count events over a command, a process or the machine.
// The result goes to stderr, or to --output: stdout belongs to the command.

#include <math.h>
#include <signal.h>
#include <stdio.h>

#include "analyse/counted_runs.h"
#include "cli/build_options.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/runs/counts_text.h"
#include "cli/runs/runs_page.h"
#include "cli/stat/stat_args.h"
#include "cli/stat/stat_rows.h"
#include "collect/counters/counting.h"
#include "os/clock.h"
#include "os/file.h"
#include "store/store.h"

static const Option stat_options[] = {
    OPT_LIST(
        'e', "event", StatArgs, events, "EVENT",
        "events to count, as in perf: names, globs, rNNN, pmu/.../, category:tracepoint, {groups}, "
        ":u :k; also duration_time, user_time, system_time, and probes as in assay record: "
        "FILE:FUNCTION, FUNCTION%return, FILE.c:LINE"),
    OPT_LIST(0, "filter", StatArgs, filters.texts, "FILTER",
             "count only occurrences that match FILTER, of the tracepoints of the preceding -e"),
    OPT_TEXT('M', "metrics", StatArgs, metrics, "LIST",
             "count the events that these figures need: insn_per_cycle, branch_miss_rate, "
             "cs_per_second …"),
    OPT_FLAG(0, "topdown", StatArgs, topdown,
             "count how the pipeline's slots were used (some processors need -a)"),
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
               "print the counts every MS milliseconds"),
    OPT_U64(0, "interval-count", StatArgs, interval_count, "N", "stop after N such intervals"),
    OPT_MILLIS(0, "timeout", StatArgs, timeout, "MS", "stop after MS milliseconds"),
    OPT_TEXT('D', "delay", StatArgs, delay, "MS",
             "start to count MS milliseconds after the start; -1: only when --control enables it"),
    OPT_TEXT(0, "control", StatArgs, control, "FDS",
             "take enable, disable and ping from fd:N[,ANSWERS] or fifo:PATH[,ANSWERS]"),
    OPT_TEXT('x', "field-separator", StatArgs, separator, "SEP", "CSV with this separator"),
    OPT_FLAG('j', "json-output", StatArgs, json, "one JSON object a line"),
    OPT_FLAG(0, "metric-only", StatArgs, metric_only,
             "print only the figures derived from the counts"),
    OPT_FLAG('B', "big-num", StatArgs, big_num, "group the digits of counts (the default)"),
    OPT_FLAG(0, "no-big-num", StatArgs, no_big_num, "do not group them"),
    OPT_FLAG(0, "summary", StatArgs, summary, "with -I, print the totals at the end"),
    OPT_FLAG(0, "no-csv-summary", StatArgs, no_csv_summary,
             "with --summary and -x, do not mark the lines of the totals"),
    OPT_FLAG(0, "interval-clear", StatArgs, interval_clear,
             "with -I, clear the screen before each interval"),
    OPT_COUNT('v', "verbose", StatArgs, verbose,
              "also print count, time asked for and time counted of each event"),
    OPT_FLAG(0, "quiet", StatArgs, quiet, "print nothing"),
    OPT_FLAG(0, "table", StatArgs, table, "with -r, list each run's time"),
    OPT_FLAG(0, "per-thread", StatArgs, per_thread,
             "with -p or -t, a row for each thread; with -a, for each of the machine"),
    OPT_FLAG('A', "no-aggr", StatArgs, per_cpu, "with -a or -C, a row for each CPU"),
    OPT_FLAG(0, "no-merge", StatArgs, no_merge, "accepted for perf's scripts: nothing is merged"),
    OPT_FLAG(0, "per-core", StatArgs, per_core, "with -a or -C, a row for each core"),
    OPT_FLAG(0, "per-die", StatArgs, per_die, "with -a or -C, a row for each die"),
    OPT_FLAG(0, "per-socket", StatArgs, per_socket, "with -a or -C, a row for each socket"),
    OPT_FLAG(0, "per-node", StatArgs, per_node, "with -a or -C, a row for each memory node"),
    OPT_TEXT('G', "cgroup", StatArgs, cgroup, "NAME", "with -a or -C, count this control group"),
    OPT_TEXT(0, "for-each-cgroup", StatArgs, each_cgroup, "NAMES",
             "with -a or -C, a row for each of these control groups"),
    OPT_FLAG(0, "all-user", StatArgs, all_user, "leave the kernel's part out of all events"),
    OPT_FLAG(0, "all-kernel", StatArgs, all_kernel, "count only the kernel's part of all events"),
    OPT_TEXT(0, "pre", StatArgs, before, "CMD", "shell command before each run"),
    OPT_TEXT(0, "post", StatArgs, after, "CMD", "shell command after each run"),
    OPT_FLAG('S', "sync", StatArgs, sync, "write all files to disk before each run"),
    OPT_FLAG('i', "no-inherit", StatArgs, no_inherit,
             "leave the command's children and threads out"),
    OPT_FLAG('n', "null", StatArgs, null_run, "count nothing: times only"),
    BUILD_OPTIONS(StatArgs, build),
    OPT_TEXT('o', "output", StatArgs, output, "FILE", "write the result to FILE instead of stderr"),
    OPT_FLAG(0, "append", StatArgs, append, "with -o, append to the file"),
    OPT_U64(0, "log-fd", StatArgs, log_fd, "N", "write the result to this open descriptor"),
    OPT_TEXT(0, "html", StatArgs, html, "FILE",
             "also write a page with the table and a picture of each event, over the runs of -r or "
             "the intervals of -I"),
    OPT_TEXT(0, "recording", StatArgs, recording, "FILE",
             "also write a recording, which 'assay report' and 'assay export' read"),
    OPT_FLAG(0, "force", StatArgs, force, "with --recording, replace an existing recording"),
};

// Options of perf stat that nothing here needs, or that another word does.
static const ForeignOption foreign[] = {
    BUILD_FOREIGN_OPTIONS,
    {0, "scale", FOREIGN_IGNORED, NULL},
    {0, "metric-no-group", FOREIGN_IGNORED, NULL},
    {0, "metric-no-merge", FOREIGN_IGNORED, NULL},
    {'g', "group", FOREIGN_REFUSED, "name the events of a group: -e '{cycles,instructions}'"},
    {'T', "transaction", FOREIGN_REFUSED,
     "name the events: -e tx-start,tx-commit,tx-abort,cycles-t"},
    {0, "no-scale", FOREIGN_REFUSED, "-v prints counts as they were before scaling"},
    {0, "hybrid-merge", FOREIGN_REFUSED, "name one kind of CPU: -e cpu_core/cycles/"},
    {0, "cputype", FOREIGN_REFUSED, "name one kind of CPU: -e cpu_core/cycles/"},
    {0, "percore-show-thread", FOREIGN_REFUSED, "--per-core, or -A for a row for each CPU"},
    {0, "smi-cost", FOREIGN_REFUSED, "name the events: -a -e msr/smi/,msr/aperf/,cycles"},
    {0, "iostat", FOREIGN_REFUSED,
     "name the machine's events for PCIe: -a -e EVENT, from assay list"},
    {0, "td-level", FOREIGN_REFUSED, "--topdown counts the first level; -e names events of others"},
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
    bool has_heading;   // of --metric-only
    StrBuf out;
} Stat;

static bool find_command(Stat *s, const CommandLine *line, int *status, Error *err)
{
    const StrVec *command = &line->operands;
    BuiltCommand built;
    if (build_options_given(&s->args->build)) {
        if (!build_command(s->arena, &s->args->build, line->words, &built, status, err))
            return false;
        s->program = built.program;
        s->options.argv = built.argv;
        s->options.program = &s->program;
        return true;
    }
    if (command->len == 0)
        return true;
    char **argv = arena_array(s->arena, char *, command->len + 1);
    for (size_t i = 0; i < command->len; i++)
        argv[i] = arena_c_str(s->arena, command->at[i]);
    s->options.argv = argv;
    s->options.program = &s->program;
    return program_find(s->arena, command->at[0], cli_env("PATH"), &s->program, err);
}

// ---- The result ------------------------------------------------------------

static bool is_for_programs(const StatArgs *a)
{
    return a->json || a->separator.len > 0;
}

static StatForm form_of(const StatArgs *a)
{
    return a->json ? STAT_JSON : a->separator.len ? STAT_CSV : STAT_TEXT;
}

// `at_s` below 0: the whole, else the end of an interval.
static void add_rows(Stat *s, const CountRowVec *rows, double at_s)
{
    const StatArgs *a = s->args;
    bool is_marked = a->summary && at_s < 0 && !a->no_csv_summary;
    StatRows r = {.profile = &s->profile,
                  .rows = rows,
                  .targets = &s->options.targets,
                  .at_s = at_s,
                  .separator = a->separator,
                  .prefix = is_marked ? STR("         summary") : STR("")};
    if (a->metric_only) {
        stat_add_metrics(&s->out, &r, form_of(a), !s->has_heading);
        s->has_heading = true;
    } else if (a->json) {
        stat_add_json(&s->out, &r);
    } else if (a->separator.len) {
        stat_add_csv(&s->out, &r);
    } else {
        counts_add_rows(&s->out, &s->profile, rows, at_s, a->no_big_num);
    }
}

// "task-clock: 733538 733538 733538": as counted, and the times enabled and running in ns.
static void add_raw(Stat *s, const CountRowVec *rows)
{
    for (size_t i = 0; s->args->verbose && i < rows->len; i++) {
        const CountRow *row = &rows->at[i];
        Str name = profile_text(&s->profile, s->profile.metrics.name.at[row->metric.v]);
        double enabled =
            row->running_share > 0 ? (double)row->running_ns * 100 / row->running_share : 0;
        strbuf_add_terminal(&s->out, name);
        strbuf_printf(&s->out, ": %.0f %.0f %llu\n", isnan(row->value.mean) ? 0 : row->value.mean,
                      enabled, (unsigned long long)row->running_ns);
    }
}

static bool write_out(Stat *s, Error *err)
{
    StrBuf text = {0};
    if (s->args->quiet)
        strbuf_clear(&s->out);
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
    if (s->args->interval_clear && !is_for_programs(s->args))
        strbuf_add(&s->out, STR("\x1b[H\x1b[2J"));
    add_rows(s, &rows, (double)span.end_ns * 1e-9);
    if (!is_for_programs(s->args) && !s->args->metric_only)
        counts_add_span_length(&s->out, &s->profile, &span);
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
    bool has_rows = !s->args->interval || s->args->summary;
    if (is_for_programs(s->args)) {
        if (has_rows)
            add_rows(s, &c->rows, -1);
        return;
    }
    add_raw(s, &c->rows);
    strbuf_add_char(&s->out, '\n');
    counts_add_heading(&s->out, c);
    if (has_rows && c->rows.len) {
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
    bool ok = counts_page_write(&page, s->arena, c, s->args->table, err) &&
              os_output_open(s->args->html, OUTPUT_REPLACE, &file, err);
    if (ok) {
        fwrite(page.ptr, 1, page.len, file.stream);
        ok = os_output_commit(&file, err);
    }
    strbuf_deinit(&page);
    return ok;
}

// Prints and writes the counts. The first failure stands in `err`.
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

// Appends to the file, or writes into an open descriptor.
static int count_into_stream(Stat *s)
{
    const StatArgs *a = s->args;
    Error err;
    if (a->append && !os_check_not_planted(a->output, &err))
        return cli_fail(&err);
    s->to = a->append ? fopen(arena_c_str(s->arena, a->output), "ae") : NULL;
    if (!a->append && a->log_fd <= INT32_MAX)
        s->to = fdopen((int)a->log_fd, "a");
    if (!s->to) {
        (void)(a->append ? error_os(&err, "cannot append to '%" STR_FMT "'", STR_ARG(a->output))
                         : error_os(&err, "descriptor %llu of --log-fd is not open for writing",
                                    (unsigned long long)a->log_fd));
        return cli_fail(&err);
    }
    int status = run_all(s);
    if (fclose(s->to) != 0 && status == STATUS_OK)
        status = error_os(&err, "cannot write the result") ? status : cli_fail(&err);
    return status;
}

// Milliseconds, with perf's -1 for "not before --control says so".
static bool parse_delay(const StatArgs *a, CountingOptions *o, Error *err)
{
    double ms;
    if (a->delay.len == 0)
        return true;
    o->starts_disabled = str_equal(a->delay, STR("-1"));
    if (o->starts_disabled)
        return true;
    if (!str_parse_double(a->delay, &ms) || !(ms >= 0) || ms > 1e12)
        return error_set(err, ERROR_USAGE, "'%" STR_FMT "' is not a number of milliseconds for -D",
                         STR_ARG(a->delay));
    o->delay_ns = (int64_t)(ms * 1e6);
    return true;
}

static int count(CommandLine *line, void *values)
{
    const StatArgs *a = values;
    Stat s = {.arena = line->arena, .args = a, .to = stderr};
    s.options = (CountingOptions){.no_inherit = a->no_inherit,
                                  .times_only = a->null_run,
                                  .interval_ns = a->interval,
                                  .timeout_ns = a->timeout,
                                  .interval_count = a->interval_count,
                                  .on_interval = on_interval,
                                  .ctx = &s,
                                  .keep_series = a->html.len || a->recording.len,
                                  .sync = a->sync,
                                  .control_fd = -1,
                                  .ack_fd = -1,
                                  .interrupted = &interrupted};
    Error err;
    int status = STATUS_FAILED;
    bool has_command = line->operands.len > 0 || build_options_given(&a->build);
    if (a->before.len)
        s.options.before = arena_c_str(s.arena, a->before);
    if (a->after.len)
        s.options.after = arena_c_str(s.arena, a->after);
    if (!stat_check_args(a, &err) || !parse_delay(a, &s.options, &err) ||
        !stat_choose_targets(s.arena, a, has_command, &s.options, &err) ||
        !stat_open_control(a->control, &s.options, &err) ||
        !find_command(&s, line, &status, &err) || !stat_choose_events(s.arena, a, &s.options, &err))
        return err.text[0] ? cli_fail(&err) : status;
    struct sigaction act = {.sa_handler = on_interrupt};
    sigaction(SIGINT, &act, NULL);
    profile_init(&s.profile);
    counting_init(&s.counting, &s.profile, &s.options);
    bool to_stream = a->append || a->log_fd != UINT64_MAX;
    status = to_stream ? count_into_stream(&s) : a->output.len ? count_into_file(&s) : run_all(&s);
    counting_deinit(&s.counting);
    profile_deinit(&s.profile);
    strbuf_deinit(&s.out);
    return status;
}

static int run_stat(const Command *cmd, int argc, char **argv)
{
    StatArgs args = {.repeat = UINT64_MAX, .log_fd = UINT64_MAX};
    Arena arena = {0};
    event_filters_note(&arena, argc, argv, &args.filters);
    int status = command_run_parsed(cmd, argc, argv, &args, count);
    arena_deinit(&arena);
    return status;
}

const Command stat_command = {
    .name = "stat",
    .group = "time it",
    .summary = "count events over a command, a process or the machine",
    .first = "  assay stat CMD                  count the usual events\n"
             "  assay stat -r 10 CMD            ten runs: means and intervals\n"
             "  assay stat -e EVENT -a sleep 5  one event on the whole machine\n",
    .usage = "[OPTION ...] [--] CMD [ARG ...]\n[OPTION ...] -p PID | -t TID | -a | -C LIST\n"
             "[OPTION ...] --cargo [CARGO-OPTION ...] [-- ARG ...]",
    .options = stat_options,
    .option_count = ARRAY_LEN(stat_options),
    .foreign = foreign,
    .foreign_count = ARRAY_LEN(foreign),
    .details =
        "Options that perf stat has are spelled and meant as there. Without -e: task-clock,\n"
        "context-switches, cpu-migrations, page-faults, and where the machine has hardware\n"
        "counters cycles, instructions, branches, branch-misses. Each event that was asked\n"
        "for has a row. If an event cannot be counted, its row shows the reason, and a line\n"
        "below the table shows the cure.\n"
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
