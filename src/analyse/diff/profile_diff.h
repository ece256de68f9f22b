// SPDX-License-Identifier: Apache-2.0
// Two recordings, or two sets of repeated recordings, side by side: rows are matched by names, so
// that they match across builds in which addresses and lines moved.

#ifndef ANALYSE_DIFF_PROFILE_DIFF_H
#define ANALYSE_DIFF_PROFILE_DIFF_H

#include "analyse/weights.h"

// What makes two rows one.
typedef enum DiffBy {
    DIFF_BY_FUNCTION, // the function; of a heap also the functions that it was inlined into
    DIFF_BY_STACK,    // all functions of the stack
    // The file's name, the function and the text of the line, where both sides know the text; else
    // the file's name and the line's number, which moves when the source changes.
    DIFF_BY_LINE,
    DIFF_BY_MODULE, // the program or library
} DiffBy;

enum { DIFF_OLD, DIFF_NEW, DIFF_SIDES };

// The recordings of one side, and the selection of each. They must outlive the comparison.
typedef struct DiffSet {
    const Profile *const *profile;
    const Selection *selection; // one for each profile
    size_t count;               // at least 1
} DiffSet;

// A metric that one of the recordings has. Metrics are matched by name.
typedef struct DiffMetric {
    Str name, unit;
    bool is_max;                // a level: of several stacks the highest counts
    bool sampled;               // values are estimates from samples; else exact
    bool known[DIFF_SIDES];     // a recording of the side has it
    uint64_t total[DIFF_SIDES]; // the mean of the side's recordings
} DiffMetric;

// Where a row stands: the first place of a side that was seen.
typedef struct DiffPlace {
    const Profile *profile; // NULL: the side has no such row
    FrameId frame;
} DiffPlace;

typedef struct DiffRow {
    Str name; // of the function, in full
    Str path; // functions around it by which it was matched, "a < b"; "" for none
    DiffPlace place[DIFF_SIDES];
    uint64_t *value[DIFF_SIDES]; // [metric]: the mean of the side's recordings
    // Of each recording the value, and the number of samples of which it is made (for samples of
    // unequal weight their effective number): [recording * metrics + metric].
    double *each[DIFF_SIDES], *samples[DIFF_SIDES];
    const struct RowChange *change; // NULL until diff_judge
} DiffRow;

typedef struct ProfileDiff {
    DiffSet set[DIFF_SIDES];
    Vec(DiffMetric) metrics;        // those of the old recordings first
    Vec(DiffRow) rows;              // in order of first appearance, until sorted
    double *total_each[DIFF_SIDES]; // [recording * metrics + metric]
    Arena arena;                    // of names and values
} ProfileDiff;

// Compares the selected samples of two sets. In a recording of the heap a row is the user's
// function that allocates; else the innermost function. A recording of coverage has the metric
// "executions". Fails as selection_samples does; nothing is to be freed then.
MUST_CHECK bool profile_diff_init(ProfileDiff *d, const DiffSet *old_set, const DiffSet *new_set,
                                  DiffBy by, Error *err);
void profile_diff_deinit(ProfileDiff *d); // frees all but the profiles

// The share of a metric that stands in rows which both sides have, of the side where it is smaller.
// 0 when a side has nothing. Common rows of the kernel and of the system's libraries, which
// other programs use too, count only where a side has no others.
double profile_diff_common(const ProfileDiff *d, size_t metric);

// Finds a metric by its name. SIZE_MAX: neither recording has it.
size_t profile_diff_metric(const ProfileDiff *d, Str name);

// Whether a row was judged (diff_changes.h) and is called changed.
bool diff_row_changed(const DiffRow *row);

// Sorts rows by the size of their change in a metric, the greatest first; of judged rows those that
// are called changed come before the others.
void profile_diff_sort(ProfileDiff *d, size_t metric);

// Appends a function's name without the parts that differ between builds: the hash of Rust's legacy
// names, marks of clones.
void diff_add_stable_name(Str name, StrBuf *out);

#endif // ANALYSE_DIFF_PROFILE_DIFF_H
