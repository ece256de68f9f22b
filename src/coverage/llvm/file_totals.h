// SPDX-License-Identifier: Apache-2.0
// From evaluated functions to files: totals as llvm-cov's report has them, and
// the rows of the shared model that listings and exports read.

#ifndef COVERAGE_LLVM_FILE_TOTALS_H
#define COVERAGE_LLVM_FILE_TOTALS_H

#include "coverage/llvm/functions.h"
#include "coverage/rows/project.h"
#include "coverage/rows/totals.h"

// Which functions have text in which file.
typedef struct CoverFileIndex {
    U32Vec order;     // rows of CoverData.files, sorted by path, only those kept
    U32Vec starts;    // file row -> first of `functions`; one more entry than files
    U32Vec functions; // rows of CoverData.functions, ascending for each file
} CoverFileIndex;

// `x` is empty; its lists are the heap's.
void cover_index_files(const CoverData *d, const CoverProject *how, CoverFileIndex *x);
void cover_index_free(CoverFileIndex *x);

// The totals of each file, sorted by path. A function's instantiations (same
// place, other template arguments) count as one, with the largest of each total.
void cover_files_summarise(Arena *arena, const CoverData *d, const CoverProject *how,
                           CoverFileVec *ret);

// One function with its own totals; instantiations stand alone.
typedef struct CoverFunctionTotals {
    Str name; // linkage name
    Str file;
    uint32_t line;
    uint64_t count;
    CoverFile totals;
} CoverFunctionTotals;

typedef Vec(CoverFunctionTotals) CoverFunctionTotalsVec;

// File by file in the order of paths, functions in the order of the objects.
void cover_functions_summarise(Arena *arena, const CoverData *d, const CoverProject *how,
                               CoverFunctionTotalsVec *ret);

// A decision with its two sides, where it is listed and where it is written: in the text
// of a macro that may be elsewhere.
typedef struct CoverBranchSite {
    uint32_t listed_line;
    uint32_t line, column;
    uint64_t count, false_count;
    bool is_folded; // the compiler knew it
} CoverBranchSite;

typedef Vec(CoverBranchSite) CoverBranchSiteVec;

// Those of a source file by listed line, without what marks leave out. `out` is the heap's
// and is emptied first.
void cover_file_branches(const CoverData *d, const CoverFileIndex *x, const CoverProject *how,
                         Str path, CoverBranchSiteVec *out);

// Fills line, function, branch and region counts of the profile, file by file in
// the order of paths. Of sets only lines.
void cover_files_fill(const CoverData *d, const CoverProject *how, Profile *into);

// Tells the marks of functions where the functions of `d` are.
void cover_data_place_functions(const CoverData *d, const CoverProject *how);

#endif // COVERAGE_LLVM_FILE_TOTALS_H
