// SPDX-License-Identifier: Apache-2.0
// From regions of one file to counts of lines, by the rules of llvm-cov: regions
// nest, the innermost counts, and a line has the largest count that starts on it
// or runs into it. docs/formats/coverage.md, "From regions to lines".

#ifndef LLVMCOV_SEGMENTS_H
#define LLVMCOV_SEGMENTS_H

#include "base/vec.h"
#include "llvmcov/covmap.h"

typedef struct CovSpan {
    uint32_t line, column, end_line, end_column;
    CovRegionKind kind;
    uint64_t count;
} CovSpan;

// From here to the next segment the count holds.
typedef struct CovSegment {
    uint32_t line, column;
    uint64_t count;
    bool has_count; // else: skipped, or between functions
    bool is_entry;  // a region starts here, as opposed to resuming
    bool is_gap;
} CovSegment;

typedef Vec(CovSpan) CovSpanVec;
typedef Vec(CovSegment) CovSegmentVec;

// What the counts are. Sets are bit masks of up to 64 runs in which a region was
// executed: what is added, or compared, in counts is then united. llvm-cov before 18
// counted no line that starts with a skipped region, a comment for one.
typedef enum CovCounting { COV_COUNTS, COV_SETS, COV_COUNTS_BEFORE_18 } CovCounting;

// The sum of two counts, or the union of two sets.
static inline uint64_t cov_united(CovCounting counting, uint64_t a, uint64_t b)
{
    return counting == COV_SETS ? a | b : a + b;
}

// Room of the sweep over spans, empty at first and kept from function to function.
typedef struct CovSweep {
    Vec(const CovSpan *) active;
    Vec(const CovSpan *) done; // active ones that have ended
    CovSpanVec spare;
    U64Vec starts;
} CovSweep;

void cov_sweep_deinit(CovSweep *s); // frees its tables

// `spans` is sorted and combined in place; `out` (heap) is emptied first. Code,
// expansion, skipped and gap regions only.
void cov_segments_of(CovSpanVec *spans, CovCounting counting, CovSweep *sweep, CovSegmentVec *out);

// The same for counts, with a sweep of its own.
static inline void cov_segments(CovSpanVec *spans, CovSegmentVec *out)
{
    CovSweep sweep = {0};
    cov_segments_of(spans, COV_COUNTS, &sweep, out);
    cov_sweep_deinit(&sweep);
}

typedef struct CovLine {
    uint32_t line;
    uint64_t count;
} CovLine;

typedef Vec(CovLine) CovLineVec;

// The mapped lines with their counts, ascending. `out` (heap) is emptied first.
void cov_lines_of(const CovSegmentVec *segments, CovCounting counting, CovLineVec *out);

// The same for counts.
static inline void cov_lines(const CovSegmentVec *segments, CovLineVec *out)
{
    cov_lines_of(segments, COV_COUNTS, out);
}

#endif // LLVMCOV_SEGMENTS_H
