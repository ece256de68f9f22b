// SPDX-License-Identifier: Apache-2.0
// Loads the programs of collect/bpf/programs/hits.bpf.c and sets them at probes.

#include "collect/counters/family_hits.h"

#include "collect/bpf/bpf.h"
#include "collect/bpf/process_set.h"
#include "collect/bpf/programs/hits_program.h"
#include "os/perf_event.h"
#include "os/proc.h"
#include "wire/hits.h"

#include <assert.h>
#include <errno.h>
#include <linux/bpf.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static_assert((int)FAMILY_ROWS_MAX == (int)HIT_ROWS, "the program has a count for each row");

struct FamilyHits {
    int config_fd, shared_fd;
    HitShared *shared;
    Vec(int) fds; // programs, links and events
};

static bool make_maps(const BpfTypes *types, FamilyHits *h, Error *err)
{
    uint32_t args = 0;
    HitConfig config = {0};
    if (!bpf_types_offset(types, "task_struct", "tgid", &config.task_tgid))
        return error_set(err, ERROR_UNSUPPORTED, "this kernel has no task_struct.tgid");
    (void)bpf_types_tracepoint(types, "sched_process_exit", &args);
    config.has_group = args >= 2;
    h->config_fd = bpf_array_make(sizeof(config), 1, BPF_F_RDONLY_PROG);
    h->shared_fd = bpf_array_make(sizeof(HitShared), 1, BPF_F_MMAPABLE);
    if (h->config_fd < 0 || h->shared_fd < 0 || !bpf_element_set(h->config_fd, 0, &config) ||
        !bpf_freeze(h->config_fd))
        return error_os(err, "cannot make the tables of BPF programs");
    void *at = mmap(NULL, sizeof(HitShared), PROT_READ | PROT_WRITE, MAP_SHARED, h->shared_fd, 0);
    if (at == MAP_FAILED)
        return error_os(err, "cannot map the tables of BPF programs");
    h->shared = at;
    return true;
}

// The program runs at the probe on every CPU, whichever CPU the event is for: one event is enough.
static bool set_place(FamilyHits *h, int program, const FamilyPlace *place, int cpu, Error *err)
{
    struct perf_event_attr attr = {.disabled = 1};
    event_spec_apply(place->spec, &attr);
    int fd = perf_event_open(&attr, -1, cpu, -1);
    int reason = errno;
    PerfLimits limits = perf_limits();
    if (fd < 0)
        return perf_explain(reason, &limits, &attr, place->spec->name, true, err);
    vec_push(NULL, &h->fds, fd);
    int link = bpf_attach_to_event(program, fd, place->row);
    if (link < 0)
        return error_os(err, "cannot count '%" STR_FMT "' by a BPF program",
                        STR_ARG(place->spec->name));
    vec_push(NULL, &h->fds, link);
    return true;
}

static bool set_places(FamilyHits *h, int program, const FamilyPlaceVec *places, Error *err)
{
    U32Vec cpus = {0};
    bool ok = cpu_list_online(&cpus, err);
    for (size_t i = 0; ok && i < places->len; i++)
        ok = set_place(h, program, &places->at[i], (int)cpus.at[0], err);
    vec_free(&cpus);
    return ok;
}

static bool attach_all(FamilyHits *h, const BpfTypes *types, const FamilyPlaceVec *places,
                       Error *err)
{
    const BpfMap maps[] = {
        [HITS_MAP_CONFIG] = {h->config_fd, true}, [HITS_MAP_SHARED] = {h->shared_fd, true}};
    for (uint32_t i = 0; i < hits_program.count; i++) {
        const BpfCode *code = &hits_program.programs[i];
        int fds[2];
        if (strcmp(code->tracepoint, "kprobe") == 0) {
            int program = bpf_load_for_samples(code, maps, err);
            if (program < 0)
                return false;
            vec_push(NULL, &h->fds, program);
            if (!set_places(h, program, places, err))
                return false;
            continue;
        }
        if (bpf_attach(code, maps, types, fds, err) == 0)
            return false;
        vec_push(NULL, &h->fds, fds[0]);
        vec_push(NULL, &h->fds, fds[1]);
    }
    return true;
}

bool family_hits_open(const FamilyPlaceVec *places, const uint32_t *pids, size_t count,
                      FamilyHits **ret, Error *err)
{
    BpfTypes *types;
    if (!bpf_types_open(BPF_TYPES_PATH, &types, err))
        return false;
    FamilyHits *h = heap_alloc(sizeof(*h));
    *h = (FamilyHits){.config_fd = -1, .shared_fd = -1};
    bool ok = make_maps(types, h, err);
    for (size_t i = 0; ok && i < count; i++)
        process_set_add(&h->shared->processes, pids[i]);
    ok = ok && attach_all(h, types, places, err);
    bpf_types_close(types);
    if (!ok) {
        family_hits_close(h);
        return false;
    }
    *ret = h;
    return true;
}

void family_hits_close(FamilyHits *h)
{
    if (!h)
        return;
    for (size_t i = h->fds.len; i > 0; i--)
        close(h->fds.at[i - 1]);
    vec_free(&h->fds);
    if (h->shared)
        munmap(h->shared, sizeof(*h->shared));
    if (h->config_fd >= 0)
        close(h->config_fd);
    if (h->shared_fd >= 0)
        close(h->shared_fd);
    heap_free(h);
}

void family_hits_enable(FamilyHits *h, bool counts)
{
    __atomic_store_n(&h->shared->waits_for, 0, __ATOMIC_SEQ_CST);
    __atomic_store_n(&h->shared->is_counting, counts, __ATOMIC_SEQ_CST);
}

void family_hits_enable_at_exec(FamilyHits *h, uint32_t pid)
{
    __atomic_store_n(&h->shared->waits_for, pid, __ATOMIC_SEQ_CST);
}

uint64_t family_hits_read(const FamilyHits *h, uint32_t row)
{
    uint64_t sum = 0;
    for (uint32_t cpu = 0; cpu < HIT_CPUS; cpu++)
        sum += __atomic_load_n(&h->shared->counts[row * HIT_CPUS + cpu], __ATOMIC_RELAXED);
    return sum;
}

uint64_t family_hits_left_out(const FamilyHits *h)
{
    return h->shared->processes.no_room;
}
