// SPDX-License-Identifier: Apache-2.0
// The order of runs: random, reproducible.

#include "harness.h"

#include "collect/bench/schedule.h"

static Arena arena;

static int clean_up(void **state)
{
    (void)state;
    arena_deinit(&arena);
    return 0;
}

static void each_round_of_two_commands_is_a_fair_coin_of_its_own(void **state)
{
    (void)state;
    enum { ROUNDS = 4000 };
    Schedule s;
    schedule_init(&s, &arena, 2, 7);
    size_t a_first = 0, same_as_before = 0, same_as_four_before = 0;
    uint32_t firsts[ROUNDS];
    for (size_t i = 0; i < ROUNDS; i++) {
        firsts[i] = schedule_next(&s)[0];
        a_first += firsts[i] == 0;
        same_as_before += i > 0 && firsts[i] == firsts[i - 1];
        same_as_four_before += i > 3 && firsts[i] == firsts[i - 4];
    }
    // 5 deviations of 31.6.
    assert_in_range(a_first, 1840, 2160);
    assert_in_range(same_as_before, 1840, 2160);
    assert_in_range(same_as_four_before, 1840, 2160);
}

static void all_orders_of_three_commands_come_as_often(void **state)
{
    (void)state;
    Schedule s;
    schedule_init(&s, &arena, 3, 1);
    int seen[27] = {0};
    for (int round = 0; round < 6000; round++) {
        const uint32_t *o = schedule_next(&s);
        seen[o[0] * 9 + o[1] * 3 + o[2]]++;
    }
    int orders = 0;
    for (size_t i = 0; i < ARRAY_LEN(seen); i++) {
        orders += seen[i] > 0;
        assert_true(seen[i] == 0 || (seen[i] > 850 && seen[i] < 1150));
    }
    assert_int_equal(orders, 6);
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
        cmocka_unit_test_teardown(each_round_of_two_commands_is_a_fair_coin_of_its_own, clean_up),
        cmocka_unit_test_teardown(all_orders_of_three_commands_come_as_often, clean_up),
        cmocka_unit_test_teardown(the_seed_fixes_the_order_and_another_seed_changes_it, clean_up),
    };
    return RUN_TESTS(tests);
}
