// SPDX-License-Identifier: Apache-2.0
// Function benchmarks. Truths: `work_slow` takes WORK_FACTOR (3, unless given)
// times as long as `work`; `batch` does not time its set-up; `empty` is ≤ 1 ns.
#define ASSAY_BENCH_MAIN
#include <assay/bench.h>

#ifndef WORK_FACTOR
#define WORK_FACTOR 3
#endif

static uint64_t steps(uint64_t n)
{
    uint64_t x = 88172645463325252u;
    for (uint64_t i = 0; i < n; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
    }
    return x;
}

ASSAY_BENCH(empty)
{
    ASSAY_LOOP(bench)
    {
    }
}

ASSAY_BENCH(work)
{
    assay_bench_elements(bench, 1000);
    ASSAY_LOOP(bench)
    {
        uint64_t n = 1000;
        ASSAY_HIDE(n);
        ASSAY_USE(steps(n));
    }
}

ASSAY_BENCH(work_slow)
{
    ASSAY_LOOP(bench)
    {
        uint64_t n = 1000 * WORK_FACTOR;
        ASSAY_HIDE(n);
        ASSAY_USE(steps(n));
    }
}

ASSAY_BENCH_ARGS(scan, 10, 1000)
{
    assay_bench_bytes(bench, (uint64_t)assay_bench_arg(bench));
    ASSAY_LOOP(bench)
    {
        uint64_t n = (uint64_t)assay_bench_arg(bench);
        ASSAY_HIDE(n);
        ASSAY_USE(steps(n));
    }
}

ASSAY_BENCH(batch)
{
    for (size_t n; (n = assay_bench_batch(bench, 16)) > 0;) {
        ASSAY_USE(steps(20000 * n));
        assay_bench_batch_start(bench);
        for (size_t i = 0; i < n; i++)
            ASSAY_USE(steps(100));
        assay_bench_batch_stop(bench);
    }
}
