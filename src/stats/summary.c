// SPDX-License-Identifier: Apache-2.0
// Summaries of one sample.

#include "stats/summary.h"

#include "stats/distributions.h"

#include <math.h>
#include <stdlib.h>

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void stats_sort(double *x, size_t n)
{
    if (n > 1)
        qsort(x, n, sizeof(*x), compare_doubles);
}

double *stats_sorted(Arena *a, const double *x, size_t n)
{
    double *copy = arena_array(a, double, n + 1);
    if (n)
        memcpy(copy, x, n * sizeof(*x));
    stats_sort(copy, n);
    return copy;
}

double stats_mean(const double *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += x[i];
    return n ? sum / (double)n : NAN;
}

double stats_variance(const double *x, size_t n)
{
    if (n < 2)
        return NAN;
    double mean = stats_mean(x, n), sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (x[i] - mean) * (x[i] - mean);
    return sum / (double)(n - 1);
}

double stats_deviation(const double *x, size_t n)
{
    return sqrt(stats_variance(x, n));
}

double stats_percentile_sorted(const double *sorted, size_t n, double p)
{
    if (n == 0)
        return NAN;
    double rank = p * (double)(n - 1);
    size_t below = (size_t)rank;
    if (below + 1 >= n)
        return sorted[n - 1];
    double part = rank - (double)below;
    return sorted[below] + (sorted[below + 1] - sorted[below]) * part;
}

double stats_median_sorted(const double *sorted, size_t n)
{
    if (n == 0)
        return NAN;
    return n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
}

double stats_median(Arena *scratch, const double *x, size_t n)
{
    return stats_median_sorted(stats_sorted(scratch, x, n), n);
}

double stats_mad(Arena *scratch, const double *x, size_t n)
{
    double *copy = stats_sorted(scratch, x, n);
    double median = stats_median_sorted(copy, n);
    for (size_t i = 0; i < n; i++)
        copy[i] = fabs(copy[i] - median);
    stats_sort(copy, n);
    return stats_median_sorted(copy, n) * STATS_MAD_SCALE;
}

double stats_trimmed_mean_sorted(const double *sorted, size_t n, double share)
{
    size_t cut = (size_t)(share * (double)n);
    return stats_mean(sorted + cut, n - 2 * cut);
}

TukeyFences stats_fences_sorted(const double *sorted, size_t n)
{
    double q1 = stats_percentile_sorted(sorted, n, 0.25);
    double q3 = stats_percentile_sorted(sorted, n, 0.75);
    double iqr = q3 - q1;
    return (TukeyFences){q1 - 3 * iqr, q1 - 1.5 * iqr, q3 + 1.5 * iqr, q3 + 3 * iqr};
}

Outlier stats_outlier(const TukeyFences *fences, double x)
{
    if (x < fences->low_severe)
        return OUTLIER_LOW_SEVERE;
    if (x > fences->high_severe)
        return OUTLIER_HIGH_SEVERE;
    if (x < fences->low_mild)
        return OUTLIER_LOW_MILD;
    return x > fences->high_mild ? OUTLIER_HIGH_MILD : OUTLIER_NONE;
}

bool stats_line_fit(const double *x, const double *y, size_t n, double level, LineFit *ret)
{
    if (n < 3)
        return false;
    double mean_x = stats_mean(x, n), mean_y = stats_mean(y, n), xx = 0, xy = 0, rest = 0;
    for (size_t i = 0; i < n; i++) {
        xx += (x[i] - mean_x) * (x[i] - mean_x);
        xy += (x[i] - mean_x) * (y[i] - mean_y);
    }
    if (!(xx > 0))
        return false;
    LineFit fit = {.slope = xy / xx};
    fit.intercept = mean_y - fit.slope * mean_x;
    for (size_t i = 0; i < n; i++) {
        double off = y[i] - fit.intercept - fit.slope * x[i];
        rest += off * off;
    }
    double half =
        student_quantile(0.5 + level / 2, (double)(n - 2)) * sqrt(rest / (double)(n - 2) / xx);
    fit.slope_low = fit.slope - half;
    fit.slope_high = fit.slope + half;
    *ret = fit;
    return true;
}

void stats_density(const double *sorted, size_t n, double from, double to, size_t points,
                   double *ret)
{
    enum { KERNELS_MAX = 2000 };
    size_t kernels = MIN(n, (size_t)KERNELS_MAX);
    double iqr =
        stats_percentile_sorted(sorted, n, 0.75) - stats_percentile_sorted(sorted, n, 0.25);
    double sigma = stats_deviation(sorted, n);
    if (iqr > 0) // a few outliers must not widen the kernel for all values
        sigma = MIN(sigma, iqr / 1.349);
    double width = sigma * pow(4.0 / 3 / (double)n, 0.2);
    if (!(width > 0)) // all values are equal: a narrow peak that can still be drawn
        width = (to - from) / 100;
    for (size_t i = 0; i < points; i++) {
        double at = points > 1 ? from + (to - from) * (double)i / (double)(points - 1) : from;
        double sum = 0;
        for (size_t k = 0; k < kernels; k++) {
            double z = (at - sorted[k * n / kernels]) / width;
            if (fabs(z) < 8)
                sum += exp(-z * z / 2);
        }
        ret[i] = sum / ((double)kernels * width * 2.5066282746310005);
    }
}
