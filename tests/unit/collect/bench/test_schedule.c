// SPDX-License-Identifier: Apache-2.0
// The order of runs: random, balanced, reproducible.

#include "harness.h"

#include "collect/bench/schedule.h"

static Arena arena;

static int clean_up(void **state)
{
    (void)state;
    arena_deinit(&arena);
    return 0;
}

static void two_commands_run_in_abba_or_baab_blocks(void **state)
{
    (void)state;
    Schedule s;
    schedule_init(&s, &arena, 2, 7);
    size_t a_first_blocks = 0;
    for (int block = 0; block < 400; block++) {
        uint32_t first = schedule_next(&s)[0];
        const uint32_t *second = schedule_next(&s);
        assert_int_equal(second[0], 1 - first);
        assert_int_equal(second[1], first);
        a_first_blocks += first == 0;
    }
    // 400 fair coins: outside 150 … 250 once in 10^6.
    assert_true(a_first_blocks > 150 && a_first_blocks < 250);
}

static void each_command_takes_each_position_once_a_block(void **state)
{
    (void)state;
    enum { N = 5 };
    Schedule s;
    schedule_init(&s, &arena, N, 1);
    for (int block = 0; block < 50; block++) {
        int seen[N][N] = {{0}};
        for (int round = 0; round < N; round++) {
            const uint32_t *order = schedule_next(&s);
            for (int position = 0; position < N; position++)
                seen[order[position]][position]++;
        }
        for (int c = 0; c < N; c++)
            for (int p = 0; p < N; p++)
                assert_int_equal(seen[c][p], 1);
    }
}

static void the_seed_fixes_the_order_and_another_seed_changes_it(void **state)
{
    (void)state;
    Schedule a, b, c;
    schedule_init(&a, &arena, 3, 11);
    schedule_init(&b, &arena, 3, 11);
    schedule_init(&c, &arena, 3, 12);
    int different = 0;
    for (int i = 0; i < 60; i++) {
        uint32_t first = schedule_next(&a)[0];
        assert_int_equal(first, schedule_next(&b)[0]);
        different += first != schedule_next(&c)[0];
    }
    assert_true(different > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(two_commands_run_in_abba_or_baab_blocks, clean_up),
        cmocka_unit_test_teardown(each_command_takes_each_position_once_a_block, clean_up),
        cmocka_unit_test_teardown(the_seed_fixes_the_order_and_another_seed_changes_it, clean_up),
    };
    return RUN_TESTS(tests);
}
