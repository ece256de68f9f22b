// SPDX-License-Identifier: Apache-2.0
// Modified condition/decision coverage: which of a decision's conditions has
// been seen to decide the outcome alone, out of the bitmap of executed paths.
// Document: clang, SourceBasedCodeCoverage.rst, "MC/DC"; llvm/lib/ProfileData/
// Coverage/CoverageMapping.cpp numbers the paths.

#ifndef LLVMCOV_MCDC_H
#define LLVMCOV_MCDC_H

#include "base/error.h"
#include "base/vec.h"

// One condition: a node of the decision's diagram. Node 0 is evaluated first.
typedef struct CovCondition {
    int32_t id;      // of the node
    int32_t next[2]; // the node evaluated next on false and on true, -1: the outcome
} CovCondition;

typedef enum CovConditionState { COV_FALSE, COV_TRUE, COV_NOT_EVALUATED } CovConditionState;

// What ran. Paths with the outcome false stand before those with true.
typedef struct CovMcdc {
    uint32_t condition_count;
    uint32_t vector_count;
    // vector_count times: a CovConditionState for each node, then the outcome. Heap.
    U8Vec vectors;
    // For each node two vectors, counted from 1, that differ in it alone and in the
    // outcome; 0, 0: there are none. Heap.
    U32Vec pairs;
} CovMcdc;

// Reads the paths of one decision out of its function's bitmap. `bitmap_index`
// is the mapping's. LLVM 18 (`by_mask`) gave each combination of true conditions
// a bit from byte `bitmap_index` on; later ones number the paths, and
// `bitmap_index` is the bit behind the last. False when the diagram is broken or
// the bitmap is too short; then `into` is not to be used.
MUST_CHECK bool cov_mcdc_evaluate(const CovCondition *conditions, uint32_t count,
                                  uint32_t bitmap_index, bool by_mask, Bytes bitmap, CovMcdc *into,
                                  Error *err);
void cov_mcdc_deinit(CovMcdc *m);

#endif // LLVMCOV_MCDC_H
