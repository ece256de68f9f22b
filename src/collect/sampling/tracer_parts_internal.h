// SPDX-License-Identifier: Apache-2.0
// The functions that the parts of the tracer share: records, threads, samples.
// tracer_internal.h has the public part.

#ifndef COLLECT_SAMPLING_TRACER_PARTS_INTERNAL_H
#define COLLECT_SAMPLING_TRACER_PARTS_INTERNAL_H

#include "collect/sampling/tracer_internal.h"
#include "os/proc.h"

#include <sys/user.h>

typedef struct user_regs_struct UserRegs;

enum {
    TRACER_EVENT_ID = 1,
    TRACER_STACK_BYTES_MAX = 65024, // the size of a record has 16 bits
};

// ---- Records: tracer_records.c --------------------------------------------------------

// Passes the chunk that is being filled to the worker.
void tracer_push(Tracer *t);
// Writes a PERF_RECORD_FORK or PERF_RECORD_EXIT (`type`).
void tracer_tell_task(Tracer *t, uint32_t type, uint32_t pid, uint32_t parent_pid, uint32_t tid,
                      uint32_t parent_tid);
// Writes a PERF_RECORD_COMM: the thread has this name now; `exec`: because of an exec.
void tracer_tell_name(Tracer *t, uint32_t pid, uint32_t tid, Str name, bool exec);
// Writes a PERF_RECORD_MMAP2 for an executable mapping.
void tracer_tell_map(Tracer *t, uint32_t pid, const ProcMap *m);
// Writes a PERF_RECORD_SAMPLE that accounts for `weight_ns` of processor time, with the present
// stack of the stopped thread. When the queue is full it only counts the sample as dropped.
void tracer_tell_sample(Tracer *t, const TracedThread *thread, const TracedProcess *p,
                        const UserRegs *regs, uint32_t cpu, uint64_t weight_ns);
// Writes a PERF_RECORD_SAMPLE of an event at a breakpoint, which stands for `weight` hits.
void tracer_tell_hit(Tracer *t, const TracedThread *thread, const TracedProcess *p,
                     const UserRegs *regs, uint32_t event, uint64_t weight);

// ---- Processes and threads: tracer_threads.c ------------------------------------------

// Find or add a row. tracer_find_* return NULL when there is none. A pointer to a row is valid
// until the next row of its kind is added. A new process takes over the mappings of `parent`
// (NULL: none).
TracedThread *tracer_find_thread(Tracer *t, uint32_t tid);
TracedProcess *tracer_find_process(Tracer *t, uint32_t pid);
TracedProcess *tracer_add_process(Tracer *t, uint32_t pid, const TracedProcess *parent);
TracedThread *tracer_add_thread(Tracer *t, TracedProcess *p, uint32_t tid);
// The row of a thread that the kernel reports. For a new thread it adds the row and writes the
// records. `parent_tid` is 0 when it is not known. NULL when the thread has ended already.
TracedThread *tracer_need_thread(Tracer *t, uint32_t tid, uint32_t parent_tid);
// Closes a thread that has ended, and its process after its last thread.
void tracer_remove_thread(Tracer *t, TracedThread *thread);
// Removes the rows of ended threads when they are more than half.
void tracer_forget_gone(Tracer *t);
// Close the descriptors of a thread, or of a process, whose list of mappings is freed, too.
void tracer_close_thread(TracedThread *thread);
void tracer_close_process(TracedProcess *p);
// Opens /proc/PID/mem. Call it again after an exec: the old descriptor refers to memory that no
// longer exists.
void tracer_open_memory(const Tracer *t, TracedProcess *p);

typedef struct ThreadStat {
    Str name; // in the caller's buffer
    char state;
    uint64_t ticks; // of processor time
    uint32_t cpu;
} ThreadStat;

// Reads and parses /proc/PID/task/TID/stat by way of `buf`. False when it cannot be read.
MUST_CHECK bool tracer_read_stat(const TracedThread *thread, char *buf, size_t size,
                                 ThreadStat *ret);
// Reads the processor time of a thread and how often it was scheduled in. Exact for a thread that
// is stopped; for one that runs, as of the kernel's last timer tick.
MUST_CHECK bool tracer_read_cpu_time(const TracedThread *thread, uint64_t *ret_ns,
                                     uint64_t *ret_switches);
// Writes records for all executable mappings that have none yet.
void tracer_read_maps(Tracer *t, TracedProcess *p);
// The same, but only when the size of the address space has changed, and not too often.
void tracer_refresh_maps(Tracer *t, TracedProcess *p);

// Writes a record when the thread has another name than the last record said.
void tracer_look_at_name(Tracer *t, TracedThread *thread, Str name);

// ---- Breakpoints: tracer_breaks.c -----------------------------------------------------

// The fate of a thread that was stopped by SIGTRAP.
typedef struct BreakStop {
    bool is_ours; // it was at a breakpoint, which may have been removed since
    int signal;   // to go on with; 0: none
    int ended;    // its wait status, when it reported another thing meanwhile; 0: none
} BreakStop;

// Sets the breakpoints of a program that has just been executed.
void tracer_break_program(Tracer *t, TracedProcess *p);
// Handles a stop by SIGTRAP: takes the sample that is due, if any, and lets the thread pass the
// instruction.
BreakStop tracer_break_stop(Tracer *t, TracedThread *thread);
// Call it before any other signal is delivered: a thread that is in the copy of an instruction is
// put back to where the program has the instruction, so that its handlers see no address of ours.
void tracer_break_signal(Tracer *t, TracedThread *thread, int signal);
// Removes the breakpoints of all processes. Threads may run.
void tracer_break_clean(Tracer *t);

// ---- Samples: tracer_samples.c --------------------------------------------------------

// Takes a sample of a stopped thread; it accounts for the processor time since its last sample.
void tracer_take_sample(Tracer *t, TracedThread *thread);

#endif // COLLECT_SAMPLING_TRACER_PARTS_INTERNAL_H
