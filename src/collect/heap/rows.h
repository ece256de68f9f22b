// SPDX-License-Identifier: Apache-2.0
// From the sites of processes (wire/heap.h) to the rows of a profile: one sample for each site,
// with a value for each metric of model/heap_metrics.h, and the size of the heap over time.

#ifndef COLLECT_HEAP_ROWS_H
#define COLLECT_HEAP_ROWS_H

#include "collect/agents/heaps.h"
#include "model/heap_metrics.h"
#include "model/profile.h"

// The live bytes and blocks over time, in slices of equal length. The slices become longer when
// there are too many.
typedef struct HeapTimeline {
    int64_t slice_ns;
    Vec(struct HeapSlice) slices;
    int64_t peak_ns;               // about when a heap was last larger than ever
    int64_t summed_ns, summing_ns; // when all sites were looked at, and how long that took
    AgentHeapSums sums;            // as they were then
} HeapTimeline;

typedef struct HeapSlice {
    int64_t time_ns;        // since the recording's start
    uint64_t bytes, blocks; // at the moment of the slice at which most bytes were live
    AgentHeapSums sums;     // about then
} HeapSlice;

// Adds the live bytes and blocks at a time; times ascend.
void heap_timeline_add(HeapTimeline *t, int64_t time_ns, AgentHeaps *heaps);
void heap_timeline_deinit(HeapTimeline *t); // frees it

// How the agents were told to count.
typedef struct HeapRowOptions {
    HeapClock clock;
    bool mappings;
    bool copies;
    uint64_t short_lived;
    uint64_t sample_bytes; // 0: each block
} HeapRowOptions;

// Gives the profile its metrics and values. Each sample has in `site_metric` the number of its site
// plus 1; that metric becomes the first of the metrics. `origin_ns` is 0 of the profile's times.
void heap_fill_rows(Profile *p, MetricId site_metric, const AgentHeaps *heaps,
                    const HeapTimeline *timeline, int64_t origin_ns, const HeapRowOptions *options);

#endif // COLLECT_HEAP_ROWS_H
