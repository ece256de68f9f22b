// SPDX-License-Identifier: Apache-2.0
// A sample as a series in time: does one run depend on the one before, where
// does the level change, where does the warm-up end.

#ifndef STATS_SERIES_H
#define STATS_SERIES_H

#include "base/vec.h"

// Autocorrelation at `lag`: Σ (x_i - m)(x_{i+lag} - m) / Σ (x_i - m)². 0 when
// the series is constant or not longer than the lag.
double stats_autocorrelation(const double *x, size_t n, size_t lag);

// How many independent values tell as much about the mean: n / (1 + 2 Σ ρ_k)
// over Geyer's initial monotone sequence of lags (1992). Between 1
// and n.
double stats_effective_size(const double *x, size_t n);

// Starts of the segments after the first, in ascending order, found by PELT
// (Killick et al. 2012) with a normal cost in mean and variance and a penalty
// of 15 ln n (Barrett et al. 2017). Segments have at least 3 values. More than
// STATS_CHANGE_POINTS_MAX values are not searched: the result is empty.
enum { STATS_CHANGE_POINTS_MAX = 20000 };
U32Vec stats_change_points(Arena *a, const double *x, size_t n);

typedef enum SteadyClass {
    STEADY_FLAT,     // one level all the way
    STEADY_WARM_UP,  // slower at first, steady after `prefix`
    STEADY_SLOWDOWN, // faster at first, steady after `prefix`
    STEADY_NONE      // the level still changes in the last quarter
} SteadyClass;

typedef struct Steady {
    SteadyClass kind;
    size_t prefix; // runs before the steady part; 0 when flat or never steady
} Steady;

// Values are times: more is slower. Differences below 0.5 % or 1 ms count as
// equal levels when `unit_s` says how many seconds one unit of x is.
Steady stats_steady_state(Arena *scratch, const double *x, size_t n, double unit_s);

#endif // STATS_SERIES_H
