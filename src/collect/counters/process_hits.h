// SPDX-License-Identifier: Apache-2.0
// Counts how often events happen in the processes that this process starts, with those that they
// start. For probes, which cannot be inherited (docs/decisions/0198): they are opened on all CPUs,
// and each hit says which process it was in.

#ifndef COLLECT_COUNTERS_PROCESS_HITS_H
#define COLLECT_COUNTERS_PROCESS_HITS_H

#include "base/error.h"
#include "base/vec.h"
#include "os/event.h"

typedef struct ProcessHits ProcessHits;

// Starts to count, in a thread of its own. Each event happens seldom compared with a clock's ticks,
// as a probe does: every hit is a record. Fails as perf_event_open does.
MUST_CHECK bool process_hits_start(const EventSpecVec *events, ProcessHits **ret, Error *err);
// Stops. `ret` gets the hits of each event, appended in heap memory. False when records were lost.
// Frees `h` in any case.
MUST_CHECK bool process_hits_stop(ProcessHits *h, U64Vec *ret, Error *err);

#endif // COLLECT_COUNTERS_PROCESS_HITS_H
