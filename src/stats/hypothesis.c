// SPDX-License-Identifier: Apache-2.0
// Sign, Wilcoxon and Mann-Whitney tests; Holm.

#include "stats/hypothesis.h"

#include "stats/distributions.h"
#include "stats/summary.h"

#include <math.h>
#include <stdlib.h>

double stats_sign_test(const double *d, size_t n)
{
    uint64_t positive = 0, negative = 0;
    for (size_t i = 0; i < n; i++) {
        positive += d[i] > 0;
        negative += d[i] < 0;
    }
    if (positive + negative == 0)
        return 1;
    double tail = binomial_cdf((int64_t)MIN(positive, negative), positive + negative, 0.5);
    return MIN(1.0, 2 * tail);
}

// A value to be ranked, with its index or group.
typedef struct Ranked {
    double key;
    uint32_t from;  // index or group
    uint32_t rank2; // twice the midrank: always whole
} Ranked;

static int compare_ranked(const void *a, const void *b)
{
    double x = ((const Ranked *)a)->key, y = ((const Ranked *)b)->key;
    return (x > y) - (x < y);
}

// Sorts, gives midranks, and returns Σ(t³ - t) over groups of t equal keys.
static double rank_all(Ranked *r, size_t n)
{
    double ties = 0;
    qsort(r, n, sizeof(*r), compare_ranked);
    for (size_t i = 0, j; i < n; i = j) {
        for (j = i + 1; j < n && !(r[j].key > r[i].key); j++)
            ;
        double t = (double)(j - i);
        ties += t * t * t - t;
        for (size_t k = i; k < j; k++)
            r[k].rank2 = (uint32_t)(i + 1 + j);
    }
    return ties;
}

typedef struct SignedRanks {
    Ranked *r;
    size_t n;
    double positive2, negative2; // twice the rank sums
    double ties;
} SignedRanks;

static SignedRanks signed_ranks(Arena *scratch, const double *d, size_t n)
{
    SignedRanks s = {.r = arena_array(scratch, Ranked, n + 1)};
    for (size_t i = 0; i < n; i++)
        if (d[i] > 0 || d[i] < 0)
            s.r[s.n++] = (Ranked){.key = fabs(d[i]), .from = d[i] > 0};
    s.ties = rank_all(s.r, s.n);
    for (size_t i = 0; i < s.n; i++)
        *(s.r[i].from ? &s.positive2 : &s.negative2) += s.r[i].rank2;
    return s;
}

static RankTest wilcoxon_normal(const SignedRanks *s)
{
    double n = (double)s->n, w = MIN(s->positive2, s->negative2) / 2;
    double variance = n * (n + 1) * (2 * n + 1) / 24 - s->ties / 48;
    if (!(variance > 0))
        return (RankTest){w, 1, false};
    double z = (w - n * (n + 1) / 4) / sqrt(variance);
    return (RankTest){w, MIN(1.0, 2 * normal_cdf(-fabs(z))), false};
}

// P(sum of a random subset of ranks2 == s) for s = 0 … total.
static double *subset_sums(Arena *scratch, const Ranked *r, size_t n, size_t total)
{
    double *prob = arena_array(scratch, double, total + 1);
    size_t reach = 0;
    prob[0] = 1;
    for (size_t i = 0; i < n; i++) {
        size_t step = r[i].rank2;
        reach += step;
        for (size_t s = reach + 1; s-- > 0;)
            prob[s] = (prob[s] + (s >= step ? prob[s - step] : 0)) / 2;
    }
    return prob;
}

RankTest stats_wilcoxon(Arena *scratch, const double *d, size_t n)
{
    SignedRanks s = signed_ranks(scratch, d, n);
    if (s.n == 0)
        return (RankTest){0, 1, true};
    if (s.n > STATS_WILCOXON_EXACT_MAX)
        return wilcoxon_normal(&s);
    size_t total = s.n * (s.n + 1), least = (size_t)MIN(s.positive2, s.negative2);
    double *prob = subset_sums(scratch, s.r, s.n, total);
    double tail = 0;
    for (size_t i = 0; i <= least; i++)
        tail += prob[i];
    return (RankTest){(double)least / 2, MIN(1.0, 2 * tail), true};
}

uint64_t stats_signed_rank_quantile(Arena *scratch, size_t n, double tail)
{
    double size = (double)n;
    if (n > STATS_WILCOXON_EXACT_MAX) {
        double c = size * (size + 1) / 4 +
                   normal_quantile(tail) * sqrt(size * (size + 1) * (2 * size + 1) / 24);
        return c < 1 ? 1 : (uint64_t)floor(c + 0.5);
    }
    Ranked *r = arena_array(scratch, Ranked, n + 1);
    for (size_t i = 0; i < n; i++)
        r[i].rank2 = (uint32_t)(i + 1);
    size_t total = n * (n + 1) / 2;
    double *prob = subset_sums(scratch, r, n, total), below = 0;
    uint64_t c = 0;
    while (c <= total && below + prob[c] <= tail)
        below += prob[c++];
    return MAX(c, 1u);
}

// P(U = u), u = 0 … nx ny, for untied samples: drop the largest value, which is
// one of x (it beats all y) or one of y.
static double *mann_whitney_distribution(Arena *scratch, size_t nx, size_t ny)
{
    size_t width = nx * ny + 1;
    double *before = arena_array(scratch, double, (ny + 1) * width); // rows of (i - 1, j)
    double *now = arena_array(scratch, double, (ny + 1) * width);
    for (size_t j = 0; j <= ny; j++)
        before[j * width] = 1;
    for (size_t i = 1; i <= nx; i++) {
        for (size_t j = 0; j <= ny; j++) {
            double share_x = (double)i / (double)(i + j), share_y = 1 - share_x;
            for (size_t u = 0; u <= i * j; u++) {
                double p = u >= j ? share_x * before[j * width + u - j] : 0;
                if (j > 0)
                    p += share_y * now[(j - 1) * width + u];
                now[j * width + u] = p;
            }
        }
        double *swap = before;
        before = now;
        now = swap;
        memset(now, 0, (ny + 1) * width * sizeof(*now));
    }
    return before + ny * width;
}

// Up to so many pairs of values Mann-Whitney is exact.
enum { MANN_WHITNEY_EXACT_MAX = 2500 };

uint64_t stats_mann_whitney_quantile(Arena *scratch, size_t nx, size_t ny, double tail)
{
    double count = (double)nx * (double)ny;
    if (count > MANN_WHITNEY_EXACT_MAX) {
        double c = count / 2 + normal_quantile(tail) * sqrt(count * (double)(nx + ny + 1) / 12);
        return c < 0.5 ? 0 : (uint64_t)floor(c + 0.5);
    }
    double *prob = mann_whitney_distribution(scratch, nx, ny), below = 0;
    uint64_t c = 0;
    while (c < nx * ny && below + prob[c] <= tail)
        below += prob[c++];
    return c;
}

RankTest stats_mann_whitney(Arena *scratch, const double *x, size_t nx, const double *y, size_t ny)
{
    size_t n = nx + ny;
    Ranked *r = arena_array(scratch, Ranked, n + 1);
    for (size_t i = 0; i < n; i++)
        r[i] = (Ranked){.key = i < nx ? x[i] : y[i - nx], .from = i < nx};
    double ties = rank_all(r, n), sum2 = 0;
    for (size_t i = 0; i < n; i++)
        sum2 += r[i].from ? r[i].rank2 : 0;
    double fx = (double)nx, fy = (double)ny, fn = (double)n;
    double u = sum2 / 2 - fx * (fx + 1) / 2, high = MAX(u, fx * fy - u);

    if (ties == 0 && nx * ny <= MANN_WHITNEY_EXACT_MAX) {
        double *prob = mann_whitney_distribution(scratch, nx, ny), tail = 0;
        for (size_t i = (size_t)high; i <= nx * ny; i++)
            tail += prob[i];
        return (RankTest){u, MIN(1.0, 2 * tail), true};
    }
    double variance = fx * fy / 12 * (fn + 1 - ties / (fn * (fn - 1)));
    if (!(variance > 0))
        return (RankTest){u, 1, false};
    double z = (high - fx * fy / 2 - 0.5) / sqrt(variance);
    return (RankTest){u, MIN(1.0, 2 * normal_cdf(-z)), false};
}

void stats_adjust_holm(Arena *scratch, double *p, size_t n)
{
    Ranked *r = arena_array(scratch, Ranked, n + 1);
    for (size_t i = 0; i < n; i++)
        r[i] = (Ranked){.key = p[i], .from = (uint32_t)i};
    qsort(r, n, sizeof(*r), compare_ranked);
    double highest = 0;
    for (size_t i = 0; i < n; i++) {
        highest = MAX(highest, MIN(1.0, r[i].key * (double)(n - i)));
        p[r[i].from] = highest;
    }
}

void stats_adjust_benjamini_hochberg(Arena *scratch, double *p, size_t n)
{
    Ranked *r = arena_array(scratch, Ranked, n + 1);
    for (size_t i = 0; i < n; i++)
        r[i] = (Ranked){.key = p[i], .from = (uint32_t)i};
    qsort(r, n, sizeof(*r), compare_ranked);
    double least = 1;
    for (size_t i = n; i-- > 0;) {
        least = MIN(least, r[i].key * (double)n / (double)(i + 1));
        p[r[i].from] = least;
    }
}
