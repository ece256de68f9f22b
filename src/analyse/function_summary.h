// SPDX-License-Identifier: Apache-2.0
// A recording of function benchmarks: figures of each function over its processes, and its
// change against another build or saved times.

#ifndef ANALYSE_FUNCTION_SUMMARY_H
#define ANALYSE_FUNCTION_SUMMARY_H

#include "base/error.h"
#include "model/profile.h"
#include "stats/compare.h"

// One process' samples of one function. Times per iteration in seconds.
typedef struct Replicate {
    double median;
    double sum_each;   // of the samples' times per iteration
    double xy, xx;     // for the slope: Σ iterations · time, Σ iterations²
    double iterations; // of all samples
    double cpu;        // CPU time of an iteration; NaN when not known
    size_t samples;
    int64_t start_ns; // of the process, by any clock that all share
    uint32_t round;   // processes of one round are pairs
} Replicate;
typedef Vec(Replicate) ReplicateVec;

typedef struct FunctionRuns {
    Str name;
    ReplicateVec runs[2];   // [1]: of the build that the other is run against
    DoubleVec each;         // all samples of runs[0], for outliers
    double bytes, elements; // of an iteration; NaN when not stated
    double cycle;           // of the CPU; NaN when not known
} FunctionRuns;
typedef Vec(FunctionRuns) FunctionRunsVec;

// Times of a function that were saved earlier.
typedef struct SavedTimes {
    Str name;
    const double *seconds;
    size_t count;
} SavedTimes;

typedef struct FunctionSummaries {
    Arena arena;
    const Profile *profile; // must outlive this
    FunctionRunsVec list;   // in the order of the rows
    Str program;
    Str build_names[2]; // --command-name, in the order of `runs`; "" for none
    bool has_against;   // a second build was run
    double level, margin;
    double until;         // it ended when every function was decided at this margin; 0: off
    uint64_t most;        // processes of each build; 0: no limit
    uint64_t seed;        // of the bootstrap
    bool without_waiting; // times are without the wait for a CPU, `waiting_share` of all
    double waiting_share;
    // The reference of functions without a second build. The caller sets them;
    // `compares_saved` is true also when there are no saved times.
    bool compares_saved;
    const SavedTimes *saved;
    size_t saved_count;
} FunctionSummaries;

// Whether the profile holds function benchmarks.
bool function_summaries_apply(const Profile *p);

// Groups the rows. Fails on samples that cannot be.
MUST_CHECK bool function_summaries_init(FunctionSummaries *f, const Profile *p, Error *err);
// Accepts a zeroed one.
void function_summaries_deinit(FunctionSummaries *f);

// "NAME: function" with the name of the build, which without --command-name is "against" or the
// baseline for build 1 and none for build 0. In the arena.
Str function_label(FunctionSummaries *f, const FunctionRuns *function, int build);

// The saved times of a function; NULL when there are none.
const SavedTimes *function_saved_times(const FunctionSummaries *f, const FunctionRuns *function);

// Whether every function is decided at the margin of `until`: its change, or without another build
// its time.
bool function_decided(FunctionSummaries *f);

// The times of the processes, `runs->len` of them, in the arena.
double *function_medians(Arena *arena, const ReplicateVec *runs);

// The time of an iteration: Hodges-Lehmann over the processes. The median with its confidence
// sequence where the bench stopped by --until and compared nothing.
Interval function_typical(FunctionSummaries *f, const FunctionRuns *function);
// Least squares over all samples, and their mean; intervals by a bootstrap of processes.
Interval function_slope(FunctionSummaries *f, const FunctionRuns *function);
Interval function_mean(FunctionSummaries *f, const FunctionRuns *function);

// Why a function's time is impossible for the work that it states.
typedef enum FunctionDoubt {
    DOUBT_NONE,
    DOUBT_UNDER_A_CYCLE, // an iteration takes less than one CPU cycle
    DOUBT_TOO_FAST,      // it states more bytes or elements than a CPU can touch in the time
    DOUBT_NO_GROWTH // it states 16 times the work of another of its arguments, in the same time
} FunctionDoubt;
FunctionDoubt function_doubt(FunctionSummaries *f, const FunctionRuns *function);

// Whether functions are compared with anything.
bool function_compares(const FunctionSummaries *f);
// The change against the other build (pairs of processes) or the saved times. False when
// there is nothing to compare this function with.
bool function_change(FunctionSummaries *f, const FunctionRuns *function, Comparison *ret);

// The result of --fail-if-slower for the changes with `limit`: see runs_gate.
int function_gate(FunctionSummaries *f, double limit);

#endif // ANALYSE_FUNCTION_SUMMARY_H
