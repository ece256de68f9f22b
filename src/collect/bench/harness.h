// SPDX-License-Identifier: Apache-2.0
// Results of benchmark programs: lines of <assay/bench.h>, files of Criterion, the output of
// libtest and of divan. Bytes in, no I/O.

#ifndef COLLECT_BENCH_HARNESS_H
#define COLLECT_BENCH_HARNESS_H

#include "base/error.h"
#include "base/vec.h"

// The code in a benchmark program that calls its functions and takes their times.
typedef enum Harness {
    HARNESS_ASSAY, // <assay/bench.h> and bench.rs
    HARNESS_CRITERION,
    HARNESS_DIVAN,
    HARNESS_LIBTEST // also for a program in which no other harness is found
} Harness;

// Finds the harness of a program by names of variables of the environment that it contains.
// HARNESS_ASSAY is never returned: bench_is_functions finds it.
Harness harness_of(Bytes program);

// One benchmark of one process. The arrays have `count` members.
typedef struct HarnessResult {
    Str name;
    double *iterations;     // of each sample
    double *seconds;        // of all iterations of a sample
    double *waits;          // for a CPU, within `seconds`; NULL: not known
    double *cpus;           // CPU time of a sample; NULL: not known
    size_t count;           // 1 or more
    double bytes, elements; // of an iteration; NaN when not stated
    double cycle;           // seconds of a CPU cycle; NaN when not known
} HarnessResult;
typedef Vec(HarnessResult) HarnessResults;

// Reads a line of JSON that a program made with <assay/bench.h> prints.
MUST_CHECK bool harness_read_assay(Arena *arena, Str line, HarnessResult *ret, Error *err);

// Reads Criterion's sample.json and the benchmark.json beside it.
MUST_CHECK bool harness_read_criterion(Arena *arena, Str sample, Str description,
                                       HarnessResult *ret, Error *err);

// Appends the benchmarks that libtest's lines ("test NAME ... bench: 1,234 ns/iter (+/- 5)") or
// divan's tables report. Both print one time for each: it becomes one sample of one iteration. Of
// divan it is the median. Other lines are skipped.
void harness_read_output(Arena *arena, Str output, HarnessResults *ret);

#endif // COLLECT_BENCH_HARNESS_H
