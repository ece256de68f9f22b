// SPDX-License-Identifier: Apache-2.0
// Loads the program of collect/bpf/programs/capture.bpf.c.

#include "collect/sampling/python_capture_internal.h"

#include "collect/bpf/bpf.h"
#include "collect/bpf/programs/capture_program.h"
#include "os/privilege.h"

#include <linux/bpf.h>
#include <sys/mman.h>
#include <unistd.h>

// More than the program's scratch memory.
enum { SCRATCH_BYTES = sizeof(CaptureStack) + 2 * CAPTURE_FRAME_BYTES };

static bool load_program(Capture *c, Error *err)
{
    const BpfMap maps[] = {
        [CAPTURE_MAP_NEXT] = {c->next_fd, false},
        [CAPTURE_MAP_OUTPUTS] = {c->outputs_fd, false},
        [CAPTURE_MAP_SCRATCH] = {c->scratch_fd, false},
        [CAPTURE_MAP_TARGETS] = {c->targets_fd, false},
    };
    c->program_fd = bpf_load_for_samples(&capture_program.programs[0], maps, err);
    return c->program_fd >= 0;
}

static bool make_maps(uint32_t cpus, Capture *c)
{
    c->targets_fd = bpf_array_make(sizeof(CaptureTarget), CAPTURE_TARGETS, BPF_F_MMAPABLE);
    c->scratch_fd = bpf_array_make(SCRATCH_BYTES, cpus, 0);
    c->outputs_fd = bpf_event_array_make(cpus);
    c->next_fd = bpf_program_array_make(1);
    if (c->targets_fd < 0 || c->scratch_fd < 0 || c->outputs_fd < 0 || c->next_fd < 0)
        return false;
    void *at = mmap(NULL, CAPTURE_TARGETS * sizeof(CaptureTarget), PROT_READ | PROT_WRITE,
                    MAP_SHARED, c->targets_fd, 0);
    c->targets = at == MAP_FAILED ? NULL : at;
    return c->targets != NULL;
}

static bool open_outputs(Arena *arena, EventSet *events, Capture *c)
{
    struct perf_event_attr attr = bpf_output_attr(&events->base);
    if (!bpf_outputs_open(&attr, events->cpus, events->ring_fds, events->ring_count, c->outputs_fd,
                          c->event_fds, c->ids, &c->event_count))
        return false;
    events_add_outputs(arena, events, &attr, c->ids, c->event_count);
    return true;
}

static bool open_all(Arena *arena, EventSet *events, int next, Capture *c, Error *err)
{
    uint32_t cpus = 0;
    for (size_t i = 0; i < events->cpu_count; i++)
        cpus = MAX(cpus, events->cpus[i] + 1);
    if (!make_maps(cpus, c) || (next >= 0 && !bpf_element_set(c->next_fd, 0, &next)) ||
        !open_outputs(arena, events, c))
        return error_os(err, "cannot make the tables of a BPF program");
    return load_program(c, err);
}

bool capture_open(Arena *arena, EventSet *events, int next, Capture *ret, Error *err)
{
    Capture c = {
        .targets_fd = -1, .scratch_fd = -1, .outputs_fd = -1, .next_fd = -1, .program_fd = -1};
    *ret = (Capture){0};
    if (!privilege_is_special() || events->per_thread || events->stacks != STACKS_TABLES)
        return error_set(err, ERROR_PERMISSION, "not possible for this user or recording");
    c.event_fds = arena_array(arena, int, events->ring_count);
    c.ids = arena_array(arena, uint64_t, events->ring_count);
    size_t outputs = events->output_count;
    if (open_all(arena, events, next, &c, err)) {
        *ret = c;
        return true;
    }
    events->output_count = outputs;
    capture_close(&c);
    return false;
}

void capture_close(Capture *c)
{
    const int fds[] = {c->targets_fd, c->scratch_fd, c->outputs_fd, c->next_fd, c->program_fd};
    if (!c->event_fds)
        return;
    if (c->targets)
        munmap(c->targets, CAPTURE_TARGETS * sizeof(CaptureTarget));
    for (size_t i = 0; i < c->event_count; i++)
        close(c->event_fds[i]);
    for (size_t i = 0; i < ARRAY_LEN(fds); i++)
        if (fds[i] >= 0)
            close(fds[i]);
    *c = (Capture){0};
}
