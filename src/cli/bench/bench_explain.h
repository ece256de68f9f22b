// SPDX-License-Identifier: Apache-2.0
// `assay bench --explain`: records slow and usual runs of each command, and says in which part of
// the time, in which stacks and by whose doing they differ.

#ifndef CLI_BENCH_BENCH_EXPLAIN_H
#define CLI_BENCH_BENCH_EXPLAIN_H

#include "analyse/run_summary.h"
#include "analyse/slow_runs.h"
#include "analyse/stack_costs.h"
#include "base/json.h"
#include "cli/terminal.h"
#include "collect/bench/bench.h"
#include "collect/bench/switches.h"

// One recorded run. Times in seconds, sums over the command's threads.
typedef struct ExplainedRun {
    double time_s; // exec to exit where that was seen
    double cpu_s, ready_s, blocked_s;
    double disk_s;       // wait for block I/O, main thread; NaN: the kernel does not count it
    double blocks;       // of 512 bytes, read and written
    double frequency_hz; // of the CPUs, mean of the start and the end; NaN: not told here
    Vec(SwitchOther) others;
} ExplainedRun;

typedef struct ExplainedCommand {
    Vec(ExplainedRun) runs;
    StackCosts stacks;
    SlowRuns slow;
    uint64_t lost; // records of switches
} ExplainedCommand;

typedef struct BenchExplain {
    Arena arena;
    ExplainedCommand *commands; // by command of the bench
    uint32_t count;
    bool sees_others; // programs beside the command
    bool sees_parts;  // cpu_s, ready_s and blocked_s
    Error why_not;    // when not
} BenchExplain;

// Records each command again and again, in turns, until there are slow and usual runs enough.
MUST_CHECK bool bench_explain_run(Bench *b, BenchExplain *ret, Error *err);
// Accepts a zeroed one.
void bench_explain_deinit(BenchExplain *e);

// The differences between slow and other runs of each command, as text.
void bench_explain_report(StrBuf *out, const Terminal *t, const RunSummaries *s, BenchExplain *e);
// As the member "explain".
void bench_explain_json(JsonWriter *w, const RunSummaries *s, BenchExplain *e);

#endif // CLI_BENCH_BENCH_EXPLAIN_H
