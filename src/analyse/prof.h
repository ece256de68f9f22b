// SPDX-License-Identifier: Apache-2.0
// prof(1)'s table: time by function beside the calls that a counting tool saw.
// The counts come from the recording itself or from others of the same program.

#ifndef ANALYSE_PROF_H
#define ANALYSE_PROF_H

#include "analyse/report.h"

#define PROF_NO_KEY UINT32_MAX

typedef struct ProfRow {
    uint32_t key; // of the report's keys; PROF_NO_KEY: called, but never seen running
    Str name;     // in full
    uint64_t self;
    uint64_t cumulated; // self of this and all rows before it
    bool has_calls;     // false: nobody counted
    uint64_t calls;
} ProfRow;
typedef Vec(ProfRow) ProfRowVec;

// The rows of a report by function, in its order, then the functions that were
// called but have no time, by calls. Functions are matched by linkage name, equal
// ones by the file they are declared in. The rows are the heap's: vec_free; the
// names the profiles' or the arena's.
ProfRowVec prof_rows(Arena *arena, const Report *r, const Profile *const *counts,
                     size_t count_profiles);

#endif // ANALYSE_PROF_H
