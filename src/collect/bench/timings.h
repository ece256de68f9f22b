// SPDX-License-Identifier: Apache-2.0
// Times that other tools and earlier benches saved, so that they can be
// compared: one reader for the JSON of hyperfine and `assay bench`, Google
// Benchmark, pyperf, and Criterion's saved samples. Bytes in, no I/O.

#ifndef COLLECT_BENCH_TIMINGS_H
#define COLLECT_BENCH_TIMINGS_H

#include "base/error.h"
#include "base/vec.h"

typedef enum TimingsFormat {
    TIMINGS_HYPERFINE, // and ours, which is a superset
    TIMINGS_GBENCH,
    TIMINGS_PYPERF,
    TIMINGS_CRITERION // target/criterion/<id>/new/sample.json
} TimingsFormat;

// One benchmark. Criterion: a value is a sample's time over its iterations.
typedef struct Timings {
    Str name; // "" for a Criterion sample: it is the folder's
    DoubleVec seconds;
    DoubleVec iterations; // Criterion: iterations of each sample; else empty
} Timings;
typedef Vec(Timings) TimingsVec;

// Which format `text` has is found from its content. Times that are not
// positive numbers are an error.
MUST_CHECK bool timings_parse(Arena *arena, Str text, TimingsFormat *format, TimingsVec *ret,
                              Error *err);

// The name of a format for messages.
const char *timings_format_name(TimingsFormat f);

#endif // COLLECT_BENCH_TIMINGS_H
