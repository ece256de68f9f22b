// SPDX-License-Identifier: Apache-2.0
// `assay bench --cargo`: the benchmark programs of a cargo workspace.

#ifndef CLI_BENCH_BENCH_CARGO_H
#define CLI_BENCH_BENCH_CARGO_H

#include "cli/bench/bench_args.h"
#include "collect/bench/function_runs.h"

// Builds the benchmarks as `cargo bench` does, here or in the two revisions that the options name,
// and sets the programs of `o` and the names of its builds. `words` are arguments for each program,
// as behind `cargo bench --`.
MUST_CHECK bool bench_cargo_programs(Arena *arena, const BenchArgs *args, const StrVec *words,
                                     FunctionsOptions *o, Error *err);

#endif // CLI_BENCH_BENCH_CARGO_H
