// SPDX-License-Identifier: Apache-2.0
// The words for refused events.

#include "harness.h"

#include "os/perf_event.h"

#include <errno.h>

static Error explain(int64_t paranoid, bool system_wide)
{
    PerfLimits limits = {.paranoid = paranoid, .supported = true};
    struct perf_event_attr attr = {
        .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_CPU_CLOCK, .exclude_kernel = 1};
    Error err = {0};
    assert_false(perf_explain(EACCES, &limits, &attr, STR("cpu-clock"), system_wide, &err));
    assert_int_equal(err.kind, ERROR_PERMISSION);
    assert_int_equal(err.os_errno, EACCES);
    return err;
}

// Some kernels refuse all events from 3 on. On others that is only so where no event of this
// process can be opened either.
static void a_level_above_2_does_not_refuse_all_where_events_of_ones_own_work(void **state)
{
    (void)state;
    Error err = explain(3, true);
    const char *all = "the kernel does not let users profile (kernel.perf_event_paranoid is 3)";
    if (perf_event_probe() == 0) {
        assert_string_equal(err.text,
                            "not allowed to observe whole CPUs (kernel.perf_event_paranoid is 3)");
        assert_non_null(strstr(err.hint, "kernel.perf_event_paranoid=0"));
    } else {
        assert_string_equal(err.text, all);
    }
}

static void whole_cpus_need_level_0(void **state)
{
    (void)state;
    Error err = explain(1, true);
    assert_string_equal(err.text,
                        "not allowed to observe whole CPUs (kernel.perf_event_paranoid is 1)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_level_above_2_does_not_refuse_all_where_events_of_ones_own_work),
        cmocka_unit_test(whole_cpus_need_level_0),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
