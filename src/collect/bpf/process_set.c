// SPDX-License-Identifier: Apache-2.0
// The collector's side of a set of processes that BPF programs read and write.

#include "collect/bpf/process_set.h"

#include <stdbool.h>

void process_set_add(ProcessSet *s, uint32_t pid)
{
    for (uint32_t i = 0; i < PROCESS_SET_PROBES; i++)
        if (__atomic_load_n(&s->pids[(pid + i) & (PROCESS_SET_PLACES - 1)], __ATOMIC_ACQUIRE) ==
            pid)
            return;
    for (uint32_t i = 0; i < PROCESS_SET_PROBES; i++) {
        uint32_t free = 0;
        if (__atomic_compare_exchange_n(&s->pids[(pid + i) & (PROCESS_SET_PLACES - 1)], &free, pid,
                                        false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
            return;
    }
    __atomic_fetch_add(&s->no_room, 1, __ATOMIC_RELAXED);
}

void process_set_remove(ProcessSet *s, uint32_t pid)
{
    for (uint32_t i = 0; i < PROCESS_SET_PROBES; i++) {
        uint32_t own = pid;
        (void)__atomic_compare_exchange_n(&s->pids[(pid + i) & (PROCESS_SET_PLACES - 1)], &own, 0,
                                          false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    }
}
