// SPDX-License-Identifier: Apache-2.0
// Two recordings side by side: rows matched by names, so that they match across builds in which
// addresses and lines moved.

#ifndef ANALYSE_DIFF_PROFILE_DIFF_H
#define ANALYSE_DIFF_PROFILE_DIFF_H

#include "analyse/weights.h"

// What makes two rows one.
typedef enum DiffBy {
    DIFF_BY_FUNCTION, // the function, and the functions that it was inlined into
    DIFF_BY_STACK,    // all functions of the stack
    DIFF_BY_LINE,     // the file's name and the line, which move when the source changes
} DiffBy;

enum { DIFF_OLD, DIFF_NEW, DIFF_SIDES };

// A metric that one of the recordings has. Metrics are matched by name.
typedef struct DiffMetric {
    Str name, unit;
    bool is_max;            // a level: of several stacks the highest counts
    bool known[DIFF_SIDES]; // the recording has it
    uint64_t total[DIFF_SIDES];
} DiffMetric;

typedef struct DiffRow {
    Str name;                  // of the function, in full
    Str path;                  // functions around it by which it was matched, "a < b"; "" for none
    FrameId frame[DIFF_SIDES]; // of the recording; 0: it has no such row
    uint64_t *value[DIFF_SIDES]; // [metric]
} DiffRow;

typedef struct ProfileDiff {
    const Profile *profile[DIFF_SIDES];
    Vec(DiffMetric) metrics; // those of the old recording first
    Vec(DiffRow) rows;       // in order of first appearance, until sorted
    Arena arena;             // of names and values
} ProfileDiff;

// Compares what the selections take of two profiles, which must outlive the result. In a recording
// of the heap a row is the user's function that allocates; else the innermost function. A recording
// of coverage has the metric "executions". Fails as selection_samples does; nothing is to be freed
// then.
MUST_CHECK bool profile_diff_init(ProfileDiff *d, const Profile *old_profile,
                                  const Selection *old_selection, const Profile *new_profile,
                                  const Selection *new_selection, DiffBy by, Error *err);
void profile_diff_deinit(ProfileDiff *d); // frees all but the profiles

// Finds a metric by its name. SIZE_MAX: neither recording has it.
size_t profile_diff_metric(const ProfileDiff *d, Str name);

// Sorts rows by the size of their change in a metric, the greatest first.
void profile_diff_sort(ProfileDiff *d, size_t metric);

// Appends a function's name without what differs from build to build: the hash of Rust's legacy
// names, marks of clones.
void diff_add_stable_name(Str name, StrBuf *out);

#endif // ANALYSE_DIFF_PROFILE_DIFF_H
