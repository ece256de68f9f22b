// SPDX-License-Identifier: Apache-2.0
// Arenas in huge pages give what others give.

#include "base/arena.h"

#include "harness.h"

static void huge_pages_hold_what_other_chunks_hold(void **state)
{
    (void)state;
    Arena a = {.huge_pages = true};
    uint8_t *blocks[40];
    for (size_t i = 0; i < ARRAY_LEN(blocks); i++) {
        size_t size = 1000 + i * 20000;
        blocks[i] = arena_alloc(&a, size, 64);
        assert_int_equal((uintptr_t)blocks[i] % 64, 0);
        for (size_t j = 0; j < size; j++)
            assert_int_equal(blocks[i][j], 0);
        memset(blocks[i], (int)i + 1, size);
    }
    for (size_t i = 0; i < ARRAY_LEN(blocks); i++)
        assert_int_equal(blocks[i][999 + i * 20000], i + 1);
    // One that is larger than a page, and one that grows.
    uint8_t *large = arena_alloc(&a, 5 << 20, 8);
    large[(5 << 20) - 1] = 7;
    large = arena_grow(&a, large, 5 << 20, 6 << 20, 8);
    assert_int_equal(large[(5 << 20) - 1], 7);
    assert_int_equal(large[(6 << 20) - 1], 0);
    arena_deinit(&a);
    assert_true(a.huge_pages);
    assert_int_equal(a.taken_bytes, 0);
}

static void what_is_cleared_is_handed_out_again_as_zeroes(void **state)
{
    (void)state;
    Arena a = {0};
    for (int round = 0; round < 3; round++) {
        uint8_t *small = arena_alloc(&a, 1000, 8), *large = arena_alloc(&a, 100000, 8);
        for (size_t i = 0; i < 1000; i++)
            assert_int_equal(small[i], 0);
        memset(small, 1, 1000);
        memset(large, 1, 100000);
        for (int i = 0; i < 200; i++)
            memset(arena_alloc(&a, 500, 8), 1, 500);
        size_t taken = a.taken_bytes;
        arena_clear(&a);
        assert_int_equal(a.used_bytes, 0);
        assert_true(a.taken_bytes > 0 && a.taken_bytes < taken);
    }
    arena_deinit(&a);
    arena_clear(&a);
    assert_int_equal(a.taken_bytes, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(huge_pages_hold_what_other_chunks_hold),
        cmocka_unit_test(what_is_cleared_is_handed_out_again_as_zeroes),
    };
    return RUN_TESTS(tests);
}
