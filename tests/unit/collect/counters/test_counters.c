// SPDX-License-Identifier: Apache-2.0
// Scaling and what is derived from counts.

#include "harness.h"

#include "collect/counters/counters.h"
#include "collect/counters/derive.h"

#include <math.h>

static void counts_are_scaled_by_the_time_they_missed(void **state)
{
    (void)state;
    assert_true(counter_scaled((CounterValue){100, 50, 50}) == 100);
    assert_true(counter_scaled((CounterValue){100, 200, 50}) == 400);
    assert_true(isnan(counter_scaled((CounterValue){0, 200, 0})));
    CounterValue a = {5, 20, 10}, b = {3, 10, 5};
    assert_true(counter_sum(a, b).value == 8 && counter_since(a, b).running_ns == 5);
}

// task-clock, cycles, instructions, branches, branch-misses, page-faults
static const uint64_t types[] = {PERF_TYPE_SOFTWARE, PERF_TYPE_HARDWARE, PERF_TYPE_HARDWARE,
                                 PERF_TYPE_HARDWARE, PERF_TYPE_HARDWARE, PERF_TYPE_SOFTWARE};
static const uint64_t configs[] = {PERF_COUNT_SW_TASK_CLOCK,    PERF_COUNT_HW_CPU_CYCLES,
                                   PERF_COUNT_HW_INSTRUCTIONS,  PERF_COUNT_HW_BRANCH_INSTRUCTIONS,
                                   PERF_COUNT_HW_BRANCH_MISSES, PERF_COUNT_SW_PAGE_FAULTS};

static void ratios_are_those_of_perf(void **state)
{
    (void)state;
    const double values[] = {2e9, 6e9, 9e9, 1e9, 2e7, 4000};
    DerivedInput in = {NULL, values, types, configs, 6, 4.0, 0};
    assert_true(derive(&in, 0).value == 0.5);
    assert_string_equal(derive(&in, 0).unit, "CPUs utilized");
    assert_true(derive(&in, 1).value == 3.0);
    assert_string_equal(derive(&in, 1).unit, "GHz");
    assert_true(derive(&in, 2).value == 1.5);
    assert_true(fabs(derive(&in, 3).value - 500) < 1e-9);
    assert_string_equal(derive(&in, 3).unit, "M/sec");
    assert_true(fabs(derive(&in, 4).value - 2) < 1e-12);
    assert_true(fabs(derive(&in, 5).value - 2) < 1e-12);
    assert_string_equal(derive(&in, 5).unit, "K/sec");
}

static void nothing_is_derived_from_what_was_not_counted(void **state)
{
    (void)state;
    const double values[] = {NAN, 6e9, 9e9, NAN, 2e7, 4000};
    DerivedInput in = {NULL, values, types, configs, 6, 4.0, 0};
    assert_null(derive(&in, 0).unit);
    assert_null(derive(&in, 1).unit); // GHz needs the clock
    assert_non_null(derive(&in, 2).unit);
    assert_null(derive(&in, 4).unit); // misses need branches
    assert_null(derive(&in, 5).unit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_are_scaled_by_the_time_they_missed),
        cmocka_unit_test(ratios_are_those_of_perf),
        cmocka_unit_test(nothing_is_derived_from_what_was_not_counted),
    };
    return RUN_TESTS(tests);
}
