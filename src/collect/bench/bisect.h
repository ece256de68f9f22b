// SPDX-License-Identifier: Apache-2.0
// One step of a search for the change that made a program slower: two builds are run in turns until
// a confidence sequence says on which side of a limit their ratio lies.

#ifndef COLLECT_BENCH_BISECT_H
#define COLLECT_BENCH_BISECT_H

#include "collect/bench/bench.h"

typedef enum BisectQuantity { BISECT_TIME, BISECT_MEMORY, BISECT_COUNTER } BisectQuantity;

typedef struct BisectStep {
    const BenchCommand *good, *other;
    const BenchOptions *options; // their numbers of runs are not used
    const SpawnServer *server;
    BisectQuantity quantity;
    uint32_t counter;   // with BISECT_COUNTER: of the options' events
    double level;       // of the confidence sequence
    int64_t max_ns;     // give up after it
    uint64_t max_pairs; // 0: no limit
    // The ratio other / good that separates both kinds, above 1. 0 asks instead for a ratio above 1
    // that is known to a third of its distance from 1, or that is surely below `least`.
    double limit, least;
    // Called after each burst of runs; may be NULL.
    void (*progress)(void *ctx, const Interval *ratio, size_t pairs);
    void *ctx;
} BisectStep;

typedef struct BisectResult {
    Interval ratio; // other / good
    size_t pairs;
    bool decided;     // the interval is as narrow as requested; else the time was over
    bool interrupted; // by Ctrl-C
    bool is_slow;     // the ratio lies above the limit (or, without one, above 1)
} BisectResult;

// Runs until decided. A command that fails is an error.
MUST_CHECK bool bisect_measure(const BisectStep *step, BisectResult *ret, Error *err);

#endif // COLLECT_BENCH_BISECT_H
