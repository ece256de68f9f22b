// SPDX-License-Identifier: Apache-2.0
// Summary of counted runs: for each event the mean over the runs with its error, the
// share of the time that it was counted, and what can be derived from it.

#ifndef ANALYSE_COUNTED_RUNS_H
#define ANALYSE_COUNTED_RUNS_H

#include "analyse/derive.h"
#include "model/profile.h"
#include "stats/intervals.h"

// The mean of some runs' values.
typedef struct CountMean {
    double mean;       // NaN: no run has a value
    double error;      // standard error / mean; NaN for fewer than two values
    Interval interval; // 95 % interval of the mean, Student's; NaN as the error
} CountMean;

// One event, over all that was counted or in one of its parts.
typedef struct CountRow {
    MetricId metric;
    StrId part; // "CPU0", "worker-4711"; "" for the whole
    CountMean value;
    uint64_t running_ns;  // that the event counted, on average over the runs
    double running_share; // percent of the time that it should have counted
    Derived derived;
} CountRow;
typedef Vec(CountRow) CountRowVec;

// All runs of one name, without those that warmed up.
typedef struct Counts {
    const Profile *profile;
    StrId name;
    Vec(RunId) runs;
    CountRowVec rows; // in order of first appearance
    CountMean wall_s, user_s, system_s;
} Counts;

// Vectors live in the arena.
void counts_init(Counts *ret, Arena *arena, const Profile *p, StrId name);

// The names of a profile's runs, in order of first appearance.
StrIdVec counts_names(Arena *arena, const Profile *p);

// Neighbouring points of a series that end at the same time: one interval of `stat -I`.
typedef struct CountSpan {
    size_t first, count; // rows of the profile's series
    int64_t end_ns;      // since the recording's start
    int64_t length_ns;
} CountSpan;

// The next span. `*at` is zeroed at first. False at the end of the series.
bool counts_next_span(const Profile *p, CountSpan *at);

// The rows of a span, in the order of its points.
CountRowVec counts_of_span(Arena *arena, const Profile *p, const CountSpan *span);

// The points that a picture of a row shows: the value a second over the time in seconds
// where the profile has a series, else the value over the number of the run, from 1. Spans and
// runs in which the event was not counted have none.
typedef struct CountPoints {
    DoubleVec x, y;
} CountPoints;

// An array with the points of each row, in the arena.
CountPoints *counts_points(Arena *arena, const Counts *c);

// The values of each run, in their order: those of run i are the rows order[starts[i]] …
// order[starts[i + 1] - 1] of the profile's run values.
typedef struct RunValueRows {
    uint32_t *order;
    size_t *starts;
} RunValueRows;

// Both arrays live in the arena.
RunValueRows counts_values_by_run(Arena *arena, const Profile *p);

// Why an event that was asked for could not be counted; "" for one that was, or was not asked for.
Str counts_reason(const Profile *p, MetricId metric);

// Whether the profile is a recording of `assay stat`.
bool counts_apply(const Profile *p);

// The number in a fact, 0 when it is absent: FACT_COUNTED_CPUS, FACT_COUNTED_THREADS.
uint64_t counts_fact(const Profile *p, Str key);

#endif // ANALYSE_COUNTED_RUNS_H
