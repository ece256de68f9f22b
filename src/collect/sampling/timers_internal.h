// SPDX-License-Identifier: Apache-2.0
// Sampling by timers inside the observed processes, for systems that refuse perf_event_open and
// ptrace. The command preloads our library (src/agent), which takes the samples and writes
// records of perf's form; the worker behind the queue is the same.

#ifndef COLLECT_SAMPLING_TIMERS_INTERNAL_H
#define COLLECT_SAMPLING_TIMERS_INTERNAL_H

#include "collect/agents/rings.h"
#include "collect/heap/at_exec.h"
#include "collect/heap/attacher.h"
#include "collect/heap/rows.h"
#include "collect/sampling/events_internal.h"
#include "collect/sampling/queue_internal.h"
#include "os/spawn.h"

typedef struct Timers {
    ChunkQueue *queue;
    Chunk *chunk; // being filled; may be NULL
    AgentSession session;
    AgentRings rings;
    AgentHeaps heaps;           // with options.heap
    HeapTimeline timeline;      // of them
    int64_t origin_ns;          // 0 of the profile's times; set before the first drain
    Program program;            // of the command, with the session's environment
    const AttachTarget *target; // options.heap_target
    HeapAttacher attacher;      // to it
    HeapAttached attached;      // to the command, which is static
    HeapOrphan
        *orphan;      // for the guard, which takes the agent out of it when this process is killed
    bool is_attached; // to either
    HeapAtExec at_exec; // the command is static, and has not allocated yet when it waits
    bool at_exec_waits;
    bool has_looked;
    bool is_static;         // the command is
    bool ended_unallocated; // … and has ended, or executed another program, before it allocated
    Error not_attached;     // why the agent could not be put into the command; "": it could
    unsigned quiet_rounds;  // drains without a record
    bool is_filling;        // the last drain found many records
    uint64_t dropped;       // samples left out because the queue to the worker is full
} Timers;

// Fills an EventSet for the records of the agents: one event, no descriptors. `why` says why other
// ways were refused; "" when the user asked for this one.
void timers_events(Arena *arena, const SamplingOptions *options, Str why, EventSet *ret);
// Makes the session for the command of `options`. The caller starts `ret->program`.
MUST_CHECK bool timers_open(Arena *arena, const SamplingOptions *options, const EventSet *events,
                            ChunkQueue *queue, Timers *ret, Error *err);
// Puts the agent into the process of options.heap_target. What it allocates from now on is noted.
MUST_CHECK bool timers_attach(Timers *t, Error *err);
// The command is static: traces it, before it is released.
MUST_CHECK bool timers_trace_exec(const SamplingOptions *options, uint32_t pid, Timers *t,
                                  Error *err);
void timers_attend_exec(Timers *t); // lets it go on to its exec
// After the exec: lets it run to its first allocation.
MUST_CHECK bool timers_arm(Arena *arena, Timers *t, Error *err);
// Attaches once it has come there. The program may take long: called again and again.
void timers_look(Arena *arena, Timers *t);
// Whether the process that the agent was put into has ended.
bool timers_target_ended(const Timers *t);
// Notes how the attached process fared.
void timers_note(const Timers *t, Profile *p);
// From now on the agents take samples.
void timers_start(Timers *t);
// Passes the records of the agents to the worker. False: there are so many that some agents wait
// for the next call.
bool timers_drain(Timers *t);
// The agents take no more samples; their records are passed on.
void timers_stop(Timers *t);
void timers_close(Timers *t); // ends the session; accepts a zeroed one

#endif // COLLECT_SAMPLING_TIMERS_INTERNAL_H
