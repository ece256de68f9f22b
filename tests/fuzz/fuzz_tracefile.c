// SPDX-License-Identifier: Apache-2.0
// Fuzzes the readers of lcov's, Cobertura's, llvm-cov's, gcov's and Go's files, and their sums.

#include "tracefile/tracefile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_sorted(const CoverSetFile *f)
{
    for (size_t i = 1; i < f->lines.len; i++)
        assert(f->lines.at[i - 1].line < f->lines.at[i].line);
    for (size_t i = 1; i < f->functions.len; i++)
        assert(f->functions.at[i - 1].line <= f->functions.at[i].line);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Arena arena = {0};
    CoverSet set;
    Error err;
    cover_set_init(&set, &arena);
    // Twice: the second time all keys are there.
    for (int i = 0; i < 2; i++)
        if (!tracefile_read(&set, bytes_over(data, size), &err))
            assert(err.text[0]);
    for (size_t i = 0; i < set.files.len; i++)
        check_sorted(&set.files.at[i]);
    cover_set_deinit(&set);
    arena_deinit(&arena);
    return 0;
}
