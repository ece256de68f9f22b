// SPDX-License-Identifier: Apache-2.0
// Between the model's coverage counts and the set that tracefiles are summed in.

#ifndef COVERAGE_ROWS_TRACEFILE_ROWS_H
#define COVERAGE_ROWS_TRACEFILE_ROWS_H

#include "coverage/rows/project.h"
#include "model/profile.h"
#include "tracefile/tracefile.h"

// Moves a profile's counts of lines, functions, branches and conditions into the set, so that
// they are summed with what is there. The profile has none of them then.
void cover_set_take_profile(CoverSet *s, Profile *from);

// Fills line, function, branch and condition counts of the profile, file by file in the
// order of paths.
void cover_set_fill(const CoverSet *s, const CoverProject *how, Profile *into);

// Adds the places of functions, of which the set knows starts and ends, to the marks in the
// sources.
void cover_set_place_functions(const CoverSet *s, const CoverProject *how);

#endif // COVERAGE_ROWS_TRACEFILE_ROWS_H
