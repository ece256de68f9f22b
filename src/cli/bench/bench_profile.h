// SPDX-License-Identifier: Apache-2.0
// `assay bench --profile`: after the verdict, both commands are recorded, and the
// functions and lines that account for the difference are named.

#ifndef CLI_BENCH_BENCH_PROFILE_H
#define CLI_BENCH_BENCH_PROFILE_H

#include "analyse/costs.h"
#include "analyse/run_summary.h"
#include "base/json.h"
#include "cli/terminal.h"
#include "collect/bench/bench.h"

// One command's recordings together.
typedef struct ProfiledCommand {
    Costs costs;
    double cpu_s;    // of a run, as the bench measured it
    int64_t wall_ns; // spent recording it
    uint64_t lost;
} ProfiledCommand;

typedef struct BenchProfile {
    Arena arena;
    ProfiledCommand *commands; // by command of the bench
    uint32_t count;
    uint64_t freq_hz;
    Str event; // as opened
} BenchProfile;

// Records all commands in turns, at one rate, until the samples suffice. `folder`
// gets the last recording of each, as 1.assay, 2.assay …; "" keeps none.
MUST_CHECK bool bench_profile_run(Bench *b, Str folder, BenchProfile *ret, Error *err);
// Accepts a zeroed one.
void bench_profile_deinit(BenchProfile *p);

// Which functions and lines account for the difference of each command to the reference.
void bench_profile_report(StrBuf *out, const Terminal *t, const RunSummaries *s, BenchProfile *p);
// As the member "profile".
void bench_profile_json(JsonWriter *w, const RunSummaries *s, BenchProfile *p);

#endif // CLI_BENCH_BENCH_PROFILE_H
