// SPDX-License-Identifier: Apache-2.0
// The values that arguments of probes had: how often which.

#ifndef ANALYSE_ARGUMENTS_H
#define ANALYSE_ARGUMENTS_H

#include "analyse/report.h"

// Values from `low` to `high`, both included.
typedef struct ArgumentBucket {
    int64_t low, high;
    uint64_t count; // occurrences of the probe: a sample stands for its period
} ArgumentBucket;
typedef Vec(ArgumentBucket) ArgumentBuckets;

typedef struct ArgumentValues {
    MetricId metric;
    uint64_t samples;
    uint64_t count; // occurrences
    int64_t least, most;
    double mean;
    ArgumentBuckets buckets; // ascending: one for each value of a few, else by powers of two
    // The values are texts: buckets are of one text each, whose StrId both bounds are, the most
    // frequent first; `least`, `most` and `mean` are 0.
    bool is_text;
    size_t other_texts;   // different texts without a bucket
    uint64_t other_count; // and their occurrences
} ArgumentValues;
typedef Vec(ArgumentValues) ArgumentValuesVec;

enum {
    ARGUMENT_EXACT_MAX = 12, // so many different values have a bucket each
    ARGUMENT_TEXTS_MAX = 20, // … and so many texts
};

// The arguments of the report's metric, or of the probe that it is an argument of, over the samples
// that the report selects. All memory comes from the arena.
MUST_CHECK bool arguments_of(Arena *arena, const Report *r, ArgumentValuesVec *ret, Error *err);

#endif // ANALYSE_ARGUMENTS_H
