// SPDX-License-Identifier: Apache-2.0
// Radix sort of many rows by a 64-bit key.

#ifndef BASE_SORT_H
#define BASE_SORT_H

#include "base/defs.h"

typedef struct SortRow {
    uint64_t key;
    uint32_t row;
} SortRow;

// Sorts by key, ascending; rows of equal keys keep their order. `spare` has room for `count`
// rows, too. Returns the array that holds the sorted rows: `rows` or `spare`. The content of the
// other array is then undefined.
SortRow *sort_rows(SortRow *rows, SortRow *spare, size_t count);

#endif // BASE_SORT_H
