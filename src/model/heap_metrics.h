// SPDX-License-Identifier: Apache-2.0
// The metrics of a recording of the heap. Part of the file format: names are added, never changed.
// A recording of the heap has FACT_COLLECTOR set to COLLECTOR_HEAP.

#ifndef MODEL_HEAP_METRICS_H
#define MODEL_HEAP_METRICS_H

// X(name, text, unit, kind): a sample's value of HEAP_name.
#define HEAP_METRICS(X)                                                                            \
    X(BLOCKS, "blocks allocated", "", METRIC_SUM)                                                  \
    X(BYTES, "bytes allocated", "bytes", METRIC_SUM)                                               \
    X(PEAK_BYTES, "bytes at peak", "bytes", METRIC_SUM)                                            \
    X(PEAK_BLOCKS, "blocks at peak", "", METRIC_SUM)                                               \
    X(END_BYTES, "bytes at end", "bytes", METRIC_SUM)                                              \
    X(END_BLOCKS, "blocks at end", "", METRIC_SUM)                                                 \
    X(MAX_BYTES, "most bytes of the site", "bytes", METRIC_MAX)                                    \
    X(MAX_BLOCKS, "blocks then", "", METRIC_MAX)                                                   \
    X(FREED, "blocks freed", "", METRIC_SUM)                                                       \
    X(SHORT_LIVED, "short-lived blocks", "", METRIC_SUM)                                           \
    X(LIFETIME, "lifetime", "allocations", METRIC_SUM)                                             \
    X(ELSEWHERE, "blocks freed by another thread", "", METRIC_SUM)                                 \
    X(REALLOCS, "reallocations", "", METRIC_SUM)                                                   \
    X(COPIED, "bytes copied by realloc", "bytes", METRIC_SUM)                                      \
    X(SMALLEST, "smallest block", "bytes", METRIC_MAX)                                             \
    X(LARGEST, "largest block", "bytes", METRIC_MAX)

enum HeapMetric {
#define ROW(name, text, unit, kind) HEAP_##name,
    HEAP_METRICS(ROW)
#undef ROW
        HEAP_METRIC_COUNT
};

// Levels over time: the series of a recording of the heap.
#define HEAP_LIVE_BYTES  "live bytes"
#define HEAP_LIVE_BLOCKS "live blocks"

#endif // MODEL_HEAP_METRICS_H
