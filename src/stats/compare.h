// SPDX-License-Identifier: Apache-2.0
// Compares the times of two programs: whether B is slower than A, by how much, with which
// certainty, and how many more runs a verdict needs. The effect is the ratio B / A: e to the
// power of a robust location (a kind of middle) of the differences of logarithms.

#ifndef STATS_COMPARE_H
#define STATS_COMPARE_H

#include "stats/intervals.h"

typedef enum Verdict {
    VERDICT_INCONCLUSIVE, // none of the below: the interval contains an end of the margin
    VERDICT_EQUIVALENT,   // the whole interval lies within 1 ± margin
    VERDICT_FASTER,       // the whole interval is below 1 - margin: B takes less time
    VERDICT_SLOWER        // the whole interval is above 1 + margin
} Verdict;

typedef enum CompareMethod {
    // Hodges-Lehmann over pairs of neighbouring runs. The interval inverts Wilcoxon's test.
    COMPARE_PAIRED,
    // Too few pairs for Wilcoxon's test: as two samples, which need 5 runs of each for 95 %. With
    // fewer the interval is infinite.
    COMPARE_PAIRED_FEW,
    // Pairs with a confidence sequence, which is valid whenever the measurement stops.
    COMPARE_SEQUENCE,
    // Hodges-Lehmann for two samples, when runs were not interleaved or are from different days.
    // Wider where neighbouring runs depend on each other.
    COMPARE_UNPAIRED
} CompareMethod;

typedef struct CompareOptions {
    double level;   // of the interval: 0.95
    double margin;  // differences below it do not matter: 0.01
    bool sequence;  // COMPARE_SEQUENCE instead of COMPARE_PAIRED
    size_t horizon; // with `sequence`: the largest number of pairs that will run; 0: no limit
} CompareOptions;

typedef struct Comparison {
    CompareMethod method;
    Verdict verdict;
    Interval ratio; // B / A
    bool differs;   // 1 is outside the interval
    // The ratio of the means, which slow runs move more than `ratio`; infinite for few pairs.
    Interval mean_ratio;
    // The two intervals have no value in common: typical runs and the mean tell different stories.
    bool mean_disagrees;
    double p;          // Wilcoxon or Mann-Whitney
    double sign_p;     // sign test; NaN when not paired
    size_t pairs;      // pairs, or the smaller of the two counts
    double least_seen; // smallest relative effect that these pairs detect with 80 % power
    // Further pairs after which a verdict is reached with 80 % probability; 0 when there is one,
    // infinite when the effect equals the margin.
    double more_pairs;
    double lag1; // autocorrelation of the log ratios
} Comparison;

// Compares `n` pairs of times {a[i], b[i]}. All must be > 0; the caller drops others before.
Comparison stats_compare_paired(Arena *scratch, const double *a, const double *b, size_t n,
                                const CompareOptions *options);
// Compares two samples, each in the order of time, whose values are not pairs. All must be > 0.
Comparison stats_compare_unpaired(Arena *scratch, const double *a, size_t na, const double *b,
                                  size_t nb, const CompareOptions *options);

const char *compare_method_name(CompareMethod m); // "paired" …
const char *verdict_name(Verdict v);              // "inconclusive" …

#endif // STATS_COMPARE_H
