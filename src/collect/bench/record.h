// SPDX-License-Identifier: Apache-2.0
// A bench as rows of a profile: runs with their counts, the facts of the bench, and notes on the
// reliability of its figures.

#ifndef COLLECT_BENCH_RECORD_H
#define COLLECT_BENCH_RECORD_H

#include "collect/bench/bench.h"
#include "collect/bench/conditions.h"
#include "model/profile.h"

// Facts of a recording that the bench itself does not know.
typedef struct BenchContext {
    RunMachine machine;
    Str command_line; // of assay itself
    Str tool_version;
    Str revision;      // of the sources; "" when not known
    bool events_asked; // the user named the events: a missing one is a warning
} BenchContext;

// Adds a bench that has been run, and summarised, to a profile without runs. Measured runs
// stand command by command, in the order of `commands`.
void bench_record(const Bench *b, const BenchContext *context, Profile *p);

// The facts of the machine and of the tool, for any recording of runs.
void bench_record_context(const BenchContext *context, Profile *p);

#endif // COLLECT_BENCH_RECORD_H
