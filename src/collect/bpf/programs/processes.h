// SPDX-License-Identifier: Apache-2.0
// Also under BSD-2-Clause or GPL-2.0-only, as the kernel asks of programs that it runs.
// A BPF program's side of a set of processes: which are in it, and how it follows their children.

#ifndef COLLECT_BPF_PROGRAMS_PROCESSES_H
#define COLLECT_BPF_PROGRAMS_PROCESSES_H

#include "wire/process_set.h"

#include "collect/bpf/programs/kernel.h"

INLINE bool processes_have(const ProcessSet *s, uint32_t pid)
{
    for (uint32_t i = 0; i < PROCESS_SET_PROBES; i++)
        if (s->pids[(pid + i) & (PROCESS_SET_PLACES - 1)] == pid)
            return true;
    return false;
}

// At sched_process_fork: adds a new process whose parent is in the set. `task_tgid` is the offset
// of the number in struct task_struct.
INLINE void processes_follow(ProcessSet *s, const uint64_t *ctx, uint32_t task_tgid)
{
    uint32_t parent = *(uint32_t *)((char *)ctx[0] + task_tgid);
    uint32_t child = *(uint32_t *)((char *)ctx[1] + task_tgid);
    if (parent == child || !processes_have(s, parent))
        return;
    for (uint32_t i = 0; i < PROCESS_SET_PROBES; i++)
        if (__sync_val_compare_and_swap(&s->pids[(child + i) & (PROCESS_SET_PLACES - 1)], 0,
                                        child) == 0)
            return;
    __sync_fetch_and_add(&s->no_room, 1);
}

// At sched_process_exit: removes the process with its last thread. `has_group`: the tracepoint says
// which one that is.
INLINE void processes_leave(ProcessSet *s, const uint64_t *ctx, bool has_group)
{
    uint64_t id = bpf_get_current_pid_tgid();
    uint32_t tgid = (uint32_t)(id >> 32);
    if (has_group ? !(ctx[1] & 0xff) : (uint32_t)id != tgid)
        return;
    for (uint32_t i = 0; i < PROCESS_SET_PROBES; i++)
        if (s->pids[(tgid + i) & (PROCESS_SET_PLACES - 1)] == tgid)
            s->pids[(tgid + i) & (PROCESS_SET_PLACES - 1)] = 0;
}

#endif // COLLECT_BPF_PROGRAMS_PROCESSES_H
