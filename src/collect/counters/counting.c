// SPDX-License-Identifier: Apache-2.0
// Runs, intervals and what they add to the profile.

#include "collect/counters/counting.h"

#include <math.h>
#include <poll.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "model/facts.h"
#include "os/clock.h"
#include "os/proc.h"

// ---- What to count ---------------------------------------------------------

bool counting_add_cpus(Arena *arena, Str list, CountingTargets *ret, Error *err)
{
    U32Vec cpus = {0};
    bool ok = list.len ? cpu_list_parse(list, 1 << 16, &cpus, err) : cpu_list_online(&cpus, err);
    for (size_t i = 0; ok && i < cpus.len; i++) {
        vec_push(arena, &ret->at, (CounterTarget){-1, (int32_t)cpus.at[i]});
        vec_push(arena, &ret->names, arena_printf(arena, "CPU%u", cpus.at[i]));
    }
    ret->cpus = ok;
    vec_free(&cpus);
    return ok;
}

bool counting_add_threads(Arena *arena, Str list, bool processes, CountingTargets *ret, Error *err)
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
            Str comm = proc_comm(arena, processes ? (uint32_t)id : tid, tid);
            vec_push(arena, &ret->at, (CounterTarget){(int32_t)tid, -1});
            vec_push(arena, &ret->names,
                     arena_printf(arena, "%" STR_FMT "-%u", STR_ARG(comm), tid));
        }
        vec_free(&threads);
    }
    return true;
}

bool counting_choose_events(Arena *arena, const StrVec *words, unsigned details, EventSpecVec *ret,
                            Error *err)
{
    static const char *const usual = "task-clock,context-switches,cpu-migrations,page-faults,"
                                     "cycles,instructions,branches,branch-misses";
    // Each level adds a line, as in perf.
    static const char *const levels[] = {
        "L1-dcache-loads,L1-dcache-load-misses,LLC-loads,LLC-load-misses",
        ("L1-icache-loads,L1-icache-load-misses,dTLB-loads,dTLB-load-misses,iTLB-loads,"
         "iTLB-load-misses"),
        "L1-dcache-prefetches,L1-dcache-prefetch-misses"};
    EventSources sources = event_sources_default();
    for (size_t i = 0; i < words->len; i++)
        if (!events_parse(arena, &sources, words->at[i], ret, err))
            return false;
    if (words->len == 0 && !events_parse(arena, &sources, str_from_c(usual), ret, err))
        return false;
    for (unsigned i = 0; i < MIN(details, (unsigned)ARRAY_LEN(levels)); i++)
        if (!events_parse(arena, &sources, str_from_c(levels[i]), ret, err))
            return false;
    return true;
}

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
    if (targets->at.len && targets->apart)
        for (size_t i = 0; i < targets->at.len; i++)
            vec_push(&p->arena, &ret->parts, profile_str(p, targets->names.at[i]));
    else
        vec_push(&p->arena, &ret->parts, (StrId){0});
    if (targets->at.len)
        set_number(p, targets->cpus ? FACT_COUNTED_CPUS : FACT_COUNTED_THREADS, targets->at.len);
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

// The metrics of the events that are open. An event that is named twice has two.
static void find_metrics(Counting *c)
{
    Profile *p = c->profile;
    c->metrics = (MetricIdVec){0};
    for (size_t e = 0; e < c->counters.events.len; e++) {
        const Counter *counter = &c->counters.events.at[e];
        MetricId found = {UINT32_MAX};
        for (uint32_t m = 0; m < p->metrics.name.len && found.v == UINT32_MAX; m++) {
            bool is_taken = !str_equal(profile_text(p, p->metrics.name.at[m]), counter->name);
            for (size_t i = 0; i < c->metrics.len && !is_taken; i++)
                is_taken = c->metrics.at[i].v == m;
            if (!is_taken)
                found.v = m;
        }
        if (found.v == UINT32_MAX)
            found = profile_add_metric(p, counter->name, counter->spec.unit, METRIC_SUM,
                                       metric_event(&c->scratch, counter));
        vec_push(&c->scratch, &c->metrics, found);
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
    heap_free(is_named);
}

// Reads the counts of all targets into c->now, by part and event.
static void read_all(Counting *c)
{
    size_t events = c->counters.events.len;
    memset(c->now, 0, c->parts.len * events * sizeof(c->now[0]));
    for (size_t e = 0; e < events; e++)
        for (size_t t = 0; t < c->counters.targets.len; t++) {
            CounterValue *to = &c->now[(c->parts.len > 1 ? t : 0) * events + e];
            *to = counter_sum(*to, counters_read(&c->counters, e, t));
        }
}

// ---- Intervals -------------------------------------------------------------

static void drop_series(Series *s, size_t rows)
{
    s->metric.len = s->time_ns.len = s->value.len = rows;
    s->part.len = s->enabled_ns.len = s->running_ns.len = rows;
}

// Adds what was counted since the interval before, and makes that the new base.
static bool end_interval(Counting *c, int64_t now_ns, int64_t length_ns, Error *err)
{
    Profile *p = c->profile;
    size_t events = c->counters.events.len, first = p->series.time_ns.len;
    read_all(c);
    for (size_t i = 0; i < c->parts.len * events; i++) {
        CounterValue v = counter_since(c->now[i], c->before[i]);
        profile_add_point(p, c->metrics.at[i % events], now_ns - c->first_start_ns,
                          counter_scaled(v), v.enabled_ns, v.running_ns, c->parts.at[i / events]);
        c->before[i] = c->now[i];
    }
    const CountingOptions *o = &c->options;
    bool ok = !o->on_interval || o->on_interval(o->ctx, first, length_ns, err);
    if (!o->keep_series)
        drop_series(&p->series, first);
    return ok;
}

// Waits for the end: of the child, of the time, or Ctrl-C when there is no child.
static bool count_until_end(Counting *c, const Spawned *child, Error *err)
{
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
    int64_t now = os_monotonic_ns();
    if (o->interval_ns && now - last_interval > o->interval_ns / 10)
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
    CounterOptions options = {.inherit = !o->no_inherit && !o->targets.cpus,
                              .enable_on_exec = !is_fixed && !o->delay_ns};
    arena_clear(&c->scratch);
    c->counters = (Counters){0};
    CounterTargetVec targets = o->targets.at;
    if (!is_fixed) {
        targets = (CounterTargetVec){0};
        vec_push(&c->scratch, &targets, (CounterTarget){child->pid, -1});
    }
    if (!o->times_only &&
        !counters_open(&c->scratch, &o->events, &targets, &options, &c->counters, err))
        return false;
    find_metrics(c);
    size_t values = c->parts.len * c->counters.events.len;
    c->before = arena_array(&c->scratch, CounterValue, values + 1);
    c->now = arena_array(&c->scratch, CounterValue, values + 1);
    if (c->runs == 0) {
        for (size_t i = 0; i < c->counters.missing.len; i++)
            vec_push(&c->profile->arena, &c->missing, c->counters.missing.at[i]);
        note_missing(c->profile, &c->missing);
    }
    if (is_fixed && !o->delay_ns)
        counters_enable(&c->counters);
    return true;
}

static void add_run(Counting *c, const RunRow *row)
{
    Profile *p = c->profile;
    size_t events = c->counters.events.len;
    RunId run = profile_add_run(p, row);
    read_all(c);
    for (size_t i = 0; i < c->parts.len * events; i++) {
        CounterValue v = c->now[i];
        profile_add_run_count(p, run, c->metrics.at[i % events], counter_scaled(v), v.enabled_ns,
                              v.running_ns, c->parts.at[i / events]);
    }
    c->runs++;
    c->status = row->status;
}

bool counting_run(Counting *c, Error *err)
{
    const CountingOptions *o = &c->options;
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
    return ok;
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
