// SPDX-License-Identifier: Apache-2.0
// Autocorrelation, change points, steady state.

#include "stats/series.h"

#include "stats/hypothesis.h"
#include "stats/summary.h"

#include <math.h>

double stats_autocorrelation(const double *x, size_t n, size_t lag)
{
    if (n <= lag || n < 2)
        return 0;
    double mean = stats_mean(x, n), all = 0, shifted = 0;
    for (size_t i = 0; i < n; i++)
        all += (x[i] - mean) * (x[i] - mean);
    for (size_t i = 0; i + lag < n; i++)
        shifted += (x[i] - mean) * (x[i + lag] - mean);
    return all > 0 ? shifted / all : 0;
}

double stats_effective_size(const double *x, size_t n)
{
    enum { LAGS_MAX = 1000 };
    if (n < 2)
        return (double)n;
    // Geyer's initial monotone sequence: sums of two neighbouring lags, lag 0
    // among them, while they are positive and not above the one before.
    double sum = 0, before = 2;
    for (size_t lag = 0; lag + 1 < n && lag < LAGS_MAX; lag += 2) {
        double pair =
            (lag ? stats_autocorrelation(x, n, lag) : 1) + stats_autocorrelation(x, n, lag + 1);
        if (pair <= 0)
            break;
        before = MIN(before, pair);
        sum += before;
    }
    double size = (double)n / (2 * sum - 1);
    return sum > 0.5 ? MAX(1.0, MIN((double)n, size)) : (double)n;
}

typedef struct Sums {
    double *x, *xx; // prefix sums of values and of squares
    double floor;   // the smallest variance of a segment, because timers have a resolution
} Sums;

// -2 log likelihood of [from, to) as one normal segment, constants dropped.
static double segment_cost(const Sums *s, size_t from, size_t to)
{
    double n = (double)(to - from);
    double mean = (s->x[to] - s->x[from]) / n;
    double variance = (s->xx[to] - s->xx[from]) / n - mean * mean;
    return n * log(MAX(variance, s->floor));
}

U32Vec stats_change_points(Arena *a, const double *x, size_t n)
{
    enum { SEGMENT_MIN = 3 };
    U32Vec changes = {0};
    if (n < 2 * SEGMENT_MIN || n > STATS_CHANGE_POINTS_MAX)
        return changes;
    Sums s = {arena_array(a, double, n + 1), arena_array(a, double, n + 1), 0};
    double mean = stats_mean(x, n); // subtracted, so that the squares do not cancel
    for (size_t i = 0; i < n; i++) {
        double off = x[i] - mean;
        s.x[i + 1] = s.x[i] + off;
        s.xx[i + 1] = s.xx[i] + off * off;
    }
    double spread = s.xx[n] / (double)n;
    if (!(spread > 0))
        return changes;
    s.floor = spread * 1e-6;
    double penalty = 15 * log((double)n);

    double *best = arena_array(a, double, n + 1);
    uint32_t *last = arena_array(a, uint32_t, n + 1);
    uint32_t *candidates = arena_array(a, uint32_t, n + 1);
    size_t candidate_count = 1;
    best[0] = -penalty;
    for (size_t i = 1; i < SEGMENT_MIN && i <= n; i++)
        best[i] = INFINITY;
    for (size_t to = SEGMENT_MIN; to <= n; to++) {
        best[to] = INFINITY;
        for (size_t c = 0; c < candidate_count; c++) {
            size_t from = candidates[c];
            double cost = best[from] + segment_cost(&s, from, to) + penalty;
            if (cost < best[to]) {
                best[to] = cost;
                last[to] = (uint32_t)from;
            }
        }
        size_t kept = 0;
        for (size_t c = 0; c < candidate_count; c++) {
            size_t from = candidates[c];
            if (best[from] + segment_cost(&s, from, to) <= best[to])
                candidates[kept++] = (uint32_t)from;
        }
        candidate_count = kept;
        if (to + 1 >= 2 * SEGMENT_MIN)
            candidates[candidate_count++] = (uint32_t)(to + 1 - SEGMENT_MIN);
    }
    for (size_t to = n; last[to] > 0; to = last[to])
        vec_push(a, &changes, last[to]);
    for (size_t i = 0; i < changes.len / 2; i++) {
        uint32_t swap = changes.at[i];
        changes.at[i] = changes.at[changes.len - 1 - i];
        changes.at[changes.len - 1 - i] = swap;
    }
    return changes;
}

Steady stats_steady_state(Arena *scratch, const double *x, size_t n, double unit_s)
{
    U32Vec changes = stats_change_points(scratch, x, n);
    if (changes.len == 0)
        return (Steady){STEADY_FLAT, 0};
    size_t last = vec_last(&changes);
    double level = stats_median(scratch, x + last, n - last);
    double near = MAX(level * 0.005, MIN(0.001 / unit_s, level * 0.02));
    // Goes back over the segments that have the same level as the last one.
    size_t prefix = last;
    for (size_t c = changes.len; c-- > 0;) {
        size_t from = c ? changes.at[c - 1] : 0;
        double here = stats_median(scratch, x + from, changes.at[c] - from);
        if (fabs(here - level) > near)
            break;
        prefix = from;
    }
    if (prefix == 0)
        return (Steady){STEADY_FLAT, 0};
    // Two modes make change points of their own. The level is believed to have changed if the runs
    // before and after differ by ranks, at the level 5 % shared by all places where it could be.
    if (stats_mann_whitney(scratch, x, prefix, x + prefix, n - prefix).p > 0.05 / (double)n)
        return (Steady){STEADY_FLAT, 0};
    if (prefix > n - n / 4)
        return (Steady){STEADY_NONE, 0};
    double before = stats_median(scratch, x, prefix);
    return (Steady){before > level ? STEADY_WARM_UP : STEADY_SLOWDOWN, prefix};
}
