// SPDX-License-Identifier: Apache-2.0
// Comparisons with saved results: baselines of the project, recordings, and the files of other
// tools.

#ifndef CLI_BENCH_BENCH_BASELINE_H
#define CLI_BENCH_BENCH_BASELINE_H

#include "analyse/run_summary.h"
#include "cli/terminal.h"
#include "collect/bench/baseline.h"

// The saved command of that name. Where there is one saved command and one new one, the saved one
// whatever its name. NULL when there is none.
const BaselineCommand *bench_find_baseline(const BaselineSession *session, Str name,
                                           size_t commands);

// Compares each command with the saved one. Returns the exit status of --fail-if-slower with
// `limit`: see runs_gate.
int bench_report_baseline(StrBuf *out, const Terminal *t, RunSummaries *s,
                          const BaselineSession *session, double limit);

// Appends which saved bench is compared with, and a warning for each difference of the machines,
// which makes the comparison doubtful.
void bench_report_saved(StrBuf *out, const Terminal *t, Str clock, const RunMachine *now,
                        const BaselineSession *session);

// Compares the benchmarks of the first file with those of the others, by name.
MUST_CHECK bool bench_compare_files(StrBuf *out, const Terminal *t, const StrVec *paths,
                                    const CompareOptions *options, double limit, int *gate,
                                    Error *err);

// Appends a Unix time as "2026-11-23 13:12", in the local zone.
void bench_add_date(StrBuf *out, int64_t seconds);

// Compares two samples of times by those that are above 0.
Comparison bench_compare_unpaired(Arena *arena, const double *a, size_t na, const double *b,
                                  size_t nb, const CompareOptions *options);

#endif // CLI_BENCH_BENCH_BASELINE_H
