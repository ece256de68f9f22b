// SPDX-License-Identifier: Apache-2.0
// Modified condition/decision coverage (MC/DC): finds in the bitmap of executed paths which
// conditions of a decision were seen to change its outcome independently of the others. Document:
// clang, SourceBasedCodeCoverage.rst, "MC/DC"; llvm/lib/ProfileData/Coverage/CoverageMapping.cpp
// numbers the paths.

#ifndef LLVMCOV_MCDC_H
#define LLVMCOV_MCDC_H

#include "base/error.h"
#include "base/vec.h"

// One condition: a node of the decision diagram. Node 0 is evaluated first.
typedef struct CovCondition {
    int32_t id;      // of the node
    int32_t next[2]; // the node evaluated next on false and on true, -1: the outcome
} CovCondition;

typedef enum CovConditionState { COV_FALSE, COV_TRUE, COV_NOT_EVALUATED } CovConditionState;

// The executed paths of a decision (test vectors): first those with the outcome false, then those
// with true.
typedef struct CovMcdc {
    uint32_t condition_count;
    uint32_t vector_count;
    // A row for each vector: the CovConditionState of each node, then the outcome. Heap memory.
    U8Vec vectors;
    // For each node a pair of vectors, counted from 1, which differ only in that node and in the
    // outcome; 0, 0 when there is none. Heap memory.
    U32Vec pairs;
} CovMcdc;

// Reads the executed paths of a decision from the bitmap of its function. `bitmap_index` comes from
// the mapping. LLVM 18 (`by_mask`) has a bit for each combination of true conditions, from byte
// `bitmap_index` on; later versions number the paths, and `bitmap_index` is the bit after the last
// one. False when the diagram is broken or the bitmap too short; `into` must not be used then.
MUST_CHECK bool cov_mcdc_evaluate(const CovCondition *conditions, uint32_t count,
                                  uint32_t bitmap_index, bool by_mask, Bytes bitmap, CovMcdc *into,
                                  Error *err);
void cov_mcdc_deinit(CovMcdc *m);

#endif // LLVMCOV_MCDC_H
