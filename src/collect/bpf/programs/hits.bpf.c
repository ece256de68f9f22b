// SPDX-License-Identifier: Apache-2.0
// Also under BSD-2-Clause or GPL-2.0-only, as the kernel asks of programs that it runs.
// Counts the hits of probes in some processes and in those that they make
// (docs/decisions/0304).

#include "wire/hits.h"

#include "collect/bpf/programs/kernel.h"
#include "collect/bpf/programs/processes.h"
#include "wire/process_set.h"

extern const volatile HitConfig config MAP;
extern HitShared shared MAP;

// The cookie is the number of the row.
PROGRAM("kprobe") int on_hit(void *ctx)
{
    if (!shared.is_counting ||
        !processes_have(&shared.processes, (uint32_t)(bpf_get_current_pid_tgid() >> 32)))
        return 0;
    uint32_t row = (uint32_t)bpf_get_attach_cookie(ctx) & (HIT_ROWS - 1);
    uint32_t cpu = bpf_get_smp_processor_id() & (HIT_CPUS - 1);
    __sync_fetch_and_add(&shared.counts[row * HIT_CPUS + cpu], 1);
    return 0; // no sample is written
}

PROGRAM("sched_process_fork") int on_fork(uint64_t *ctx)
{
    processes_follow(&shared.processes, ctx, config.task_tgid);
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
    processes_leave(&shared.processes, ctx, config.has_group);
    return 0;
}
