// SPDX-License-Identifier: Apache-2.0
// Comparisons and their verdicts.

#include "stats/compare.h"

#include "stats/distributions.h"
#include "stats/hypothesis.h"
#include "stats/series.h"
#include "stats/summary.h"

#include <math.h>

// For 80 % power the true effect is this many standard errors beyond the limit.
#define POWER_80 0.8416212335729143

// With 4 pairs, a disturbance with a period of a few runs looks like a difference in 9 % of all
// orders.
enum { FEW_PAIRS_LEAST = 5 };

const char *compare_method_name(CompareMethod m)
{
    static const char *const names[] = {"paired", "paired, few runs", "paired, stopped when known",
                                        "not interleaved"};
    return names[m];
}

const char *verdict_name(Verdict v)
{
    static const char *const names[] = {"inconclusive", "equivalent", "faster", "slower"};
    return names[v];
}

// Sets verdict, power and the number of runs still needed, from the interval on log scale. Half
// the width of the interval is `z` standard errors.
static void conclude(Comparison *c, Interval log_ratio, double z, double margin)
{
    double low = log_ratio.low, high = log_ratio.high, point = log_ratio.point;
    double lower = log(1 - MIN(margin, 0.99)), upper = log1p(margin);
    c->ratio = (Interval){exp(low), exp(point), exp(high)};
    c->differs = low > 0 || high < 0;
    if (low > upper)
        c->verdict = VERDICT_SLOWER;
    else if (high < lower)
        c->verdict = VERDICT_FASTER;
    else if (low >= lower && high <= upper && margin > 0)
        c->verdict = VERDICT_EQUIVALENT;
    else
        c->verdict = VERDICT_INCONCLUSIVE;

    double half = (high - low) / 2, error = half / z;
    c->least_seen = isfinite(half) ? expm1(half + POWER_80 * error) : INFINITY;
    if (c->verdict != VERDICT_INCONCLUSIVE)
        return;
    // Half the width, and the margin for power, must fit into this distance.
    double gap = MIN(fabs(point - upper), fabs(point - lower));
    double ratio = (half + POWER_80 * error) / gap;
    double total = (double)c->pairs * ratio * ratio;
    c->more_pairs = isfinite(total) ? MAX(1.0, ceil(total - (double)c->pairs)) : INFINITY;
}

static Interval widened(Interval i, double factor)
{
    return (Interval){i.point - (i.point - i.low) * factor, i.point,
                      i.point + (i.high - i.point) * factor};
}

// The ratio of the means of two samples with the interval by the delta method. `error` is the
// standard error of mean(b) - ratio * mean(a), `z` the half width in such errors.
static void compare_means(Comparison *c, double mean_a, double mean_b, double error, double z)
{
    double ratio = mean_b / mean_a, half = z * error / mean_a;
    if (!isfinite(half))
        half = INFINITY;
    c->mean_ratio = (Interval){ratio - half, ratio, ratio + half};
    c->mean_disagrees = c->mean_ratio.low > c->ratio.high || c->mean_ratio.high < c->ratio.low;
}

// The standard error of the mean of b - ratio * a over pairs.
static double paired_error(const double *a, const double *b, size_t n, double ratio)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) // their mean is 0
        sum += (b[i] - ratio * a[i]) * (b[i] - ratio * a[i]);
    return n > 1 ? sqrt(sum / (double)(n - 1) / (double)n) : NAN;
}

// Of fewer values a standard error says too little.
enum { MEAN_VALUES_LEAST = 8 };

static double student_z(size_t n, double level)
{
    return n >= MEAN_VALUES_LEAST ? student_quantile(0.5 + level / 2, (double)(n - 1)) : NAN;
}

Comparison stats_compare_paired(Arena *scratch, const double *a, const double *b, size_t n,
                                const CompareOptions *options)
{
    double *d = arena_array(scratch, double, n + 1);
    double *x = arena_array(scratch, double, n + 1), *y = arena_array(scratch, double, n + 1);
    for (size_t i = 0; i < n; i++) {
        x[i] = log(a[i]);
        y[i] = log(b[i]);
        d[i] = y[i] - x[i];
    }
    Comparison c = {.pairs = n, .method = COMPARE_PAIRED};
    c.p = stats_wilcoxon(scratch, d, n).p;
    c.sign_p = stats_sign_test(d, n);
    c.lag1 = stats_autocorrelation(d, n, 1);
    double z = normal_quantile(0.5 + options->level / 2);

    Interval i;
    if (options->sequence) {
        c.method = COMPARE_SEQUENCE;
        i = stats_sequence_location(scratch, d, n, options->level, SEQUENCE_TUNED_AT,
                                    options->horizon);
        z = n ? stats_sequence_z(n, options->level, SEQUENCE_TUNED_AT, options->horizon) : z;
    } else {
        i = stats_hodges_lehmann(scratch, d, n, options->level);
        if (!isfinite(i.low)) {
            c.method = COMPARE_PAIRED_FEW;
            if (n >= FEW_PAIRS_LEAST)
                i = stats_hodges_lehmann_shift(scratch, x, n, y, n, options->level);
        }
    }
    conclude(&c, i, z, options->margin);
    if (n) {
        double mean_a = stats_mean(a, n), mean_b = stats_mean(b, n);
        double student = student_z(n, options->level);
        compare_means(&c, mean_a, mean_b, paired_error(a, b, n, mean_b / mean_a),
                      options->sequence ? MAX(z, student) : student);
    }
    return c;
}

// The factor by which the variance of a mean grows where each run depends on the one before
// (AR(1): (1 + r) / (1 - r)). The estimate of r out of few runs is too low by (1 + 4 r) / n
// (Marriott and Pope, Biometrika 41, 1954). Its own error of about 1 / sqrt(n) makes an interval
// too narrow more often than too wide, so that 3/4 of it is added: the least that keeps the
// interval's promise at r = 0.3 from 6 runs on (bench/stats_simulation.c).
static double dependence(const double *x, size_t nx, const double *y, size_t ny)
{
    double n = (double)MIN(nx, ny), all = (double)(nx + ny);
    if (n < 3)
        return 1;
    double r = ((double)nx * stats_autocorrelation(x, nx, 1) +
                (double)ny * stats_autocorrelation(y, ny, 1)) /
               all;
    r += (1 + 4 * MAX(r, 0.0)) / n + 0.75 / sqrt(all);
    r = MIN(r, 0.9);
    return r > 0 ? (1 + r) / (1 - r) : 1;
}

Comparison stats_compare_unpaired(Arena *scratch, const double *a, size_t na, const double *b,
                                  size_t nb, const CompareOptions *options)
{
    double *x = arena_array(scratch, double, na + 1), *y = arena_array(scratch, double, nb + 1);
    for (size_t i = 0; i < na; i++)
        x[i] = log(a[i]);
    for (size_t i = 0; i < nb; i++)
        y[i] = log(b[i]);
    Comparison c = {.pairs = MIN(na, nb), .method = COMPARE_UNPAIRED, .sign_p = NAN};
    c.p = stats_mann_whitney(scratch, x, na, y, nb).p;
    c.lag1 = stats_autocorrelation(y, nb, 1);
    Interval i = stats_hodges_lehmann_shift(scratch, x, na, y, nb, options->level);
    // Runs that depend on their neighbours tell as much as fewer independent ones.
    double more = ((double)na / MAX(1.0, stats_effective_size(x, na)) +
                   (double)nb / MAX(1.0, stats_effective_size(y, nb))) /
                  2;
    more = MAX(more, dependence(x, na, y, nb));
    i = widened(i, sqrt(MAX(1.0, more)));
    conclude(&c, i, normal_quantile(0.5 + options->level / 2), options->margin);
    if (na && nb) {
        double mean_a = stats_mean(a, na), mean_b = stats_mean(b, nb), ratio = mean_b / mean_a;
        double variance =
            ratio * ratio * stats_variance(a, na) / (double)na + stats_variance(b, nb) / (double)nb;
        compare_means(&c, mean_a, mean_b, sqrt(variance * MAX(1.0, more)),
                      student_z(MIN(na, nb), options->level));
    }
    return c;
}
