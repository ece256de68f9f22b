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

// The number of pairs at which the sequence is narrowest. To find +2 % on a noisy machine takes
// about that many.
#define SEQUENCE_TUNED_AT 100

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

// The winsorised correlation of neighbouring pairs within blocks of `block` pairs, reduced towards
// 0 while there are few blocks. A negative correlation gives 0: only a positive one makes the
// interval too narrow.
static double block_dependence(Arena *scratch, const double *d, size_t n, size_t block)
{
    size_t blocks = block > 1 ? n / block : 0;
    if (blocks < 4)
        return 0;
    double median = stats_median(scratch, d, n), reach = 3 * stats_mad(scratch, d, n);
    double cross = 0, all = 0;
    for (size_t i = 0; i + block <= n; i += block) {
        for (size_t k = 0; k < block; k++) {
            double off = MAX(-reach, MIN(reach, d[i + k] - median));
            all += off * off / (double)block;
            if (k > 0) {
                double before = MAX(-reach, MIN(reach, d[i + k - 1] - median));
                cross += off * before / (double)(block - 1);
            }
        }
    }
    double raw = all > 0 ? cross / all : 0;
    return MAX(0.0, raw) * (double)blocks / (double)(blocks + 20);
}

static Interval widened(Interval i, double factor)
{
    return (Interval){i.point - (i.point - i.low) * factor, i.point,
                      i.point + (i.high - i.point) * factor};
}

Comparison stats_compare_paired(Arena *scratch, const double *a, const double *b, size_t n,
                                const CompareOptions *options)
{
    double *d = arena_array(scratch, double, n + 1);
    for (size_t i = 0; i < n; i++)
        d[i] = log(b[i] / a[i]);
    Comparison c = {.pairs = n, .method = COMPARE_PAIRED};
    c.p = stats_wilcoxon(scratch, d, n).p;
    c.sign_p = stats_sign_test(d, n);
    c.lag1 = stats_autocorrelation(d, n, 1);
    c.dependence = block_dependence(scratch, d, n, options->block_pairs);
    double factor = sqrt(1 + c.dependence);
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
            i = stats_mean_interval(d, n, options->level);
            z = n > 1 ? student_quantile(0.5 + options->level / 2, (double)(n - 1)) : z;
        }
    }
    conclude(&c, widened(i, factor), z, options->margin);
    return c;
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
    conclude(&c, i, normal_quantile(0.5 + options->level / 2), options->margin);
    return c;
}
