// SPDX-License-Identifier: Apache-2.0
// perf's records, in the order of time -> rows of the profile: processes and
// threads, what is mapped where, stacks, samples. Whoever has records feeds it:
// the worker of a recording that runs, the importer of perf.data.

#ifndef REPLAY_CONSUMER_H
#define REPLAY_CONSUMER_H

#include "perfdata/perf_record.h"
#include "replay/modules.h"

// Where the stacks of an event's samples come from.
typedef enum SampleStacks {
    SAMPLE_STACKS_NONE,   // the sampled place alone
    SAMPLE_STACKS_CHAIN,  // the kernel's call chain, user part included
    SAMPLE_STACKS_TABLES, // registers and a copy of the stack, unwound by tables
    SAMPLE_STACKS_LBR     // the processor's call stack of branch records
} SampleStacks;

// One event of the recording, however many descriptors it was opened on.
typedef struct SampleEvent {
    MetricId metric; // a sample adds its period to it
    SampleStacks stacks;
    uint64_t regs_user; // mask of the registers in its samples
    uint64_t period;    // of samples that do not tell; 0: they do
    bool group_read;    // its samples carry the counters of its group
} SampleEvent;

typedef struct ConsumerSetup {
    Profile *profile;
    UnwindArch arch; // of the observed programs
    // Where mapped files may be, borrowed. NULL: the programs run on this machine,
    // now, and /proc is asked about processes, files and the kernel.
    const ModuleSearch *search;
    int64_t start_ns; // becomes time 0
    // The event that a counter of a group belongs to, by its id; NULL for none of
    // ours. Asked for events with group_read only.
    const SampleEvent *(*event_by_id)(void *ctx, uint64_t id);
    void *ctx;
} ConsumerSetup;

typedef struct ConsumerCounts {
    uint64_t samples;
    uint64_t with_stack; // samples whose user part was to be unwound
    uint64_t complete;   // of these, stacks that end where they should
    uint64_t frames_walked;
    uint64_t throttled;
    uint64_t lost;         // as LOST records tell
    uint64_t lost_samples; // as LOST_SAMPLES records tell; the two may mean the same
} ConsumerCounts;

typedef struct Consumer Consumer;

Consumer *consumer_open(const ConsumerSetup *setup);
void consumer_close(Consumer *c); // accepts NULL

// Applies one record. `event` is whose it is for samples, else NULL.
void consumer_record(Consumer *c, const PerfRecord *r, const SampleEvent *event);
// A look at a record when it arrives, before its turn: opens the files it names.
void consumer_peek(Consumer *c, const PerfRecord *r);

// A process that was there before the recording: its maps, threads and names
// from /proc. False when it is gone. Live only.
bool consumer_add_existing(Consumer *c, uint32_t pid);

// Processes that started in the recording and did not end in it.
uint32_t consumer_running(const Consumer *c);
const ConsumerCounts *consumer_counts(const Consumer *c);
const ModuleSet *consumer_modules(const Consumer *c);

#endif // REPLAY_CONSUMER_H
