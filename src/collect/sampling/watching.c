// SPDX-License-Identifier: Apache-2.0
// Waits beside the samples of a recording.

#include "collect/sampling/watching_internal.h"

#include "base/log.h"
#include "collect/bpf/bpf.h"
#include "model/facts.h"
#include "os/privilege.h"
#include "os/proc.h"

#include <stdio.h>
#include <unistd.h>

static bool can_watch(const EventSet *events, Error *err)
{
    if (!privilege_is_special()) {
        (void)error_set(err, ERROR_PERMISSION, "BPF needs CAP_BPF and CAP_PERFMON");
        return error_hint(err, "run: sudo assay record --wait");
    }
    if (!privilege_sees_kernel_pids()) {
        (void)error_set(err, ERROR_UNSUPPORTED,
                        "BPF sees other process numbers than this container");
        return error_hint(err, "record the container from the host: assay record --wait -p PID");
    }
    if (events->traced || events->timed || events->by_breakpoints || events->per_thread)
        return error_set(err, ERROR_UNSUPPORTED, "there are no rings of processors to write to");
    return true;
}

// The next best way: looks at threads from outside. Without root they reach the processes of one
// user only.
static void open_sampled(Watching *w)
{
    const EventSet *e = w->events;
    bool reads_maps = e->traced || e->timed || e->by_breakpoints;
    Error err;
    // Copies of the stacks of all programs of the machine would be too many.
    w->stacks = !reads_maps && !e->per_thread && !w->options->system_wide &&
                events_can_open_switch_stacks(e);
    WaitingLooks looks = {.inherit = !w->options->no_inherit,
                          .reads_maps = reads_maps,
                          .every = w->options->system_wide,
                          .has_stacks = w->stacks,
                          .min_wait_ns = (uint64_t)w->options->min_wait_ns};
    w->sampled = waiting_open_sampled(&looks, &w->waiting, &err);
    if (!w->sampled)
        w->why = err;
}

void watching_open(Watching *w, EventSet *events, Profile *profile)
{
    const SamplingOptions *o = events->options;
    *w = (Watching){.options = o, .profile = profile, .events = events};
    if (!o->waits)
        return;
    if (!can_watch(events, &w->why)) {
        open_sampled(w);
        return;
    }
    struct perf_event_attr attr = bpf_output_attr(&events->base);
    WaitingSetup setup = {.cpus = events->cpus,
                          .ring_fds = events->ring_fds,
                          .cpu_count = events->ring_count,
                          .output = attr,
                          .min_wait_ns = (uint64_t)o->min_wait_ns,
                          .every = o->system_wide,
                          .inherit = !o->no_inherit};
    if (!waiting_open(&setup, &w->waiting, &w->why)) {
        log_debug(LOG_RECORD, 1, "waits are not recorded: %s", w->why.text);
        w->waiting = NULL;
        open_sampled(w);
        return;
    }
    size_t count;
    const uint64_t *ids = waiting_ids(w->waiting, &count);
    events_add_outputs(events->arena, events, &attr, ids, count);
}

void watching_add_metrics(Watching *w, SampleEvent *first)
{
    if (!w->waiting)
        return;
    waiting_add_metrics(w->waiting, w->profile);
    first->wall = waiting_wall_metric(w->waiting);
    first->has_wall = str_equal(
        profile_text(w->profile, w->profile->metrics.unit.at[first->metric.v]), STR("ns"));
}

void watching_close(Watching *w)
{
    waiting_close(w->waiting);
    w->waiting = NULL;
}

static bool open_thread(Watching *w, uint32_t tid)
{
    return w->stacks ? events_open_switch_stacks(w->events, tid)
                     : events_open_switches(w->events, tid);
}

// Records of context switches, which every user may have of their own processes.
static void open_switches(Watching *w, pid_t child, const U32Vec *pids)
{
    const EventSet *e = w->events;
    if (e->traced || e->timed || e->by_breakpoints || e->per_thread)
        return;
    w->switches = true;
    if (w->options->system_wide)
        w->switches = events_open_switches(w->events, EVENTS_EVERY_THREAD);
    else if (child > 0)
        w->switches = open_thread(w, (uint32_t)child);
    for (size_t i = 0; child <= 0 && !w->options->system_wide && i < pids->len; i++) {
        U32Vec tids = {0};
        if (proc_list_threads(pids->at[i], &tids, NULL))
            for (size_t k = 0; k < tids.len; k++)
                w->switches &= open_thread(w, tids.at[k]);
        vec_free(&tids);
    }
}

void watching_switch(Watching *w, Consumer *c, const PerfRecord *r)
{
    if (w->switches)
        waiting_switch(w->waiting, c, r);
}

// Watches the threads that run already on the machine: a sleeping thread may have no switch for
// long.
static void add_programs(Watching *w)
{
    U32Vec pids = {0};
    if (!proc_list_all(&pids, NULL))
        pids.len = 0;
    for (size_t i = 0; i < pids.len; i++) {
        U32Vec tids = {0};
        if (pids.at[i] == (uint32_t)getpid() || proc_is_kernel_thread(pids.at[i]))
            continue;
        if (proc_list_threads(pids.at[i], &tids, NULL))
            for (size_t k = 0; k < tids.len; k++)
                waiting_add_thread(w->waiting, pids.at[i], tids.at[k], false);
        vec_free(&tids);
    }
    vec_free(&pids);
}

void watching_begin(Watching *w, pid_t child, const U32Vec *pids)
{
    if (!w->waiting)
        return;
    for (size_t i = 0; w->sampled && child <= 0 && i < pids->len; i++)
        waiting_add_process(w->waiting, pids->at[i], false);
    if (w->sampled) {
        open_switches(w, child, pids);
        if (w->switches)
            waiting_has_switches(w->waiting);
        return;
    }
    if (w->options->system_wide) {
        add_programs(w);
        return;
    }
    if (child > 0)
        waiting_add_thread(w->waiting, (uint32_t)child, (uint32_t)child, true);
    for (size_t i = 0; i < pids->len && child <= 0; i++) {
        U32Vec tids = {0};
        if (proc_list_threads(pids->at[i], &tids, NULL))
            for (size_t k = 0; k < tids.len; k++)
                waiting_add_thread(w->waiting, pids->at[i], tids.at[k], false);
        vec_free(&tids);
    }
}

void watching_released(Watching *w, pid_t child)
{
    // Its threads are new: the first look may be late, and finds some that have run meanwhile.
    if (w->waiting && child > 0)
        waiting_add_process(w->waiting, (uint32_t)child, true);
}

void watching_add_process(Watching *w, uint32_t pid)
{
    if (w->waiting && !w->options->no_inherit)
        waiting_add_process(w->waiting, pid, true);
}

void watching_until(Watching *w, Consumer *c, uint64_t time_ns)
{
    if (w->sampled)
        waiting_until(w->waiting, c, time_ns);
}

void watching_stop(Watching *w)
{
    if (w->waiting)
        waiting_stop(w->waiting);
}

bool watching_takes(Watching *w, Consumer *c, const PerfRecord *r)
{
    if (!w->waiting)
        return false;
    if (w->sampled && w->stacks && events_is_switch_stack(w->events, r->id)) {
        waiting_switch_stack(w->waiting, c, r);
        return true;
    }
    if (w->sampled)
        return false;
    size_t count;
    const uint64_t *ids = waiting_ids(w->waiting, &count);
    for (size_t i = 0; i < count; i++)
        if (ids[i] == r->id) {
            waiting_record(w->waiting, c, r->u.sample->raw);
            return true;
        }
    return false;
}

static Str way_of(const Watching *w)
{
    return !w->sampled                ? STR("bpf")
           : w->stacks && w->switches ? STR(WAITS_BY_STACKS ", and looks at /proc, 100 Hz")
           : w->switches              ? STR("switch records and looks at /proc, 100 Hz")
                                      : STR("looks at /proc, 100 Hz");
}

void watching_snapshot(Watching *w, Consumer *c, uint64_t end_ns)
{
    if (!w->waiting)
        return;
    waiting_add_open(w->waiting, c, end_ns);
    profile_set_fact(w->profile, STR(FACT_WAITS), way_of(w));
}

void watching_finish(Watching *w, Consumer *c, uint64_t end_ns, SamplingResult *result)
{
    result->has_waits = w->waiting != NULL;
    result->waits_refused = w->why;
    if (!w->waiting) {
        if (w->options && w->options->waits)
            profile_note(w->profile, NOTE_WARNING, STR("no-waits"),
                         "waits were not recorded: %s%s%s", w->why.text, w->why.hint[0] ? "; " : "",
                         w->why.hint);
        return;
    }
    static const char for_stacks[] = "; or sysctl kernel.perf_event_paranoid=1, for each stack";
    char text[64], lift[sizeof(w->why.text) + sizeof(w->why.hint) + sizeof(for_stacks) + 4];
    Profile *p = w->profile;
    WaitingCounts n;
    waiting_finish(w->waiting, c, end_ns, !w->options->takes_dumps, &n);
    profile_set_fact(p, STR(FACT_WAITS), way_of(w));
    if (w->sampled) {
        snprintf(lift, sizeof(lift), "%s; %s%s", w->why.text,
                 w->why.hint[0] ? w->why.hint : "run as root where the kernel allows BPF",
                 w->switches && !w->stacks && !w->options->system_wide ? for_stacks : "");
        profile_set_fact(p, STR(FACT_WAITS_LIFT), str_from_c(lift));
    }
    if (w->sampled && w->stacks && w->switches)
        profile_note(p, NOTE_INFO, STR("waits-by-stacks"),
                     "waits are from records of context switches with a copy of the stack: how "
                     "long each lasted is known, and contains the time until a processor was "
                     "free; who ended it is not: %s",
                     lift);
    else if (w->sampled)
        profile_note(
            p, NOTE_INFO, STR("waits-sampled"),
            "waits are estimated from looks at each thread, 100 times a second; short ones "
            "are not seen, nor who ended them: %s",
            lift);
    if (n.unseen && !w->stacks)
        profile_note(p, NOTE_INFO, STR("waits-unseen"),
                     "%llu thread%s ended before a look could see them: their waits are in 'other'",
                     (unsigned long long)n.unseen, plural_s(n.unseen));
    snprintf(text, sizeof(text), "%.6f", n.missing_ratio);
    if (!w->options->takes_dumps)
        profile_set_fact(p, STR(FACT_WAITS_MISSING), str_from_c(text));
    snprintf(text, sizeof(text), "%llu/%llu", (unsigned long long)n.complete,
             (unsigned long long)n.stacks);
    profile_set_fact(p, STR(FACT_WAITS_STACKS), str_from_c(text));
    snprintf(text, sizeof(text), "%llu", (unsigned long long)n.lost);
    profile_set_fact(p, STR(FACT_WAITS_LOST), str_from_c(text));
    if (n.no_room && w->sampled)
        profile_note(p, NOTE_WARNING, STR("waits-no-room"),
                     "threads that this user may not look at: %llu; their time is missing",
                     (unsigned long long)n.no_room);
    else if (n.no_room)
        profile_note(p, NOTE_WARNING, STR("waits-no-room"),
                     "threads or waits without room in the tables: %llu; their time is missing",
                     (unsigned long long)n.no_room);
}
