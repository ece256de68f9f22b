// SPDX-License-Identifier: Apache-2.0
// Two-sided hypothesis tests of one paired or two independent samples, and a correction
// for many tests. Conventions are those of scipy.

#ifndef STATS_HYPOTHESIS_H
#define STATS_HYPOTHESIS_H

#include "base/arena.h"

// The p-value of the sign test that the median is 0: exact binomial, zeros are dropped.
double stats_sign_test(const double *d, size_t n);

typedef struct RankTest {
    double statistic; // Wilcoxon: the smaller rank sum. Mann-Whitney: U of the first sample
    double p;
    bool exact; // false: normal approximation with tie correction
} RankTest;

// Up to so many values the Wilcoxon test is exact.
enum { STATS_WILCOXON_EXACT_MAX = 64 };
// Wilcoxon's signed-rank test that the median of `d` is 0; zeros are dropped, equal values get
// midranks. With more values the normal approximation without continuity correction.
RankTest stats_wilcoxon(Arena *scratch, const double *d, size_t n);

// The largest c with P(W <= c - 1) <= tail for the signed-rank sum W of n
// untied values; at least 1. Exact up to STATS_WILCOXON_EXACT_MAX, else normal.
uint64_t stats_signed_rank_quantile(Arena *scratch, size_t n, double tail);

// Mann-Whitney U. Exact without ties and up to nx * ny = 2500, else normal with
// continuity correction.
RankTest stats_mann_whitney(Arena *scratch, const double *x, size_t nx, const double *y, size_t ny);

// The largest c with P(U <= c - 1) <= tail for Mann-Whitney's U of nx and ny untied values; 0 when
// even the extreme value is more likely. Exact where stats_mann_whitney is, else normal.
uint64_t stats_mann_whitney_quantile(Arena *scratch, size_t nx, size_t ny, double tail);

// Adjusts p-values in place by Holm's method, which controls the chance of any false positive.
void stats_adjust_holm(Arena *scratch, double *p, size_t n);

// Adjusts p-values in place by the method of Benjamini and Hochberg (1995): of the tests whose
// value is at most q afterwards, a share of at most q is expected to be false.
void stats_adjust_benjamini_hochberg(Arena *scratch, double *p, size_t n);

#endif // STATS_HYPOTHESIS_H
