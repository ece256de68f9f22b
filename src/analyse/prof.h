// SPDX-License-Identifier: Apache-2.0
// The table of prof(1): time by function beside the number of calls, as coverage counted
// them. The counts come from the recording itself or from others of the same program.

#ifndef ANALYSE_PROF_H
#define ANALYSE_PROF_H

#include "analyse/report.h"

#define PROF_NO_KEY UINT32_MAX

typedef struct ProfRow {
    uint32_t key; // of the report's keys; PROF_NO_KEY: called, but without samples
    Str name;     // in full
    uint64_t self;
    uint64_t cumulated; // self of this and all rows before it
    bool has_calls;     // false: the calls were not counted
    uint64_t calls;
    uint32_t counted_line; // the first line of the function in the counts; 0: not known
    bool is_same_file;     // its file in the counts has the same name
} ProfRow;
typedef Vec(ProfRow) ProfRowVec;

typedef enum ProfSort { PROF_AS_REPORTED, PROF_BY_CALLS, PROF_BY_NAME, PROF_BY_ADDRESS } ProfSort;

typedef struct ProfRequest {
    ProfSort sort;
    bool never_called; // also rows for functions that were counted and never called
} ProfRequest;

// How well the recording and the counts match. Functions of another program are not in the counts;
// functions of another version of a source begin on another line.
typedef struct ProfJoin {
    size_t counted;       // functions in the counts, called or not
    size_t timed;         // functions in the recording with a known source file
    size_t matched;       // of the timed: counted in a file of that name
    size_t moved;         // of the matched: begin on a line that does not fit their declaration
    size_t silent;        // of the matched: have a self value but were never called by the counts
    uint64_t silent_self; // the self values of these
} ProfJoin;

// The rows of a report by function in its order, followed by functions that were called but have
// no samples, by calls; or all rows sorted as `request` asks. Functions are matched by linkage
// name, those with equal names by the file of their declaration. The rows are heap memory
// (vec_free); names borrow the profiles or lie in the arena. `join` may be NULL.
ProfRowVec prof_rows(Arena *arena, const Report *r, const Profile *const *counts,
                     size_t count_profiles, const ProfRequest *request, ProfJoin *join);

#endif // ANALYSE_PROF_H
