// SPDX-License-Identifier: Apache-2.0
// Synthetic experiments with known truth: run times with noise of several
// kinds, taken in random ABBA/BAAB order or one command after the other.

#ifndef STATS_SIMULATE_H
#define STATS_SIMULATE_H

#include "base/defs.h"

typedef enum SimulatedKind {
    SIMULATED_NORMAL,
    SIMULATED_LOG_NORMAL,
    SIMULATED_BIMODAL, // every third run takes 20 % longer
    SIMULATED_DRIFT,   // the machine slows by 20 % over the experiment
    SIMULATED_AR1,     // each run's noise is 0.3 of the one before
    SIMULATED_COUNT
} SimulatedKind;

const char *simulated_name(SimulatedKind kind);

// Share of trials whose interval holds the true ratio.
double simulate_coverage(SimulatedKind kind, size_t pairs, double ratio, size_t trials,
                         double level, uint64_t seed);

// Share of trials that call equal programs different: by the paired interval on
// interleaved runs, or by Welch's test on runs in sequence.
double simulate_false_positives(SimulatedKind kind, size_t pairs, bool interleaved, size_t trials,
                                double level, uint64_t seed);

// Looks after each pair up to `pairs`, with the confidence sequence; `known_end` tells it
// that there is no pair beyond.
typedef struct Stopping {
    double stopped;      // share of trials in which 1 left the interval at some look
    double median_pairs; // at which it did, over those trials; NaN when none did
} Stopping;
Stopping simulate_stopping(SimulatedKind kind, size_t pairs, double ratio, size_t trials,
                           bool known_end, double level, uint64_t seed);

#endif // STATS_SIMULATE_H
