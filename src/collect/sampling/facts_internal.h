// SPDX-License-Identifier: Apache-2.0
// What the recording says of itself: facts and notes.

#ifndef COLLECT_SAMPLING_FACTS_INTERNAL_H
#define COLLECT_SAMPLING_FACTS_INTERNAL_H

#include "collect/sampling/consume_internal.h"
#include "collect/sampling/drain_internal.h"

void facts_at_start(Profile *p, const SamplingOptions *o, const EventSet *events, int64_t start_ns);
// `child` is NULL for attach and for a child that still runs.
void facts_at_end(Profile *p, const EventSet *events, const Consumer *c, const Drain *drain,
                  const ChildEnd *child, const SamplingResult *result);

#endif // COLLECT_SAMPLING_FACTS_INTERNAL_H
