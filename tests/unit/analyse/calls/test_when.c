// SPDX-License-Identifier: Apache-2.0
// Conditions on which a flight recording is written.

#include "analyse/calls/when.h"
#include "harness.h"

#define SECOND 1000000000ll

static void the_forms_of_conditions(void **state)
{
    (void)state;
    When w;
    Error err;
    assert_ok(when_parse(STR("p99(handle) > 20ms"), &w, &err), &err);
    assert_int_equal(w.measure, WHEN_CALLS);
    assert_str(w.function, "handle");
    assert_int_equal(w.ns, 20000000);
    assert_ok(when_parse(STR("cpu>90%"), &w, &err), &err);
    assert_int_equal(w.measure, WHEN_CPU);
    assert_true(w.part > 0.89 && w.part < 0.91);
    assert_ok(when_parse(STR(" lock > 50 % "), &w, &err), &err);
    assert_int_equal(w.measure, WHEN_WAITS);
    assert_int_equal(w.class, WAIT_LOCK);
    static const char *const wrong[] = {
        "",        "cpu",         "cpu > 90",    "cpu > 0%",    "cpu > -1%",         "running > 5%",
        "p99 > 5", "p0(f) > 5ms", "p99() > 5ms", "p99(f) > 1%", "p100(f) > 5ms",     "lock > 5ms",
        "> 5%",    "cpu > nan%",  "p99(f) > ",   "p99(f)",      "p99(handle) = 20ms"};
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        w = (When){.ns = 77};
        assert_false(when_parse(str_from_c(wrong[i]), &w, &err));
        assert_int_equal(w.ns, 77);
    }
}

static void begin(Profile *p)
{
    profile_init(p);
    profile_add_metric(p, STR("cpu time"), STR("ns"), METRIC_SUM, STR("cpu-clock"));
    ProcessId idle = profile_add_process(p, 0, 0, profile_str(p, STR("swapper")), TIME_NONE);
    ProcessId srv = profile_add_process(p, 5, 0, profile_str(p, STR("srv")), 0);
    profile_add_thread(p, idle, 0, profile_str(p, STR("swapper")), TIME_NONE);
    profile_add_thread(p, srv, 5, profile_str(p, STR("srv")), 0);
}

static void add_sample(Profile *p, ThreadId thread, int64_t value)
{
    size_t row = profile_add_sample(p, 1, thread, (StackId){0}, 0);
    profile_sample_set(p, row, (MetricId){0}, value);
}

// Seconds with half a processor, of which each is looked at; the rows may go meanwhile.
static void processor_time_of_ten_seconds(void **state)
{
    (void)state;
    When half, more;
    WhenWindow w = {0};
    CallPlan none = {0};
    Profile p;
    assert_true(when_parse(STR("cpu > 45%"), &half, NULL));
    assert_true(when_parse(STR("cpu > 55%"), &more, NULL));
    begin(&p);
    for (int s = 1; s <= 15; s++) {
        add_sample(&p, (ThreadId){1}, SECOND / 2);
        add_sample(&p, (ThreadId){0}, SECOND); // of the idle task
        when_window_look(&w, &half, &p, &none, 0, s * SECOND);
        assert_int_equal(when_holds(&half, &w), s >= 11);
        assert_false(when_holds(&more, &w));
        if (s == 13) {
            profile_deinit(&p);
            begin(&p);
            when_window_forget(&w);
        }
    }
    // Seconds without a sample: the window empties.
    for (int s = 16; s <= 18; s++)
        when_window_look(&w, &half, &p, &none, 0, s * SECOND);
    assert_false(when_holds(&half, &w));
    profile_deinit(&p);
    when_window_deinit(&w);
}

// Where samples count cycles, each stands for a part of a second.
static void samples_of_an_event_that_is_no_time(void **state)
{
    (void)state;
    When when;
    WhenWindow w = {0};
    CallPlan none = {0};
    Profile p;
    assert_true(when_parse(STR("cpu > 45%"), &when, NULL));
    begin(&p);
    for (int s = 1; s <= 11; s++) {
        for (int i = 0; i < 50; i++)
            add_sample(&p, (ThreadId){1}, 3);
        when_window_look(&w, &when, &p, &none, SECOND / 100, s * SECOND);
    }
    assert_true(when_holds(&when, &w));
    profile_deinit(&p);
    when_window_deinit(&w);
}

static void waits_of_one_class(void **state)
{
    (void)state;
    When lock, runnable;
    WhenWindow a = {0}, b = {0};
    CallPlan none = {0};
    Profile p;
    assert_true(when_parse(STR("lock > 30%"), &lock, NULL));
    assert_true(when_parse(STR("runnable > 15%"), &runnable, NULL));
    begin(&p);
    for (int s = 1; s <= 11; s++) {
        profile_add_state(&p, &(StateRow){.start_ns = 0,
                                          .woken_ns = SECOND * 4 / 10,
                                          .end_ns = SECOND * 6 / 10,
                                          .state = WAIT_LOCK});
        when_window_look(&a, &lock, &p, &none, 0, s * SECOND);
        when_window_look(&b, &runnable, &p, &none, 0, s * SECOND);
    }
    assert_true(when_holds(&lock, &a));
    assert_true(when_holds(&runnable, &b));
    lock.part = 0.5;
    assert_false(when_holds(&lock, &a));
    profile_deinit(&p);
    when_window_deinit(&a);
    when_window_deinit(&b);
}

static void percentiles_of_calls(void **state)
{
    (void)state;
    When when;
    WhenWindow w = {0};
    CallPlan plan = {0};
    Profile p;
    assert_true(when_parse(STR("p90(handle_*) > 20ms"), &when, NULL));
    vec_push(NULL, &plan.functions, (CallFunction){.svma = 0x1000, .name = STR("handle_get")});
    vec_push(NULL, &plan.functions, (CallFunction){.svma = 0x2000, .name = STR("other")});
    begin(&p);
    FrameId handle = profile_frame(&p, (ModuleId){0}, 0x1000, 0);
    FrameId other = profile_frame(&p, (ModuleId){0}, 0x2000, 0);
    for (int s = 1; s <= 11; s++) {
        for (int i = 0; i < 10; i++) {
            // Of ten calls two are slow; all of the other function.
            int64_t ns = i < 2 ? 30000000 : 1000000;
            profile_add_call(&p, &(CallRow){.frame = handle, .end_ns = ns});
            profile_add_call(&p, &(CallRow){.frame = other, .end_ns = SECOND});
        }
        when_window_look(&w, &when, &p, &plan, 0, s * SECOND);
    }
    assert_true(when_holds(&when, &w));
    when.part = 0.7;
    assert_false(when_holds(&when, &w));
    profile_deinit(&p);
    when_window_deinit(&w);
    vec_free(&plan.functions);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_forms_of_conditions),
        cmocka_unit_test(processor_time_of_ten_seconds),
        cmocka_unit_test(samples_of_an_event_that_is_no_time),
        cmocka_unit_test(waits_of_one_class),
        cmocka_unit_test(percentiles_of_calls),
    };
    return RUN_TESTS(tests);
}
