// SPDX-License-Identifier: Apache-2.0
// Probes by breakpoints, for users whom the kernel refuses probes. A process of its own traces the
// command (docs/decisions/0213) and sends the records of its hits; the worker behind the queue is
// the same as for other recordings.

#ifndef COLLECT_SAMPLING_BREAKS_INTERNAL_H
#define COLLECT_SAMPLING_BREAKS_INTERNAL_H

#include "collect/sampling/events_internal.h"
#include "collect/sampling/queue_internal.h"
#include "os/spawn.h"

enum { BREAKS_HZ_MAX = 1000 }; // with more hits a second the program is much slower than otherwise

// The last message of the tracing process.
typedef struct BreakCounts {
    uint64_t hits;
    int64_t
        stopped_ns;   // sum of the times that hits stopped threads, without the switches to and fro
    uint64_t refused; // places whose instruction cannot be passed, so that they have no breakpoint
    uint64_t
        no_loader; // programs whose libraries have none, because the dynamic linker was not found
    uint64_t dropped; // samples
    bool was_killed;  // the tracing process, before the program had ended
} BreakCounts;

typedef struct BreakSession {
    ChunkQueue *queue;
    pid_t tracer; // 0: there is none
    int line;     // a socket to it; -1: closed
    int journal;
    bool has_ended; // nothing more comes
    BreakCounts counts;
    Program program; // of the command
} BreakSession;

// Whether breakpoints can do what the options ask for: probes of a command.
bool breaks_can(const SamplingOptions *options, Error *err);
// Fills an EventSet for the records of the tracing process: the events as given, no descriptors.
// `why` says why the kernel refused its probes; "" when the user asked for breakpoints.
void breaks_events(Arena *arena, const SamplingOptions *options, Str why, EventSet *ret);
// Starts the tracing process. Call it before this process has threads; the caller then starts
// `ret->program`, without releasing it. Close the session also on false.
MUST_CHECK bool breaks_open(const EventSet *events, ChunkQueue *queue, BreakSession *ret,
                            Error *err);
// Lets it trace the waiting child.
MUST_CHECK bool breaks_attach(BreakSession *s, pid_t child, Error *err);
void breaks_start(BreakSession *s); // from now on hits count
// Waits for a message and passes its records to the worker.
void breaks_receive(BreakSession *s);
// Removes all breakpoints and ends the tracing; the recorded hits are passed on.
void breaks_stop(BreakSession *s);
void breaks_close(BreakSession *s); // accepts a zeroed one

#endif // COLLECT_SAMPLING_BREAKS_INTERNAL_H
