// SPDX-License-Identifier: Apache-2.0
// A recording of the heap as sites: the allocations of each distinct stack, and the same by the
// place of user code that asked for them.

#ifndef ANALYSE_HEAP_HEAP_VIEW_H
#define ANALYSE_HEAP_HEAP_VIEW_H

#include "analyse/heap/user_code.h"
#include "analyse/weights.h"
#include "model/heap_metrics.h"

// What a row stands for: a stack (HeapView.stacks) or a place (HeapView.places).
typedef struct HeapRow {
    StackId stack;   // of a place: the stack with the most blocks
    UserPlace place; // where user code allocates
    uint32_t first;  // of a stack: its place's number; of a place: its number of stacks
    uint64_t value[HEAP_METRIC_COUNT];
} HeapRow;

typedef Vec(HeapRow) HeapRowVec;

typedef struct HeapView {
    const Profile *p;
    bool has[HEAP_METRIC_COUNT];       // the recording has the metric
    HeapRowVec stacks;                 // in order of first appearance
    HeapRowVec places;                 // in order of first appearance
    uint64_t total[HEAP_METRIC_COUNT]; // over all rows
    // The process whose heap was the largest at its peak, and how many processes allocated.
    uint64_t peak_bytes, peak_blocks;
    uint32_t peak_pid, processes;
    uint64_t wall_ns;                  // 0: not known
    uint64_t sizes[HEAP_SIZE_CLASSES]; // blocks of each class; zeros: not known
    uint64_t sample_bytes; // values are estimates from a block in so many bytes; 0: exact
} HeapView;

// Whether the recording has the metrics of the heap: of assay heap, or imported from a heap
// profiler.
bool heap_view_applies(const Profile *p);
// The metric of the recording, by its place in HEAP_METRICS. False: it has none.
bool heap_metric_find(const Profile *p, enum HeapMetric metric, MetricId *ret);

// Computes the rows of the selected samples, whatever metric the selection names. The profile must
// outlive the view. Fails as selection_samples does.
MUST_CHECK bool heap_view_init(HeapView *v, const Profile *p, const Selection *s, Error *err);
void heap_view_deinit(HeapView *v); // frees the rows

// Sorts the places by a metric, the greatest first; equal ones by blocks, bytes, then as they were.
// The lifetime that counts is the mean.
void heap_places_sort(HeapView *v, enum HeapMetric by);

// The mean lifetime of freed blocks in allocations; NAN when none was freed or it is not known.
double heap_mean_lifetime(const HeapView *v, const uint64_t *value);

// Half of the 95 % interval of an estimate, in the metric's unit: of blocks and bytes allocated, at
// the peak and at the end. NAN: the recording is exact, or has no interval for that metric.
double heap_interval(const HeapView *v, const uint64_t *value, enum HeapMetric metric);

// Appends the name of the function of a row's place, or of the function by which it allocates.
void heap_row_add_name(const HeapView *v, const HeapRow *row, StrBuf *out);

#endif // ANALYSE_HEAP_HEAP_VIEW_H
