// SPDX-License-Identifier: Apache-2.0
// Calls beside the samples of a recording.

#include "collect/sampling/calling_internal.h"

#include "collect/bpf/bpf.h"
#include "model/facts.h"
#include "os/privilege.h"
#include "os/proc.h"

#include <stddef.h>
#include <stdio.h>

#include "wire/wait.h"

static bool can_call(const EventSet *events, Error *err)
{
    if (!privilege_is_special()) {
        (void)error_set(err, ERROR_PERMISSION, "calls need CAP_BPF and CAP_PERFMON");
        return error_hint(err,
                          "run: sudo assay record --calls …; without rights, record -e FUNCTION "
                          "-- CMD samples each entry");
    }
    if (!privilege_sees_kernel_pids()) {
        (void)error_set(
            err, ERROR_UNSUPPORTED,
            "calls cannot be recorded from a namespace with process numbers of its own");
        return error_hint(err, "record the container from the host: assay record --calls … -p PID");
    }
    if (events->traced || events->timed || events->by_breakpoints || events->per_thread) {
        (void)error_set(err, ERROR_UNSUPPORTED, "calls need the kernel's events on each processor");
        return error_hint(err, "leave --engine out; assay doctor says what is refused here");
    }
    return true;
}

bool calling_open(Calling *c, EventSet *events, Profile *profile, Error *err)
{
    const SamplingOptions *o = events->options;
    *c = (Calling){.options = o, .profile = profile};
    if (!o->calls || o->calls->places.len == 0)
        return true;
    struct perf_event_attr attr = bpf_output_attr(&events->base);
    CallsSetup setup = {.plan = o->calls,
                        .cpus = events->cpus,
                        .ring_fds = events->ring_fds,
                        .cpu_count = events->ring_count,
                        .output = attr,
                        .every = o->system_wide,
                        .inherit = !o->no_inherit,
                        .tids = o->tids,
                        .tid_count = o->pid_count ? 0 : o->tid_count,
                        .profile = profile};
    if (!can_call(events, err))
        return false;
    if (!calls_open(&setup, &c->calls, err)) {
        c->calls = NULL;
        return error_context(err, "calls cannot be recorded");
    }
    size_t count;
    const uint64_t *ids = calls_ids(c->calls, &count);
    events_add_outputs(events->arena, events, &attr, ids, count);
    return true;
}

void calling_close(Calling *c)
{
    calls_close(c->calls);
    c->calls = NULL;
}

void calling_begin(Calling *c, pid_t child, const U32Vec *pids)
{
    if (!c->calls)
        return;
    if (child > 0)
        calls_add_process(c->calls, (uint32_t)child);
    for (size_t i = 0; i < pids->len; i++)
        calls_add_process(c->calls, pids->at[i]);
    for (size_t i = 0; i < c->options->tid_count; i++) {
        Arena scratch = {0};
        ProcStatus st;
        if (proc_status_read(&scratch, c->options->tids[i], &st, NULL))
            calls_add_process(c->calls, st.thread_group);
        arena_deinit(&scratch);
    }
}

void calling_stop(Calling *c)
{
    if (c->calls)
        calls_stop(c->calls);
}

bool calling_takes(Calling *c, Consumer *consumer, const PerfRecord *r)
{
    if (!c->calls)
        return false;
    size_t count;
    const uint64_t *ids = calls_ids(c->calls, &count);
    for (size_t i = 0; i < count; i++)
        if (ids[i] == r->id) {
            calls_record(c->calls, consumer, r);
            return true;
        }
    return false;
}

void calling_mend(Calling *c, const PerfRecord *r)
{
    enum { REGS_IP = 16, REGS_SP = 19, PERF_SP = 7, PERF_IP = 8 };
    PerfSample *s = r->u.sample;
    WaitDump head;
    Bytes raw = r->u.sample->raw;
    if (!c->calls)
        return;
    if (s->stack.len)
        s->stack = calls_mend(c->calls, r->tid, &s->regs[PERF_IP], &s->regs[PERF_SP], s->stack);
    if (raw.len <= offsetof(WaitDump, stack))
        return;
    memcpy(&head, raw.ptr, offsetof(WaitDump, stack));
    if (head.kind == WAIT_RECORD_DUMP)
        (void)calls_mend(c->calls, head.tid, &head.regs[REGS_IP], &head.regs[REGS_SP],
                         bytes_slice(raw, offsetof(WaitDump, stack), raw.len));
}

void calling_finish(Calling *c, Consumer *consumer, uint64_t end_ns, SamplingResult *result)
{
    char text[32];
    CallCounts n;
    Profile *p = c->profile;
    if (!c->calls)
        return;
    calls_finish(c->calls, consumer_time(consumer, end_ns), &n);
    result->has_calls = true;
    result->calls = n.calls;
    snprintf(text, sizeof(text), "%llu", (unsigned long long)n.lost);
    profile_set_fact(p, STR(FACT_CALLS_LOST), str_from_c(text));
    if (n.lost)
        profile_note(
            p, NOTE_WARNING, STR("calls-lost"),
            "%llu entries or returns of calls were lost: the program calls faster than the "
            "recorder reads",
            (unsigned long long)n.lost);
    if (n.left)
        profile_note(
            p, NOTE_INFO, STR("calls-left"),
            "%llu call%s ended without a return (exceptions, jumps, or more than 64 nested calls): "
            "each ends where the next entry or return shows that it is over",
            (unsigned long long)n.left, plural_s(n.left));
    if (n.no_room)
        profile_note(p, NOTE_WARNING, STR("calls-no-room"),
                     "processes without room in the tables: %llu; their calls are missing",
                     (unsigned long long)n.no_room);
}
