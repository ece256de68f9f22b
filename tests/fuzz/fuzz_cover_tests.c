// SPDX-License-Identifier: Apache-2.0
// Fuzzes the reader of the file of tests and their lines.

#include "collect/cover/testmap_smallest.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CoverTestStore s;
    Error err;
    if (size > 1 << 16 || !cover_tests_open(bytes_over(data, size), &s, &err))
        return 0;
    Arena arena = {0};
    CoverTestChoice choice;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < s.test_count; i++)
        sum += str_hash(cover_tests_test(&s, i).name);
    for (uint32_t i = 0; i < s.file_count; i++)
        sum += str_hash(cover_tests_file(&s, i).path);
    for (uint32_t i = 0; i < s.line_count; i++)
        for (uint32_t t = 0; t < s.test_count && t < 70; t++)
            sum += cover_tests_in_set(&s, cover_tests_line(&s, i).set, t);
    if (s.test_count < 200 && s.set_count < 1000)
        cover_tests_smallest(&arena, &s, &choice);
    arena_deinit(&arena);
    return sum == 1 ? -1 : 0;
}
