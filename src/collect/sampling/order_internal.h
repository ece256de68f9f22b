// SPDX-License-Identifier: Apache-2.0
// Sorts the records of all rings by time. The records of one ring are in order. Between
// rings a record can be late by the time that one pass over all rings takes. So the records
// of a round are delivered when the next round has been read: after that no record can come
// that is older than the newest record of the round before.

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
    uint64_t newest;    // time of the newest record so far
    uint64_t horizon;   // all records up to this time have been read
    ChunkQueue *queue;  // empty chunks are returned to it
    void (*deliver)(void *ctx, Bytes record);
    void *ctx;
} Order;

// `rings` is the number of rings. The caller sets `deliver` and `ctx` afterwards.
void order_init(Order *o, const PerfLayout *layout, size_t rings, ChunkQueue *queue);
void order_deinit(Order *o);
// Takes ownership of a chunk. Calls `peek` at once for each record that is not a sample.
void order_add(Order *o, Chunk *c, void (*peek)(void *ctx, Bytes record));
// Ends a round: delivers all records up to the horizon in the order of time.
void order_round(Order *o);
// Delivers all remaining records.
void order_flush(Order *o);

#endif // COLLECT_SAMPLING_ORDER_INTERNAL_H
