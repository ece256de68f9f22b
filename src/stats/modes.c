// SPDX-License-Identifier: Apache-2.0
// Splits sorted logarithms where the variance between the parts is greatest (Otsu 1979), and joins
// parts again that no gap separates.

#include "stats/modes.h"

#include "stats/summary.h"

#include <math.h>

// The number of values below the split with the greatest variance between the parts.
static size_t best_split(const double *sorted, size_t n)
{
    double mean = stats_mean(sorted, n), below = 0, best = -1;
    size_t at = 0;
    for (size_t k = 1; k < n; k++) {
        below += sorted[k - 1] - mean; // the parts' sums are opposite
        double between = below * below / ((double)k * (double)(n - k));
        if (between > best) {
            best = between;
            at = k;
        }
    }
    return at;
}

static double spread(const double *sorted, size_t n)
{
    return stats_percentile_sorted(sorted, n, 0.75) - stats_percentile_sorted(sorted, n, 0.25);
}

// Whether the parts below and above `k` are modes.
static bool is_gap(const double *sorted, size_t n, size_t k, size_t least)
{
    const double apart = 3, between = 0.1;
    size_t minor = MIN(k, n - k), inside = 0;
    if (minor < least)
        return false;
    double low = stats_median_sorted(sorted, k), high = stats_median_sorted(sorted + k, n - k);
    double distance = high - low;
    if (distance < apart * MAX(spread(sorted, k), spread(sorted + k, n - k)))
        return false;
    for (size_t i = 0; i < n; i++)
        inside += sorted[i] > low + distance / 4 && sorted[i] < high - distance / 4;
    return (double)inside <= between * (double)minor;
}

static double squares(const double *sorted, size_t n)
{
    return n > 1 ? stats_variance(sorted, n) * (double)(n - 1) : 0;
}

// Splits the part with the greatest sum of squares, until there are as many parts as there may be
// modes. `ends` are those of the parts, ascending; returns their number.
static size_t split_all(const double *sorted, size_t n, size_t *ends)
{
    size_t count = 1;
    ends[0] = n;
    while (count < STATS_MODES_MAX) {
        size_t widest = 0;
        double most = 0;
        for (size_t m = 0; m < count; m++) {
            size_t from = m ? ends[m - 1] : 0;
            double all = squares(sorted + from, ends[m] - from);
            if (all > most) {
                most = all;
                widest = m;
            }
        }
        if (!(most > 0))
            break;
        size_t from = widest ? ends[widest - 1] : 0;
        for (size_t i = count; i > widest; i--)
            ends[i] = ends[i - 1];
        ends[widest] = from + best_split(sorted + from, ends[widest + 1] - from);
        count++;
    }
    return count;
}

// Joins neighbours without a gap between them; returns the number of parts that stay.
static size_t join(const double *sorted, size_t *ends, size_t count, size_t least)
{
    for (size_t m = 0; m + 1 < count;) {
        size_t from = m ? ends[m - 1] : 0;
        if (is_gap(sorted + from, ends[m + 1] - from, ends[m] - from, least)) {
            m++;
            continue;
        }
        for (size_t i = m; i + 1 < count; i++)
            ends[i] = ends[i + 1];
        count--;
        m = 0;
    }
    return count;
}

size_t stats_modes(Arena *scratch, const double *x, size_t n, Mode ret[STATS_MODES_MAX])
{
    enum { VALUES_LEAST = 10, MODE_LEAST = 3 };
    double *sorted = stats_sorted(scratch, x, n);
    size_t ends[STATS_MODES_MAX] = {n}, count = 1;
    for (size_t i = 0; i < n; i++)
        sorted[i] = log(MAX(sorted[i], 1e-300));
    if (n >= VALUES_LEAST) {
        count = split_all(sorted, n, ends);
        count = join(sorted, ends, count, MAX((size_t)MODE_LEAST, (size_t)ceil(0.03 * (double)n)));
    }
    for (size_t m = 0; m < count; m++) {
        size_t from = m ? ends[m - 1] : 0, len = ends[m] - from;
        double centre = len ? exp(stats_median_sorted(sorted + from, len)) : NAN;
        ret[m] = (Mode){centre, n ? (double)len / (double)n : NAN};
    }
    return count;
}
