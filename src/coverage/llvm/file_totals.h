// SPDX-License-Identifier: Apache-2.0
// From evaluated functions to files: totals as llvm-cov's report has them, and
// the rows of the shared model that listings and exports read.

#ifndef COVERAGE_LLVM_FILE_TOTALS_H
#define COVERAGE_LLVM_FILE_TOTALS_H

#include "coverage/llvm/functions.h"
#include "coverage/rows/project.h"
#include "coverage/rows/wants.h"
#include "model/profile.h"

// Which functions have text in which file.
typedef struct CoverFileIndex {
    U32Vec order;     // rows of CoverData.files, sorted by path, only those kept
    U32Vec starts;    // file row -> first of `functions`; one more entry than files
    U32Vec functions; // rows of CoverData.functions, ascending for each file
} CoverFileIndex;

// `x` is empty; its lists are the heap's.
void cover_index_files(const CoverData *d, const CoverProject *how, CoverFileIndex *x);
void cover_index_free(CoverFileIndex *x);

typedef Vec(CoverTotals) CoverTotalsVec;

// The totals of each file of x->order. A function's instantiations (same place, other template
// arguments) count as one, with the largest of each total. With `regions_only` the totals of lines,
// branches and conditions stay 0. `ret` is the heap's.
void cover_files_summarise(const CoverData *d, const CoverProject *how, const CoverFileIndex *x,
                           bool regions_only, CoverTotalsVec *ret);

// A profile that is being filled from evaluated functions.
typedef struct CoverFilling {
    const CoverData *d;
    const CoverProject *how;
    Profile *into;
    CoverFileIndex index;
    U32Vec functions; // of the profile, + 1, by function of `d`; 0: not looked up yet
    StrIdVec files;   // of the profile, by file of `d`; 0: not looked up yet
    StrBuf name;      // room for a readable name
} CoverFilling;

// `d`, `how` and `into` must last as long.
void cover_filling_init(CoverFilling *x, const CoverData *d, const CoverProject *how,
                        Profile *into);
void cover_filling_deinit(CoverFilling *x);
// The function in the profile; its name is made readable once, if names are to be.
FunctionId cover_filling_function(CoverFilling *x, uint32_t function);

// Fills totals of files and of functions, as `wants` asks for: file by file in the order of
// paths, functions in the order of the objects. Of files only those of regions and instances, but
// with CoverData.llvm_rules: the others are the sums of the rows. Marks in the sources are settled
// before.
void cover_totals_fill(CoverFilling *x, unsigned wants);

// Fills line, function, branch, condition and, if asked for, region counts of the profile, file
// by file in the order of paths. Of sets only lines.
void cover_files_fill(CoverFilling *x, bool with_regions);

// Adds the places of the functions to the marks in the sources.
void cover_data_place_functions(const CoverData *d, const CoverProject *how);

#endif // COVERAGE_LLVM_FILE_TOTALS_H
