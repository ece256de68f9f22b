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
// by inverting Mann-Whitney's test.
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
// The width, in standard errors after n values, of the confidence sequence of a mean by a normal
// mixture (Robbins 1970; Waudby-Smith et al., arXiv 2103.06476): s √(2 (nρ²+1) / (nρ²) ln(√(nρ²+1)
// / α)) of the deviation s, over √n. It covers the mean at all n at once with probability `level`
// and is narrowest around n = tuned_at. `horizon` is the largest n that will be reached, 0 for
// none: half of the error probability is then spent at it, which narrows the interval there
// from 3.1 to 2.5 standard errors.
enum { SEQUENCE_TUNED_AT = 100 }; // to find +2 % on a noisy machine takes about that many pairs
double stats_sequence_z(size_t n, double level, double tuned_at, size_t horizon);

// A confidence sequence for the centre of a symmetric distribution, as that of log ratios of pairs
// in random order is. It uses Hodges-Lehmann, which heavy tails and several modes widen less than
// a mean. While these are too few values for it, about the first 17, the interval is the range of
// all, from 8 values on (of 95 %): no value is left out. Before, it is infinite.
Interval stats_sequence_location(Arena *scratch, const double *x, size_t n, double level,
                                 double tuned_at, size_t horizon);

// A confidence sequence for the median of any distribution, by order statistics. `x` are in the
// order of time: where neighbours depend on each other it is wider.
Interval stats_sequence_median(Arena *scratch, const double *x, size_t n, double level,
                               double tuned_at);

#endif // STATS_INTERVALS_H
