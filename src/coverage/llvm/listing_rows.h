// SPDX-License-Identifier: Apache-2.0
// Rows for what a listing can show below source lines: both sides of branches, segments, the
// text of macros, instances of templates, decisions.

#ifndef COVERAGE_LLVM_LISTING_ROWS_H
#define COVERAGE_LLVM_LISTING_ROWS_H

#include "coverage/llvm/file_totals.h"
#include "coverage/rows/wants.h"

// Fills the tables that `wants` asks for, file by file in the order of paths. Marks in the
// sources are settled before.
void cover_listing_fill(CoverFilling *x, unsigned wants);

#endif // COVERAGE_LLVM_LISTING_ROWS_H
