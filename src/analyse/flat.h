// SPDX-License-Identifier: Apache-2.0
// The flat table: one row for each function (or line, module, thread …) with its self
// value and its total value, which includes everything that it called.

#ifndef ANALYSE_FLAT_H
#define ANALYSE_FLAT_H

#include "analyse/call_tree.h"

typedef enum FlatSort { FLAT_BY_SELF, FLAT_BY_TOTAL, FLAT_BY_SAMPLES, FLAT_BY_NAME } FlatSort;

typedef struct FlatRow {
    uint32_t key;   // of Keys; for group tables the group's row
    uint32_t frame; // the frame with the most self value (total value when self is 0); 0: none
    uint64_t self;
    uint64_t total; // a recursive function counts once for each stack
    uint64_t self_samples;
    uint64_t total_samples;
    bool inlined; // most of its value came from inlined calls
    bool kernel;
    bool passed_on; // a kernel's function whose self value went to the program: a later row among
                    // those of the same self value
} FlatRow;
typedef Vec(FlatRow) FlatRowVec;

// Rows of heap memory, as of all functions here: free them with vec_free. Every key with a value,
// over all groups, by self value. Frames that only state why a stack is incomplete are left out.
FlatRowVec flat_of_weights(const Weights *w, const Keys *keys);

// The groups of `w` as rows; self equals total.
FlatRowVec flat_of_groups(const Weights *w);

// The direct callers, or callees, of one key. `total` is the value of stacks with that call;
// `self` is the part of it whose samples ended in the callee itself. For a recursive function the
// outermost call counts; its calls of itself have no row of their own.
FlatRowVec flat_callers(const CallTree *t, uint32_t key);
FlatRowVec flat_callees(const CallTree *t, uint32_t key);

// Sorts the rows; equal rows keep their order. For FLAT_BY_NAME by the names of the keys.
void flat_sort(FlatRowVec *rows, FlatSort by, const Keys *keys);

typedef struct ShareInterval {
    double low, high; // 0 … 1
} ShareInterval;
// The 95 % confidence interval of a share, for `hits` of `n` samples (Wilson's score interval).
// 0 … 1 when n is 0.
ShareInterval share_interval(uint64_t hits, uint64_t n);

// 100 * part / whole; 0 when the whole is 0.
static inline double percent_of(uint64_t part, uint64_t whole)
{
    return whole ? 100.0 * (double)part / (double)whole : 0.0;
}

#endif // ANALYSE_FLAT_H
