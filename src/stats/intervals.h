// SPDX-License-Identifier: Apache-2.0
// Intervals: order statistics, Hodges-Lehmann, bootstrap, and a confidence
// sequence that stays valid however often one looks.

#ifndef STATS_INTERVALS_H
#define STATS_INTERVALS_H

#include "base/arena.h"
#include "stats/random.h"

typedef struct Interval {
    double low, point, high;
} Interval;

// Interval of the median from order statistics (inverted sign test): exact
// coverage >= level for any continuous distribution. Infinite ends when n is
// too small for the level (below 6 for 95 %).
Interval stats_median_interval_sorted(const double *sorted, size_t n, double level);

// Hodges-Lehmann: the median of the n(n+1)/2 Walsh averages, interval by
// inverting Wilcoxon's test (R's rule). O(n) memory, O(n log n + 64 n) time.
// Ends are infinite when n is too small for the level.
Interval stats_hodges_lehmann(Arena *scratch, const double *x, size_t n, double level);

// The same for two independent samples: the median of all y_j - x_i, interval
// by inverting Mann-Whitney's normal approximation.
Interval stats_hodges_lehmann_shift(Arena *scratch, const double *x, size_t nx, const double *y,
                                    size_t ny, double level);

// Student's interval of the mean.
Interval stats_mean_interval(const double *x, size_t n, double level);

// ---- Bootstrap -------------------------------------------------------------
// A statistic of a resample: `rows` are row numbers drawn with replacement.
typedef double (*BootstrapStatistic)(const void *ctx, const uint32_t *rows, size_t n);

typedef struct Bootstrap {
    Interval percentile;
    Interval bca;
    double standard_error; // deviation of the resampled statistics
    double *resampled;     // sorted, `count` of them, in the scratch arena
    size_t count;
} Bootstrap;

Bootstrap stats_bootstrap(Arena *scratch, BootstrapStatistic f, const void *ctx, size_t n,
                          size_t resamples, double level, Random *random);

// ---- Looking while it runs -------------------------------------------------
// Half width after n values of the asymptotic confidence sequence of a mean
// (Waudby-Smith et al., arXiv 2103.06476), tightest around n = tuned_at.
// Covers at all n at once with probability `level`.
double stats_sequence_half_width(double deviation, size_t n, double level, double tuned_at);

// How many standard errors that is. With a horizon, the n that is never passed, half of
// the error is spent on it, and the width there is 2.5 instead of 3.1 standard errors;
// 0: none.
double stats_sequence_z(size_t n, double level, double tuned_at, size_t horizon);

// A sequence for the location of values that are symmetric about it, as log ratios of
// pairs in random order are: Hodges-Lehmann, which heavy tails and several modes do not
// widen as they do a mean. Its interval is infinite for the first 17 values or so; until
// then it is the sequence below.
Interval stats_sequence_location(Arena *scratch, const double *x, size_t n, double level,
                                 double tuned_at, size_t horizon);

// The sequence of the mean, applied to values winsorised at median ± 4 MAD.
Interval stats_sequence_interval(Arena *scratch, const double *x, size_t n, double level,
                                 double tuned_at);

#endif // STATS_INTERVALS_H
