// SPDX-License-Identifier: Apache-2.0
// Loads the program of collect/bpf/programs/known.bpf.c.

#include "collect/sampling/known_samples_internal.h"

#include "collect/bpf/bpf.h"
#include "collect/bpf/programs/known_program.h"
#include "os/privilege.h"

#include <errno.h>
#include <linux/bpf.h>
#include <sys/mman.h>
#include <unistd.h>

// Larger than the program's scratch memory.
enum { SCRATCH_BYTES = KNOWN_HASH_MAX + 4 * 8 * KNOWN_CHAIN_MAX };

static bool can_open(const EventSet *events)
{
#if defined(__x86_64__)
    const EventSpec *first = &events->events.at[0];
    bool is_plain = first->type == PERF_TYPE_SOFTWARE || first->type == PERF_TYPE_HARDWARE;
    return privilege_is_special() && !events->per_thread && events->stacks == STACKS_TABLES &&
           events->events.len == 1 && is_plain && !events->group_read && first->arg_count == 0 &&
           !events->copies && !events->options->copy_stacks &&
           !(events->options->calls && events->options->calls->places.len);
#else
    (void)events;
    return false;
#endif
}

static bool make_maps(uint32_t cpus, KnownSamples *k)
{
    k->shared_fd = bpf_array_make(sizeof(KnownShared), 1, BPF_F_MMAPABLE);
    k->scratch_fd = bpf_array_make(SCRATCH_BYTES, cpus, 0);
    k->outputs_fd = bpf_event_array_make(cpus);
    if (k->shared_fd < 0 || k->scratch_fd < 0 || k->outputs_fd < 0)
        return false;
    void *at = mmap(NULL, sizeof(KnownShared), PROT_READ | PROT_WRITE, MAP_SHARED, k->shared_fd, 0);
    k->shared = at == MAP_FAILED ? NULL : at;
    return k->shared != NULL;
}

static bool open_outputs(Arena *arena, EventSet *events, KnownSamples *k)
{
    struct perf_event_attr attr = bpf_output_attr(&events->base);
    if (!bpf_outputs_open(&attr, events->cpus, events->ring_fds, events->ring_count, k->outputs_fd,
                          k->event_fds, k->ids, &k->event_count))
        return false;
    events_add_outputs(arena, events, &attr, k->ids, k->event_count);
    return true;
}

static bool open_all(Arena *arena, EventSet *events, KnownSamples *k, Error *err)
{
    uint32_t cpus = 0;
    for (size_t i = 0; i < events->cpu_count; i++)
        cpus = MAX(cpus, events->cpus[i] + 1);
    if (!make_maps(cpus, k) || !open_outputs(arena, events, k))
        return error_os(err, "cannot make the tables of known stacks");
    const BpfMap maps[] = {
        [KNOWN_MAP_OUTPUTS] = {k->outputs_fd, false},
        [KNOWN_MAP_SCRATCH] = {k->scratch_fd, false},
        [KNOWN_MAP_SHARED] = {k->shared_fd, true},
    };
    k->program_fd = bpf_load_for_samples(&known_program.programs[0], maps, err);
    return k->program_fd >= 0;
}

bool known_samples_open(Arena *arena, EventSet *events, KnownSamples *ret, Error *err)
{
    KnownSamples k = {.shared_fd = -1, .scratch_fd = -1, .outputs_fd = -1, .program_fd = -1};
    *ret = (KnownSamples){0};
    if (!can_open(events))
        return error_set(err, ERROR_PERMISSION, "not possible for this user or recording");
    k.event_fds = arena_array(arena, int, events->ring_count);
    k.ids = arena_array(arena, uint64_t, events->ring_count);
    if (open_all(arena, events, &k, err)) {
        *ret = k;
        return true;
    }
    events->output_count = 0;
    known_samples_close(&k);
    return false;
}

void known_samples_close(KnownSamples *k)
{
    const int fds[] = {k->shared_fd, k->scratch_fd, k->outputs_fd, k->program_fd};
    if (!k->event_fds)
        return;
    if (k->shared)
        munmap(k->shared, sizeof(KnownShared));
    for (size_t i = 0; i < k->event_count; i++)
        close(k->event_fds[i]);
    for (size_t i = 0; i < ARRAY_LEN(fds); i++)
        if (fds[i] >= 0)
            close(fds[i]);
    *k = (KnownSamples){0};
}

bool known_samples_takes(const KnownSamples *k, uint64_t id)
{
    for (size_t i = 0; i < k->event_count; i++)
        if (k->ids[i] == id)
            return true;
    return false;
}
