// SPDX-License-Identifier: Apache-2.0
// From the runs of several measurements to their figures and comparisons: for a bench while it
// runs, and later for its recording.

#ifndef STATS_RUN_SET_H
#define STATS_RUN_SET_H

#include "stats/compare.h"
#include "stats/modes.h"
#include "stats/run_causes.h"
#include "stats/series.h"
#include "stats/summary.h"

// How much the kernel's figure of peak memory may lack on a small machine, 31 pages of
// anonymous and of mapped memory on one CPU; from where on that is below 1 %.
enum { RUN_RSS_ERROR = 62 * 4096, RUN_RSS_EXACT_FROM = 100 * RUN_RSS_ERROR };

// Figures of one measurement. Times in seconds.
typedef struct RunSummary {
    double mean, deviation; // deviation NaN for one run
    double median, mad, min, max, user, system;
    Interval median_interval;                    // 95 %
    uint64_t peak_rss_bytes;                     // the highest of the runs, corrected
    uint64_t peak_rss_error_bytes;               // it may be so much more
    bool peak_rss_is_floor;                      // and may be anything less
    double minor_faults, major_faults, switches; // medians
    double run_delay_s;                          // mean; NaN when not known
    uint32_t outliers[5];                        // by Outlier
    uint32_t causes[CAUSE_COUNT];                // of the high ones
    Steady steady;
    Mode modes[STATS_MODES_MAX]; // mode_count of them, 1 at least
    uint32_t mode_count;
    double lag1;             // autocorrelation of the times
    double effective_runs;   // see stats_effective_size
    uint32_t kernel_clocked; // runs timed by the kernel; the others by the wait
    bool first_slow;         // the first run was a severe outlier
    // Medians of what was counted, less the shell's share; NaN: not counted.
    double counts[RUN_COUNTERS_MAX];
} RunSummary;

// The exact peak memory of one run that was not timed, and what follows from it for the others.
typedef struct WeighedRun {
    bool known;
    // The difference to the kernel's figure of the same run.
    int64_t correction_bytes;
    // The kernel's figures up to this are the spawning process' own: then the exact one stands.
    uint64_t floor_bytes, exact_bytes;
} WeighedRun;

// Repetitions of one measurement, with what runs_summarise makes of them.
typedef struct RunGroup {
    MeasuredRunVec runs;
    WeighedRun weighed;
    RunSummary summary;
    // Against the reference; empty for the reference itself.
    Comparison comparison;
    double adjusted_p; // Holm
    // By the whole time, where the comparison leaves the wait for a CPU out; else zeroes.
    Interval elapsed_ratio;
    // By counter. Zeroes where a count was 0 in most pairs.
    Interval count_ratios[RUN_COUNTERS_MAX];
} RunGroup;

// How groups are compared.
typedef struct RunPlan {
    uint32_t reference; // group that the others are compared with
    double level, margin;
    double until; // the bench stopped when decided at this margin; 0: off
    uint64_t max_runs;
    bool grouped;      // one group was measured after the other: there are no pairs
    bool cpu_clock;    // times are CPU time
    bool with_waiting; // comparisons never leave the wait for a CPU out
} RunPlan;

typedef struct RunSet {
    RunGroup *groups;
    uint32_t count;
    uint32_t counters; // that runs have
    RunPlan plan;
    uint64_t rss_floor_bytes; // below which max_rss_bytes cannot be
    // Comparisons leave out the time that a run waited for a CPU; its share of all.
    bool without_waiting;
    bool clock_settled; // the choice stands and is not made again
    double waiting_share;
    uint32_t pairs_dropped; // a time of 0 has no logarithm
    double gap_ratio;       // median of (start to start of a pair) / (run time); 0 when unknown
} RunSet;

// Fills summaries and comparisons from the runs that are there.
void runs_summarise(RunSet *s);

// The number of rounds of which every group has a run.
size_t runs_completed_rounds(const RunSet *s);

// A run's time as comparisons take it.
double runs_compared_seconds(const RunSet *s, const MeasuredRun *run);

// A run's peak memory, corrected where its command was weighed.
uint64_t runs_peak_memory(const WeighedRun *weighed, const MeasuredRun *run);

// The times of a group in the order of its runs, `runs.len` of them.
double *runs_times(Arena *arena, const RunGroup *g);

// The result of --fail-if-slower for comparisons with `limit`, 0.05 for 5 %: 0 when none is
// slower, 3 when one is slower by more, 4 when that is undecided.
int runs_gate(const RunSet *s, double limit);

#endif // STATS_RUN_SET_H
