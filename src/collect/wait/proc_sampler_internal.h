// SPDX-License-Identifier: Apache-2.0
// Looks at what threads of one's own user do, by /proc and without stopping them: a thread that
// sleeps states its system call, its stack pointer and where it is (proc(5), "syscall"), and its
// stack does not change. Needs no right beyond those of a debugger.

#ifndef COLLECT_WAIT_PROC_SAMPLER_INTERNAL_H
#define COLLECT_WAIT_PROC_SAMPLER_INTERNAL_H

#include "base/defs.h"
#include "base/error.h"

#include <sys/types.h>

enum {
    PROC_STACK_BYTES = 32 << 10, // of a stack at most
    PROC_TICK_NS = 10000000,     // between two looks
};

// What a thread was seen to wait for, over one or more looks. The sampler makes it, and gives it to
// the reader by two events: when it begins, and when it is over.
typedef struct ProcWait {
    uint64_t begin_ns, end_ns;      // of the looks that saw it
    uint64_t span_ns;               // the time that it stands for
    uint32_t count;                 // of single waits: the thread ran between them
    uint64_t longest_ns, single_ns; // of the longest, and of the last so far
    uint32_t pid, tid;
    uint32_t call; // WAIT_NO_CALL: outside of a system call
    uint32_t how;  // WAIT_HOW_*
    uint64_t args[3];
    uint64_t sp, pc;
    uint32_t stack_len;
    uint8_t *stack; // heap memory; the reader frees it when it has unwound it
    uint64_t mark;  // the reader's
} ProcWait;

// A thread from the first look to the last one at it.
typedef struct ProcLife {
    uint32_t pid, tid;
    uint64_t begin_ns, end_ns;
    uint64_t run_ns, delay_ns; // processor time, and the time that it had to wait for one
    uint64_t turns;            // how often it got a processor
    uint64_t running_ns;       // that the looks saw it run, or wait for a processor
} ProcLife;

typedef enum ProcEventKind { PROC_WAIT_BEGINS, PROC_WAIT_ENDS, PROC_THREAD_ENDS } ProcEventKind;

typedef struct ProcEvent {
    ProcEventKind kind;
    uint64_t time_ns;
    ProcWait *wait; // of the first two; heap memory, the reader's from PROC_WAIT_ENDS on
    ProcLife life;  // of the last
} ProcEvent;

typedef struct ProcSampler ProcSampler;

// Starts a thread that looks at all threads of the processes that are added. Heap memory:
// proc_sampler_close.
// `inherit`: processes that watched ones make are added, too.
MUST_CHECK bool proc_sampler_open(bool inherit, ProcSampler **ret, Error *err);
// Ends the thread. Waits that go on end now; their events stay to be taken.
void proc_sampler_stop(ProcSampler *s);
void proc_sampler_close(ProcSampler *s); // accepts NULL

// Adds a process, unless it is there. `is_new`: one that was made meanwhile, so that its threads
// began with it.
void proc_sampler_add(ProcSampler *s, uint32_t pid, bool is_new);
// Takes the oldest event, up to a time of the clock of the machine. False: there is none.
bool proc_sampler_take(ProcSampler *s, uint64_t until_ns, ProcEvent *ret);

typedef struct ProcSamplerCounts {
    uint64_t looks;   // at a thread
    uint64_t refused; // threads that may not be looked at
    uint64_t cpu_ns;  // of the thread that looks
} ProcSamplerCounts;
// To be called after proc_sampler_stop.
ProcSamplerCounts proc_sampler_counts(const ProcSampler *s);

// When it looked, ascending. To be called after proc_sampler_stop; borrowed.
const uint64_t *proc_sampler_looks(const ProcSampler *s, size_t *count);

// Reads a line of /proc/PID/task/TID/syscall. False: the thread runs, or this is no such line.
bool proc_syscall_parse(Str line, ProcWait *ret);

#endif // COLLECT_WAIT_PROC_SAMPLER_INTERNAL_H
