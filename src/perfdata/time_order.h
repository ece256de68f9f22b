// SPDX-License-Identifier: Apache-2.0
// Sorts the records of a perf.data file by time. perf writes the content of one CPU's ring, then
// the next one's. After each pass over all rings it writes FINISHED_ROUND: no later record is older
// than the newest record before the previous FINISHED_ROUND.

#ifndef PERFDATA_TIME_ORDER_H
#define PERFDATA_TIME_ORDER_H

#include "base/vec.h"

typedef struct TimedRecord {
    uint64_t time; // 0: none; such a record comes before all that are queued
    const uint8_t *bytes;
    uint32_t len;
    uint32_t event; // a number for the caller
} TimedRecord;

typedef Vec(TimedRecord) TimedRecordVec;

typedef struct TimeOrder {
    TimedRecordVec queued, scratch; // of the heap
    U64Vec runs;                    // where ascending stretches of `queued` begin
    Arena copies[2];                // of this round, and of the one before
    size_t copied_bytes;            // of both
    uint64_t newest;                // of all records so far
    uint64_t horizon;               // no later record is older than this
    uint64_t late;                  // records that are older all the same
    uint64_t delivered;             // time of the newest delivered record
    void (*deliver)(void *ctx, const TimedRecord *record);
    void *ctx;
} TimeOrder;

// Releases the queue. Records that are still queued are not delivered.
void time_order_deinit(TimeOrder *o);

// Queues a record. Its bytes are copied unless they `stay`.
void time_order_add(TimeOrder *o, uint64_t time, Bytes bytes, bool stay, uint32_t event);
// A round is complete: delivers the records older than the horizon.
void time_order_round(TimeOrder *o);
// Delivers all records that are queued.
void time_order_flush(TimeOrder *o);

#endif // PERFDATA_TIME_ORDER_H
