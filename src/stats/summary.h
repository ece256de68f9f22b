// SPDX-License-Identifier: Apache-2.0
// Location, spread, percentiles and outlier classes of one sample.
// The definitions are Criterion's, so that figures compare: percentiles by
// linear interpolation at rank p (n - 1), MAD times 1.4826, Tukey's fences.

#ifndef STATS_SUMMARY_H
#define STATS_SUMMARY_H

#include "base/arena.h"

// What makes the MAD of a normal sample estimate its standard deviation.
// Criterion keeps it as a 32-bit float: 1.48259997….
#define STATS_MAD_SCALE ((double)1.4826F)

// Sorts ascending. NaN must not occur.
void stats_sort(double *x, size_t n);
// A sorted copy.
double *stats_sorted(Arena *a, const double *x, size_t n);

// NaN for n == 0.
double stats_mean(const double *x, size_t n);
// Sample variance and deviation, divisor n - 1; NaN for n < 2.
double stats_variance(const double *x, size_t n);
double stats_deviation(const double *x, size_t n);

// `p` in [0, 1]; NaN for n == 0.
double stats_percentile_sorted(const double *sorted, size_t n, double p);
double stats_median_sorted(const double *sorted, size_t n);
double stats_median(Arena *scratch, const double *x, size_t n);
// Median absolute deviation from the median, scaled by STATS_MAD_SCALE.
double stats_mad(Arena *scratch, const double *x, size_t n);

// The mean without floor(share * n) values at each end, share < 0.5.
double stats_trimmed_mean_sorted(const double *sorted, size_t n, double share);

typedef struct TukeyFences {
    double low_severe, low_mild, high_mild, high_severe; // Q1 - 3 IQR … Q3 + 3 IQR
} TukeyFences;

typedef enum Outlier {
    OUTLIER_NONE,
    OUTLIER_LOW_SEVERE,
    OUTLIER_LOW_MILD,
    OUTLIER_HIGH_MILD,
    OUTLIER_HIGH_SEVERE
} Outlier;

TukeyFences stats_fences_sorted(const double *sorted, size_t n);
// A value on a fence is inside it.
Outlier stats_outlier(const TukeyFences *fences, double x);

// Least squares y = a + b x with the 95 %-type interval of b at `level`
// (Student, n - 2 degrees of freedom). Needs n >= 3 and two different x.
typedef struct LineFit {
    double intercept, slope, slope_low, slope_high;
} LineFit;
MUST_CHECK bool stats_line_fit(const double *x, const double *y, size_t n, double level,
                               LineFit *ret);

// Gaussian kernel density with Silverman's width σ (4 / 3n)^(1/5), σ being the
// smaller of deviation and IQR / 1.349, at `points`
// places from `from` to `to`; values too many are thinned to quantiles.
void stats_density(const double *sorted, size_t n, double from, double to, size_t points,
                   double *ret);

#endif // STATS_SUMMARY_H
