// SPDX-License-Identifier: Apache-2.0
// Changes of many quantities at once, between two sets of recordings of sampled values: the time of
// each function before and after. Each quantity is a row. A recording gives each row one value,
// which is the sum of some samples.
//
// The logarithm of a value has three sources of noise:
// - sampling: a value made of c samples has a variance of about 1/c (Poisson);
// - the whole recording: a slower machine makes all values larger. When enough rows are large, the
//   mean change of the rows that most others agree with estimates it, and is taken out;
// - the row itself: memory layout and the like. With several recordings of a side it is seen from
//   recording to recording; with one, rows that did not change tell its usual size.
//
// Verdicts hold for all rows together: p-values are adjusted by Benjamini and Hochberg 1995, so
// that of the rows called changed at most 5 % are expected to be wrong.

#ifndef STATS_ROW_CHANGES_H
#define STATS_ROW_CHANGES_H

#include "stats/compare.h"
#include "stats/intervals.h"

enum { CHANGE_OLD, CHANGE_NEW, CHANGE_SIDES };

// So many recordings of a side show the noise of a row. Fewer count as one.
enum { CHANGE_REPEATS_LEAST = 3 };

typedef struct ChangeOptions {
    double level;  // of the intervals, and 1 - level is the share of wrong verdicts: 0.95
    double margin; // changes below it do not matter: 0.01
    size_t recordings[CHANGE_SIDES]; // at least 1 of each side
} ChangeOptions;

// The measured values of a row: arrays with a value for each recording of the side.
typedef struct ChangeInput {
    const double *value[CHANGE_SIDES];
    const double *samples[CHANGE_SIDES]; // of which the value is made; for samples of unequal
                                         // weight (sum of weights)² / sum of squares
} ChangeInput;

typedef struct RowChange {
    Interval ratio; // new / old, without the `common` factor
    double p;       // that the row changed by chance, adjusted for the number of rows
    Verdict verdict;
    // So many times as many recordings of the same kind show a change of CHANGE_WORTH with 80 %
    // probability; 1: these do.
    double more;
} RowChange;

// The change that a user wants to see, for RowChange.more.
#define CHANGE_WORTH 0.05

typedef struct RowChanges {
    // The change of all rows together that was taken out of the rows' ratios as noise; 1: none was.
    double common;
    size_t common_rows;  // so many rows tell it; 0: too few are large enough
    bool common_is_real; // recordings of a side agree, so it was left in the rows' ratios
    RowChange *rows;     // in the arena
} RowChanges;

// Compares `n` rows. `scratch` holds the result, too.
RowChanges stats_row_changes(Arena *scratch, const ChangeInput *rows, size_t n,
                             const ChangeOptions *options);

#endif // STATS_ROW_CHANGES_H
