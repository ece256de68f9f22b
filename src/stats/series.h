// SPDX-License-Identifier: Apache-2.0
// Statistics of values in the order of time: whether a run depends on the previous run, where the
// level changes, and where the warm-up ends.

#ifndef STATS_SERIES_H
#define STATS_SERIES_H

#include "base/vec.h"

// Autocorrelation at `lag`: Σ (x_i - m)(x_{i+lag} - m) / Σ (x_i - m)². 0 when
// the series is constant or not longer than the lag.
double stats_autocorrelation(const double *x, size_t n, size_t lag);

// The effective sample size: the number of independent values that would determine the mean as
// precisely. n / (1 + 2 Σ ρ_k) over Geyer's initial monotone sequence of lags (1992), between
// 1 and n.
double stats_effective_size(const double *x, size_t n);

// A longer series is not searched for change points.
enum { STATS_CHANGE_POINTS_MAX = 20000 };
// The change points of a series: the first value of each segment after the first, ascending.
// Found by PELT (Killick et al. 2012) with a normal cost in mean and variance and a penalty of
// 15 ln n (Barrett et al. 2017). Segments have at least 3 values. Empty for more than
// STATS_CHANGE_POINTS_MAX values.
U32Vec stats_change_points(Arena *a, const double *x, size_t n);

typedef enum SteadyClass {
    STEADY_FLAT,     // the same level from the first run to the last
    STEADY_WARM_UP,  // the first `prefix` runs are slower, the others are steady
    STEADY_SLOWDOWN, // the first `prefix` runs are faster, the others are steady
    STEADY_NONE      // the level still changes in the last quarter
} SteadyClass;

typedef struct Steady {
    SteadyClass kind;
    size_t prefix; // runs before the steady part; 0 when flat or never steady
} Steady;

// Classifies a series of times by its change points. Levels that differ by less than 0.5 % or
// 1 ms count as equal; `unit_s` is the number of seconds in one unit of x. Runs before and after a
// change must differ by Mann-Whitney's test, so that modes are not taken for a warm-up.
Steady stats_steady_state(Arena *scratch, const double *x, size_t n, double unit_s);

#endif // STATS_SERIES_H
