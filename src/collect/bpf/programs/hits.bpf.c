// SPDX-License-Identifier: Apache-2.0
// Also under BSD-2-Clause or GPL-2.0-only, as the kernel asks of programs that it runs.
// Counts the hits of probes in some processes and in those that they make
// (docs/decisions/0304).

#include "wire/hits.h"

#include "collect/bpf/programs/kernel.h"

extern const volatile HitConfig config MAP;
extern HitShared shared MAP;

INLINE bool is_counted(uint32_t tgid)
{
    for (uint32_t i = 0; i < HIT_PROBES; i++)
        if (shared.pids[(tgid + i) & (HIT_PIDS - 1)] == tgid)
            return true;
    return false;
}

// The cookie is the number of the row.
PROGRAM("kprobe") int on_hit(void *ctx)
{
    if (!shared.is_counting || !is_counted((uint32_t)(bpf_get_current_pid_tgid() >> 32)))
        return 0;
    uint32_t row = (uint32_t)bpf_get_attach_cookie(ctx) & (HIT_ROWS - 1);
    uint32_t cpu = bpf_get_smp_processor_id() & (HIT_CPUS - 1);
    __sync_fetch_and_add(&shared.counts[row * HIT_CPUS + cpu], 1);
    return 0; // no sample is written
}

PROGRAM("sched_process_fork") int on_fork(uint64_t *ctx)
{
    uint32_t parent = *(uint32_t *)((char *)ctx[0] + config.task_tgid);
    uint32_t child = *(uint32_t *)((char *)ctx[1] + config.task_tgid);
    if (parent == child || !is_counted(parent))
        return 0;
    for (uint32_t i = 0; i < HIT_PROBES; i++)
        if (__sync_val_compare_and_swap(&shared.pids[(child + i) & (HIT_PIDS - 1)], 0, child) == 0)
            return 0;
    __sync_fetch_and_add(&shared.no_room, 1);
    return 0;
}

PROGRAM("sched_process_exec") int on_exec(uint64_t *ctx)
{
    (void)ctx;
    if (shared.waits_for && shared.waits_for == (uint32_t)(bpf_get_current_pid_tgid() >> 32)) {
        shared.waits_for = 0;
        shared.is_counting = 1;
    }
    return 0;
}

PROGRAM("sched_process_exit") int on_exit(uint64_t *ctx)
{
    uint64_t id = bpf_get_current_pid_tgid();
    uint32_t tgid = (uint32_t)(id >> 32);
    if (config.has_group ? !(ctx[1] & 0xff) : (uint32_t)id != tgid)
        return 0;
    for (uint32_t i = 0; i < HIT_PROBES; i++)
        if (shared.pids[(tgid + i) & (HIT_PIDS - 1)] == tgid)
            shared.pids[(tgid + i) & (HIT_PIDS - 1)] = 0;
    return 0;
}
