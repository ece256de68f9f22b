// SPDX-License-Identifier: Apache-2.0
// Puts the records of all rings into the order of time. A ring is in order by
// itself; between rings a record may be late by as much as one drain takes. So
// what a round brought is held back until the next round has been read: nothing
// older than the newest record of the round before can come any more.

#ifndef COLLECT_SAMPLING_ORDER_INTERNAL_H
#define COLLECT_SAMPLING_ORDER_INTERNAL_H

#include "base/str.h"
#include "base/vec.h"
#include "collect/sampling/queue_internal.h"
#include "perfdata/perf_record.h"

typedef struct RingBacklog {
    Chunk *first, *last; // oldest first
    uint32_t at;         // of the next record in `first`
    uint64_t time;       // of that record
} RingBacklog;

typedef struct Order {
    const PerfLayout *layout;
    RingBacklog *rings;
    size_t ring_count;
    Vec(uint32_t) heap; // rings with a backlog, by time
    uint64_t newest;    // of all records so far
    uint64_t horizon;   // up to here nothing can come any more
    ChunkQueue *queue;  // gets chunks back
    void (*deliver)(void *ctx, Bytes record);
    void *ctx;
} Order;

void order_init(Order *o, const PerfLayout *layout, size_t rings, ChunkQueue *queue);
void order_deinit(Order *o);
// Takes a chunk. Calls `peek` for each record that is not a sample.
void order_add(Order *o, Chunk *c, void (*peek)(void *ctx, Bytes record));
// A round is complete: delivers what is settled.
void order_round(Order *o);
// Delivers all that is left.
void order_flush(Order *o);

#endif // COLLECT_SAMPLING_ORDER_INTERNAL_H
