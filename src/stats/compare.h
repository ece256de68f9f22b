// SPDX-License-Identifier: Apache-2.0
// Is B slower than A, by how much, how sure, and how many more runs would tell.
// The effect is a ratio: exp of a robust location of log differences.

#ifndef STATS_COMPARE_H
#define STATS_COMPARE_H

#include "stats/intervals.h"

typedef enum Verdict {
    VERDICT_INCONCLUSIVE, // the interval reaches over the margin on some side
    VERDICT_EQUIVALENT,   // the interval lies within ± the margin
    VERDICT_FASTER,       // the whole interval is below 1 - margin: B takes less time
    VERDICT_SLOWER        // … above 1 + margin
} Verdict;

typedef enum CompareMethod {
    // Hodges-Lehmann over pairs of neighbouring runs, interval by Wilcoxon's
    // test, widened where the pairs of a block depend on one another.
    COMPARE_PAIRED,
    // Too few pairs for Wilcoxon: Student's t over the log ratios.
    COMPARE_PAIRED_FEW,
    // Pairs, with the confidence sequence: valid at any time of stopping.
    COMPARE_SEQUENCE,
    // Not interleaved, or from another day: two-sample Hodges-Lehmann.
    COMPARE_UNPAIRED
} CompareMethod;

typedef struct CompareOptions {
    double level;       // of the interval: 0.95
    double margin;      // differences below it do not matter: 0.01
    bool sequence;      // COMPARE_SEQUENCE instead of COMPARE_PAIRED
    size_t horizon;     // with `sequence`: pairs that are never passed; 0: none
    size_t block_pairs; // pairs of one random block (2 for ABBA); 0 or 1: none
} CompareOptions;

typedef struct Comparison {
    CompareMethod method;
    Verdict verdict;
    Interval ratio;    // B / A
    bool differs;      // 1 is outside the interval
    double p;          // Wilcoxon or Mann-Whitney
    double sign_p;     // sign test; NaN when not paired
    size_t pairs;      // pairs, or the smaller of the two counts
    double least_seen; // relative effect found with 80 % power at this spread and n
    // Pairs still needed until the verdict is likely (80 %); 0 when it stands,
    // infinite when the effect lies on the margin.
    double more_pairs;
    double dependence; // correlation between the pairs of a block
    double lag1;       // autocorrelation of the log ratios
} Comparison;

// `a` and `b` hold the times of pairs, all > 0 (others must be dropped before).
Comparison stats_compare_paired(Arena *scratch, const double *a, const double *b, size_t n,
                                const CompareOptions *options);
Comparison stats_compare_unpaired(Arena *scratch, const double *a, size_t na, const double *b,
                                  size_t nb, const CompareOptions *options);

const char *compare_method_name(CompareMethod m); // "paired" …
const char *verdict_name(Verdict v);              // "inconclusive" …

#endif // STATS_COMPARE_H
