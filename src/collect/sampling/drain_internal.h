// SPDX-License-Identifier: Apache-2.0
// Empties the ring buffers: copies the records that the recording uses into chunks.

#ifndef COLLECT_SAMPLING_DRAIN_INTERNAL_H
#define COLLECT_SAMPLING_DRAIN_INTERNAL_H

#include "collect/sampling/events_internal.h"
#include "collect/sampling/queue_internal.h"

#include <stdatomic.h>

typedef struct Drain {
    const EventSet *events;
    ChunkQueue *queue;
    _Atomic uint64_t dropped; // samples left out because the queue to the worker is full
    uint64_t bytes_in;        // read from the rings
    uint64_t bytes_out;       // copied to the queue
    bool broken;              // a ring contained bytes that are no record
    // The newest rounds that had nothing but small samples: nothing in them had to be looked at
    // soon.
    uint32_t calm_rounds;
} Drain;

// Reads all rings once; the records are one round of the queue.
void drain_all(Drain *d);

#endif // COLLECT_SAMPLING_DRAIN_INTERNAL_H
