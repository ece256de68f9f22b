// SPDX-License-Identifier: Apache-2.0
// `assay bench --bisect`: the search for the commit that made a command slower.

#ifndef CLI_BENCH_BENCH_BISECT_H
#define CLI_BENCH_BENCH_BISECT_H

#include "cli/bench/bench_args.h"

// Searches and prints the commit. `options` are those of a bench; the one operand is the command.
// Returns the exit status: 130 after Ctrl-C, when the same command goes on from there.
int bench_bisect(Arena *arena, const BenchArgs *args, const StrVec *operands, BenchOptions *options,
                 SpawnServer *server);

#endif // CLI_BENCH_BENCH_BISECT_H
