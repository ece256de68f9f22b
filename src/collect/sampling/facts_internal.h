// SPDX-License-Identifier: Apache-2.0
// What the recording says of itself: facts and notes.

#ifndef COLLECT_SAMPLING_FACTS_INTERNAL_H
#define COLLECT_SAMPLING_FACTS_INTERNAL_H

#include "collect/sampling/drain_internal.h"
#include "collect/sampling/tracer_internal.h"
#include "replay/consumer.h"

void facts_at_start(Profile *p, const SamplingOptions *o, const EventSet *events, int64_t start_ns);
// `child` is NULL for attach and for a child that still runs. `malformed` counts
// records. `tracer` is NULL where the kernel's events were used.
void facts_at_end(Profile *p, const EventSet *events, const Consumer *consumer, uint64_t malformed,
                  const Drain *drain, const Tracer *tracer, const ChildEnd *child,
                  const SamplingResult *result);

#endif // COLLECT_SAMPLING_FACTS_INTERNAL_H
