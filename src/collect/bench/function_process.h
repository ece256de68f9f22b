// SPDX-License-Identifier: Apache-2.0
// One process of a program of function benchmarks: its start, and the results that it leaves.

#ifndef COLLECT_BENCH_FUNCTION_PROCESS_H
#define COLLECT_BENCH_FUNCTION_PROCESS_H

#include "collect/bench/harness.h"
#include "collect/bench/spawn_server.h"

#include <signal.h>

// A program of benchmarks.
typedef struct FunctionProgram {
    const char *path;   // found already
    const char *folder; // where it runs; NULL: here
    Harness harness;
    Str name;             // stands before the names of its functions, with a '/'; "": nothing does
    const char *manifest; // folder of its cargo package; NULL: cargo did not build it
    StrVec words;         // arguments behind ours
    bool plain;           // it has refused the options of its harness; set by function_process_run
} FunctionProgram;
typedef Vec(FunctionProgram) FunctionPrograms;

typedef struct FunctionRequest {
    SpawnServer *server;
    const char *env;    // path of env(1); used where `manifest` is set
    Str filter;         // only functions whose name contains it
    Str scratch;        // folder for its output
    double time_s;      // measured for each function
    bool reverse;       // the functions in reverse order, where the harness can
    int64_t timeout_ns; // 0: none
    const volatile sig_atomic_t *interrupted;
} FunctionRequest;

// Runs the program once and appends its results, in the arena. An interrupted one has none.
MUST_CHECK bool function_process_run(Arena *arena, FunctionProgram *program,
                                     const FunctionRequest *request, SpawnResult *process,
                                     HarnessResults *ret, Error *err);

#endif // COLLECT_BENCH_FUNCTION_PROCESS_H
