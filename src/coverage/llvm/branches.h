// SPDX-License-Identifier: Apache-2.0
// The walk over the branches of a file that totals and listings share.

#ifndef COVERAGE_LLVM_BRANCHES_H
#define COVERAGE_LLVM_BRANCHES_H

#include "coverage/llvm/file_totals.h"
#include "coverage/llvm/function_regions.h"

// A branch and where it is listed: the line of the outermost macro use that it is
// in, or its own, and the column that it has in its own text.
typedef struct CoverBranch {
    const CoverRegion *region; // of the first instance
    uint32_t line;
    uint32_t function;           // row of CoverData.functions: the last instance
    bool is_folded;              // in every instance
    uint64_t count, false_count; // of all instances
} CoverBranch;

// One expanded file on the way of the lister: the next region to look at.
typedef struct CoverFileVisit {
    uint32_t file;
    size_t next;
} CoverFileVisit;

// A list of branches, with what finding them needs.
typedef struct CoverBranchLister {
    Vec(CoverBranch) at;
    uint32_t function; // the present one: row of CoverData.functions
    U8Vec visited;     // its file ids
    Vec(CoverFileVisit) stack;
} CoverBranchLister;

// Adds the branches that stand in `range` itself.
void cover_branches_add_direct(CoverBranchLister *b, CoverRegionRange range);
// Adds the branches of all that the macros in the main file of `f` expand to: inner expansions
// before the branches of their own level. Each file id is entered once.
void cover_branches_add_expanded(CoverBranchLister *b, const CoverData *d, const CoverFunction *f);

// Frees the lists; the lister is empty then.
void cover_branch_lister_free(CoverBranchLister *b);

// Lists the branches of a file (row of CoverData.files), of all functions that have text in it,
// those inside macros included, in llvm-cov's order. Those of the instances of one function are
// one, but with CoverData.llvm_rules.
void cover_branches_list(const CoverData *d, const CoverFileIndex *x, uint32_t row,
                         CoverBranchLister *b);

// Sorts by line and column, as llvm-cov numbers branches.
void cover_branches_sort(CoverBranch *branches, size_t count);

#endif // COVERAGE_LLVM_BRANCHES_H
