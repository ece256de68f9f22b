// SPDX-License-Identifier: Apache-2.0
// Synthetic experiments with known truth: run times with noise of many families, taken in pairs
// whose order is drawn at random, or one command after the other.

#ifndef STATS_SIMULATE_H
#define STATS_SIMULATE_H

#include "base/defs.h"

typedef enum SimulatedKind {
    SIMULATED_NORMAL,     // deviation 5 %
    SIMULATED_LOG_NORMAL, // deviation 10 %
    // Two modes 1.2, 2 and 6 times apart; the slower has 5, 20 and 50 % of the runs. Within a mode
    // the deviation is 0.5 %.
    SIMULATED_MODES_1_2_05,
    SIMULATED_MODES_1_2_20,
    SIMULATED_MODES_1_2_50,
    SIMULATED_MODES_2_05,
    SIMULATED_MODES_2_20,
    SIMULATED_MODES_2_50,
    SIMULATED_MODES_6_05,
    SIMULATED_MODES_6_20,
    SIMULATED_MODES_6_50,
    SIMULATED_PARETO, // P(time > t) = t^-2.1
    // From here on the noise depends on when a run was made.
    SIMULATED_DRIFT,    // the machine slows by 20 % over the experiment
    SIMULATED_AR1,      // each run's noise is 0.3 of the one before
    SIMULATED_PERIODIC, // two runs of four take 50 % longer
    SIMULATED_STEP,     // the machine slows by 30 % halfway
    SIMULATED_COUNT
} SimulatedKind;

const char *simulated_name(SimulatedKind kind);

// Share of trials whose interval of `pairs` pairs holds the true ratio.
double simulate_coverage(SimulatedKind kind, size_t pairs, double ratio, size_t trials,
                         double level, uint64_t seed);

// Share of trials that call equal programs faster or slower by more than 1 %, from `pairs` pairs.
double simulate_false_verdicts(SimulatedKind kind, size_t pairs, size_t trials, uint64_t seed);

// The same of 2 * pairs runs, of which each command has one half in sequence: by Welch's test, or
// by ours of two samples.
double simulate_sequential(SimulatedKind kind, size_t pairs, bool welch, size_t trials,
                           uint64_t seed);

// Looks as `--until` does, up to `pairs` pairs; `known_end` tells the sequence that there is no
// pair beyond.
typedef struct Stopping {
    double stopped;      // share of trials in which 1 left the interval at some look
    double median_pairs; // at which it did, over those trials; NaN when none did
} Stopping;
Stopping simulate_stopping(SimulatedKind kind, size_t pairs, double ratio, size_t trials,
                           bool known_end, double level, uint64_t seed);

// Looks at the median of one command until its interval is ± 1 % or `runs` are made. Share of
// trials in which the interval at that look does not hold the median of the family.
double simulate_one_command(SimulatedKind kind, size_t runs, size_t trials, uint64_t seed);

// Share of trials in which steady runs are said to need a warm-up.
double simulate_warm_up_advice(SimulatedKind kind, size_t runs, size_t trials, uint64_t seed);

#endif // STATS_SIMULATE_H
