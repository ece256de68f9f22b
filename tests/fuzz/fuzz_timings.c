// SPDX-License-Identifier: Apache-2.0
// Fuzzes the readers of saved times and of results of benchmark programs, and the comparison of
// what they read.

#include <assert.h>

#include "collect/bench/harness.h"
#include "collect/bench/timings.h"
#include "stats/compare.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Arena arena = {0};
    Error err;
    TimingsFormat format;
    TimingsVec found;
    if (timings_parse(&arena, str_from_bytes(bytes_over(data, size)), &format, &found, &err)) {
        const CompareOptions options = {.level = 0.95, .margin = 0.01};
        for (size_t i = 0; i < MIN(found.len, (size_t)8); i++) {
            const DoubleVec *x = &found.at[i].seconds;
            (void)stats_compare_unpaired(&arena, x->at, x->len, x->at, x->len, &options);
            (void)stats_compare_paired(&arena, x->at, x->at, x->len, &options);
        }
    }
    // The text stands for each file that a harness leaves.
    Str text = str_from_bytes(bytes_over(data, size));
    HarnessResults results = {0};
    HarnessResult one;
    harness_read_output(&arena, text, &results);
    if (harness_read_assay(&arena, text, &one, &err) ||
        harness_read_criterion(&arena, text, text, &one, &err))
        assert(one.count > 0 && one.iterations && one.seconds);
    arena_deinit(&arena);
    return 0;
}
