// SPDX-License-Identifier: Apache-2.0
// The order of libstdc++'s std::sort, by which llvm-cov up to 19 numbers branches of equal
// place (those of two instances of a template) and gcov lists functions of one start.

#ifndef COVERAGE_ROWS_STD_ORDER_H
#define COVERAGE_ROWS_STD_ORDER_H

#include "base/vec.h"

typedef struct CoverOrdered {
    uint64_t key;
    uint32_t row; // of what is sorted
} CoverOrdered;

typedef Vec(CoverOrdered) CoverOrderedVec;

// Sorts by key, as std::sort does with this order of elements.
void cover_std_sort(CoverOrdered *at, size_t len);

#endif // COVERAGE_ROWS_STD_ORDER_H
