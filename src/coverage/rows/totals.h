// SPDX-License-Identifier: Apache-2.0
// Totals of lines, functions, branches, regions and conditions by source file.

#ifndef COVERAGE_ROWS_TOTALS_H
#define COVERAGE_ROWS_TOTALS_H

#include "model/profile.h"

typedef struct CoverTally {
    uint64_t covered, count;
} CoverTally;

typedef struct CoverFile {
    Str path;
    CoverTally regions, functions, instantiations, lines, branches;
    CoverTally conditions; // MC/DC: shown to decide alone
} CoverFile;

typedef Vec(CoverFile) CoverFileVec;

void cover_file_add(CoverFile *into, const CoverFile *more);

// Totals of a profile that has counts but no regions of functions (gcov, lcov).
void cover_profile_summarise(Arena *arena, const Profile *p, CoverFileVec *ret);

#endif // COVERAGE_ROWS_TOTALS_H
