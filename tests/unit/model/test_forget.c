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

static void a_day_at_99_hz_fits_16_megabytes(void **state)
{
    (void)state;
    enum { HZ = 99, DAY = 86400 };
    const uint64_t most = 16 << 20;
    Profile p;
    begin(&p);
    uint64_t i = 0;
    for (uint64_t second = 0; second < DAY; second++) {
        for (int k = 0; k < HZ; k++, i++)
            add(&p, i, (int64_t)(i * 1000000000 / HZ));
        profile_keep_newest(&p, most);
        assert_true(profile_timed_bytes(&p) <= most / 2);
    }
    // Room included. It keeps the newest 25 minutes at least.
    size_t room = p.samples.time_ns.cap * (8 + 4 + 4 + 4 + 8) + p.states.thread.cap * 49 +
                  p.calls.frame.cap * 29 + p.call_values.call.cap * 16;
    assert_true(room <= most);
    assert_int_equal(vec_last(&p.samples.values[0]), (int64_t)(i - 1));
    int64_t newest = vec_last(&p.samples.time_ns);
    assert_true(newest - profile_oldest_ns(&p) > 900 * 1000000000ll);
    // The values of calls still are theirs.
    for (size_t k = 0; k < p.call_values.call.len; k++) {
        int64_t end = p.calls.end_ns.at[p.call_values.call.at[k]];
        assert_int_equal(end, p.call_values.value.at[k] * 1000000000 / HZ);
    }
    Error err;
    assert_ok(profile_check(&p, &err), &err);
    profile_deinit(&p);
}

static void nothing_fits_nothing(void **state)
{
    (void)state;
    Profile p;
    begin(&p);
    profile_keep_newest(&p, 0);
    for (uint64_t i = 0; i < 100; i++)
        add(&p, i, (int64_t)i);
    profile_keep_newest(&p, 0);
    assert_int_equal(profile_timed_bytes(&p), 0);
    add(&p, 0, 5000);
    assert_int_equal(p.samples.time_ns.len, 1);
    assert_int_equal(profile_oldest_ns(&p), 5000);
    profile_deinit(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_day_at_99_hz_fits_16_megabytes),
        cmocka_unit_test(nothing_fits_nothing),
    };
    return RUN_TESTS(tests);
}
