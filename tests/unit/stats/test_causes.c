// SPDX-License-Identifier: Apache-2.0
// The cause of a slow run is the part of its time that grew.

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "stats/run_causes.h"

// Usually 10 ms, of which 8 are computed by the main thread and 1 is a wait for a CPU.
static const TypicalRun TYPICAL = {
    .time_s = 0.010, .cpu_s = 0.008, .main_cpu_s = 0.008, .delay_s = 0.001, .major_faults = 0};

// A run of 60 ms that is otherwise as usual.
static MeasuredRun slow_run(void)
{
    return (MeasuredRun){.time_s = 0.060,
                         .user_s = 0.008,
                         .on_cpu_ns = 8000000,
                         .run_delay_ns = 1000000,
                         .steal_ns = -1,
                         .disk_wait_ns = -1};
}

static void each_part_that_grew_is_named(void **state)
{
    (void)state;
    MeasuredRun r = slow_run();
    assert_int_equal(run_cause(&r, &TYPICAL), CAUSE_BLOCKED);
    r.blocks_out = 8; // dd conv=fsync
    assert_int_equal(run_cause(&r, &TYPICAL), CAUSE_DISK);
    r.disk_wait_ns = 1000000; // measured: it was not the disk
    assert_int_equal(run_cause(&r, &TYPICAL), CAUSE_BLOCKED);
    r.disk_wait_ns = 40000000;
    assert_int_equal(run_cause(&r, &TYPICAL), CAUSE_DISK);
    r = slow_run();
    r.major_faults = 3;
    assert_int_equal(run_cause(&r, &TYPICAL), CAUSE_PAGING);
    r = slow_run();
    r.run_delay_ns = 51000000;
    assert_int_equal(run_cause(&r, &TYPICAL), CAUSE_RUN_DELAY);
    r = slow_run();
    r.user_s = 0.058;
    assert_int_equal(run_cause(&r, &TYPICAL), CAUSE_CHILDREN);
    r.on_cpu_ns = 58000000;
    assert_int_equal(run_cause(&r, &TYPICAL), CAUSE_CPU);
    r = slow_run();
    r.steal_ns = 50000000;
    assert_int_equal(run_cause(&r, &TYPICAL), CAUSE_STEAL);
}

static void what_is_not_known_is_not_guessed(void **state)
{
    (void)state;
    // Half of it each: neither alone explains it, but nothing else does either.
    MeasuredRun r = slow_run();
    r.run_delay_ns = 1000000 + 20000000;
    r.user_s = r.system_s = 0.004 + 0.0085;
    r.on_cpu_ns = 25000000;
    assert_int_equal(run_cause(&r, &TYPICAL), CAUSE_UNKNOWN);
    // Without schedstat: neither the children's part nor the wait is known.
    TypicalRun unknown = TYPICAL;
    unknown.delay_s = unknown.main_cpu_s = NAN;
    r = slow_run();
    r.run_delay_ns = r.on_cpu_ns = -1;
    r.user_s = 0.058;
    assert_int_equal(run_cause(&r, &unknown), CAUSE_CPU);
    r.user_s = 0.008;
    r.blocks_in = 1;
    assert_int_equal(run_cause(&r, &unknown), CAUSE_DISK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_part_that_grew_is_named),
        cmocka_unit_test(what_is_not_known_is_not_guessed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
