// SPDX-License-Identifier: Apache-2.0
// What a command asks to be filled in, so that no command pays for what it does not show.

#ifndef COVERAGE_ROWS_WANTS_H
#define COVERAGE_ROWS_WANTS_H

enum {
    COVER_WANT_ROWS = 1 << 0,    // counts of lines, functions, branches and conditions
    COVER_WANT_REGIONS = 1 << 1, // with the rows: counts of regions
    // Of LLVM's functions. Totals are left to the rows where other counts are added.
    COVER_WANT_FILE_TOTALS = 1 << 2,
    COVER_WANT_FUNCTION_TOTALS = 1 << 3,
    COVER_WANT_BRANCH_SITES = 1 << 4, // left out where other counts are added
    COVER_WANT_SEGMENTS = 1 << 5,
    COVER_WANT_EXPANSIONS = 1 << 6,
    COVER_WANT_INSTANCES = 1 << 7,
    COVER_WANT_DECISIONS = 1 << 8,
};

#endif // COVERAGE_ROWS_WANTS_H
