// SPDX-License-Identifier: Apache-2.0
// Fuzzes the reader of saved times, and the comparison of what it read.

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
    arena_deinit(&arena);
    return 0;
}
