// SPDX-License-Identifier: Apache-2.0
// Saved times of other tools.

#include "harness.h"

#include "collect/bench/timings.h"

#include <math.h>

#include "base/json.h"
#include "os/file.h"
#include "stats/intervals.h"
#include "stats/summary.h"

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

static const JsonValue *read_json(Arena *a, const char *name)
{
    Bytes text;
    JsonValue *value;
    Str path = arena_printf(a, "%s/unit/collect/bench/criterion/%s", TEST_FOLDER, name);
    assert_ok(os_read_file(a, path, 1 << 20, &text, &err), &err);
    assert_ok(json_parse(a, str_from_bytes(text), &value, &err), &err);
    return value;
}

static void assert_estimate(const JsonValue *estimates, const char *name, double ours)
{
    double theirs = json_find(json_find(estimates, name), "point_estimate")->number;
    if (!(fabs(ours / theirs - 1) <= 1e-12))
        fail_msg("%s: %.17g, Criterion has %.17g", name, ours, theirs);
}

static double mean_of(const void *ctx, const uint32_t *rows, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += ((const double *)ctx)[rows[i]];
    return sum / (double)n;
}

static void criterions_own_sample_gives_its_estimates(void **state)
{
    (void)state;
    Arena local = {0};
    const JsonValue *estimates = read_json(&local, "estimates.json");
    const JsonValue *sample = read_json(&local, "sample.json");
    enum { N = 100 };
    double each[N];
    const JsonValue *i = json_find(sample, "iters"), *t = json_find(sample, "times");
    assert_true(i->count == N && t->count == N);
    i = i->child;
    t = t->child;
    for (int k = 0; k < N; k++, i = i->next, t = t->next)
        each[k] = t->number / i->number;
    assert_estimate(estimates, "mean", stats_mean(each, N));
    assert_estimate(estimates, "median", stats_median(&local, each, N));
    assert_estimate(estimates, "median_abs_dev", stats_mad(&local, each, N));
    assert_estimate(estimates, "std_dev", stats_deviation(each, N));
    TukeyFences f = stats_fences_sorted(stats_sorted(&local, each, N), N);
    const double ours[] = {f.low_severe, f.low_mild, f.high_mild, f.high_severe};
    const JsonValue *fence = read_json(&local, "tukey.json")->child;
    for (int k = 0; k < 4; k++, fence = fence->next)
        assert_true(fabs(ours[k] / fence->number - 1) <= 1e-12);
    // Its interval of the mean, within what its 10 000 resamples leave open.
    Random random = random_seeded(1);
    Interval mean = stats_bootstrap(&local, mean_of, each, N, 10000, 0.95, &random).percentile;
    const JsonValue *theirs = json_find(estimates, "mean");
    const JsonValue *interval = json_find(theirs, "confidence_interval");
    double error = json_find(theirs, "standard_error")->number;
    assert_true(fabs(mean.low - json_find(interval, "lower_bound")->number) < error / 10);
    assert_true(fabs(mean.high - json_find(interval, "upper_bound")->number) < error / 10);
    arena_deinit(&local);
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
        cmocka_unit_test(criterions_own_sample_gives_its_estimates),
        cmocka_unit_test_teardown(what_is_none_of_them_is_refused, clean_up),
    };
    return RUN_TESTS(tests);
}
