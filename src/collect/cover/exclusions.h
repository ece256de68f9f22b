// SPDX-License-Identifier: Apache-2.0
// Marks in sources that leave lines or branches out of the counting:
// LCOV_EXCL_LINE, _START, _STOP, LCOV_EXCL_BR_LINE, _BR_START, _BR_STOP, and the
// same of gcovr, gcov and grcov.

#ifndef COLLECT_COVER_EXCLUSIONS_H
#define COLLECT_COVER_EXCLUSIONS_H

#include "base/arena.h"
#include "base/vec.h"

typedef struct CoverLineRange {
    uint32_t first, end; // [first, end)
} CoverLineRange;

typedef Vec(CoverLineRange) CoverLineRangeVec;

// Ascending and disjoint.
typedef struct CoverExclusions {
    CoverLineRangeVec lines;
    CoverLineRangeVec branches; // on lines that count
    uint32_t open;              // starts without their stop: they reach to the end of the file
} CoverExclusions;

// False when the source has no mark.
bool cover_exclusions_find(Arena *arena, Str source, CoverExclusions *ret);

// Both accept NULL: nothing is excluded.
bool cover_excludes_line(const CoverExclusions *e, uint32_t line);
bool cover_excludes_branch(const CoverExclusions *e, uint32_t line);

#endif // COLLECT_COVER_EXCLUSIONS_H
