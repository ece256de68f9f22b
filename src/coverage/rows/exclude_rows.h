// SPDX-License-Identifier: Apache-2.0
// Takes rows out of a profile that marks in the sources exclude, and compares marks with counts.

#ifndef COVERAGE_ROWS_EXCLUDE_ROWS_H
#define COVERAGE_ROWS_EXCLUDE_ROWS_H

#include "coverage/rows/project.h"
#include "model/profile.h"

// A mark that the counts contradict: an unreachable line that ran, or a line with
// other branches than GCOVR_EXCL_BR_WITHOUT_HIT says.
typedef struct CoverMarkFault {
    Str path;
    uint32_t line;
    bool is_reached; // the line is marked as unreachable; what follows is 0
    uint32_t said_missed, said_all, missed, all;
} CoverMarkFault;

typedef Vec(CoverMarkFault) CoverMarkFaultVec;

// Settles the marks that depend on counts by those of the profile. Faults are the
// arena's, by file and line.
void cover_profile_settle_marks(Arena *arena, const Profile *p, const CoverProject *how,
                                CoverMarkFaultVec *ret);

// Takes the rows out of the profile that marks in the sources exclude. Gives how
// many lines that were.
uint64_t cover_profile_exclude(Profile *p, const CoverProject *how);

#endif // COVERAGE_ROWS_EXCLUDE_ROWS_H
