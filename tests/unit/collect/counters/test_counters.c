// SPDX-License-Identifier: Apache-2.0
// Scaling of counts, and the names of events.

#include "harness.h"

#include "collect/counters/counters.h"

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

static void events_have_one_name_however_they_are_written(void **state)
{
    (void)state;
    Arena arena = {0};
    EventSpec e = {.type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_BRANCH_INSTRUCTIONS};
    assert_true(str_equal(event_kernel_name(&arena, &e), STR("branches")));
    e = (EventSpec){.type = PERF_TYPE_HW_CACHE,
                    .config = PERF_COUNT_HW_CACHE_LL | PERF_COUNT_HW_CACHE_OP_READ << 8 |
                              PERF_COUNT_HW_CACHE_RESULT_MISS << 16};
    assert_true(str_equal(event_kernel_name(&arena, &e), STR("LLC-load-misses")));
    e = (EventSpec){.type = PERF_TYPE_RAW, .config = 0x3c};
    assert_int_equal(event_kernel_name(&arena, &e).len, 0);
    arena_deinit(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_are_scaled_by_the_time_they_missed),
        cmocka_unit_test(events_have_one_name_however_they_are_written),
    };
    return RUN_TESTS(tests);
}
