// SPDX-License-Identifier: Apache-2.0
// Fuzzes the reader of unified diffs.

#include "analyse/cover/change.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Arena arena = {0};
    DiffFiles files;
    Error err;
    (void)!diff_parse(&arena, str_over((const char *)data, size), &files, &err);
    arena_deinit(&arena);
    return 0;
}
