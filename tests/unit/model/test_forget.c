// SPDX-License-Identifier: Apache-2.0
// Recordings that run for days keep their newest part.

#include "harness.h"
#include "model/forget.h"

static void begin(Profile *p)
{
    profile_init(p);
    profile_add_metric(p, STR("cpu time"), STR("ns"), METRIC_SUM, STR("cpu-clock"));
    ProcessId process = profile_add_process(p, 1, 0, profile_str(p, STR("srv")), 0);
    profile_add_thread(p, process, 1, profile_str(p, STR("srv")), 0);
}

// Of each sample also a wait, and of every tenth a call with a value.
static void add(Profile *p, uint64_t i, int64_t time)
{
    size_t row = profile_add_sample(p, time, (ThreadId){0}, (StackId){0}, 0);
    profile_sample_set(p, row, (MetricId){0}, (int64_t)i);
    profile_add_state(p, &(StateRow){.start_ns = time - 1000, .woken_ns = time, .end_ns = time});
    if (i % 10 == 0) {
        uint32_t call = profile_add_call(p, &(CallRow){.begin_ns = time - 500, .end_ns = time});
        profile_add_call_value(p, call, profile_str(p, STR("id")), (int64_t)i);
    }
}

static void rows_before_a_time_go(void **state)
{
    (void)state;
    enum { ROWS = 1000, MS = 1000000 };
    Profile p;
    Error err;
    begin(&p);
    for (uint64_t i = 0; i < ROWS; i++)
        add(&p, i, (int64_t)i * MS);
    uint64_t before = profile_timed_bytes(&p);
    profile_forget(&p, 700ll * MS);
    assert_ok(profile_check(&p, &err), &err);
    assert_int_equal(p.samples.stack.len, 300);
    assert_int_equal(p.states.thread.len, 300);
    assert_int_equal(p.calls.frame.len, 30);
    assert_int_equal(p.samples.values[0].at[0], 700);
    assert_int_equal(profile_timed_bytes(&p) * 10, before * 3);
    // The values of calls still are theirs.
    assert_int_equal(p.call_values.call.len, 30);
    for (size_t k = 0; k < p.call_values.call.len; k++)
        assert_int_equal(p.calls.end_ns.at[p.call_values.call.at[k]],
                         p.call_values.value.at[k] * MS);
    profile_forget(&p, INT64_MAX);
    assert_int_equal(profile_timed_bytes(&p), 0);
    add(&p, 0, 5000);
    assert_int_equal(p.samples.time_ns.at[0], 5000);
    assert_ok(profile_check(&p, &err), &err);
    profile_deinit(&p);
}

static void nothing_is_forgotten_of_nothing(void **state)
{
    (void)state;
    Profile p;
    begin(&p);
    profile_forget(&p, INT64_MAX);
    profile_forget(&p, INT64_MIN);
    assert_int_equal(profile_timed_bytes(&p), 0);
    profile_deinit(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_before_a_time_go),
        cmocka_unit_test(nothing_is_forgotten_of_nothing),
    };
    return RUN_TESTS(tests);
}
