// SPDX-License-Identifier: Apache-2.0
// A profile's coverage counts, file by file: the order in which listings and exports walk.

#ifndef ANALYSE_COVER_FILE_ROWS_H
#define ANALYSE_COVER_FILE_ROWS_H

#include "model/profile.h"

// Rows [first, end) of one of the lists below.
typedef struct CoverRows {
    uint32_t first, end;
} CoverRows;

typedef struct CoverFileRows {
    StrId file;
    CoverRows lines;      // ascending by line; equal lines are neighbours
    CoverRows functions;  // in order of the profile, each instance of a template
    CoverRows places;     // of functions, instances of one as one row (model/instances.h)
    CoverRows branches;   // by line, then in order of the profile
    CoverRows regions;    // in order of the profile
    CoverRows conditions; // by line, then in order of the profile
    // What LLVM's functions have below lines, by line, then in order of the profile:
    CoverRows branch_sites, segments, excerpts, decisions;
} CoverFileRows;

typedef struct CoverFiles {
    Vec(CoverFileRows) files; // by path
    // Row numbers of the profile's line_counts, function_counts …, grouped by file.
    U32Vec lines, functions, branches, regions, conditions;
    U32Vec places;
    U64Vec entries; // beside `places`: of all instances
    U32Vec branch_sites, segments, excerpts, decisions;
} CoverFiles;

// The lists are the arena's.
void cover_files_group(Arena *arena, const Profile *p, CoverFiles *ret);

// Lines [first, end).
typedef struct LineRange {
    uint32_t first, end;
} LineRange;

typedef Vec(LineRange) LineRangeVec;

// Lines on which the file's functions start, ascending. Profiles do not state where functions end;
// this is where the next one starts. Release with vec_free.
void cover_function_starts(const Profile *p, const CoverFiles *c, const CoverFileRows *f,
                           U32Vec *ret);
// The first of `starts` behind `line`; UINT32_MAX: none.
uint32_t cover_next_start(const U32Vec *starts, uint32_t line);

#endif // ANALYSE_COVER_FILE_ROWS_H
