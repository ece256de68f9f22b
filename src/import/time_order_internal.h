// SPDX-License-Identifier: Apache-2.0
// Puts the records of a perf.data file into the order of time. perf writes what
// one CPU's ring holds, then the next one's; a FINISHED_ROUND after each pass
// over all rings promises that nothing older than the newest record before the
// last such mark can come any more.

#ifndef IMPORT_TIME_ORDER_INTERNAL_H
#define IMPORT_TIME_ORDER_INTERNAL_H

#include "base/vec.h"

typedef struct TimedRecord {
    uint64_t time; // 0: none, it stands before all that is queued
    const uint8_t *bytes;
    uint32_t len;
    uint32_t event; // the caller's
} TimedRecord;

typedef Vec(TimedRecord) TimedRecordVec;

typedef struct TimeOrder {
    TimedRecordVec queued, scratch; // of the heap
    U64Vec runs;                    // where ascending stretches of `queued` begin
    Arena copies[2];                // of this round, and of the one before
    size_t copied_bytes;            // of both
    uint64_t newest;                // of all records so far
    uint64_t horizon;               // up to here nothing can come any more
    uint64_t late;                  // records that came after their time was over
    uint64_t delivered;             // the newest that was
    void (*deliver)(void *ctx, const TimedRecord *record);
    void *ctx;
} TimeOrder;

void time_order_deinit(TimeOrder *o);

// Queues a record. Its bytes are copied unless they `stay`.
void time_order_add(TimeOrder *o, uint64_t time, Bytes bytes, bool stay, uint32_t event);
// A round is complete: delivers what is settled.
void time_order_round(TimeOrder *o);
// Delivers all that is queued.
void time_order_flush(TimeOrder *o);

#endif // IMPORT_TIME_ORDER_INTERNAL_H
