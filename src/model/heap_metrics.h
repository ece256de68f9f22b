// SPDX-License-Identifier: Apache-2.0
// The metrics of a recording of the heap. Part of the file format: names are added, never changed.
// A recording of the heap has FACT_COLLECTOR set to COLLECTOR_HEAP.

#ifndef MODEL_HEAP_METRICS_H
#define MODEL_HEAP_METRICS_H

#include "base/str.h"

// Which recordings have a metric.
enum {
    HEAP_ALWAYS,
    HEAP_MAPPED_ONLY,  // those that follow mmap, munmap and mremap, too
    HEAP_MARKED_ONLY,  // those of programs that mark events (include/assay/heap.h)
    HEAP_COPIES_ONLY,  // those that count copies, too
    HEAP_SAMPLED_ONLY, // those that note only some of the blocks (FACT_HEAP_SAMPLE)
};

// X(name, text, unit, kind, which): a sample's value of HEAP_name. "lifetime" has the unit of
// FACT_HEAP_CLOCK. A variance is that of the estimate in the metric of which it has the name; it
// adds up over rows, and 1.96 of its roots are the 95 % interval. Its unit is the square of a block
// or of 1024 bytes.
#define HEAP_METRICS(X)                                                                            \
    X(BLOCKS, "blocks allocated", "", METRIC_SUM, HEAP_ALWAYS)                                     \
    X(BYTES, "bytes allocated", "bytes", METRIC_SUM, HEAP_ALWAYS)                                  \
    X(PEAK_BYTES, "bytes at peak", "bytes", METRIC_SUM, HEAP_ALWAYS)                               \
    X(PEAK_BLOCKS, "blocks at peak", "", METRIC_SUM, HEAP_ALWAYS)                                  \
    X(END_BYTES, "bytes at end", "bytes", METRIC_SUM, HEAP_ALWAYS)                                 \
    X(END_BLOCKS, "blocks at end", "", METRIC_SUM, HEAP_ALWAYS)                                    \
    X(MAX_BYTES, "most bytes of the site", "bytes", METRIC_MAX, HEAP_ALWAYS)                       \
    X(MAX_BLOCKS, "blocks then", "", METRIC_MAX, HEAP_ALWAYS)                                      \
    X(FREED, "blocks freed", "", METRIC_SUM, HEAP_ALWAYS)                                          \
    X(SHORT_LIVED, "short-lived blocks", "", METRIC_SUM, HEAP_ALWAYS)                              \
    X(LIFETIME, "lifetime", "allocations", METRIC_SUM, HEAP_ALWAYS)                                \
    X(ELSEWHERE, "blocks freed by another thread", "", METRIC_SUM, HEAP_ALWAYS)                    \
    X(REALLOCS, "reallocations", "", METRIC_SUM, HEAP_ALWAYS)                                      \
    X(COPIED, "bytes copied by realloc", "bytes", METRIC_SUM, HEAP_ALWAYS)                         \
    X(SMALLEST, "smallest block", "bytes", METRIC_MAX, HEAP_ALWAYS)                                \
    X(LARGEST, "largest block", "bytes", METRIC_MAX, HEAP_ALWAYS)                                  \
    X(IN_FRAME, "blocks freed in the same frame", "", METRIC_SUM, HEAP_ALWAYS)                     \
    X(LAST_FIRST, "blocks freed in reverse order", "", METRIC_SUM, HEAP_ALWAYS)                    \
    X(MOVED, "reallocations that moved", "", METRIC_SUM, HEAP_ALWAYS)                              \
    X(GROWN, "bytes grown by realloc", "bytes", METRIC_SUM, HEAP_ALWAYS)                           \
    X(MALLOC_NS, "time in malloc", "ns", METRIC_SUM, HEAP_ALWAYS)                                  \
    X(FREE_NS, "time in free", "ns", METRIC_SUM, HEAP_ALWAYS)                                      \
    X(MAPPINGS, "mappings", "", METRIC_SUM, HEAP_MAPPED_ONLY)                                      \
    X(MAPPED, "bytes mapped", "bytes", METRIC_SUM, HEAP_MAPPED_ONLY)                               \
    X(MAPPED_PEAK, "most bytes mapped", "bytes", METRIC_MAX, HEAP_MAPPED_ONLY)                     \
    X(MAPPED_END, "bytes mapped at end", "bytes", METRIC_SUM, HEAP_MAPPED_ONLY)                    \
    X(MARKS, "marks", "", METRIC_SUM, HEAP_MARKED_ONLY)                                            \
    X(MARK_WEIGHT, "weight of marks", "", METRIC_SUM, HEAP_MARKED_ONLY)                            \
    X(COPIES, "copies", "", METRIC_SUM, HEAP_COPIES_ONLY)                                          \
    X(COPY_BYTES, "bytes copied", "bytes", METRIC_SUM, HEAP_COPIES_ONLY)                           \
    X(VAR_BLOCKS, "variance of blocks allocated", "blocks²", METRIC_SUM, HEAP_SAMPLED_ONLY)        \
    X(VAR_BYTES, "variance of bytes allocated", "KiB²", METRIC_SUM, HEAP_SAMPLED_ONLY)             \
    X(VAR_PEAK_BLOCKS, "variance of blocks at peak", "blocks²", METRIC_SUM, HEAP_SAMPLED_ONLY)     \
    X(VAR_PEAK_BYTES, "variance of bytes at peak", "KiB²", METRIC_SUM, HEAP_SAMPLED_ONLY)          \
    X(VAR_END_BLOCKS, "variance of blocks at end", "blocks²", METRIC_SUM, HEAP_SAMPLED_ONLY)       \
    X(VAR_END_BYTES, "variance of bytes at end", "KiB²", METRIC_SUM, HEAP_SAMPLED_ONLY)

enum HeapMetric {
#define ROW(name, text, unit, kind, which) HEAP_##name,
    HEAP_METRICS(ROW)
#undef ROW
        HEAP_METRIC_COUNT
};

// Sizes: class c is that of blocks of 2^(c-1) to 2^c - 1 bytes, class 0 of those of 0 bytes. A
// recording has a metric for each class of which there were blocks, ascending.
enum { HEAP_SIZE_CLASSES = 48, HEAP_SIZE_NAME_MAX = 64 };
// The class of a size.
unsigned heap_size_class(uint64_t size);
// The name of a class's metric: "blocks of 16 to 31 bytes". Its unit is "", its kind METRIC_SUM.
Str heap_size_name(unsigned size_class, char buf[HEAP_SIZE_NAME_MAX]);

// The clock of lifetimes, in FACT_HEAP_CLOCK: so it is named in the recording and by --clock.
typedef enum HeapClock {
    HEAP_CLOCK_ALLOCATIONS, // calls that allocate, in all threads of the process
    HEAP_CLOCK_BYTES,       // bytes that they allocated
    HEAP_CLOCK_NS,          // real time
    HEAP_CLOCK_COUNT
} HeapClock;
// "allocations", "bytes", "ns".
const char *heap_clock_name(HeapClock clock);

// The function of the one frame of the site for blocks that were there before the recording.
#define HEAP_OLD_BLOCKS "[before attach]"

// Levels over time: the series of a recording of the heap. A point of a slice is the highest level
// in it. With the empty part, all processes; with the part "stack N", the sites of stack N (its row
// in the table), for those sites that were among the largest at some time.
#define HEAP_LIVE_BYTES  "live bytes"
#define HEAP_LIVE_BLOCKS "live blocks"
// Beside them, the metrics "blocks allocated" and "bytes allocated" have points, too: bytes and
// blocks allocated since the point before.
#define HEAP_SITE_PART "stack "

#endif // MODEL_HEAP_METRICS_H
