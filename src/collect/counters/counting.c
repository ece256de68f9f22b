// SPDX-License-Identifier: Apache-2.0
// Runs, intervals and what they add to the profile.

#include "collect/counters/counting.h"

#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "model/facts.h"
#include "model/run_names.h"
#include "os/clock.h"
#include "os/proc.h"

// ---- The profile -----------------------------------------------------------

static void set_number(Profile *p, const char *key, uint64_t value)
{
    profile_set_fact(p, str_from_c(key),
                     arena_printf(&p->arena, "%llu", (unsigned long long)value));
}

// The words of the command, as a shell would take them or as they are.
static StrId command_words(Profile *p, char *const *argv, bool quoted)
{
    StrBuf text = {0};
    for (size_t i = 0; argv[i]; i++) {
        if (i)
            strbuf_add_char(&text, ' ');
        if (quoted)
            strbuf_add_shell_word(&text, str_from_c(argv[i]));
        else
            strbuf_add(&text, str_from_c(argv[i]));
    }
    StrId id = profile_str(p, strbuf_str(&text));
    strbuf_deinit(&text);
    return id;
}

void counting_init(Counting *ret, Profile *p, const CountingOptions *options)
{
    const CountingTargets *targets = &options->targets;
    *ret = (Counting){.profile = p, .options = *options};
    if (options->program) {
        ret->name = command_words(p, options->argv, false);
        ret->command = command_words(p, options->argv, true);
    }
    if (targets->at.len && targets->by != COUNTING_WHOLE)
        for (size_t i = 0; i < targets->parts.len; i++)
            vec_push(&p->arena, &ret->parts, profile_str(p, targets->parts.at[i]));
    else
        vec_push(&p->arena, &ret->parts, (StrId){0});
    if (targets->at.len)
        set_number(p, targets->cpus ? FACT_COUNTED_CPUS : FACT_COUNTED_THREADS, targets->at.len);
    if (options->interval_ns)
        set_number(p, FACT_INTERVAL, (uint64_t)options->interval_ns);
}

void counting_deinit(Counting *c)
{
    arena_deinit(&c->scratch);
}

// "cycles:u" for "cpu-cycles:u": by this name the event is known again.
static Str metric_event(Arena *arena, const Counter *counter)
{
    Str known = event_kernel_name(arena, &counter->spec), name = counter->name;
    size_t modifiers = str_find_char(name, ':');
    if (known.len == 0 || modifiers == SIZE_MAX)
        return known.len ? known : name;
    return arena_printf(arena, "%" STR_FMT "%" STR_FMT, STR_ARG(known),
                        STR_ARG(str_slice(name, modifiers, name.len)));
}

// A metric of that name that no column has yet. An event that is named twice has two.
static MetricId find_metric(const Counting *c, Str name)
{
    const Profile *p = c->profile;
    for (uint32_t m = 0; m < p->metrics.name.len; m++) {
        bool is_taken = !str_equal(profile_text(p, p->metrics.name.at[m]), name);
        for (size_t i = 0; i < c->columns.len && !is_taken; i++)
            is_taken = c->columns.at[i].metric.v == m;
        if (!is_taken)
            return (MetricId){m};
    }
    return (MetricId){UINT32_MAX};
}

// The columns in the order in which the events were asked for. The specs' addresses tell equal
// ones apart.
static void find_columns(Counting *c)
{
    const EventSpecVec *asked = &c->options.events;
    memset(&c->columns, 0, sizeof(c->columns));
    for (size_t i = 0, at = 0; i < asked->len && !c->options.times_only;
         i += counter_places(asked, i)) {
        const EventSpec *spec = &asked->at[i];
        CountingColumn column = {COLUMN_MISSING, 0, {0}};
        Str name = spec->name, event = STR("");
        if (spec->type == COUNTING_TOOL_EVENT) {
            column = (CountingColumn){COLUMN_TOOL, (size_t)spec->config, {0}};
        } else if (at < c->counters.events.len &&
                   c->counters.events.at[at].spec.name.ptr == spec->name.ptr) {
            const Counter *counter = &c->counters.events.at[at];
            column = (CountingColumn){COLUMN_COUNTER, at++, {0}};
            name = counter->name;
            event = metric_event(&c->scratch, counter);
        } else if (!c->options.show_missing) {
            continue;
        }
        column.metric = find_metric(c, name);
        if (column.metric.v == UINT32_MAX)
            column.metric = profile_add_metric(c->profile, name, spec->unit, METRIC_SUM, event);
        vec_push(&c->scratch, &c->columns, column);
    }
}

// A warning for events that share a remedy, and the reason of each.
static void note_missing(Profile *p, const CounterMissingVec *missing)
{
    bool *is_named = heap_alloc(missing->len + 1);
    for (size_t i = 0; i < missing->len; i++) {
        const Error *why = &missing->at[i].reason;
        if (is_named[i])
            continue;
        StrBuf text = {0};
        for (size_t k = i; k < missing->len; k++) {
            const Error *other = &missing->at[k].reason;
            if (other->kind != why->kind || strcmp(other->hint, why->hint) != 0)
                continue;
            is_named[k] = true;
            if (k != i)
                strbuf_add(&text, STR(", "));
            strbuf_add(&text, missing->at[k].name);
        }
        profile_note(p, NOTE_WARNING, STR("events-not-available"),
                     "Not available here: %" STR_FMT "; %s", STR_ARG(strbuf_str(&text)),
                     why->hint[0] ? why->hint : why->text);
        strbuf_deinit(&text);
    }
    for (size_t i = 0; i < missing->len; i++)
        profile_note(p, NOTE_INFO, STR("event-not-available"), "%s", missing->at[i].reason.text);
    for (size_t i = 0; i < missing->len; i++) {
        const Error *why = &missing->at[i].reason;
        // A hint that is only a command stands below the rows.
        bool is_reason = why->hint[0] && strncmp(why->hint, "run:", 4) != 0;
        Str reason = str_from_c(is_reason ? why->hint : why->text);
        Str first = str_slice(reason, 0, MIN(str_find_char(reason, ';'), reason.len));
        profile_note(p, NOTE_INFO, STR(NOTE_EVENT_REASON), "%" STR_FMT ": %" STR_FMT,
                     STR_ARG(missing->at[i].name), STR_ARG(first));
    }
    heap_free(is_named);
}

// Reads the counts of all targets into c->now, by part and event.
static void read_all(Counting *c)
{
    size_t events = c->counters.events.len;
    memset(c->now, 0, c->parts.len * events * sizeof(c->now[0]));
    for (size_t e = 0; e < events; e++)
        for (size_t t = 0; t < c->counters.targets.len; t++) {
            const U32Vec *part_of = &c->options.targets.part_of;
            CounterValue *to = &c->now[(t < part_of->len ? part_of->at[t] : 0) * events + e];
            *to = counter_sum(*to, counters_read(&c->counters, e, t));
        }
}

// ---- Intervals -------------------------------------------------------------

static void drop_series(Series *s, size_t rows)
{
    s->metric.len = s->time_ns.len = s->value.len = rows;
    s->part.len = s->enabled_ns.len = s->running_ns.len = rows;
}

// Adds the counts since the interval before, and makes the present counts the new base. The
// command's user and system time are known only when it has ended.
static bool end_interval(Counting *c, int64_t now_ns, int64_t length_ns, Error *err)
{
    Profile *p = c->profile;
    size_t events = c->counters.events.len, first = p->series.time_ns.len;
    uint64_t length = (uint64_t)length_ns;
    read_all(c);
    for (size_t part = 0; part < c->parts.len; part++)
        for (size_t k = 0; k < c->columns.len; k++) {
            const CountingColumn *column = &c->columns.at[k];
            CounterValue v = {0};
            if (column->kind == COLUMN_COUNTER) {
                size_t i = part * events + column->event;
                v = counter_since(c->now[i], c->before[i]);
                c->before[i] = c->now[i];
            } else if (column->kind == COLUMN_TOOL && column->event == TOOL_DURATION) {
                v = (CounterValue){length, length, length};
            }
            profile_add_point(p, column->metric, now_ns - c->first_start_ns, counter_scaled(v),
                              v.enabled_ns, v.running_ns, c->parts.at[part]);
        }
    const CountingOptions *o = &c->options;
    bool ok = !o->on_interval || o->on_interval(o->ctx, first, length_ns, err);
    if (!o->keep_series)
        drop_series(&p->series, first);
    return ok;
}

// ---- Control ---------------------------------------------------------------

static void obey(Counting *c, Str command)
{
    if (str_equal(command, STR("enable")))
        counters_enable(&c->counters);
    else if (str_equal(command, STR("disable")))
        counters_disable(&c->counters);
    else if (!str_equal(command, STR("ping")))
        return; // as perf does, unknown commands get no answer
    if (c->options.ack_fd >= 0 && write(c->options.ack_fd, "ack\n", 4) < 0)
        c->options.ack_fd = -1; // nobody reads answers
}

// Reads the commands that are there, a line each. False at their end.
static bool read_commands(Counting *c)
{
    char text[256];
    ssize_t n = read(c->options.control_fd, text, sizeof(text));
    if (n <= 0)
        return false;
    Str rest = str_over(text, (size_t)n), line;
    while (str_next_line(&rest, &line))
        obey(c, str_trim(line));
    return true;
}

// Whether every process or thread that is counted has ended.
static bool are_gone(const CountingTargets *targets)
{
    for (size_t i = 0; i < targets->at.len; i++)
        if (targets->cpus || proc_exists((uint32_t)targets->at.at[i].pid))
            return false;
    return targets->at.len > 0;
}

// Waits for the end: of the child, of the time, or without a child of all targets, or Ctrl-C.
static bool count_until_end(Counting *c, const Spawned *child, Error *err)
{
    enum { LOOK_MS = 50 }; // how often it looks whether the targets are there
    const CountingOptions *o = &c->options;
    int64_t next_interval = o->interval_ns ? c->start_ns + o->interval_ns : INT64_MAX;
    int64_t last_interval = c->start_ns;
    int64_t stop = o->timeout_ns ? c->start_ns + o->timeout_ns : INT64_MAX;
    int64_t enable = o->delay_ns ? c->start_ns + o->delay_ns : INT64_MAX;
    uint64_t intervals = 0;
    for (;;) {
        int64_t now = os_monotonic_ns();
        if (now >= enable) {
            counters_enable(&c->counters);
            enable = INT64_MAX;
        }
        if (now >= next_interval) {
            if (!end_interval(c, now, now - last_interval, err))
                return false;
            last_interval = now;
            next_interval += o->interval_ns;
            if (o->interval_count && ++intervals >= o->interval_count)
                stop = now;
        }
        if (now >= stop || (*o->interrupted && !child)) {
            if (child)
                kill(child->pid, SIGTERM);
            break;
        }
        int64_t first = MIN(next_interval, stop), until = MIN(first, enable);
        int wait_ms = until == INT64_MAX ? 60000 : (int)MIN((until - now) / 1000000 + 1, 60000L);
        if (!child && are_gone(&o->targets))
            break;
        if (!child && !o->targets.cpus)
            wait_ms = MIN(wait_ms, LOOK_MS);
        struct pollfd ends[] = {{.fd = child ? child->pid_fd : -1, .events = POLLIN},
                                {.fd = o->control_fd, .events = POLLIN}};
        if (child && child->pid_fd < 0)
            wait_ms = MIN(wait_ms, 10); // no pidfd: look now and then
        if (poll(ends, ARRAY_LEN(ends), wait_ms) > 0) {
            if (ends[1].revents && !read_commands(c))
                c->options.control_fd = -1;
            if (ends[0].revents)
                break;
        }
        ChildEnd ended;
        if (child && child->pid_fd < 0 && !proc_exists((uint32_t)child->pid) &&
            spawn_collect(child, &ended))
            break;
    }
    // The rest of the last interval; nothing where the last one was the end.
    int64_t now = os_monotonic_ns();
    if (o->interval_ns && (!o->interval_count || intervals < o->interval_count))
        return end_interval(c, now, now - last_interval, err);
    return true;
}

// ---- Runs ------------------------------------------------------------------

static int64_t timeval_ns(struct timeval t)
{
    return (int64_t)t.tv_sec * 1000000000 + (int64_t)t.tv_usec * 1000;
}

// Opens the counters for the targets, or for the child that waits to be released.
static bool open_counters(Counting *c, const Spawned *child, Error *err)
{
    const CountingOptions *o = &c->options;
    bool is_fixed = o->targets.at.len > 0;
    EventSpecVec counted = {0};
    CounterOptions options = {.inherit = !o->no_inherit && !o->targets.cpus,
                              .by_threads = o->targets.by == COUNTING_EACH || o->threads_apart,
                              .enable_on_exec = !is_fixed && !o->delay_ns && !o->starts_disabled,
                              .skips_gone = o->targets.may_be_gone,
                              .may_be_none = o->program}; // which has times, too
    arena_clear(&c->scratch);
    c->counters = (Counters){0};
    CounterTargetVec targets = o->targets.at;
    if (!is_fixed) {
        targets = (CounterTargetVec){0};
        vec_push(&c->scratch, &targets, (CounterTarget){.pid = child->pid, .cpu = -1});
    }
    for (size_t i = 0; i < o->events.len; i++)
        if (o->events.at[i].type != COUNTING_TOOL_EVENT)
            vec_push(&c->scratch, &counted, o->events.at[i]);
    if (!o->times_only && counted.len &&
        !counters_open(&c->scratch, &counted, &targets, &options, &c->counters, err))
        return false;
    find_columns(c);
    size_t values = c->parts.len * c->counters.events.len;
    c->before = arena_array(&c->scratch, CounterValue, values + 1);
    c->now = arena_array(&c->scratch, CounterValue, values + 1);
    if (c->runs == 0) {
        for (size_t i = 0; i < c->counters.missing.len; i++)
            vec_push(&c->profile->arena, &c->missing, c->counters.missing.at[i]);
        note_missing(c->profile, &c->missing);
        if (c->counters.is_cut)
            profile_note(c->profile, NOTE_WARNING, STR("probes-of-first-threads"),
                         "Probes count only the threads that are there when counting begins: "
                         "threads and processes that begin later are not in the counts");
    }
    if (is_fixed && !o->delay_ns && !o->starts_disabled)
        counters_enable(&c->counters);
    return true;
}

// A time of the run as a counter's value.
static CounterValue tool_value(const RunRow *row, CountingTool tool)
{
    int64_t ns = tool == TOOL_DURATION ? row->wall_ns
                 : tool == TOOL_USER   ? row->user_ns
                                       : row->system_ns;
    uint64_t wall = (uint64_t)row->wall_ns;
    return ns == TIME_NONE ? (CounterValue){0} : (CounterValue){(uint64_t)ns, wall, wall};
}

// Warns of probes whose hits take a good part of the time that is measured.
static void note_probe_cost(Counting *c, int64_t wall_ns)
{
    enum { HITS_A_SECOND = 20000 };
    uint64_t hits = 0;
    for (size_t e = 0; e < c->counters.events.len; e++)
        for (size_t part = 0; part < c->parts.len; part++)
            if (event_is_place(&c->counters.events.at[e].spec))
                hits += c->now[part * c->counters.events.len + e].value;
    double rate = wall_ns > 0 ? (double)hits / ((double)wall_ns * 1e-9) : 0;
    if (rate > HITS_A_SECOND)
        profile_note(c->profile, NOTE_WARNING, STR("probes-often"),
                     "The probes were hit %.0f times a second: a hit costs the program 1 µs or "
                     "more, so that times are longer than without probes",
                     rate);
    uint64_t left_out = c->counters.family ? family_hits_left_out(c->counters.family) : 0;
    if (left_out)
        profile_note(c->profile, NOTE_WARNING, STR("probes-left-out"),
                     "%llu process%s had no room in the table: the counts of probes are too low",
                     (unsigned long long)left_out, left_out == 1 ? "" : "es");
}

static void add_run(Counting *c, const RunRow *row)
{
    Profile *p = c->profile;
    size_t events = c->counters.events.len;
    RunId run = profile_add_run(p, row);
    read_all(c);
    for (size_t part = 0; part < c->parts.len; part++)
        for (size_t k = 0; k < c->columns.len; k++) {
            const CountingColumn *column = &c->columns.at[k];
            CounterValue v = {0};
            if (column->kind == COLUMN_COUNTER)
                v = c->now[part * events + column->event];
            else if (column->kind == COLUMN_TOOL)
                v = tool_value(row, (CountingTool)column->event);
            profile_add_run_count(p, run, column->metric, counter_scaled(v), v.enabled_ns,
                                  v.running_ns, c->parts.at[part]);
        }
    if (c->runs == 0)
        note_probe_cost(c, row->wall_ns);
    c->runs++;
    c->status = row->status;
}

// Runs a shell command around a run; it must succeed.
static bool run_around(const char *command, const char *option, Error *err)
{
    int status = command ? system(command) : 0;
    if (status == 0)
        return true;
    return error_set(err, ERROR_OS, "the command '%s' of %s ended with status %d", command, option,
                     exit_status_of(status));
}

bool counting_run(Counting *c, Error *err)
{
    const CountingOptions *o = &c->options;
    if (!run_around(o->before, "--pre", err))
        return false;
    if (o->sync)
        sync();
    Spawned child = {.pid = -1, .release_fd = -1, .result_fd = -1, .pid_fd = -1};
    sigset_t mask;
    sigprocmask(SIG_SETMASK, NULL, &mask);
    if (o->program && !spawn_prepare(o->program, o->argv, &mask, &child, err))
        return false;
    if (!open_counters(c, &child, err)) {
        spawn_close(&child, true);
        return false;
    }
    c->start_ns = os_monotonic_ns();
    if (c->runs == 0)
        c->first_start_ns = c->start_ns;
    if (o->program && !spawn_release(&child, o->program, err)) {
        spawn_close(&child, true);
        counters_close(&c->counters);
        return false;
    }
    bool ok = count_until_end(c, o->program ? &child : NULL, err);
    RunRow run = RUN_NOT_KNOWN;
    run.name = c->name;
    run.command = c->command;
    run.round = c->runs;
    run.start_ns = c->start_ns - c->first_start_ns;
    run.wall_ns = os_monotonic_ns() - c->start_ns;
    if (o->program) {
        ChildEnd end = {0};
        while (!spawn_collect(&child, &end))
            usleep(1000); // it has ended, or SIGTERM was sent
        run.wall_ns = os_monotonic_ns() - c->start_ns;
        run.user_ns = timeval_ns(end.usage.ru_utime);
        run.system_ns = timeval_ns(end.usage.ru_stime);
        run.status = (uint32_t)exit_status_of(end.status);
    }
    counters_disable(&c->counters);
    add_run(c, &run);
    counters_close(&c->counters);
    spawn_close(&child, false);
    return run_around(o->after, "--post", err) && ok;
}

void counting_add_facts(const Counting *c, Str tool_version)
{
    Profile *p = c->profile;
    Arena scratch = {0};
    Machine m = os_machine(&scratch);
    profile_set_fact(p, STR(FACT_COLLECTOR), STR(COLLECTOR_COUNTERS));
    profile_set_fact(p, STR(FACT_TOOL_VERSION), tool_version);
    if (c->command.v)
        profile_set_fact(p, STR(FACT_COMMAND), profile_text(p, c->command));
    set_number(p, FACT_START_MONOTONIC, (uint64_t)c->first_start_ns);
    set_number(p, FACT_START_REALTIME,
               (uint64_t)(os_realtime_ns() - (os_monotonic_ns() - c->first_start_ns)));
    profile_set_fact(p, STR(FACT_CLOCK), STR("wait"));
    profile_set_fact(p, STR(FACT_HOSTNAME), m.host_name);
    profile_set_fact(p, STR(FACT_KERNEL), m.kernel);
    profile_set_fact(p, STR(FACT_ARCH), m.arch);
    profile_set_fact(p, STR(FACT_CPU_MODEL), m.cpu_model);
    set_number(p, FACT_CPU_COUNT, m.cpu_count);
    arena_deinit(&scratch);
}
