// SPDX-License-Identifier: Apache-2.0
// Location, spread, percentiles and outlier classes of one sample.
// The definitions are those of Criterion, so that results can be compared with it:
// percentiles by linear interpolation at rank p (n - 1), MAD times 1.4826, Tukey's fences.

#ifndef STATS_SUMMARY_H
#define STATS_SUMMARY_H

#include "base/arena.h"

// The factor by which the MAD of a normal sample estimates its standard deviation.
// Criterion stores it as a 32-bit float: 1.48259997….
#define STATS_MAD_SCALE ((double)1.4826F)

// Sorts ascending. NaN must not occur.
void stats_sort(double *x, size_t n);
// A sorted copy.
double *stats_sorted(Arena *a, const double *x, size_t n);

// The arithmetic mean; NaN for n == 0.
double stats_mean(const double *x, size_t n);
// Sample variance and deviation, divisor n - 1; NaN for n < 2.
double stats_variance(const double *x, size_t n);
double stats_deviation(const double *x, size_t n);

// The percentile at `p` in [0, 1], and the median of sorted and of unsorted values; NaN for n == 0.
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

// The fences by the quartiles of the values.
TukeyFences stats_fences_sorted(const double *sorted, size_t n);
// The class of a value; a value that equals a fence is inside it.
Outlier stats_outlier(const TukeyFences *fences, double x);

// A line y = intercept + slope x, with the confidence interval of the slope.
typedef struct LineFit {
    double intercept, slope, slope_low, slope_high;
} LineFit;
// Fits a line by least squares; the interval at `level` is Student's with n - 2 degrees of
// freedom. False for n < 3, or when all x are equal.
MUST_CHECK bool stats_line_fit(const double *x, const double *y, size_t n, double level,
                               LineFit *ret);

// The Gaussian kernel density of the values at `points` places from `from` to `to`, which go to
// `ret`. The width is Silverman's, σ (4 / 3n)^(1/5), σ being the smaller of the standard deviation
// and IQR / 1.349. Very many values are replaced by fewer quantiles.
void stats_density(const double *sorted, size_t n, double from, double to, size_t points,
                   double *ret);

#endif // STATS_SUMMARY_H
