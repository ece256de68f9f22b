// SPDX-License-Identifier: Apache-2.0
// The calls of a recording: ties collect/calls to the recording's rings, processes and facts.

#ifndef COLLECT_SAMPLING_CALLING_INTERNAL_H
#define COLLECT_SAMPLING_CALLING_INTERNAL_H

#include "collect/calls/call_recorder.h"
#include "collect/sampling/events_internal.h"

typedef struct Calling {
    const SamplingOptions *options;
    CallRecorder *calls; // NULL: calls are not recorded
    Profile *profile;
} Calling;

// Sets the places, when calls are asked for; no process is recorded yet.
MUST_CHECK bool calling_open(Calling *c, EventSet *events, Profile *profile, Error *err);
void calling_close(Calling *c);
// Records the child and the processes from now on.
void calling_begin(Calling *c, pid_t child, const U32Vec *pids);
void calling_stop(Calling *c); // from here on nothing is noted

// Takes a record that belongs to it.
bool calling_takes(Calling *c, Consumer *consumer, const PerfRecord *r);
// Mends the copied stack of a sample, or of a wait, whose return addresses the kernel has replaced.
void calling_mend(Calling *c, const PerfRecord *r);
// Adds open calls, and the facts of their recording, to the profile.
void calling_finish(Calling *c, Consumer *consumer, uint64_t end_ns, SamplingResult *result);

#endif // COLLECT_SAMPLING_CALLING_INTERNAL_H
