// SPDX-License-Identifier: Apache-2.0
// Function benchmarks as they were measured, between running and reporting.

#ifndef CLI_BENCH_BENCH_FUNCTIONS_INTERNAL_H
#define CLI_BENCH_BENCH_FUNCTIONS_INTERNAL_H

#include "cli/bench/bench_functions.h"

// One process' samples of one function. Times per iteration in seconds.
typedef struct Replicate {
    double median;
    double sum_each; // of the samples' times per iteration
    double xy, xx;   // for the slope: Σ iterations · time, Σ iterations²
    size_t samples;
} Replicate;
typedef Vec(Replicate) ReplicateVec;

typedef struct Function {
    Str name;
    ReplicateVec runs[2]; // [1]: of the build that is run against
    DoubleVec each;       // all samples of the new build, for outliers
    double bytes, elements;
} Function;
typedef Vec(Function) FunctionVec;

typedef struct Functions {
    Arena arena;
    const FunctionsOptions *options;
    FunctionVec list;
} Functions;

// The times of the processes, `runs->len` of them, in the arena.
double *function_medians(Arena *arena, const ReplicateVec *runs);

// The change against the other build (pairs of processes) or the saved baseline.
// False when there is nothing to compare with.
bool function_change(Functions *f, const Function *function, Comparison *ret);

// The report in the format of the options, and what --fail-if-slower makes of the
// changes with `limit`.
void functions_report(Functions *f, StrBuf *out, const Terminal *t);
int functions_gate(Functions *f, double limit);
// hyperfine's layout, what is ours under "assay".
void functions_json(Functions *f, StrBuf *out);

#endif // CLI_BENCH_BENCH_FUNCTIONS_INTERNAL_H
