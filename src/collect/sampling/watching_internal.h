// SPDX-License-Identifier: Apache-2.0
// The waits of a recording: ties collect/wait to the recording's rings, threads and facts.

#ifndef COLLECT_SAMPLING_WATCHING_INTERNAL_H
#define COLLECT_SAMPLING_WATCHING_INTERNAL_H

#include "collect/sampling/events_internal.h"
#include "collect/wait/waiting.h"

typedef struct Watching {
    const SamplingOptions *options;
    Waiting *waiting; // NULL: waits are not recorded
    Profile *profile;
    Error why;     // not, or not by BPF, when they are asked for
    bool sampled;  // by looks from outside
    bool switches; // … and records of context switches
    bool stacks;   // … which come with copies of the stack
    EventSet *events;
} Watching;

// Starts to watch, when waits are asked for and the kernel lets us; no thread yet.
void watching_open(Watching *w, EventSet *events, Profile *profile);
void watching_close(Watching *w);
// Adds the metrics of waits behind that of the first event, whose samples count as time, too.
void watching_add_metrics(Watching *w, SampleEvent *first);
// Watches the child from its exec on, and all threads of the processes.
void watching_begin(Watching *w, pid_t child, const U32Vec *pids);
// The child goes on to its exec now.
void watching_released(Watching *w, pid_t child);
// A process was made by a watched one.
void watching_add_process(Watching *w, uint32_t pid);
// Takes a record of a context switch.
void watching_switch(Watching *w, Consumer *c, const PerfRecord *r);
// Takes what was seen before a record.
void watching_until(Watching *w, Consumer *c, uint64_t time_ns);
void watching_stop(Watching *w); // from here on nothing is watched

// Takes a record that belongs to it.
bool watching_takes(Watching *w, Consumer *c, const PerfRecord *r);
// Adds the waits and the facts of their recording to the profile.
void watching_finish(Watching *w, Consumer *c, uint64_t end_ns, SamplingResult *result);
// In a copy of the process: adds the waits that have not ended, and says how waits are recorded.
void watching_snapshot(Watching *w, Consumer *c, uint64_t end_ns);

#endif // COLLECT_SAMPLING_WATCHING_INTERNAL_H
