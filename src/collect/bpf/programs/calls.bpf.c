// SPDX-License-Identifier: Apache-2.0
// Also under BSD-2-Clause or GPL-2.0-only, as the kernel asks of programs that it runs.
// Notes entries and returns of functions, in the processes of a recording and in those that they
// make (docs/decisions/0300).

#include "wire/calls.h"

#include "collect/bpf/programs/kernel.h"
#include "collect/bpf/programs/processes.h"
#include "wire/process_set.h"

// Numbers of words of struct pt_regs on x86-64 (asm/ptrace.h).
enum { REGS_R14 = 1, REGS_AX = 10, REGS_SP = 19 };

extern const volatile CallConfig config MAP;
extern CallShared shared MAP;
extern int outputs MAP; // an event for each CPU

INLINE void count(uint64_t *counter)
{
    __sync_fetch_and_add(counter, 1);
}

PROGRAM("uprobe") int on_hit(uint64_t *ctx)
{
    if (!config.every &&
        !processes_have(&shared.processes, (uint32_t)(bpf_get_current_pid_tgid() >> 32)))
        return 0;
    CallRecord r;
    uint64_t size = __builtin_offsetof(CallRecord, regs);
    r.cookie = bpf_get_attach_cookie(ctx);
    r.sp = ctx[REGS_SP];
    r.goroutine = r.cookie & CALL_IS_GO ? ctx[REGS_R14] : 0;
    r.goroutine_id = 0;
    uint64_t id_at = r.cookie >> CALL_GOID_SHIFT & CALL_GOID_MASK;
    if (id_at)
        bpf_probe_read_user(&r.goroutine_id, sizeof(r.goroutine_id),
                            (const void *)(r.goroutine + id_at));
    r.result = ctx[REGS_AX];
    r.return_address = 0;
    if (r.cookie & CALL_IS_HIDDEN)
        bpf_probe_read_user(&r.return_address, sizeof(r.return_address), (const void *)r.sp);
    count(&shared.hits);
    if (!(r.cookie & CALL_TAKES_REGS)) {
        if (bpf_perf_event_output(ctx, &outputs, THIS_CPU, &r, size))
            count(&shared.lost);
        return 0;
    }
#pragma unroll
    for (uint32_t i = 0; i < CALL_REGS; i++)
        r.regs[i] = ctx[i];
    if (bpf_perf_event_output(ctx, &outputs, THIS_CPU, &r, sizeof(r)))
        count(&shared.lost);
    return 0;
}

PROGRAM("sched_process_fork") int on_fork(uint64_t *ctx)
{
    if (config.inherit)
        processes_follow(&shared.processes, ctx, config.task_tgid);
    return 0;
}

PROGRAM("sched_process_exit") int on_exit(uint64_t *ctx)
{
    processes_leave(&shared.processes, ctx, config.has_group);
    return 0;
}
