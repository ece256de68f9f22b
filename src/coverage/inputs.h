// SPDX-License-Identifier: Apache-2.0
// Coverage of any origin into one profile: objects with profiles of LLVM, units of gcc,
// tracefiles and recordings, in any order, also folders of them.

#ifndef COVERAGE_INPUTS_H
#define COVERAGE_INPUTS_H

#include "coverage/filter.h"
#include "coverage/gcc/unit_lines.h"
#include "coverage/llvm/functions.h"
#include "coverage/llvm/merge.h"
#include "coverage/rows/project.h"
#include "coverage/rows/wants.h"
#include "model/profile.h"
#include "tracefile/cover_set.h"

// Takes LLVM's functions once they are evaluated and marks in the sources are settled.
typedef void CoverTakeFunctions(void *ctx, const CoverData *d, const CoverProject *how);

// Which inputs to read, how, and what of them.
typedef struct CoverRequest {
    StrVec objects; // programs and libraries with coverage mapping
    Str profile;    // one profile; "": none
    Str arch; // which part of universal binaries counts; "": that of this machine, or the first
    CoverFilterOptions filter;
    bool llvm_rules;                    // count as llvm-cov does, see docs/formats/coverage.md
    bool explain;                       // note every function that could not be counted
    bool demangle;                      // names are to be readable
    unsigned wants;                     // COVER_WANT_*
    const CoverMergeInputVec *weighted; // further inputs; NULL: none
    // See CoverFilter.is_changed.
    bool (*is_changed)(void *ctx, Str path);
    void *is_changed_ctx;
    // Formats that hold more than the profile take it from here; NULL: none does. `functions` is
    // called when the inputs are of LLVM alone, `unit` for each unit of gcc.
    CoverTakeFunctions *take_functions;
    GcovTakeUnit *take_unit;
    void *take_ctx; // of both
} CoverRequest;

// Reads every input and fills `ret`, which it initialises: the rows that request->wants names,
// notes, and the facts of coverage (model/facts.h). Release with profile_deinit, also on false:
// then `ret` has the notes up to the error.
MUST_CHECK bool cover_load(const CoverRequest *request, const StrVec *operands, Profile *ret,
                           Error *err);

// Reads each operand by itself and keeps of the first what `op` says about it and each of the
// others. With `covered`, an operand holds only what ran. Else as cover_load; of `wants` only
// COVER_WANT_ROWS counts.
MUST_CHECK bool cover_load_restricted(const CoverRequest *request, const StrVec *operands,
                                      CoverSetOperation op, bool covered, Profile *ret, Error *err);

#endif // COVERAGE_INPUTS_H
