// SPDX-License-Identifier: Apache-2.0
// Marks in sources that leave lines or branches out of the counting:
// LCOV_EXCL_LINE, _START, _STOP, the same of branches (LCOV_EXCL_BR_LINE …) and of
// branches that only exceptions take (LCOV_EXCL_EXCEPTION_BR_LINE …), GCOVR_EXCL_FUNCTION,
// GCOVR_EXCL_BR_SOURCE, GCOVR_EXCL_BR_WITHOUT_HIT; each by the name of lcov, gcovr, gcov
// or grcov. LCOV_UNREACHABLE_LINE, _START, _STOP; GRCOV_STOP_COVERAGE, GRCOV_BEGIN_COVERAGE;
// and expressions of the user's.

#ifndef COVERAGE_ROWS_EXCLUSIONS_H
#define COVERAGE_ROWS_EXCLUSIONS_H

#include <regex.h>

#include "base/arena.h"
#include "base/vec.h"

// What grcov has as --excl-line and its like.
typedef enum CoverPattern {
    COVER_PATTERN_LINE,
    COVER_PATTERN_START,
    COVER_PATTERN_STOP,
    COVER_PATTERN_BR_LINE,
    COVER_PATTERN_BR_START,
    COVER_PATTERN_BR_STOP,
    COVER_PATTERN_COUNT,
} CoverPattern;

typedef struct CoverPatterns {
    const regex_t *at[COVER_PATTERN_COUNT]; // NULL: none
} CoverPatterns;

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

// A mark that leaves the branches of its line out where `missed` of `all` did not run.
typedef struct CoverMissMark {
    uint32_t line, missed, all;
    bool is_met; // the line has branches
} CoverMissMark;

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
    // Marks that depend on counts: they take effect after cover_exclusions_counted.
    CoverLineRangeVec unreachable;
    Vec(CoverMissMark) miss_marks; // ascending
    uint32_t unread;               // such marks that do not say ": missed/all"
} CoverExclusions;

// False when the source has no mark. `patterns` may be NULL.
bool cover_exclusions_find(Arena *arena, Str source, const CoverPatterns *patterns,
                           CoverExclusions *ret);

// Adds the place of a function. Sources with marks of functions need the places of all functions.
void cover_exclusions_add_function(CoverExclusions *e, CoverFunctionPlace place);
// Turns the marks of functions into ranges. A function inside a marked one (a lambda) still counts.
void cover_exclusions_settle(CoverExclusions *e);

// Whether marks depend on counts; accepts NULL.
bool cover_exclusions_need_counts(const CoverExclusions *e);
bool cover_exclusions_is_unreachable(const CoverExclusions *e, uint32_t line);
// Leaves out [line, line], or its branches and conditions only. Unsorted until
// cover_exclusions_counted.
void cover_exclusions_add_line(CoverExclusions *e, uint32_t line, bool branches_only);
// To be called after all marks that depend on counts are compared with them.
void cover_exclusions_counted(CoverExclusions *e);
// The mark of a line, NULL: none.
CoverMissMark *cover_exclusions_miss_mark(CoverExclusions *e, uint32_t line);

// All accept NULL: nothing is excluded.
bool cover_excludes_line(const CoverExclusions *e, uint32_t line);
bool cover_excludes_branch(const CoverExclusions *e, uint32_t line);
bool cover_excludes_exception(const CoverExclusions *e, uint32_t line);
bool cover_excludes_source(const CoverExclusions *e, uint32_t line);

#endif // COVERAGE_ROWS_EXCLUSIONS_H
