// SPDX-License-Identifier: Apache-2.0
// `assay bench PROGRAM` of a program of function benchmarks.

#ifndef CLI_BENCH_BENCH_RUN_FUNCTIONS_H
#define CLI_BENCH_BENCH_RUN_FUNCTIONS_H

#include "cli/bench/bench_args.h"

// Whether the operands are one program made with bench.h, without arguments and without
// options that are for commands only.
bool bench_operands_are_functions(Arena *arena, const BenchArgs *args, const StrVec *operands);

// Runs the benchmarks and prints the report. Returns the exit status.
int bench_run_functions(Arena *arena, const BenchArgs *args, const StrVec *operands, int argc,
                        char **argv, SpawnServer *server);

#endif // CLI_BENCH_BENCH_RUN_FUNCTIONS_H
