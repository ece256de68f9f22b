// SPDX-License-Identifier: Apache-2.0
// The flat table: one row for each function (line, module, thread …) with what
// it used itself and what it used with all it called.

#ifndef ANALYSE_FLAT_H
#define ANALYSE_FLAT_H

#include "analyse/call_tree.h"

typedef enum FlatSort { FLAT_BY_SELF, FLAT_BY_TOTAL, FLAT_BY_SAMPLES, FLAT_BY_NAME } FlatSort;

typedef struct FlatRow {
    uint32_t key;   // of Keys; for group tables the group's row
    uint32_t frame; // the frame with the most self value (total value when self is 0); 0: none
    uint64_t self;
    uint64_t total; // recursion counts once a stack
    uint64_t self_samples;
    uint64_t total_samples;
    bool inlined; // most of its value came from inlined calls
    bool kernel;
} FlatRow;
typedef Vec(FlatRow) FlatRowVec;

// Every key with a value, over all groups, by self value. Frames that only say
// why a stack is cut are left out. The rows are the heap's: vec_free.
FlatRowVec flat_of_weights(const Weights *w, const Keys *keys);

// The groups of `w` as rows; self equals total.
FlatRowVec flat_of_groups(const Weights *w);

// Direct callers or callees of one key: rows with the value that passed between
// them in `total`; `self` is the part of it that ended in the callee and nothing
// it called. Recursion is followed to its outermost call and is no row.
FlatRowVec flat_callers(const CallTree *t, uint32_t key);
FlatRowVec flat_callees(const CallTree *t, uint32_t key);

// Names are those of the keys; equal rows keep their order.
void flat_sort(FlatRowVec *rows, FlatSort by, const Keys *keys);

// The 95 % interval of a share by Wilson's score, for `hits` of `n` samples.
typedef struct ShareInterval {
    double low, high; // 0 … 1
} ShareInterval;
ShareInterval share_interval(uint64_t hits, uint64_t n);

// 100 * part / whole, 0 for nothing of nothing.
static inline double percent_of(uint64_t part, uint64_t whole)
{
    return whole ? 100.0 * (double)part / (double)whole : 0.0;
}

#endif // ANALYSE_FLAT_H
