// SPDX-License-Identifier: Apache-2.0
// Intervals of location.

#include "stats/intervals.h"

#include "stats/distributions.h"
#include "stats/hypothesis.h"
#include "stats/series.h"
#include "stats/summary.h"

#include <math.h>

Interval stats_median_interval_sorted(const double *sorted, size_t n, double level)
{
    double alpha = 1 - level;
    Interval i = {-INFINITY, stats_median_sorted(sorted, n), INFINITY};
    // The largest k with P(Bin(n, 1/2) < k) <= alpha / 2.
    size_t low = 0, high = n / 2 + 1;
    while (high - low > 1) {
        size_t k = (low + high) / 2;
        if (binomial_cdf((int64_t)k - 1, n, 0.5) <= alpha / 2)
            low = k;
        else
            high = k;
    }
    if (low > 0) {
        i.low = sorted[low - 1];
        i.high = sorted[n - low];
    }
    return i;
}

// Maps doubles to unsigned numbers in the same order, so that a selection can bisect them.
static uint64_t order_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof(bits));
    return bits >> 63 ? ~bits : bits | 1ull << 63;
}

static double double_of(uint64_t order)
{
    uint64_t bits = order >> 63 ? order & ~(1ull << 63) : ~order;
    double x;
    memcpy(&x, &bits, sizeof(x));
    return x;
}

// Returns how many numbers of a family are <= t.
typedef uint64_t (*CountBelow)(const void *family, double t);

// The k-th smallest number (k from 1) of a family of which only counts are known, found by
// bisection.
static double select_counted(CountBelow count, const void *family, uint64_t k, double least,
                             double most)
{
    uint64_t low = order_of(least), high = order_of(most);
    while (low < high) {
        uint64_t mid = low + (high - low) / 2;
        if (count(family, double_of(mid)) >= k)
            high = mid;
        else
            low = mid + 1;
    }
    return double_of(low);
}

typedef struct WalshFamily {
    const double *sorted;
    size_t n;
} WalshFamily;

static uint64_t walsh_count(const void *family, double t)
{
    const WalshFamily *w = family;
    uint64_t count = 0;
    size_t j = w->n; // values [0, j) pair with i to at most t
    for (size_t i = 0; i < w->n; i++) {
        while (j > i && (w->sorted[i] + w->sorted[j - 1]) / 2 > t)
            j--;
        if (j <= i)
            break;
        count += j - i;
    }
    return count;
}

Interval stats_hodges_lehmann(Arena *scratch, const double *x, size_t n, double level)
{
    if (n == 0)
        return (Interval){-INFINITY, NAN, INFINITY};
    WalshFamily w = {stats_sorted(scratch, x, n), n};
    double least = w.sorted[0], most = w.sorted[n - 1];
    uint64_t count = (uint64_t)n * (n + 1) / 2;
    double a = select_counted(walsh_count, &w, (count + 1) / 2, least, most);
    double b = count % 2 ? a : select_counted(walsh_count, &w, count / 2 + 1, least, most);
    Interval i = {-INFINITY, (a + b) / 2, INFINITY};

    double tail = (1 - level) / 2;
    if (ldexp(1, -(int)MIN(n, (size_t)1000)) > tail)
        return i; // even the extreme rank sum is more likely than the tail
    uint64_t c = stats_signed_rank_quantile(scratch, n, tail);
    i.low = select_counted(walsh_count, &w, c, least, most);
    i.high = select_counted(walsh_count, &w, count + 1 - c, least, most);
    return i;
}

typedef struct ShiftFamily {
    const double *x, *y; // sorted
    size_t nx, ny;
} ShiftFamily;

static uint64_t shift_count(const void *family, double t)
{
    const ShiftFamily *s = family;
    uint64_t count = 0;
    size_t j = 0; // y[0, j) - x[i] <= t; grows with i
    for (size_t i = 0; i < s->nx; i++) {
        while (j < s->ny && s->y[j] - s->x[i] <= t)
            j++;
        count += j;
    }
    return count;
}

Interval stats_hodges_lehmann_shift(Arena *scratch, const double *x, size_t nx, const double *y,
                                    size_t ny, double level)
{
    if (nx == 0 || ny == 0)
        return (Interval){-INFINITY, NAN, INFINITY};
    ShiftFamily s = {stats_sorted(scratch, x, nx), stats_sorted(scratch, y, ny), nx, ny};
    double least = s.y[0] - s.x[nx - 1], most = s.y[ny - 1] - s.x[0];
    uint64_t count = (uint64_t)nx * ny;
    double a = select_counted(shift_count, &s, (count + 1) / 2, least, most);
    double b = count % 2 ? a : select_counted(shift_count, &s, count / 2 + 1, least, most);
    Interval i = {-INFINITY, (a + b) / 2, INFINITY};

    uint64_t k = stats_mann_whitney_quantile(scratch, nx, ny, (1 - level) / 2);
    if (k == 0)
        return i;
    i.low = select_counted(shift_count, &s, k, least, most);
    i.high = select_counted(shift_count, &s, count + 1 - k, least, most);
    return i;
}

Interval stats_mean_interval(const double *x, size_t n, double level)
{
    double mean = stats_mean(x, n);
    if (n < 2)
        return (Interval){-INFINITY, mean, INFINITY};
    double half = student_quantile(0.5 + level / 2, (double)(n - 1)) * stats_deviation(x, n) /
                  sqrt((double)n);
    return (Interval){mean - half, mean, mean + half};
}

// ---- Bootstrap -------------------------------------------------------------

static double percentile_at(const double *sorted, size_t n, double p)
{
    return stats_percentile_sorted(sorted, n, MAX(0.0, MIN(1.0, p)));
}

// The acceleration constant of BCa: the skewness of the jackknife values.
static double jackknife_acceleration(Arena *scratch, BootstrapStatistic f, const void *ctx,
                                     size_t n)
{
    uint32_t *rows = arena_array(scratch, uint32_t, n);
    double *without = arena_array(scratch, double, n);
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0, to = 0; k < n; k++)
            if (k != i)
                rows[to++] = (uint32_t)k;
        without[i] = f(ctx, rows, n - 1);
    }
    double mean = stats_mean(without, n), cubes = 0, squares = 0;
    for (size_t i = 0; i < n; i++) {
        double off = mean - without[i];
        cubes += off * off * off;
        squares += off * off;
    }
    return squares > 0 ? cubes / (6 * pow(squares, 1.5)) : 0;
}

Bootstrap stats_bootstrap(Arena *scratch, BootstrapStatistic f, const void *ctx, size_t n,
                          size_t resamples, double level, Random *random)
{
    uint32_t *rows = arena_array(scratch, uint32_t, n + 1);
    double *t = arena_array(scratch, double, resamples + 1);
    for (size_t i = 0; i < n; i++)
        rows[i] = (uint32_t)i;
    double point = f(ctx, rows, n);
    size_t kept = 0, below = 0;
    for (size_t b = 0; b < resamples; b++) {
        for (size_t i = 0; i < n; i++)
            rows[i] = (uint32_t)random_below(random, n);
        double value = f(ctx, rows, n);
        if (!isfinite(value))
            continue;
        below += value < point;
        t[kept++] = value;
    }
    Bootstrap r = {.resampled = t, .count = kept};
    stats_sort(t, kept);
    r.standard_error = stats_deviation(t, kept);
    double tail = (1 - level) / 2;
    r.percentile =
        (Interval){percentile_at(t, kept, tail), point, percentile_at(t, kept, 1 - tail)};

    // Efron 1987. All resamples on one side: no correction is possible.
    r.bca = r.percentile;
    if (below > 0 && below < kept && n > 1) {
        double z0 = normal_quantile((double)below / (double)kept);
        double a = jackknife_acceleration(scratch, f, ctx, n);
        double ends[2];
        for (int side = 0; side < 2; side++) {
            double z = z0 + normal_quantile(side ? 1 - tail : tail);
            ends[side] = percentile_at(t, kept, normal_cdf(z0 + z / (1 - a * z)));
        }
        r.bca = (Interval){ends[0], point, ends[1]};
    }
    return r;
}

// ---- Confidence sequence ---------------------------------------------------

// The width in standard errors of the normal mixture's confidence sequence.
static double mixture_z(size_t n, double alpha, double tuned_at)
{
    double rho2 = (-2 * log(alpha) + log(-2 * log(alpha)) + 1) / tuned_at;
    double seen = (double)n * rho2;
    return sqrt(2 * (seen + 1) / seen * log(sqrt(seen + 1) / alpha));
}

double stats_sequence_z(size_t n, double level, double tuned_at, size_t horizon)
{
    double alpha = 1 - level;
    if (horizon < n)
        return mixture_z(n, alpha, tuned_at);
    // Two bounds, each with half of the error probability: a constant that the sum does not reach
    // up to the horizon (reflection principle), and the mixture.
    double constant = normal_quantile(1 - alpha / 8) * sqrt((double)horizon / (double)n);
    return MIN(constant, mixture_z(n, alpha / 2, tuned_at));
}

// The number of values from which on the range of all of them is a sequence: the centre lies
// outside it at that number or later only if the first so many values lie on one side of it, of
// which the probability is 2^(1 - n). A quarter of the error probability at most is spent on it.
static size_t range_from(double alpha)
{
    return (size_t)ceil(1 - log2(alpha / 4));
}

// The level of the sequence that goes on where the range is still the better one.
static double level_beside_range(double alpha)
{
    return 1 - (alpha - ldexp(1, 1 - (int)range_from(alpha)));
}

static Interval range_of(const double *x, size_t n, double point)
{
    Interval i = {x[0], point, x[0]};
    for (size_t k = 1; k < n; k++) {
        i.low = MIN(i.low, x[k]);
        i.high = MAX(i.high, x[k]);
    }
    return i;
}

Interval stats_sequence_location(Arena *scratch, const double *x, size_t n, double level,
                                 double tuned_at, size_t horizon)
{
    if (n == 0)
        return (Interval){-INFINITY, NAN, INFINITY};
    double alpha = 1 - level;
    double z = stats_sequence_z(n, level_beside_range(alpha), tuned_at, horizon);
    Interval i = stats_hodges_lehmann(scratch, x, n, 1 - erfc(z / sqrt(2)));
    return isfinite(i.low) || n < range_from(alpha) ? i : range_of(x, n, i.point);
}

Interval stats_sequence_median(Arena *scratch, const double *x, size_t n, double level,
                               double tuned_at)
{
    if (n == 0)
        return (Interval){-INFINITY, NAN, INFINITY};
    double alpha = 1 - level, *sorted = stats_sorted(scratch, x, n);
    Interval i = {-INFINITY, stats_median_sorted(sorted, n), INFINITY};
    // The number of values below the median is a walk of steps 0 and 1; neighbours that depend
    // on each other take it as far as so many times more values do.
    double more = sqrt((double)n / stats_effective_size(x, n));
    double z = stats_sequence_z(n, level_beside_range(alpha), tuned_at, 0) * more;
    double least = ((double)n - z * sqrt((double)n)) / 2;
    if (least > 0) {
        size_t k = (size_t)ceil(least);
        i.low = sorted[k - 1];
        i.high = sorted[n - k];
    } else if (n >= range_from(alpha)) {
        i.low = sorted[0];
        i.high = sorted[n - 1];
    }
    return i;
}
