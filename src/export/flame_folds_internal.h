// SPDX-License-Identifier: Apache-2.0
// Recursion in a call tree: paths on which a function, or a sequence of a few functions, repeats.
// A flame graph shows the first round and folds the others.

#ifndef EXPORT_FLAME_FOLDS_INTERNAL_H
#define EXPORT_FLAME_FOLDS_INTERNAL_H

#include "analyse/call_tree.h"

typedef struct FlameChain {
    uint32_t period; // functions of a round
    uint32_t len;    // nodes
} FlameChain;

typedef struct FlameFolds {
    Vec(FlameChain) chains;
    U32Vec chain; // [node]: row of `chains` + 1; 0: part of none
    U32Vec at;    // [node]: callers of the node that are part of the chain
} FlameFolds;

// Finds all chains of more than 8 rounds. `least` is the value of the smallest node that is shown;
// smaller nodes are part of no chain. Free it with flame_folds_deinit.
void flame_folds_find(FlameFolds *ret, const CallTree *t, uint64_t least);
void flame_folds_deinit(FlameFolds *f);

// The node's chain: its row in `chains` + 1, or 0.
uint32_t flame_folds_of(const FlameFolds *f, uint32_t node);

// Whether the node is a later round, which is shown only when its chain is unfolded.
bool flame_folds_hide(const FlameFolds *f, uint32_t node);

// For a node of the first round: how many rounds begin with it or below it. 0 for all other nodes.
uint32_t flame_folds_rounds(const FlameFolds *f, uint32_t node);

#endif // EXPORT_FLAME_FOLDS_INTERNAL_H
