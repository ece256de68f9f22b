// SPDX-License-Identifier: Apache-2.0
// From gcc's flow graphs to lines, branches and functions, by the rules of gcov,
// summed over any number of translation units.

#ifndef COLLECT_COVER_GCOV_LINES_H
#define COLLECT_COVER_GCOV_LINES_H

#include "collect/cover/summary.h"
#include "gcov/gcov.h"

typedef struct GcovLine {
    StrId file; // of the profile that is filled
    uint32_t line;
    uint64_t count;
    uint32_t first_branch; // of `branches`, + 1; 0: none
} GcovLine;

typedef struct GcovBranch {
    uint32_t row;   // of `lines`
    uint32_t order; // on its line
    uint64_t count;
    uint32_t next;    // of the same line, + 1
    bool is_left_out; // by a mark; it keeps its number
} GcovBranch;

// Sums of many translation units.
typedef struct GcovSum {
    Profile *profile;
    const CoverProject *how;
    Vec(GcovLine) lines;
    Vec(GcovBranch) branches;
    Table line_index;
    U64Vec functions; // by FunctionId, entries + 1; 0: not counted
    uint64_t unit_count;
    uint64_t approximate; // lines whose loops were too many to follow one by one
    // Takes each unit as a document of gcov's JSON; NULL: not asked for.
    StrBuf *documents;
    Arena scratch;
} GcovSum;

void gcov_sum_init(GcovSum *s, Profile *profile, const CoverProject *how);
void gcov_sum_deinit(GcovSum *s);

// Solves and adds one translation unit whose counts have been added. `notes` is
// changed; `data_file` names the .gcda in a document.
MUST_CHECK bool gcov_sum_add(GcovSum *s, GcovNotes *notes, Str data_file, Error *err);

// Writes the sums into the profile, file by file.
void gcov_sum_finish(GcovSum *s);

#endif // COLLECT_COVER_GCOV_LINES_H
