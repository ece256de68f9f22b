// SPDX-License-Identifier: Apache-2.0
// Which runs are slow, and what a stack waits for.

#include "analyse/slow_runs.h"

#include "analyse/stack_costs.h"
#include "harness.h"

#include <math.h>

static void runs_of_the_second_mode_are_slow(void **state)
{
    double x[16];
    (void)state;
    for (int i = 0; i < 16; i++)
        x[i] = (i % 4 == 3 ? 0.3 : 0.01) * (1 + 0.001 * i);
    SlowRuns s = slow_runs_split(x, 16);
    assert_true(s.stand_out && s.count == 4);
    assert_true(s.from_s > 0.02 && s.from_s <= x[3]);
}

static void one_run_beyond_the_fence_is_slow(void **state)
{
    double x[14];
    (void)state;
    for (int i = 0; i < 14; i++)
        x[i] = i == 5 ? 0.05 : 0.010 + 0.0001 * i;
    SlowRuns s = slow_runs_split(x, 14);
    assert_true(s.stand_out && s.count == 1 && s.from_s > 0.02);
}

static void without_any_the_slowest_quarter_is(void **state)
{
    double x[16];
    (void)state;
    for (int i = 0; i < 16; i++)
        x[i] = 0.010 + 0.001 * i;
    SlowRuns s = slow_runs_split(x, 16);
    assert_true(!s.stand_out && s.count == 4);
}

static void few_runs_that_are_alike_have_no_slow_ones(void **state)
{
    const double x[] = {0.01, 0.0101, 0.0102};
    (void)state;
    SlowRuns s = slow_runs_split(x, 3);
    assert_true(s.count == 0 && isinf(s.from_s));
    assert_int_equal(slow_runs_split(x, 0).count, 0);
}

static void a_wait_is_named_by_the_functions_of_the_c_library(void **state)
{
    (void)state;
    assert_str(stack_waits_for(STR("futex_wait < __lll_lock_wait < take < main")), "a lock");
    assert_str(stack_waits_for(STR("clock_nanosleep < nanosleep < main")), "sleep");
    assert_str(stack_waits_for(STR("wait4 < run_child < main")), "a child process");
    assert_str(stack_waits_for(STR("__pthread_cond_wait < next < work")), "a condition");
    assert_str(stack_waits_for(STR("f < g < h < i < fsync")), "");
    assert_str(stack_waits_for(STR("")), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_of_the_second_mode_are_slow),
        cmocka_unit_test(one_run_beyond_the_fence_is_slow),
        cmocka_unit_test(without_any_the_slowest_quarter_is),
        cmocka_unit_test(few_runs_that_are_alike_have_no_slow_ones),
        cmocka_unit_test(a_wait_is_named_by_the_functions_of_the_c_library),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
