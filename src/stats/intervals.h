// SPDX-License-Identifier: Apache-2.0
// Confidence intervals: by order statistics, Hodges-Lehmann and bootstrap, and a
// confidence sequence, which stays valid when it is computed after every value. `level` is
// the coverage asked for, such as 0.95; `scratch` holds temporary arrays.

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

// Draws `resamples` resamples of `n` rows and computes `f` of each; resamples whose statistic is
// not finite are left out.
Bootstrap stats_bootstrap(Arena *scratch, BootstrapStatistic f, const void *ctx, size_t n,
                          size_t resamples, double level, Random *random);

// ---- Confidence sequences --------------------------------------------------
// Half the width, after n values, of the asymptotic confidence sequence of a mean (Waudby-Smith
// et al., arXiv 2103.06476). It covers the mean at all n at once with probability `level` and is
// narrowest around n = tuned_at. `deviation` is the standard deviation of the values.
double stats_sequence_half_width(double deviation, size_t n, double level, double tuned_at);

// The same width in standard errors. `horizon` is the largest n that will be reached, 0 for none:
// half of the error probability is then spent at it, which narrows the interval there from 3.1 to
// 2.5 standard errors.
double stats_sequence_z(size_t n, double level, double tuned_at, size_t horizon);

// A confidence sequence for the centre of a symmetric distribution, as that of log ratios of pairs
// in random order is. It uses Hodges-Lehmann, which heavy tails and several modes widen less than
// a mean. Its interval is infinite for about the first 17 values; until then the result is that
// of stats_sequence_interval.
Interval stats_sequence_location(Arena *scratch, const double *x, size_t n, double level,
                                 double tuned_at, size_t horizon);

// The confidence sequence of the mean of the values after winsorising at median ± 4 MAD.
Interval stats_sequence_interval(Arena *scratch, const double *x, size_t n, double level,
                                 double tuned_at);

#endif // STATS_INTERVALS_H
