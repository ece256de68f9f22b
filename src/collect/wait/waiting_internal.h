// SPDX-License-Identifier: Apache-2.0
// What is known of waits while they are recorded, by whichever way.

#ifndef COLLECT_WAIT_WAITING_INTERNAL_H
#define COLLECT_WAIT_WAITING_INTERNAL_H

#include "base/table.h"
#include "collect/wait/proc_look_internal.h"
#include "collect/wait/wait_objects_internal.h"
#include "collect/wait/waiting.h"
#include "collect/wait/watch_internal.h"

typedef struct ProcWaits ProcWaits;

// A stack that was sent.
typedef struct Sent {
    uint64_t signature;
    StackId stack;
} Sent;

// What a thread waits for, by the hash of all that the programs tell apart.
typedef struct Reason {
    uint64_t hash;
    WaitClass class;
    StrId object;
} Reason;

// A row of the profile before it is added.
typedef struct Sum {
    WaitRow row;
    uint64_t buckets[WAIT_BUCKETS];
} Sum;

// A thread that ran before the recording, and when it was first watched, by the clock of records.
typedef struct AddedThread {
    uint32_t tgid, tid;
    uint64_t since_ns;
} AddedThread;

// When the scheduler saw the first or the last of a thread. The records of fork and exit have other
// times: a processor may be lost between these.
typedef struct ThreadMoment {
    ThreadId thread;
    int64_t time_ns;
} ThreadMoment;

// A thread that slept when it was first watched, with a copy of its stack.
typedef struct Sleeper {
    ProcWait wait;
    uint64_t signature; // that its wait has in place of one by the programs
} Sleeper;

struct Waiting {
    Watch watch;
    Profile *profile;
    WaitObjects objects;
    Vec(Sent) sent;
    Vec(Sleeper) sleepers; // whose stacks are not yet unwound
    Vec(Reason) reasons;
    Vec(Sum) sums;
    Vec(ThreadMoment) starts, ends;
    Vec(AddedThread) added;
    Table by_signature, by_reason, by_sum;
    MetricId metrics[WAIT_CLASS_COUNT];
    MetricId wall;
    StackId preempted;    // the stack of threads that wait for a processor
    bool every;           // thread of the machine is watched
    uint64_t min_wait_ns; // shorter ones have no row of `states`
    uint64_t freed;       // sums whose entries were given back
    WaitingCounts counts;
    ProcWaits *sampled; // NULL: the programs in the kernel watch
};

// The stack of a signature; false: it did not arrive.
bool waiting_find_sent(const Waiting *w, uint64_t signature, StackId *ret);
// The class and the object of a wait. `hash` is of all that tells waits apart.
Reason waiting_need_reason(Waiting *w, Consumer *c, uint32_t tgid, uint32_t call, uint32_t how,
                           uint64_t object, uint64_t hash);
// The sum of waits of one kind, which is made when there is none. Valid until the next call.
Sum *waiting_need_sum(Waiting *w, ThreadId thread, StackId stack, WaitClass class, StrId object);

// proc_waits.c: looks at threads from outside, where BPF is refused. Heap memory.
MUST_CHECK bool proc_waits_open(const WaitingLooks *setup, ProcWaits **ret, Error *err);
void proc_waits_stop(ProcWaits *s);
void proc_waits_close(ProcWaits *s);        // accepts NULL
void proc_waits_has_switches(ProcWaits *s); // waiting_has_switches
void proc_waits_add(ProcWaits *s, uint32_t pid, bool is_new);
// Unwinds a copied stack, and gives it to a signature.
void proc_waits_name(Waiting *w, Consumer *c, const ProcWait *wait, uint64_t signature);
// Takes what was seen up to a time of the records.
void proc_waits_until(Waiting *w, Consumer *c, uint64_t time_ns);
// Takes a record of a context switch.
void proc_waits_switch(Waiting *w, Consumer *c, const PerfRecord *r);
// Takes a sample of a thread that leaves its processor.
void proc_waits_stack(Waiting *w, Consumer *c, const PerfRecord *r);
// Adds the sums of all threads.
void proc_waits_finish(Waiting *w, Consumer *c);

#endif // COLLECT_WAIT_WAITING_INTERNAL_H
