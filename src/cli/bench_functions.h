// SPDX-License-Identifier: Apache-2.0
// `assay bench --functions`: programs made with include/assay/bench.h, run as
// many processes as it takes for an interval to mean something.

#ifndef CLI_BENCH_FUNCTIONS_H
#define CLI_BENCH_FUNCTIONS_H

#include "cli/bench_report.h"

typedef struct FunctionsOptions {
    const char *program; // found already
    const char *against; // the build it is compared with; NULL: none
    Str filter;
    Str format;         // "text", "libtest", "gbench"
    uint64_t processes; // of each build
    double time_s;      // measured in each process for each function
    double level, margin;
    uint64_t seed;
    Str scratch; // folder for the output of a process
    const volatile sig_atomic_t *interrupted;
} FunctionsOptions;

// Runs, and appends the report in the format asked for. `json` gets hyperfine's
// layout with a time for each process, to be read by --compare; may be NULL.
// `*gate` is what --fail-if-slower makes of it with `limit`.
MUST_CHECK bool bench_functions(StrBuf *out, StrBuf *json, const Terminal *t, SpawnServer *server,
                                const FunctionsOptions *options, double limit, int *gate,
                                Error *err);

#endif // CLI_BENCH_FUNCTIONS_H
