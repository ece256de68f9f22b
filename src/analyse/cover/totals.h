// SPDX-License-Identifier: Apache-2.0
// Totals of coverage: of files, of functions, of lines of a file.

#ifndef ANALYSE_COVER_TOTALS_H
#define ANALYSE_COVER_TOTALS_H

#include "analyse/cover/file_rows.h"

// The totals of a file, or of one function in it.
typedef struct CoverSubject {
    Str path;
    FunctionId function; // 0: the whole file
    CoverTotals totals;
} CoverSubject;

typedef Vec(CoverSubject) CoverSubjectVec;

// The files by path, with the totals that the profile states or, of criteria of which it states
// none, the sums of its rows. A condition counts when it has shown both of its senses. `ret` is the
// arena's.
void cover_totals_by_file(Arena *arena, const Profile *p, CoverSubjectVec *ret);

// The same beside the files of `files`, one for each; the arena's.
CoverTotals *cover_totals_beside(Arena *arena, const Profile *p, const CoverFiles *files);

// The functions, file by file, with the totals that the profile states. Where it states none, a
// function has the lines and branches up to the start of the next one. `ret` is the arena's.
void cover_totals_by_function(Arena *arena, const Profile *p, CoverSubjectVec *ret);

// The sums of a file's rows of lines, functions, branches and conditions. Each condition counts
// once for true and once for false, as formats of rows have it.
CoverTotals cover_row_totals(const Profile *p, const CoverFiles *c, const CoverFileRows *f);

// Lines and branches on the lines [from, to) of a file; the rest is 0.
CoverTotals cover_range_totals(const Profile *p, const CoverFiles *c, const CoverFileRows *f,
                               uint32_t from, uint32_t to);

// Whether the counts are LLVM's alone, so that totals, regions and decisions are known.
bool cover_is_of_llvm_alone(const Profile *p);

#endif // ANALYSE_COVER_TOTALS_H
