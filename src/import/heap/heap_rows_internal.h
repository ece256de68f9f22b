// SPDX-License-Identifier: Apache-2.0
// Code that the readers of heap profiles share: metrics, rows, and places in text.

#ifndef IMPORT_HEAP_HEAP_ROWS_INTERNAL_H
#define IMPORT_HEAP_HEAP_ROWS_INTERNAL_H

#include "model/heap_metrics.h"
#include "model/profile.h"

typedef struct HeapRows {
    Profile *p;
    MetricId metric[HEAP_METRIC_COUNT]; // of those that were asked for
    uint64_t has;                       // a bit for each
    ThreadId thread;
} HeapRows;

#define HEAP_BIT(name) (UINT64_C(1) << HEAP_##name)

// Adds the metrics of the bits in `has`, and the one process and thread.
void heap_rows_init(HeapRows *r, Profile *p, Str collector, uint64_t has, uint32_t pid,
                    Str command);
// Adds a stack's values; those of metrics that were not asked for are left out.
void heap_rows_add(HeapRows *r, StackId stack, const uint64_t value[HEAP_METRIC_COUNT]);

// The frame of "0x401136: main (prog.c:12)", "… (in /lib/libc.so.6)": valgrind's form of a place.
FrameId heap_rows_frame(Profile *p, Str place);

#endif // IMPORT_HEAP_HEAP_ROWS_INTERNAL_H
