// SPDX-License-Identifier: Apache-2.0
// Programs of function benchmarks, made with include/assay/bench.h or a harness of cargo: runs them
// as several processes and reads the samples that they print or write.

#ifndef COLLECT_BENCH_FUNCTION_RUNS_H
#define COLLECT_BENCH_FUNCTION_RUNS_H

#include "collect/bench/bench.h"
#include "collect/bench/function_process.h"
#include "model/profile.h"

#include <signal.h>

// The part of a sample's time that counts.
typedef enum FunctionsClock {
    FUNCTIONS_WITHOUT_WAITING, // all but the wait for a CPU, where that is known
    FUNCTIONS_WHOLE,
    FUNCTIONS_CPU // what the process computed
} FunctionsClock;

typedef struct FunctionsOptions {
    FunctionPrograms programs; // of the build that is measured
    FunctionPrograms against;  // of another build, run in turns with it; empty: none
    Str filter;                // only functions whose name contains it
    Str search_path;           // $PATH
    uint64_t warmup;           // processes of each program before them that are not kept
    uint64_t processes;        // of each program; with `decided` at least so many
    uint64_t most;             // with `decided`, of each program; 0: no limit
    // Looks after a round whether the runs so far decide everything; NULL: always `processes`.
    bool (*decided)(void *ctx, const Profile *p);
    void *ctx;
    int64_t max_time_ns; // no round begins after it; 0: none
    double time_s;       // measured in each process for each function
    double level, margin;
    double until; // the margin that `decided` looks for; 0: off
    FunctionsClock clock;
    uint64_t seed;
    int64_t timeout_ns; // of a process; 0: none
    Str scratch;        // folder on whose file system the output of a process lies, unnamed
    Str revision;       // of the sources; "" when not known
    Str names[2];       // of the builds, by the user: of `program` and `against`; "" for none
    const volatile sig_atomic_t *interrupted;
} FunctionsOptions;

// True for a program made with include/assay/bench.h: the header leaves a note in it.
bool bench_is_functions(Str path);

// Runs all processes. A run of the profile is one function in one process; its round is the
// number of the process. The facts of the bench are set, those of the machine are not.
MUST_CHECK bool functions_run(SpawnServer *server, const FunctionsOptions *options, Profile *p,
                              Error *err);

// The recorded runs of the build that is measured as a bench of commands, for baseline_save.
// bench_deinit frees it.
void functions_as_bench(const Profile *p, Bench *ret);

#endif // COLLECT_BENCH_FUNCTION_RUNS_H
