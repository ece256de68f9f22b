// SPDX-License-Identifier: Apache-2.0
// `assay bench PROGRAM` of a program of function benchmarks.

#ifndef CLI_BENCH_BENCH_RUN_FUNCTIONS_H
#define CLI_BENCH_BENCH_RUN_FUNCTIONS_H

#include "cli/bench/bench_args.h"

// Whether the operands are one program made with bench.h, without arguments. With arguments it is
// a command like any other, as it is for --bisect. Revisions are not built yet.
bool bench_operands_are_functions(Arena *arena, const BenchArgs *args, const StrVec *operands);
// The same of a command that is built from revisions.
bool bench_revisions_are_functions(const BenchCommandVec *revisions);

// Fails if one of several operands is such a program: it would be timed as one command.
MUST_CHECK bool bench_check_operands(Arena *arena, const StrVec *operands, Error *err);
// Warns about commands that are such programs with arguments.
void bench_note_functions(const BenchCommandVec *commands, Profile *p);

// Runs the benchmarks of the operand, or of two `revisions` unless that is NULL, and prints the
// report. Returns the exit status.
int bench_run_functions(Arena *arena, const BenchArgs *args, const StrVec *operands,
                        const BenchCommandVec *revisions, int argc, char **argv,
                        SpawnServer *server);

#endif // CLI_BENCH_BENCH_RUN_FUNCTIONS_H
