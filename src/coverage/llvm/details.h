// SPDX-License-Identifier: Apache-2.0
// What a listing can show below a line: the text that a macro use expands to, the
// conditions of a decision, the instances of a function.

#ifndef COVERAGE_LLVM_DETAILS_H
#define COVERAGE_LLVM_DETAILS_H

#include "coverage/llvm/file_totals.h"

typedef enum CoverDetailKind {
    COVER_DETAIL_EXPANSION, // `which` is the file id of the expanded text
    COVER_DETAIL_DECISION,  // `which` is a row of CoverData.decisions
    COVER_DETAIL_INSTANCE   // one of several functions at one place; `which` is its file id
} CoverDetailKind;

typedef struct CoverDetail {
    uint32_t line; // below which it stands
    CoverDetailKind kind;
    uint32_t function; // row of CoverData.functions
    uint32_t which;
} CoverDetail;

typedef Vec(CoverDetail) CoverDetailVec;

// The details of a source file, by line. `kinds` has a bit for each kind wanted.
// `out` is the heap's and is emptied first.
void cover_details_find(const CoverData *d, const CoverFileIndex *x, Str path, unsigned kinds,
                        CoverDetailVec *out);

// The lines of an expansion or an instance with their counts, and the file that
// they are in. `out` is the heap's and is emptied first.
Str cover_detail_lines(const CoverData *d, const CoverDetail *detail, CovLineVec *out);

// The segments of a source file, all functions taken together; see segments.h.
void cover_file_segments(const CoverData *d, const CoverFileIndex *x, Str path, CovSegmentVec *out);

#endif // COVERAGE_LLVM_DETAILS_H
