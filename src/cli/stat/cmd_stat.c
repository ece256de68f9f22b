// SPDX-License-Identifier: Apache-2.0
// `assay stat`: count events over a command, a process or the machine.
// The result goes to stderr, or to --output: stdout belongs to the command.

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "base/json.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/stat/stat_html.h"
#include "cli/terminal.h"
#include "collect/bench/conditions.h"
#include "collect/counters/counters.h"
#include "collect/counters/derive.h"
#include "os/clock.h"
#include "os/file.h"
#include "os/proc.h"
#include "os/spawn.h"
#include "stats/intervals.h"
#include "stats/summary.h"

typedef struct StatArgs {
    StrVec events;
    uint64_t repeat, interval_count;
    int64_t interval, timeout, delay;
    bool all_cpus, json, table, per_thread, per_cpu, no_inherit, null_run;
    unsigned detailed;
    Str cpus, pids, tids, separator, output, html;
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
};

static volatile sig_atomic_t interrupted;

static void on_interrupt(int signal)
{
    (void)signal;
    interrupted = 1;
}

// Figures of one run; `values` holds groups * events.
typedef struct StatRun {
    CounterValue *values;
    double elapsed_s, user_s, system_s;
    int status;
} StatRun;
typedef Vec(StatRun) StatRunVec;

// What -I printed, kept for --html.
typedef struct StatInterval {
    double at_s, length_s;
    CounterValue *values; // groups * events, since the interval before
} StatInterval;
typedef Vec(StatInterval) StatIntervalVec;

typedef struct Stat {
    Arena *arena;
    StatArgs *args;
    StrVec command;
    Program program;
    char **argv;
    EventSpecVec events;
    CounterTargetVec targets; // fixed ones; a command's is set for each run
    StrVec labels;            // of the targets, when each has its own rows
    bool each_target;         // rows for each target
    bool default_events;
    Counters counters; // open during a run; its lists serve the report
    StatRunVec runs;
    StatIntervalVec intervals;
    StrBuf out;
    Terminal terminal;
    double cpus; // counted for whole CPUs: how many
} Stat;

static size_t group_count(const Stat *s)
{
    return s->each_target ? s->targets.len : 1;
}

// ---- What to count ---------------------------------------------------------

static bool choose_events(Stat *s, Error *err)
{
    static const char *const usual = "task-clock,context-switches,cpu-migrations,page-faults,"
                                     "cycles,instructions,branches,branch-misses";
    // Each -d adds a line, as in perf.
    static const char *const details[] = {
        "L1-dcache-loads,L1-dcache-load-misses,LLC-loads,LLC-load-misses",
        ("L1-icache-loads,L1-icache-load-misses,dTLB-loads,dTLB-load-misses,iTLB-loads,"
         "iTLB-load-misses"),
        "L1-dcache-prefetches,L1-dcache-prefetch-misses"};
    EventSources sources = event_sources_default();
    s->default_events = s->args->events.len == 0;
    for (size_t i = 0; i < s->args->events.len; i++)
        if (!events_parse(s->arena, &sources, s->args->events.at[i], &s->events, err))
            return false;
    if (s->default_events && !events_parse(s->arena, &sources, str_from_c(usual), &s->events, err))
        return false;
    for (unsigned i = 0; i < MIN(s->args->detailed, (unsigned)ARRAY_LEN(details)); i++)
        if (!events_parse(s->arena, &sources, str_from_c(details[i]), &s->events, err))
            return false;
    return true;
}

static bool add_threads(Stat *s, Str list, bool processes, Error *err)
{
    Str part;
    while (str_next_part(&list, ',', &part)) {
        uint64_t id;
        U32Vec threads = {0};
        if (!str_parse_u64(part, 10, &id) || id == 0 || id > INT32_MAX)
            return error_set(err, ERROR_USAGE, "'%" STR_FMT "' is no process", STR_ARG(part));
        if (processes && !proc_list_threads((uint32_t)id, &threads, err))
            return false;
        if (!processes)
            vec_push(NULL, &threads, (uint32_t)id);
        for (size_t i = 0; i < threads.len; i++) {
            uint32_t tid = threads.at[i];
            vec_push(s->arena, &s->targets, (CounterTarget){(int32_t)tid, -1});
            Str comm = proc_comm(s->arena, processes ? (uint32_t)id : tid, tid);
            vec_push(s->arena, &s->labels,
                     arena_printf(s->arena, "%" STR_FMT "-%u", STR_ARG(comm), tid));
        }
        vec_free(&threads);
    }
    return true;
}

static bool choose_targets(Stat *s, Error *err)
{
    const StatArgs *a = s->args;
    if (a->pids.len || a->tids.len) {
        if (a->all_cpus || a->cpus.len)
            return error_set(err, ERROR_USAGE, "-p and -t exclude -a and -C");
        s->each_target = a->per_thread;
        return add_threads(s, a->pids, true, err) && add_threads(s, a->tids, false, err);
    }
    if (a->per_thread)
        return error_set(err, ERROR_USAGE, "--per-thread needs -p or -t");
    if (a->all_cpus || a->cpus.len) {
        U32Vec cpus = {0};
        bool ok = a->cpus.len ? cpu_list_parse(a->cpus, 1 << 16, &cpus, err)
                              : cpu_list_online(&cpus, err);
        for (size_t i = 0; ok && i < cpus.len; i++) {
            vec_push(s->arena, &s->targets, (CounterTarget){-1, (int32_t)cpus.at[i]});
            vec_push(s->arena, &s->labels, arena_printf(s->arena, "CPU%u", cpus.at[i]));
        }
        s->cpus = (double)cpus.len;
        s->each_target = a->per_cpu;
        vec_free(&cpus);
        return ok;
    }
    if (a->per_cpu)
        return error_set(err, ERROR_USAGE, "--no-aggr needs -a or -C");
    if (s->command.len == 0)
        return error_set(err, ERROR_USAGE, "nothing to count: give a command, -p, -t, -a or -C");
    return true;
}

// ---- Report ----------------------------------------------------------------

// One row's figures over the runs.
typedef struct Row {
    double mean; // scaled; NaN: not counted
    Interval interval;
    double error; // standard error / mean; NaN for one run
    uint64_t running_ns;
    double running_share;
    Derived derived;
} Row;

static double run_value(const Stat *s, const StatRun *r, size_t group, size_t event)
{
    return counter_scaled(r->values[group * s->counters.events.len + event]);
}

static DerivedInput derived_input(Stat *s, const double *means, double elapsed_s)
{
    size_t n = s->counters.events.len;
    Str *names = arena_array(s->arena, Str, n + 1);
    uint64_t *types = arena_array(s->arena, uint64_t, n + 1);
    uint64_t *configs = arena_array(s->arena, uint64_t, n + 1);
    for (size_t i = 0; i < n; i++) {
        names[i] = s->counters.events.at[i].name;
        types[i] = s->counters.events.at[i].spec.type;
        configs[i] = s->counters.events.at[i].spec.config;
    }
    return (DerivedInput){names, means, types, configs, n, elapsed_s, s->cpus};
}

static Row *rows_of(Stat *s, const StatRun *runs, size_t run_count, size_t group, double elapsed_s)
{
    size_t n = s->counters.events.len;
    Row *rows = arena_array(s->arena, Row, n + 1);
    double *means = arena_array(s->arena, double, n + 1);
    double *x = arena_array(s->arena, double, run_count + 1);
    for (size_t e = 0; e < n; e++) {
        CounterValue sum = {0};
        size_t known = 0;
        for (size_t r = 0; r < run_count; r++) {
            double v = run_value(s, &runs[r], group, e);
            if (!isnan(v))
                x[known++] = v;
            sum = counter_sum(sum, runs[r].values[group * n + e]);
        }
        rows[e].mean = means[e] = stats_mean(x, known);
        rows[e].interval = stats_mean_interval(x, known, 0.95);
        rows[e].error =
            known > 1 ? stats_deviation(x, known) / sqrt((double)known) / rows[e].mean : NAN;
        rows[e].running_ns = run_count ? sum.running_ns / run_count : 0;
        rows[e].running_share =
            sum.enabled_ns ? (double)sum.running_ns / (double)sum.enabled_ns * 100 : 0;
    }
    DerivedInput in = derived_input(s, means, elapsed_s);
    for (size_t e = 0; e < n; e++)
        rows[e].derived = derive(&in, e);
    return rows;
}

static bool is_time(const Counter *c)
{
    return str_equal(c->spec.unit, STR("ns"));
}

static void add_right(StrBuf *out, const StrBuf *text, size_t columns)
{
    size_t wide = str_columns(strbuf_str(text));
    strbuf_add_repeated(out, ' ', wide < columns ? columns - wide : 0);
    strbuf_add(out, strbuf_str(text));
}

static void add_row_value(StrBuf *out, const Counter *c, const Row *row)
{
    if (isnan(row->mean))
        strbuf_add(out, STR("not counted"));
    else if (is_time(c))
        strbuf_printf(out, "%.2f ms", row->mean / 1e6);
    else if (row->mean < 100 && row->mean != floor(row->mean))
        strbuf_printf(out, "%.2f", row->mean); // the mean of few: 0.20, not 0
    else
        add_count(out, (uint64_t)(row->mean + 0.5));
}

static void add_row_spread(StrBuf *out, const Counter *c, const Row *row)
{
    double scale = is_time(c) ? 1e-6 : 1;
    int places = is_time(c) || row->mean < 100 ? 2 : 0;
    strbuf_printf(out, "± %.2f %%  [%.*f … %.*f]", row->error * 100, places,
                  MAX(0.0, row->interval.low * scale), places, row->interval.high * scale);
}

static void add_row_text(Stat *s, const Counter *c, const Row *row, Str label)
{
    StrBuf *out = &s->out, value = {0};
    size_t from = out->len;
    if (label.len) {
        strbuf_add_terminal(out, label);
        pad_to(out, from, 16);
        strbuf_add_char(out, ' ');
    }
    add_row_value(&value, c, row);
    add_right(out, &value, 18);
    strbuf_deinit(&value);
    strbuf_add(out, is_time(c) && !isnan(row->mean) ? STR("  ") : STR("     "));
    from = out->len;
    strbuf_add_terminal(out, c->name);
    pad_to(out, from, 24);
    from = out->len;
    if (row->derived.unit)
        strbuf_printf(out, " %10.3f %s", row->derived.value, row->derived.unit);
    if (!isnan(row->error)) {
        pad_to(out, from, 38);
        strbuf_add_char(out, ' ');
        add_row_spread(out, c, row);
    }
    if (!isnan(row->mean) && row->running_share < 99.995)
        strbuf_printf(out, "  (counted %.1f %% of the time, scaled)", row->running_share);
    while (out->len && out->ptr[out->len - 1] == ' ')
        out->len--;
    strbuf_add_char(out, '\n');
}

static void add_row_csv(Stat *s, const Counter *c, const Row *row, Str label, double at_s)
{
    StrBuf *out = &s->out;
    Str sep = s->args->separator;
    if (at_s >= 0)
        strbuf_printf(out, "%.9f%" STR_FMT, at_s, STR_ARG(sep));
    if (label.len) {
        strbuf_add_csv(out, label);
        strbuf_add(out, sep);
    }
    if (isnan(row->mean))
        strbuf_printf(out, "<not counted>%" STR_FMT, STR_ARG(sep));
    else if (is_time(c))
        strbuf_printf(out, "%.6f%" STR_FMT "msec", row->mean / 1e6, STR_ARG(sep));
    else
        strbuf_printf(out, "%.0f%" STR_FMT, row->mean, STR_ARG(sep));
    strbuf_add(out, sep);
    if (str_find_char(c->name, ',') != SIZE_MAX)
        strbuf_add_csv(out, c->name);
    else
        strbuf_add(out, c->name);
    strbuf_add(out, sep);
    if (!isnan(row->error))
        strbuf_printf(out, "%.2f%%%" STR_FMT, row->error * 100, STR_ARG(sep));
    strbuf_printf(out, "%llu%" STR_FMT "%.2f%" STR_FMT, (unsigned long long)row->running_ns,
                  STR_ARG(sep), row->running_share, STR_ARG(sep));
    if (row->derived.unit)
        strbuf_printf(out, "%.6g%" STR_FMT "%s", row->derived.value, STR_ARG(sep),
                      row->derived.unit);
    else
        strbuf_add(out, sep);
    strbuf_add_char(out, '\n');
}

static void add_row_json(Stat *s, const Counter *c, const Row *row, Str label, double at_s)
{
    JsonWriter w = json_writer(&s->out, 0);
    char number[64];
    json_begin_object(&w, NULL);
    if (at_s >= 0)
        json_double(&w, "interval", at_s);
    if (label.len)
        json_str(&w, s->cpus > 0 ? "cpu" : "thread",
                 s->cpus > 0 ? str_slice(label, 3, label.len) : label);
    bool time = is_time(c);
    snprintf(number, sizeof(number), "%.6f", time ? row->mean / 1e6 : row->mean);
    json_str(&w, "counter-value", isnan(row->mean) ? STR("<not counted>") : str_from_c(number));
    json_str(&w, "unit", time ? STR("msec") : STR(""));
    json_str(&w, "event", c->name);
    if (!isnan(row->error)) {
        json_double(&w, "variance", row->error * 100);
        json_double(&w, "interval-low", MAX(0.0, row->interval.low) / (time ? 1e6 : 1));
        json_double(&w, "interval-high", row->interval.high / (time ? 1e6 : 1));
    }
    json_u64(&w, "event-runtime", row->running_ns);
    json_double(&w, "pcnt-running", row->running_share);
    if (row->derived.unit) {
        snprintf(number, sizeof(number), "%.6f", row->derived.value);
        json_str(&w, "metric-value", str_from_c(number));
        json_str(&w, "metric-unit", str_from_c(row->derived.unit));
    }
    json_end(&w);
    strbuf_add_char(&s->out, '\n');
}

// `at_s` below 0: the whole, else the end of an interval.
static void add_rows(Stat *s, const StatRun *runs, size_t run_count, double elapsed_s, double at_s)
{
    for (size_t g = 0; g < group_count(s); g++) {
        Row *rows = rows_of(s, runs, run_count, g, elapsed_s);
        Str label = s->each_target ? s->labels.at[g] : STR("");
        for (size_t e = 0; e < s->counters.events.len; e++) {
            const Counter *c = &s->counters.events.at[e];
            if (s->args->json) {
                add_row_json(s, c, &rows[e], label, at_s);
            } else if (s->args->separator.len) {
                add_row_csv(s, c, &rows[e], label, at_s);
            } else {
                if (at_s >= 0)
                    strbuf_printf(&s->out, "%12.6f ", at_s);
                add_row_text(s, c, &rows[e], label);
            }
        }
    }
}

static void add_seconds(Stat *s, double (*get)(const StatRun *), const char *what)
{
    size_t n = s->runs.len;
    double *x = arena_array(s->arena, double, n + 1);
    for (size_t i = 0; i < n; i++)
        x[i] = get(&s->runs.at[i]);
    double mean = stats_mean(x, n);
    strbuf_printf(&s->out, "%18.6f s   %s", mean, what);
    if (n > 1 && mean > 0) {
        Interval in = stats_mean_interval(x, n, 0.95);
        strbuf_printf(&s->out, "  ± %.2f %%  [%.6f … %.6f]",
                      stats_deviation(x, n) / sqrt((double)n) / mean * 100, MAX(0.0, in.low),
                      in.high);
    }
    strbuf_add_char(&s->out, '\n');
}

static double get_elapsed(const StatRun *r)
{
    return r->elapsed_s;
}
static double get_user(const StatRun *r)
{
    return r->user_s;
}
static double get_system(const StatRun *r)
{
    return r->system_s;
}

static void add_table(Stat *s)
{
    double mean = 0;
    for (size_t i = 0; i < s->runs.len; i++)
        mean += s->runs.at[i].elapsed_s / (double)s->runs.len;
    strbuf_add(&s->out, STR("\n  run   seconds   against the mean\n"));
    for (size_t i = 0; i < s->runs.len; i++)
        strbuf_printf(&s->out, "%5zu %9.6f   %+.6f\n", i + 1, s->runs.at[i].elapsed_s,
                      s->runs.at[i].elapsed_s - mean);
}

// Events that could not be had, by reason.
static void add_truth(Stat *s)
{
    const CounterMissingVec *m = &s->counters.missing;
    bool *told = arena_array(s->arena, bool, m->len + 1);
    for (size_t i = 0; i < m->len; i++) {
        if (told[i])
            continue;
        strbuf_add(&s->out, STR("Not available here: "));
        for (size_t k = i; k < m->len; k++) {
            if (m->at[k].reason.kind != m->at[i].reason.kind ||
                strcmp(m->at[k].reason.hint, m->at[i].reason.hint) != 0)
                continue;
            told[k] = true;
            if (k != i)
                strbuf_add(&s->out, STR(", "));
            strbuf_add_terminal(&s->out, m->at[k].name);
        }
        strbuf_add(&s->out, STR("; "));
        strbuf_add_terminal(&s->out, str_from_c(m->at[i].reason.hint[0] ? m->at[i].reason.hint
                                                                        : m->at[i].reason.text));
        strbuf_add_char(&s->out, '\n');
    }
}

static void add_heading(Stat *s)
{
    StrBuf *out = &s->out;
    strbuf_add(out, STR("\nCounted "));
    if (s->command.len) {
        strbuf_add(out, s->cpus > 0 ? STR("on the machine during '") : STR("for '"));
        for (size_t i = 0; i < s->command.len; i++) {
            if (i)
                strbuf_add_char(out, ' ');
            strbuf_add_terminal(out, s->command.at[i]);
        }
        strbuf_add_char(out, '\'');
    } else if (s->cpus > 0) {
        strbuf_printf(out, "on %.0f CPU%s", s->cpus, s->cpus == 1 ? "" : "s");
    } else {
        strbuf_printf(out, "for %zu thread%s", s->targets.len, s->targets.len == 1 ? "" : "s");
    }
    if (s->runs.len > 1)
        strbuf_printf(out, ", %zu runs (mean ± standard error, 95 %% interval of the mean)",
                      s->runs.len);
    strbuf_add(out, STR(":\n\n"));
}

static double mean_elapsed(const Stat *s)
{
    double elapsed = 0;
    for (size_t i = 0; i < s->runs.len; i++)
        elapsed += s->runs.at[i].elapsed_s / (double)s->runs.len;
    return elapsed;
}

// What stands below the rows: times, runs, what could not be counted.
static void add_below(Stat *s)
{
    add_seconds(s, get_elapsed, "elapsed");
    if (s->command.len && !(s->cpus > 0)) {
        add_seconds(s, get_user, "user");
        add_seconds(s, get_system, "system");
    }
    if (s->args->table)
        add_table(s);
    strbuf_add_char(&s->out, '\n');
    add_truth(s);
}

static void report(Stat *s)
{
    bool text = !s->args->json && !s->args->separator.len;
    double elapsed = mean_elapsed(s);
    if (s->runs.len == 0)
        return;
    if (text)
        add_heading(s);
    if (!s->args->interval) {
        add_rows(s, s->runs.at, s->runs.len, elapsed, -1);
        if (text && s->counters.events.len)
            strbuf_add_char(&s->out, '\n');
    }
    if (text)
        add_below(s);
}

// ---- The page ----------------------------------------------------------------

static Str text_of(Stat *s, StrBuf *text)
{
    Str kept = arena_str(s->arena, strbuf_str(text));
    strbuf_deinit(text);
    return kept;
}

// The points of a row's picture: a rate for each interval, or a value for each run.
static void add_points(Stat *s, size_t group, size_t event, StatHtmlRow *row)
{
    size_t n = s->counters.events.len;
    for (size_t i = 0; i < s->intervals.len; i++) {
        const StatInterval *at = &s->intervals.at[i];
        double value = counter_scaled(at->values[group * n + event]);
        if (isnan(value) || !(at->length_s > 0))
            continue;
        vec_push(s->arena, &row->x, at->at_s);
        vec_push(s->arena, &row->y, value / at->length_s);
    }
    for (size_t r = 0; r < s->runs.len && !s->args->interval; r++) {
        double value = run_value(s, &s->runs.at[r], group, event);
        if (isnan(value))
            continue;
        vec_push(s->arena, &row->x, (double)(r + 1));
        vec_push(s->arena, &row->y, value);
    }
}

static StatHtmlRow html_row(Stat *s, const Counter *c, const Row *row, size_t group, size_t event)
{
    StrBuf value = {0}, derived = {0}, spread = {0}, counted = {0};
    add_row_value(&value, c, row);
    if (row->derived.unit)
        strbuf_printf(&derived, "%.3f %s", row->derived.value, row->derived.unit);
    if (!isnan(row->error))
        add_row_spread(&spread, c, row);
    if (!isnan(row->mean) && row->running_share < 99.995)
        strbuf_printf(&counted, "%.1f %% of the time, scaled", row->running_share);
    StatHtmlRow out = {.group = s->each_target ? s->labels.at[group] : STR(""),
                       .event = c->name,
                       .value = text_of(s, &value),
                       .derived = text_of(s, &derived),
                       .spread = text_of(s, &spread),
                       .counted = text_of(s, &counted),
                       .mean = isnan(row->error) ? (Interval){NAN, NAN, NAN} : row->interval,
                       .is_time = is_time(c)};
    add_points(s, group, event, &out);
    return out;
}

// What add_heading and add_below append, without leaving it in s->out.
static Str captured(Stat *s, void (*add)(Stat *s))
{
    size_t from = s->out.len;
    add(s);
    Str text = arena_str(s->arena, str_slice(strbuf_str(&s->out), from, s->out.len));
    s->out.len = from;
    return text;
}

static bool write_html(Stat *s, Error *err)
{
    StatHtmlPage page = {.heading = str_trim(captured(s, add_heading)),
                         .text = captured(s, add_below),
                         .over_time = s->args->interval > 0};
    StrBuf out = {0};
    BenchMachine machine;
    OutputFile file;
    bench_machine(s->arena, &machine);
    page.machine = arena_printf(s->arena, "%" STR_FMT ", %" STR_FMT ", %u CPUs, %" STR_FMT,
                                STR_ARG(machine.hostname), STR_ARG(machine.cpu_model), machine.cpus,
                                STR_ARG(machine.kernel));
    double elapsed = mean_elapsed(s);
    for (size_t g = 0; g < group_count(s); g++) {
        Row *rows = rows_of(s, s->runs.at, s->runs.len, g, elapsed);
        for (size_t e = 0; e < s->counters.events.len; e++)
            vec_push(s->arena, &page.rows, html_row(s, &s->counters.events.at[e], &rows[e], g, e));
    }
    stat_html(&out, &page);
    bool ok = os_output_open(s->args->html, OUTPUT_REPLACE, &file, err);
    if (ok) {
        fwrite(out.ptr, 1, out.len, file.stream);
        ok = os_output_commit(&file, err);
    }
    strbuf_deinit(&out);
    return ok;
}

// ---- Running ---------------------------------------------------------------

static void read_all(Stat *s, CounterValue *values)
{
    size_t n = s->counters.events.len;
    memset(values, 0, (group_count(s) * n + 1) * sizeof(*values));
    for (size_t e = 0; e < n; e++)
        for (size_t t = 0; t < s->targets.len; t++) {
            CounterValue *to = &values[(s->each_target ? t : 0) * n + e];
            *to = counter_sum(*to, counters_read(&s->counters, e, t));
        }
}

static bool flush(Stat *s, FILE *to, Error *err)
{
    StrBuf text = {0};
    if (to == stderr && !s->args->json && !s->args->separator.len)
        cli_add_text(&text, strbuf_str(&s->out));
    else
        strbuf_add(&text, strbuf_str(&s->out));
    bool ok = fwrite(text.ptr, 1, text.len, to) == text.len && fflush(to) == 0;
    strbuf_deinit(&text);
    strbuf_clear(&s->out);
    return ok || error_os(err, "cannot write the result");
}

// Prints what was counted since `before` and makes that the new base.
static bool print_interval(Stat *s, CounterValue *before, double at_s, double length_s, FILE *to,
                           Error *err)
{
    size_t n = group_count(s) * s->counters.events.len;
    CounterValue *now = arena_array(s->arena, CounterValue, n + 1);
    StatRun delta = {.values = arena_array(s->arena, CounterValue, n + 1)};
    read_all(s, now);
    for (size_t i = 0; i < n; i++)
        delta.values[i] = counter_since(now[i], before[i]);
    memcpy(before, now, n * sizeof(*now));
    if (s->args->html.len)
        vec_push(s->arena, &s->intervals, (StatInterval){at_s, length_s, delta.values});
    add_rows(s, &delta, 1, length_s, at_s);
    return flush(s, to, err);
}

// Waits for the end: of the child, of the time, or Ctrl-C when there is no child.
static bool count_until_end(Stat *s, const Spawned *child, int64_t start_ns, FILE *to, Error *err)
{
    const StatArgs *a = s->args;
    CounterValue *before =
        arena_array(s->arena, CounterValue, group_count(s) * s->counters.events.len + 1);
    int64_t next_print = a->interval ? start_ns + a->interval : INT64_MAX;
    int64_t last_print = start_ns;
    int64_t stop = a->timeout ? start_ns + a->timeout : INT64_MAX;
    int64_t enable = a->delay ? start_ns + a->delay : INT64_MAX;
    uint64_t printed = 0;
    for (;;) {
        int64_t now = os_monotonic_ns();
        if (now >= enable) {
            counters_enable(&s->counters);
            enable = INT64_MAX;
        }
        if (now >= next_print) {
            if (!print_interval(s, before, (double)(now - start_ns) * 1e-9,
                                (double)(now - last_print) * 1e-9, to, err))
                return false;
            last_print = now;
            next_print += a->interval;
            if (a->interval_count && ++printed >= a->interval_count)
                stop = now;
        }
        if (now >= stop || (interrupted && !child)) {
            if (child)
                kill(child->pid, SIGTERM);
            break;
        }
        int64_t first = MIN(next_print, stop), until = MIN(first, enable);
        int wait_ms = until == INT64_MAX ? 60000 : (int)MIN((until - now) / 1000000 + 1, 60000L);
        struct pollfd end = {.fd = child ? child->pid_fd : -1, .events = POLLIN};
        if (child && child->pid_fd < 0)
            wait_ms = MIN(wait_ms, 10); // no pidfd: look now and then
        if (poll(&end, 1, wait_ms) > 0)
            break;
        ChildEnd ended;
        if (child && child->pid_fd < 0 && !proc_exists((uint32_t)child->pid) &&
            spawn_collect(child, &ended))
            break;
    }
    // What is left of the last interval.
    if (a->interval && os_monotonic_ns() - last_print > a->interval / 10) {
        int64_t now = os_monotonic_ns();
        return print_interval(s, before, (double)(now - start_ns) * 1e-9,
                              (double)(now - last_print) * 1e-9, to, err);
    }
    return true;
}

static bool run_once(Stat *s, FILE *to, Error *err)
{
    Spawned child = {.pid = -1, .release_fd = -1, .result_fd = -1, .pid_fd = -1};
    bool has_child = s->command.len > 0,
         fixed = s->args->pids.len || s->args->tids.len || s->cpus > 0;
    sigset_t mask;
    sigprocmask(SIG_SETMASK, NULL, &mask);
    if (has_child && !spawn_prepare(&s->program, s->argv, &mask, &child, err))
        return false;
    if (!fixed) {
        s->targets.len = 0;
        vec_push(s->arena, &s->targets, (CounterTarget){child.pid, -1});
    }
    CounterOptions options = {.inherit = !s->args->no_inherit && !(s->cpus > 0),
                              .enable_on_exec = !fixed && !s->args->delay};
    s->counters = (Counters){0};
    if (!s->args->null_run &&
        !counters_open(s->arena, &s->events, &s->targets, &options, &s->counters, err)) {
        spawn_close(&child, true);
        return false;
    }
    if (fixed && !s->args->delay)
        counters_enable(&s->counters);
    int64_t start_ns = os_monotonic_ns();
    if (has_child && !spawn_release(&child, &s->program, err)) {
        spawn_close(&child, true);
        counters_close(&s->counters);
        return false;
    }
    bool ok = count_until_end(s, has_child ? &child : NULL, start_ns, to, err);
    StatRun run = {.elapsed_s = (double)(os_monotonic_ns() - start_ns) * 1e-9};
    if (has_child) {
        ChildEnd end = {0};
        while (!spawn_collect(&child, &end))
            usleep(1000); // it has ended or was told to
        run.elapsed_s = (double)(os_monotonic_ns() - start_ns) * 1e-9;
        run.user_s = (double)end.usage.ru_utime.tv_sec + (double)end.usage.ru_utime.tv_usec * 1e-6;
        run.system_s =
            (double)end.usage.ru_stime.tv_sec + (double)end.usage.ru_stime.tv_usec * 1e-6;
        run.status = exit_status_of(end.status);
    }
    counters_disable(&s->counters);
    run.values = arena_array(s->arena, CounterValue, group_count(s) * s->counters.events.len + 1);
    read_all(s, run.values);
    CounterVec events = s->counters.events; // closing empties the list; the report needs it
    counters_close(&s->counters);
    s->counters.events = events;
    spawn_close(&child, false);
    vec_push(s->arena, &s->runs, run);
    return ok;
}

static int run_all(Stat *s, FILE *to)
{
    Error err;
    bool ok = true;
    uint64_t times = s->args->repeat == UINT64_MAX ? 1 : s->args->repeat;
    if (s->command.len == 0)
        times = 1;
    for (uint64_t i = 0; ok && !interrupted && (times == 0 || i < times); i++)
        ok = run_once(s, to, &err);
    // Rows for programs have no place for what could not be counted.
    if ((s->args->json || s->args->separator.len) && !s->default_events)
        for (size_t i = 0; i < s->counters.missing.len; i++)
            cli_say("%s", s->counters.missing.at[i].reason.text);
    if (ok || s->runs.len) {
        report(s);
        Error late;
        if (!flush(s, to, ok ? &err : &late))
            ok = false;
        if (s->args->html.len && s->runs.len && !write_html(s, ok ? &err : &late))
            ok = false;
    }
    if (!ok)
        return cli_fail(&err);
    return s->runs.len && s->command.len ? s->runs.at[s->runs.len - 1].status : STATUS_OK;
}

static bool prepare(Stat *s, Error *err)
{
    if (s->args->table && s->args->repeat == UINT64_MAX)
        return error_set(err, ERROR_USAGE, "--table needs -r");
    if (s->args->repeat != UINT64_MAX && s->args->interval)
        return error_set(err, ERROR_USAGE, "-r excludes -I");
    if (s->args->interval_count && !s->args->interval)
        return error_set(err, ERROR_USAGE, "--interval-count needs -I");
    if (s->args->json && s->args->separator.len)
        return error_set(err, ERROR_USAGE, "-j excludes -x");
    if (!choose_targets(s, err) || !choose_events(s, err))
        return false;
    if (s->command.len == 0)
        return true;
    s->argv = arena_array(s->arena, char *, s->command.len + 1);
    for (size_t i = 0; i < s->command.len; i++)
        s->argv[i] = arena_c_str(s->arena, s->command.at[i]);
    return program_find(s->arena, s->command.at[0], cli_env("PATH"), &s->program, err);
}

static int count_into_file(Stat *s)
{
    OutputFile file;
    Error err;
    if (!os_output_open(s->args->output, OUTPUT_REPLACE, &file, &err))
        return cli_fail(&err);
    int status = run_all(s, file.stream);
    if (s->runs.len == 0) // nothing was counted, and an older result is worth more
        os_output_abort(&file);
    else if (!os_output_commit(&file, &err))
        status = cli_fail(&err);
    return status;
}

static int count(CommandLine *line, void *values)
{
    Stat s = {.arena = line->arena, .args = values, .command = line->operands};
    Error err;
    int status;
    if (!prepare(&s, &err)) {
        status = cli_fail(&err);
    } else {
        struct sigaction act = {.sa_handler = on_interrupt};
        sigaction(SIGINT, &act, NULL);
        status = s.args->output.len ? count_into_file(&s) : run_all(&s, stderr);
    }
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
        "  assay stat -a -I 1000\n",
    .operands_end_options = true,
    .run = run_stat,
};
