// SPDX-License-Identifier: Apache-2.0
// Which rows of a comparison changed, and how sure that is (stats/row_changes.h).

#ifndef ANALYSE_DIFF_DIFF_CHANGES_H
#define ANALYSE_DIFF_DIFF_CHANGES_H

#include "analyse/diff/profile_diff.h"
#include "stats/row_changes.h"

typedef struct DiffChanges {
    // Values are exact and each side is one recording: every difference is a change, and there is
    // nothing to judge. `rows` and `total` are not set then.
    bool exact;
    bool repeated;   // the sides have enough recordings to show noise from one to the next
    RowChanges rows; // in the order of the comparison's rows when it was judged
    RowChange total;
} DiffChanges;

// Judges all rows in a metric and sets their `change`, which lives as long as `d`.
DiffChanges diff_judge(ProfileDiff *d, size_t metric, double level, double margin);

#endif // ANALYSE_DIFF_DIFF_CHANGES_H
