// SPDX-License-Identifier: Apache-2.0
// The processor time that samples stand for.

#include "harness.h"

#include "replay/cpu_credit.h"

enum { PERIOD = 1000 };

static const StrId name_a = {1}, name_b = {2};

static CpuCredits started(uint64_t from)
{
    CpuCredits c = {0};
    credits_init(&c, PERIOD);
    credits_begin(&c, from);
    return c;
}

static void a_sample_stands_for_the_time_its_thread_ran_since_the_one_before(void **state)
{
    (void)state;
    CpuCredits c = started(100);
    ThreadCredit t = {.group = credits_group(&c, 0, name_a, false)};
    credits_switch(&c, &t, 200, false);
    credits_switch(&c, &t, 500, true);
    credits_switch(&c, &t, 9000, false);
    assert_int_equal(credits_take(&c, &t, 9400, PERIOD), 700);
    assert_int_equal(credits_take(&c, &t, 9500, PERIOD), 100);
    assert_int_equal(c.given, 800);
    credits_deinit(&c);
}

static void before_the_beginning_a_sample_stands_for_its_period(void **state)
{
    (void)state;
    CpuCredits c = started(0);
    ThreadCredit t = {.group = credits_group(&c, 0, name_a, false)};
    credits_switch(&c, &t, 200, false);
    assert_int_equal(credits_take(&c, &t, 700, PERIOD), PERIOD);
    credits_begin(&c, 800);
    assert_int_equal(credits_take(&c, &t, 900, PERIOD), 100);
    credits_deinit(&c);
}

static void a_thread_that_never_switched_has_run_since_the_beginning(void **state)
{
    (void)state;
    CpuCredits c = started(100);
    ThreadCredit t = {.group = credits_group(&c, 0, name_a, false)};
    assert_int_equal(credits_take(&c, &t, 900, PERIOD), 800);
    ThreadCredit u = t;
    u.is_known = false;
    credits_switch(&c, &u, 1000, true);
    assert_int_equal(u.unsampled, 900);
    credits_deinit(&c);
}

static void threads_that_ended_hand_their_time_to_those_like_them(void **state)
{
    (void)state;
    CpuCredits c = started(100);
    uint32_t parent = credits_group(&c, 0, name_a, false);
    uint32_t child = credits_group(&c, parent, name_a, false);
    assert_int_not_equal(parent, child);
    assert_int_equal(credits_group(&c, parent, name_a, false), child);
    assert_int_not_equal(credits_group(&c, parent, name_a, true), child);
    ThreadCredit p = {.group = parent}, first = {.group = child}, second = {.group = child};
    credits_switch(&c, &first, 200, false);
    credits_end(&c, &first, 900);
    assert_int_equal(credits_unsampled(&c), 700);
    credits_switch(&c, &p, 900, false);
    assert_int_equal(credits_take(&c, &p, 1000, PERIOD), 100);
    credits_switch(&c, &second, 1000, false);
    assert_int_equal(credits_take(&c, &second, 1300, PERIOD), 1000);
    assert_int_equal(credits_unsampled(&c), 0);
    credits_deinit(&c);
}

static void another_program_is_another_group(void **state)
{
    (void)state;
    CpuCredits c = started(100);
    ThreadCredit t = {.group = credits_group(&c, 0, name_a, false)};
    uint32_t before = t.group;
    credits_switch(&c, &t, 200, false);
    credits_rename(&c, &t, 500, name_b);
    assert_int_not_equal(t.group, before);
    assert_int_equal(c.groups.at[before].unsampled, 300);
    assert_int_equal(credits_take(&c, &t, 700, PERIOD), 200);
    credits_deinit(&c);
}

static void lost_records_of_switches_make_no_time(void **state)
{
    (void)state;
    CpuCredits c = started(100);
    ThreadCredit t = {.group = credits_group(&c, 0, name_a, false)};
    credits_switch(&c, &t, 200, false);
    // Its switch out was lost, and it slept.
    uint64_t value = credits_take(&c, &t, 200 + 1000 * PERIOD, PERIOD);
    assert_in_range(value, 1, 10 * PERIOD);
    credits_switch(&c, &t, 300 + 1000 * PERIOD, true);
    // Its switch in was lost.
    value = credits_take(&c, &t, 700 + 1000 * PERIOD, PERIOD);
    assert_int_equal(value, PERIOD + 100);
    credits_deinit(&c);
}

static void endless_descent_has_few_groups(void **state)
{
    (void)state;
    CpuCredits c = started(100);
    uint32_t group = 0;
    for (int i = 0; i < 10000; i++)
        group = credits_group(&c, group, name_a, false);
    assert_in_range(c.groups.len, 2, 64);
    credits_deinit(&c);
}

static void without_a_period_nothing_is_kept(void **state)
{
    (void)state;
    CpuCredits c = {0};
    credits_begin(&c, 100);
    ThreadCredit t = {.group = credits_group(&c, 0, name_a, false)};
    credits_switch(&c, &t, 200, false);
    credits_rename(&c, &t, 300, name_b);
    assert_int_equal(credits_take(&c, &t, 700, PERIOD), PERIOD);
    credits_end(&c, &t, 900);
    credits_deinit(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sample_stands_for_the_time_its_thread_ran_since_the_one_before),
        cmocka_unit_test(before_the_beginning_a_sample_stands_for_its_period),
        cmocka_unit_test(a_thread_that_never_switched_has_run_since_the_beginning),
        cmocka_unit_test(threads_that_ended_hand_their_time_to_those_like_them),
        cmocka_unit_test(another_program_is_another_group),
        cmocka_unit_test(lost_records_of_switches_make_no_time),
        cmocka_unit_test(endless_descent_has_few_groups),
        cmocka_unit_test(without_a_period_nothing_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
