// SPDX-License-Identifier: Apache-2.0
// What the parts of the tracer have of each other: its records, its threads, its
// samples. See tracer_internal.h for the whole.

#ifndef COLLECT_SAMPLING_TRACER_PARTS_INTERNAL_H
#define COLLECT_SAMPLING_TRACER_PARTS_INTERNAL_H

#include "collect/sampling/tracer_internal.h"
#include "os/proc.h"

#include <sys/user.h>

#if defined(__x86_64__)
typedef struct user_regs_struct UserRegs;
#else
typedef struct user_pt_regs UserRegs;
#endif

enum {
    TRACER_EVENT_ID = 1,
    TRACER_STACK_BYTES_MAX = 65024, // a record has 16 bits for its size
};

// ---- Records: tracer_records.c --------------------------------------------------------

// Gives the worker what came together.
void tracer_push(Tracer *t);
// PERF_RECORD_FORK or PERF_RECORD_EXIT.
void tracer_tell_task(Tracer *t, uint32_t type, uint32_t pid, uint32_t parent_pid, uint32_t tid,
                      uint32_t parent_tid);
void tracer_tell_name(Tracer *t, uint32_t pid, uint32_t tid, Str name, bool exec);
void tracer_tell_map(Tracer *t, uint32_t pid, const ProcMap *m);
// With the stack as it is now; counted as dropped where the worker is too far behind.
void tracer_tell_sample(Tracer *t, const TracedThread *thread, const TracedProcess *p,
                        const UserRegs *regs, uint32_t cpu, uint64_t weight_ns);

// ---- Processes and threads: tracer_threads.c ------------------------------------------

// NULL when there is none. A pointer to a thread or process holds until the next is added.
TracedThread *tracer_find_thread(Tracer *t, uint32_t tid);
TracedProcess *tracer_find_process(Tracer *t, uint32_t pid);
TracedProcess *tracer_add_process(Tracer *t, uint32_t pid, const TracedProcess *parent);
TracedThread *tracer_add_thread(Tracer *t, TracedProcess *p, uint32_t tid);
// A thread that the kernel made ours, told of when it is new. `parent_tid` is 0 where
// nobody said. NULL when it is gone already.
TracedThread *tracer_need_thread(Tracer *t, uint32_t tid, uint32_t parent_tid);
// With its process, when it was the last of it.
void tracer_remove_thread(Tracer *t, TracedThread *thread);
// Drops the rows of threads that ended when they are the greater part.
void tracer_forget_gone(Tracer *t);
void tracer_close_thread(TracedThread *thread);
void tracer_close_process(TracedProcess *p);
// Again after an exec: the descriptor of before is of memory that is gone.
void tracer_open_memory(TracedProcess *p);

typedef struct ThreadStat {
    Str name; // in the caller's buffer
    char state;
    uint64_t ticks; // of processor time
    uint32_t cpu;
} ThreadStat;

MUST_CHECK bool tracer_read_stat(const TracedThread *thread, char *buf, size_t size,
                                 ThreadStat *ret);
// Processor time of a thread, and how often it was given a processor. Exact while it
// stands; of a thread that runs the kernel knows it up to its last tick.
MUST_CHECK bool tracer_read_cpu_time(const TracedThread *thread, uint64_t *ret_ns,
                                     uint64_t *ret_switches);
// Tells of executable mappings that were not told yet.
void tracer_read_maps(Tracer *t, TracedProcess *p);
// The same, when the size of the address space says that there may be any.
void tracer_refresh_maps(Tracer *t, TracedProcess *p);

// ---- Samples: tracer_samples.c --------------------------------------------------------

// The thread stands. It stands for the processor time since its last sample.
void tracer_take_sample(Tracer *t, TracedThread *thread);

#endif // COLLECT_SAMPLING_TRACER_PARTS_INTERNAL_H
