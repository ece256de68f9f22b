// SPDX-License-Identifier: Apache-2.0
// Watches what threads wait for, by BPF programs on the scheduler's tracepoints. Stacks are sent
// only when they were not seen before; times are summed in shared memory (docs/decisions/0291).

#ifndef COLLECT_WAIT_WAITING_H
#define COLLECT_WAIT_WAITING_H

#include "replay/consumer.h"

#include <linux/perf_event.h>

typedef struct WaitingSetup {
    // Rings to which the programs write, one for each CPU.
    const uint32_t *cpus;
    const int *ring_fds;
    size_t cpu_count;
    struct perf_event_attr output; // of the events through which they write
    uint64_t min_wait_ns;          // shorter waits are in the sums only
    bool every;                    // thread of the machine
    bool inherit;                  // threads that watched ones make, too
} WaitingSetup;

typedef struct Waiting Waiting;

typedef struct WaitingCounts {
    uint64_t switches;
    uint64_t stacks;      // different ones, which were sent
    uint64_t complete;    // of these, unwound to the outermost frame
    uint64_t lost;        // records and stacks without room in a ring
    uint64_t no_room;     // threads and waits without room in the tables
    uint64_t unseen;      // threads that ended before a look at them
    double missing_ratio; // by how much the classes miss the threads' time
} WaitingCounts;

// Loads the programs; they watch no thread yet. Heap memory: waiting_close. Fails where this
// process may not load them, or the kernel cannot.
MUST_CHECK bool waiting_open(const WaitingSetup *setup, Waiting **ret, Error *err);

// How threads are looked at from outside.
typedef struct WaitingLooks {
    bool inherit;         // processes that watched ones make, too
    bool reads_maps;      // no records tell mappings
    bool every;           // process of the machine, as far as this user may
    bool has_stacks;      // waiting_switch_stack tells the stack of each wait
    uint64_t min_wait_ns; // where that is so, shorter waits are in the sums only
} WaitingLooks;

// Looks at threads from outside instead, 100 times a second: needs the rights of a debugger only.
// Processes are added one by one by waiting_add_process.
MUST_CHECK bool waiting_open_sampled(const WaitingLooks *setup, Waiting **ret, Error *err);
void waiting_close(Waiting *w); // accepts NULL
// Removes the programs; the sums stay until waiting_close.
void waiting_stop(Waiting *w);

// The ids of its events, one for each ring.
const uint64_t *waiting_ids(const Waiting *w, size_t *count);

// Watches a thread. `is_new`: from its next exec on.
void waiting_add_thread(Waiting *w, uint32_t tgid, uint32_t tid, bool is_new);

// For waiting_open_sampled; nothing else needs it. `is_new`: the process was made meanwhile.
void waiting_add_process(Waiting *w, uint32_t pid, bool is_new);
// The same: takes what was seen until a time of the records, before the record of that time.
void waiting_until(Waiting *w, Consumer *c, uint64_t time_ns);

// The same: all switches of the threads will be told by waiting_switch.
void waiting_has_switches(Waiting *w);
// The same: a thread leaves its processor, or gets one. Where this is told, begin and end of each
// wait are known, and the looks tell what it was for.
void waiting_switch(Waiting *w, Consumer *c, const PerfRecord *r);
// The same: a sample of a thread that is about to leave its processor, with registers and stack.
// The record of waiting_switch follows.
void waiting_switch_stack(Waiting *w, Consumer *c, const PerfRecord *r);

// Adds the metrics of waiting to the profile, before there are samples.
void waiting_add_metrics(Waiting *w, Profile *p);
// The metric of all time, running and waiting.
MetricId waiting_wall_metric(const Waiting *w);

// Takes a record of one of its events: the raw part.
void waiting_record(Waiting *w, Consumer *c, Bytes raw);
// Adds the waits of watched threads that have not ended by `end_ns`, as single waits. Not of waits
// that are sampled.
void waiting_add_open(Waiting *w, Consumer *c, uint64_t end_ns);
// After the last record: adds all sums to the profile, if they are wanted, else open waits.
// `end_ns` is the end of the recording.
void waiting_finish(Waiting *w, Consumer *c, uint64_t end_ns, bool with_sums, WaitingCounts *ret);

#endif // COLLECT_WAIT_WAITING_H
