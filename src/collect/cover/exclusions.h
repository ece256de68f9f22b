// SPDX-License-Identifier: Apache-2.0
// Marks in sources that leave lines or branches out of the counting:
// LCOV_EXCL_LINE, _START, _STOP, the same of branches (LCOV_EXCL_BR_LINE …) and of
// branches that only exceptions take (LCOV_EXCL_EXCEPTION_BR_LINE …), GCOVR_EXCL_FUNCTION,
// GCOVR_EXCL_BR_SOURCE; each by the name of lcov, gcovr, gcov or grcov.

#ifndef COLLECT_COVER_EXCLUSIONS_H
#define COLLECT_COVER_EXCLUSIONS_H

#include "base/arena.h"
#include "base/vec.h"

typedef struct CoverLineRange {
    uint32_t first, end; // [first, end)
} CoverLineRange;

typedef Vec(CoverLineRange) CoverLineRangeVec;

// Where a function is written. Columns and the end are 0 where they are not known.
typedef struct CoverFunctionPlace {
    uint32_t line, column, end_line, end_column;
} CoverFunctionPlace;

// A mark of a whole function: it stands on the line where the function starts.
typedef struct CoverFunctionMark {
    uint32_t line, column;
    bool branches_only;
} CoverFunctionMark;

// Ranges are ascending and disjoint.
typedef struct CoverExclusions {
    Arena *arena;
    CoverLineRangeVec lines;
    CoverLineRangeVec branches;   // on lines that count
    CoverLineRangeVec exceptions; // branches there that only an exception takes
    CoverLineRangeVec sources;    // lines that are left out as the target of a branch
    uint32_t open;                // starts without their stop: they reach to the end of the file
    // Marks of functions become ranges when the functions are known.
    Vec(CoverFunctionMark) function_marks;
    Vec(CoverFunctionPlace) functions;
    uint32_t unplaced; // marks of functions where none starts
} CoverExclusions;

// False when the source has no mark.
bool cover_exclusions_find(Arena *arena, Str source, CoverExclusions *ret);

// Says where a function is; to be called for all of a source with function marks.
void cover_exclusions_add_function(CoverExclusions *e, CoverFunctionPlace place);
// Turns the marks of functions into ranges. Functions within (lambdas) stay in.
void cover_exclusions_settle(CoverExclusions *e);

// All accept NULL: nothing is excluded.
bool cover_excludes_line(const CoverExclusions *e, uint32_t line);
bool cover_excludes_branch(const CoverExclusions *e, uint32_t line);
bool cover_excludes_exception(const CoverExclusions *e, uint32_t line);
bool cover_excludes_source(const CoverExclusions *e, uint32_t line);

#endif // COLLECT_COVER_EXCLUSIONS_H
