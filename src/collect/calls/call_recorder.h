// SPDX-License-Identifier: Apache-2.0
// Records calls of functions beside the samples of a recording: a BPF program notes each entry and
// return, and this side makes rows of the profile of them (docs/decisions/0300).

#ifndef COLLECT_CALLS_CALL_RECORDER_H
#define COLLECT_CALLS_CALL_RECORDER_H

#include "os/call_plan.h"
#include "replay/consumer.h"

#include <linux/perf_event.h>

typedef struct CallsSetup {
    const CallPlan *plan; // borrowed
    // Rings to which the program writes, one for each CPU.
    const uint32_t *cpus;
    const int *ring_fds;
    size_t cpu_count;
    struct perf_event_attr output; // of the events through which it writes
    bool every;                    // process of the machine
    bool inherit;                  // processes that recorded ones make, too
    // Only calls of these threads count; none: all do.
    const uint32_t *tids;
    size_t tid_count;
    Profile *profile;
} CallsSetup;

typedef struct CallRecorder CallRecorder;

typedef struct CallCounts {
    uint64_t calls;
    uint64_t lost;      // entries and returns without room in a ring
    uint64_t left;      // calls without a return: exceptions, jumps, lost ones
    uint64_t unmatched; // returns without an entry
    uint64_t no_room;   // processes without room in the tables
} CallCounts;

// Sets the places; no process is recorded yet, unless `every`. Heap memory: calls_close. Fails
// where this process may not, or the kernel cannot.
MUST_CHECK bool calls_open(const CallsSetup *setup, CallRecorder **ret, Error *err);
void calls_close(CallRecorder *c); // accepts NULL
// Removes all places; records of earlier hits may still come.
void calls_stop(CallRecorder *c);

// The ids of its events, one for each ring.
const uint64_t *calls_ids(const CallRecorder *c, size_t *count);
// Records a process from now on.
void calls_add_process(CallRecorder *c, uint32_t pid);
// Takes a record of one of its events.
void calls_record(CallRecorder *c, Consumer *consumer, const PerfRecord *r);
// Puts the return addresses that the kernel has replaced back into a copy of a thread's stack,
// which begins at `*sp` and lies in memory of this process that may be written. Where the kernel's
// own code between a return and the caller runs, the thread is taken for one that has returned:
// `*ip`,
// `*sp` and the stack that is returned are those of the caller.
Bytes calls_mend(CallRecorder *c, uint32_t tid, uint64_t *ip, uint64_t *sp, Bytes stack);
// After the last record: adds the calls that are still open.
void calls_finish(CallRecorder *c, int64_t end_ns, CallCounts *ret);

#endif // COLLECT_CALLS_CALL_RECORDER_H
