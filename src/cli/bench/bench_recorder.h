// SPDX-License-Identifier: Apache-2.0
// Runs a command of a bench once more, under the sampler.

#ifndef CLI_BENCH_BENCH_RECORDER_H
#define CLI_BENCH_BENCH_RECORDER_H

#include "collect/bench/bench.h"
#include "collect/sampling/sampling.h"

typedef struct RunRecorder {
    const EventSpecVec *events; // as in SamplingOptions
    uint64_t freq_hz;
    // Gets the recording with its symbols; it is freed then.
    bool (*take)(void *ctx, Profile *profile, const SamplingResult *result, Error *err);
    void *ctx;
    Str store; // a file that also gets it; "" for none
} RunRecorder;

// Records one run. Its output goes where the bench's goes. `*interrupted` is set when a signal
// ended it.
MUST_CHECK bool bench_record_run(Bench *b, uint32_t command, const RunRecorder *recorder,
                                 bool *interrupted, Error *err);

#endif // CLI_BENCH_BENCH_RECORDER_H
