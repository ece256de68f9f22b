// SPDX-License-Identifier: Apache-2.0
// Looks at what threads of one's own user do, by /proc and without stopping them: a thread that
// sleeps states its system call, its stack pointer and where it is (proc(5), "syscall"), and its
// stack does not change. Needs no right beyond those of a debugger.

#ifndef COLLECT_WAIT_PROC_SAMPLER_INTERNAL_H
#define COLLECT_WAIT_PROC_SAMPLER_INTERNAL_H

#include "base/error.h"
#include "collect/wait/proc_look_internal.h"
#include "os/proc.h"

enum { PROC_TICK_NS = 10000000 }; // between two looks

// A thread from the first look to the last one at it.
typedef struct ProcLife {
    uint32_t pid, tid;
    uint64_t begin_ns, end_ns;
    uint64_t run_ns, delay_ns; // processor time, and the time that it had to wait for one
    uint64_t turns;            // how often it got a processor
    uint64_t running_ns;       // that the looks saw it run, or wait for a processor
} ProcLife;

// The mappings of a process, on the heap; the reader frees them.
typedef struct ProcMaps {
    Arena arena;
    ProcMapVec at;
} ProcMaps;

void proc_maps_free(ProcMaps *maps); // accepts NULL

typedef enum ProcEventKind {
    PROC_WAIT_BEGINS,
    PROC_WAIT_ENDS,
    PROC_THREAD_ENDS,
    PROC_HAS_MAPS
} ProcEventKind;

typedef struct ProcEvent {
    ProcEventKind kind;
    uint64_t time_ns;
    ProcWait *wait; // of the first two; heap memory, the reader's from PROC_WAIT_ENDS on
    ProcLife life;  // of PROC_THREAD_ENDS
    uint32_t pid;   // of PROC_HAS_MAPS
    ProcMaps *maps;
} ProcEvent;

typedef struct ProcSampler ProcSampler;

// Starts a thread that looks at all threads of the processes that are added. Heap memory:
// proc_sampler_close.
// `inherit`: processes that watched ones make are added, too. `reads_maps`: an event with the
// mappings of a process comes before its first wait, and again when a thread waits at a place
// outside of them.
// `every`: all processes of the machine are looked at, without this one and the kernel's.
MUST_CHECK bool proc_sampler_open(bool inherit, bool reads_maps, bool every, ProcSampler **ret,
                                  Error *err);
// Ends the thread. Waits that go on end now; their events stay to be taken.
void proc_sampler_stop(ProcSampler *s);
void proc_sampler_close(ProcSampler *s); // accepts NULL

// Adds a process, unless it is there. `is_new`: one that was made meanwhile, so that its threads
// began with it.
void proc_sampler_add(ProcSampler *s, uint32_t pid, bool is_new);
// Switches of all threads are recorded: times of threads that run often are read less often.
void proc_sampler_has_switches(ProcSampler *s);
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

#endif // COLLECT_WAIT_PROC_SAMPLER_INTERNAL_H
