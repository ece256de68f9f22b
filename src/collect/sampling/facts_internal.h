// SPDX-License-Identifier: Apache-2.0
// Writes the facts and notes of a recording: how it was made and which parts it lacks.

#ifndef COLLECT_SAMPLING_FACTS_INTERNAL_H
#define COLLECT_SAMPLING_FACTS_INTERNAL_H

#include "collect/sampling/breaks_internal.h"
#include "collect/sampling/drain_internal.h"
#include "collect/sampling/timers_internal.h"
#include "collect/sampling/tracer_internal.h"
#include "replay/consumer.h"

// Adds the facts known at the start: command, machine, events, rates. `start_ns` is
// CLOCK_MONOTONIC.
void facts_at_start(Profile *p, const SamplingOptions *o, const EventSet *events, int64_t start_ns);
// What took the samples; NULL where it was not used.
typedef struct FactsOfEngine {
    const Tracer *tracer;
    const BreakCounts *breaks;
    const Timers *timers;
    bool has_programs; // a program copies stacks, larger pieces than perf does
} FactsOfEngine;

// Adds the facts known at the end: losses, rates obtained, complete stacks, the end of the child.
// `child` is NULL when no child was started or it still runs. `malformed` is the number of
// malformed records.
void facts_at_end(Profile *p, const EventSet *events, const Consumer *consumer, uint64_t malformed,
                  const Drain *drain, const FactsOfEngine *engine, const ChildEnd *child,
                  const SamplingResult *result);

#endif // COLLECT_SAMPLING_FACTS_INTERNAL_H
