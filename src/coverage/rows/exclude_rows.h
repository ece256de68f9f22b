// SPDX-License-Identifier: Apache-2.0
// Removes the rows that marks in the sources exclude, and compares marks with counts.

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

// Compares the marks that depend on counts with the counts of the profile: marks that agree take
// effect, the others become faults, by file and line. The list is the arena's.
void cover_profile_settle_marks(Arena *arena, const Profile *p, const CoverProject *how,
                                CoverMarkFaultVec *ret);

// Removes the rows that marks in the sources exclude. Returns the number of lines.
uint64_t cover_profile_exclude(Profile *p, const CoverProject *how);

#endif // COVERAGE_ROWS_EXCLUDE_ROWS_H
