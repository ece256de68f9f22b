// SPDX-License-Identifier: Apache-2.0
// Emptying the rings: copies out what is worth keeping, and nothing else.

#ifndef COLLECT_SAMPLING_DRAIN_INTERNAL_H
#define COLLECT_SAMPLING_DRAIN_INTERNAL_H

#include "collect/sampling/events_internal.h"
#include "collect/sampling/queue_internal.h"

typedef struct Drain {
    const EventSet *events;
    ChunkQueue *queue;
    uint64_t dropped;   // samples left out because the worker is far behind
    uint64_t bytes_in;  // read from the rings
    uint64_t bytes_out; // handed on
    bool broken;        // a ring holds what is no record
} Drain;

// One pass over all rings, as one round.
void drain_all(Drain *d);

#endif // COLLECT_SAMPLING_DRAIN_INTERNAL_H
