// SPDX-License-Identifier: Apache-2.0
// Saved times of other tools.

#include "harness.h"

#include "collect/bench/timings.h"

#include <math.h>

static Arena arena;
static Error err;
static TimingsFormat format;
static TimingsVec found;

static int clean_up(void **state)
{
    (void)state;
    arena_deinit(&arena);
    err = (Error){0};
    found = (TimingsVec){0};
    return 0;
}

static bool parse(const char *text)
{
    return timings_parse(&arena, str_from_c(text), &format, &found, &err);
}

static void hyperfines_results_are_read(void **state)
{
    (void)state;
    assert_ok(parse("{\"results\":[{\"command\":\"a\",\"mean\":1,\"times\":[1.5,2]},"
                    "{\"command\":\"b\",\"times\":[3]}]}"),
              &err);
    assert_int_equal(format, TIMINGS_HYPERFINE);
    assert_int_equal(found.len, 2);
    assert_str(found.at[0].name, "a");
    assert_true(found.at[0].seconds.len == 2 && found.at[0].seconds.at[1] == 2);
}

static void google_benchmarks_repetitions_are_gathered_and_aggregates_left_out(void **state)
{
    (void)state;
    assert_ok(
        parse(
            "{\"context\":{},\"benchmarks\":["
            "{\"name\":\"f\",\"run_name\":\"f\",\"run_type\":\"iteration\",\"real_time\":2,"
            "\"time_unit\":\"us\"},"
            "{\"name\":\"g\",\"run_name\":\"g\",\"run_type\":\"iteration\",\"real_time\":7,"
            "\"time_unit\":\"ns\"},"
            "{\"name\":\"f\",\"run_name\":\"f\",\"run_type\":\"iteration\",\"real_time\":3,"
            "\"time_unit\":\"us\"},"
            "{\"name\":\"f_mean\",\"run_name\":\"f\",\"run_type\":\"aggregate\",\"real_time\":2.5,"
            "\"time_unit\":\"us\"}]}"),
        &err);
    assert_int_equal(format, TIMINGS_GBENCH);
    assert_int_equal(found.len, 2);
    assert_true(found.at[0].seconds.len == 2 && fabs(found.at[0].seconds.at[1] - 3e-6) < 1e-18);
}

static void pyperfs_values_are_read_without_calibration(void **state)
{
    (void)state;
    assert_ok(parse("{\"benchmarks\":[{\"runs\":[{\"warmups\":[[1,0.1]]},"
                    "{\"values\":[0.5,0.6],\"warmups\":[[1,0.9]]},{\"values\":[0.7]}]}],"
                    "\"metadata\":{\"name\":\"bench\"},\"version\":\"1.0\"}"),
              &err);
    assert_int_equal(format, TIMINGS_PYPERF);
    assert_str(found.at[0].name, "bench");
    assert_int_equal(found.at[0].seconds.len, 3);
}

static void criterions_samples_are_read_in_all_layouts(void **state)
{
    (void)state;
    assert_ok(parse("{\"sampling_mode\":\"Linear\",\"iters\":[10,20],\"times\":[100,220]}"), &err);
    assert_int_equal(format, TIMINGS_CRITERION);
    assert_true(fabs(found.at[0].seconds.at[1] - 11e-9) < 1e-20);
    assert_true(found.at[0].iterations.at[1] == 20);
    assert_ok(parse("[\"Linear\",[10,20],[100,220]]"), &err);
    assert_true(fabs(found.at[0].seconds.at[0] - 10e-9) < 1e-20);
    assert_ok(parse("[[10,20],[100,220]]"), &err);
    assert_true(fabs(found.at[0].seconds.at[1] - 11e-9) < 1e-20);
}

static void what_is_none_of_them_is_refused(void **state)
{
    (void)state;
    const char *const bad[] = {"",
                               "{}",
                               "[]",
                               "[1,2,3]",
                               "[[1,2],3]",
                               "[[1,2],[3]]",
                               "{\"results\":[]}",
                               "{\"results\":[{\"command\":\"a\"}]}",
                               "{\"results\":[{\"command\":\"a\",\"times\":[-1]}]}",
                               "{\"results\":[{\"command\":\"a\",\"times\":[\"x\"]}]}",
                               "{\"iters\":[1],\"times\":[1,2]}",
                               "{\"iters\":[0],\"times\":[1]}",
                               "{\"iters\":1,\"times\":[1]}",
                               ("{\"context\":{},\"benchmarks\":[{\"name\":\"f\",\"real_time\":1,"
                                "\"time_unit\":\"days\"}]}")};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        if (parse(bad[i]))
            fail_msg("'%s' was taken", bad[i]);
        assert_int_equal(err.kind, ERROR_FORMAT);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(hyperfines_results_are_read, clean_up),
        cmocka_unit_test_teardown(
            google_benchmarks_repetitions_are_gathered_and_aggregates_left_out, clean_up),
        cmocka_unit_test_teardown(pyperfs_values_are_read_without_calibration, clean_up),
        cmocka_unit_test_teardown(criterions_samples_are_read_in_all_layouts, clean_up),
        cmocka_unit_test_teardown(what_is_none_of_them_is_refused, clean_up),
    };
    return RUN_TESTS(tests);
}
