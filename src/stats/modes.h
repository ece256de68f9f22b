// SPDX-License-Identifier: Apache-2.0
// Modes of run times: separate values around which the times lie, such as the two of a program
// that finds its cache filled or not.

#ifndef STATS_MODES_H
#define STATS_MODES_H

#include "base/arena.h"

enum { STATS_MODES_MAX = 4 };

typedef struct Mode {
    double centre; // the median of its values
    double share;  // of all values
} Mode;

// The modes of `n` positive values, ascending by centre; returns their number, 1 when there are no
// two. A mode has 3 % of the values and 3 of them at least; two modes are apart by 3 times the
// wider one's interquartile range of logarithms, with next to no value in the middle between them.
// Under 10 values there are no two modes.
size_t stats_modes(Arena *scratch, const double *x, size_t n, Mode ret[STATS_MODES_MAX]);

#endif // STATS_MODES_H
