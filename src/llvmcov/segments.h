// SPDX-License-Identifier: Apache-2.0
// Turns the regions of one file into counts of lines, by the rules of llvm-cov: regions nest, the
// innermost one counts, and the count of a line is the largest of the regions that start on it or
// continue into it. docs/formats/coverage.md, "From regions to lines".

#ifndef LLVMCOV_SEGMENTS_H
#define LLVMCOV_SEGMENTS_H

#include "base/vec.h"
#include "llvmcov/covmap.h"

typedef struct CovSpan {
    uint32_t line, column, end_line, end_column;
    CovRegionKind kind;
    uint64_t count;
} CovSpan;

// A position in the source; its count is valid up to the next segment.
typedef struct CovSegment {
    uint32_t line, column;
    uint64_t count;
    bool has_count; // false: skipped, or between functions
    bool is_entry;  // a region starts here; false: an outer one continues
    bool is_gap;
} CovSegment;

typedef Vec(CovSpan) CovSpanVec;
typedef Vec(CovSegment) CovSegmentVec;

// The kind of counts. A set is a bit mask of up to 64 runs in which a region was executed; sets are
// united wherever counts are added or compared. llvm-cov before 18 did not count lines that start
// with a skipped region, as a comment is.
typedef enum CovCounting { COV_COUNTS, COV_SETS, COV_COUNTS_BEFORE_18 } CovCounting;

// The sum of two counts, or the union of two sets.
static inline uint64_t cov_united(CovCounting counting, uint64_t a, uint64_t b)
{
    return counting == COV_SETS ? a | b : a + b;
}

// Memory of the sweep over spans. Zero-initialise; reused from function to function.
typedef struct CovSweep {
    Vec(const CovSpan *) active;
    Vec(const CovSpan *) done; // spans of `active` that have ended
    CovSpanVec spare;
    U64Vec starts;
} CovSweep;

void cov_sweep_deinit(CovSweep *s); // frees its tables

// Computes the segments of a file. `spans` has only code, expansion, skipped and gap regions; it is
// sorted and combined in place. `out` (heap memory) is emptied first.
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

// Computes the counts of all lines with code, ascending. `out` (heap memory) is emptied first.
void cov_lines_of(const CovSegmentVec *segments, CovCounting counting, CovLineVec *out);

// The same for counts.
static inline void cov_lines(const CovSegmentVec *segments, CovLineVec *out)
{
    cov_lines_of(segments, COV_COUNTS, out);
}

#endif // LLVMCOV_SEGMENTS_H
