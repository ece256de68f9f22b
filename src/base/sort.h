// SPDX-License-Identifier: Apache-2.0
// Sorting many rows by a number, without comparing.

#ifndef BASE_SORT_H
#define BASE_SORT_H

#include "base/defs.h"

typedef struct SortRow {
    uint64_t key;
    uint32_t row;
} SortRow;

// By key, ascending; rows of equal keys stay in order. `spare` has room for as many
// rows; the sorted ones are in either array, and the one that has them is returned.
SortRow *sort_rows(SortRow *rows, SortRow *spare, size_t count);

#endif // BASE_SORT_H
