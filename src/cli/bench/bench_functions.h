// SPDX-License-Identifier: Apache-2.0
// `assay bench --functions`: programs made with include/assay/bench.h, run as
// many processes as it takes for an interval to mean something.

#ifndef CLI_BENCH_BENCH_FUNCTIONS_H
#define CLI_BENCH_BENCH_FUNCTIONS_H

#include "cli/bench/bench_baseline.h"

typedef struct FunctionsOptions {
    const char *program;             // found already
    const char *against;             // the build it is run against; NULL: none
    const BaselineSession *baseline; // what it is compared with where `against` is NULL; or NULL
    Str filter;
    Str format;         // "text", "libtest", "gbench"
    uint64_t processes; // of each build
    double time_s;      // measured in each process for each function
    double level, margin;
    uint64_t seed;
    int64_t timeout_ns; // of a process; 0: none
    Str scratch;        // folder for the output of a process
    const volatile sig_atomic_t *interrupted;
} FunctionsOptions;

// True for a program made with include/assay/bench.h: the header leaves a note in it.
bool bench_is_functions(Str path);

// What it came to, for who asked for more than the text. Any of them may be NULL.
typedef struct FunctionsOutput {
    StrBuf *text; // the report in the format asked for
    StrBuf *json; // hyperfine's layout with a time for each process, for --compare
    Bench *bench; // for baseline_save: a command for each function; bench_deinit frees it
    int gate;     // what --fail-if-slower makes of it
} FunctionsOutput;

MUST_CHECK bool bench_functions(FunctionsOutput *out, const Terminal *t, SpawnServer *server,
                                const FunctionsOptions *options, double limit, Error *err);

#endif // CLI_BENCH_BENCH_FUNCTIONS_H
