// SPDX-License-Identifier: Apache-2.0
// Loads the program of collect/bpf/programs/texts.bpf.c.

#include "collect/sampling/probe_texts_internal.h"

#include "collect/bpf/bpf.h"
#include "collect/bpf/programs/texts_program.h"

#include <linux/bpf.h>
#include <unistd.h>

// More than the program's scratch memory.
enum { SCRATCH_BYTES = sizeof(ProbeTexts) + 32 * 8 };

static bool open_outputs(EventSet *events, TextReader *r)
{
    struct perf_event_attr attr = bpf_output_attr(&events->base);
    if (!bpf_outputs_open(&attr, events->cpus, events->ring_fds, events->ring_count, r->outputs_fd,
                          r->fds, r->ids, &r->fd_count))
        return false;
    r->id_count = events->ring_count;
    events_add_outputs(events->arena, events, &attr, r->ids, r->id_count);
    return true;
}

static bool attach(const EventSet *events, TextReader *r)
{
    for (size_t i = 0; i < events->open.len; i++) {
        const OpenEvent *o = &events->open.at[i];
        if (o->event == SIDE_BAND || !probe_texts_plan(&events->events.at[o->event]).count)
            continue;
        uint64_t cookie = (uint64_t)events->cpus[o->ring] << 32 | (uint32_t)(o->event + 1);
        int link = bpf_attach_to_event(r->program_fd, o->fd, cookie);
        if (link < 0)
            return false;
        r->fds[r->fd_count++] = link;
    }
    return true;
}

static bool open_all(EventSet *events, TextReader *r, Error *err)
{
    uint32_t cpus = 0;
    for (size_t i = 0; i < events->cpu_count; i++)
        cpus = MAX(cpus, events->cpus[i] + 1);
    r->plans_fd = bpf_array_make(sizeof(TextPlan), (uint32_t)events->events.len, 0);
    r->scratch_fd = bpf_array_make(SCRATCH_BYTES, cpus, 0);
    r->outputs_fd = bpf_event_array_make(cpus);
    bool ok = r->plans_fd >= 0 && r->scratch_fd >= 0 && r->outputs_fd >= 0;
    for (uint32_t i = 0; ok && i < events->events.len; i++) {
        TextPlan plan = probe_texts_plan(&events->events.at[i]);
        ok = bpf_element_set(r->plans_fd, i, &plan);
    }
    if (!ok || !open_outputs(events, r))
        return error_os(err, "cannot make the tables of a BPF program");
    const BpfMap maps[] = {
        [TEXTS_MAP_OUTPUTS] = {r->outputs_fd, false},
        [TEXTS_MAP_PLANS] = {r->plans_fd, false},
        [TEXTS_MAP_SCRATCH] = {r->scratch_fd, false},
    };
    r->program_fd = bpf_load_for_samples(&texts_program.programs[0], maps, err);
    return r->program_fd >= 0 &&
           (attach(events, r) || error_os(err, "cannot attach a BPF program to a probe"));
}

static bool is_possible(const EventSet *events)
{
#if defined(__x86_64__)
    return !events->per_thread;
#else
    (void)events;
    return false;
#endif
}

bool probe_texts_open(EventSet *events, TextReader *ret, Error *err)
{
    TextReader r = {.plans_fd = -1, .scratch_fd = -1, .outputs_fd = -1, .program_fd = -1};
    *ret = (TextReader){0};
    if (!probe_texts_wanted(&events->events))
        return true;
    if (events->by_breakpoints) {
        struct perf_event_attr attr = bpf_output_attr(&events->base);
        r.ids = arena_new(events->arena, uint64_t);
        *r.ids = PROBE_TEXTS_ID;
        events_add_outputs(events->arena, events, &attr, r.ids, 1);
        *ret = (TextReader){.ids = r.ids, .id_count = 1};
        return true;
    }
    r.fds = arena_array(events->arena, int, events->ring_count + events->open.len);
    r.ids = arena_array(events->arena, uint64_t, events->ring_count);
    r.is_open = true;
    size_t outputs = events->output_count;
    Error why;
    bool can = is_possible(events) ||
               error_set(&why, ERROR_UNSUPPORTED, "not possible for this machine or recording");
    if (can && open_all(events, &r, &why)) {
        *ret = r;
        return true;
    }
    events->output_count = outputs;
    probe_texts_close(&r);
    (void)error_set(err, why.kind, "cannot read the texts of arguments: %s", why.text);
    return error_hint(err, "it needs root or CAP_BPF and CAP_PERFMON, and Linux 5.15; leave out "
                           ":string for the address");
}

void probe_texts_close(TextReader *r)
{
    const int fds[] = {r->plans_fd, r->scratch_fd, r->outputs_fd, r->program_fd};
    for (size_t i = 0; i < r->fd_count; i++)
        close(r->fds[i]);
    for (size_t i = 0; r->is_open && i < ARRAY_LEN(fds); i++)
        if (fds[i] >= 0)
            close(fds[i]);
    *r = (TextReader){0};
}

bool probe_texts_takes(const TextReader *r, uint64_t id)
{
    for (size_t i = 0; i < r->id_count; i++)
        if (r->ids[i] == id)
            return true;
    return false;
}
