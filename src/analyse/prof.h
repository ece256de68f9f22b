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
    uint32_t counted_line; // where the counts say that it begins; 0: not known
    bool is_same_file;     // the counts have it in a file of the same name
} ProfRow;
typedef Vec(ProfRow) ProfRowVec;

typedef enum ProfSort { PROF_AS_REPORTED, PROF_BY_CALLS, PROF_BY_NAME, PROF_BY_ADDRESS } ProfSort;

typedef struct ProfRequest {
    ProfSort sort;
    bool never_called; // rows for functions that were counted, and never ran
} ProfRequest;

// How well time and counts fit together: functions of another program are not
// counted, those of another version of a source lie elsewhere.
typedef struct ProfJoin {
    size_t counted; // functions that the counts have, called or not
    size_t timed;   // functions on stacks that name a source file
    size_t matched; // of these, counted in a file of that name
    size_t moved;   // of the matched: begin on a line that does not fit their declaration's
    size_t silent;  // of the matched: have time of their own, and were never called
    uint64_t silent_self;
} ProfJoin;

// The rows of a report by function, in its order, then the functions that were
// called but have no time, by calls; or all sorted as asked. Functions are matched by
// linkage name, equal ones by the file they are declared in. The rows are the heap's:
// vec_free; the names the profiles' or the arena's. `join` may be NULL.
ProfRowVec prof_rows(Arena *arena, const Report *r, const Profile *const *counts,
                     size_t count_profiles, const ProfRequest *request, ProfJoin *join);

#endif // ANALYSE_PROF_H
