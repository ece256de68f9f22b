// SPDX-License-Identifier: Apache-2.0
// The walk over the branches of a file that totals and listings share.

#ifndef COVERAGE_LLVM_FILE_TOTALS_INTERNAL_H
#define COVERAGE_LLVM_FILE_TOTALS_INTERNAL_H

#include "coverage/llvm/file_totals.h"
#include "coverage/llvm/function_regions.h"

// A branch and where it is listed: the line of the outermost macro use that it is
// in, or its own, and the column that it has in its own text.
typedef struct CoverBranch {
    const CoverRegion *region;
    uint32_t line;
} CoverBranch;

// One expanded file on the way of the lister: the next region to look at.
typedef struct CoverFileVisit {
    uint32_t file;
    size_t next;
} CoverFileVisit;

// A list of branches, with what finding them needs.
typedef struct CoverBranchLister {
    Vec(CoverBranch) at;
    U8Vec visited; // file ids of the present function
    Vec(CoverFileVisit) stack;
} CoverBranchLister;

// Frees the lists; the lister is empty then.
void cover_branch_lister_free(CoverBranchLister *b);

// Lists the branches of a file (row of CoverData.files), of all functions that have text in it,
// those inside macros included, in llvm-cov's order.
void cover_branches_list(const CoverData *d, const CoverFileIndex *x, uint32_t row,
                         CoverBranchLister *b);

// Sorts by line and column, as llvm-cov numbers branches.
void cover_branches_sort(CoverBranch *branches, size_t count);

#endif // COVERAGE_LLVM_FILE_TOTALS_INTERNAL_H
