// SPDX-License-Identifier: Apache-2.0
// Modes are found where they are, and not in skewed or long-tailed times.

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "random_normal.h"
#include "stats/compare.h"
#include "stats/modes.h"

static double uniform(Random *r)
{
    return ((double)random_below(r, 1u << 30) + 0.5) / (1u << 30);
}

// The share of 300 samples of `n` in which `share` of the runs take `apart` as long and two modes
// are found at the right places.
static double found(double apart, double share, double deviation, size_t n)
{
    Random r = random_seeded(8);
    int right = 0;
    for (int t = 0; t < 300; t++) {
        Arena s = {0};
        Mode modes[STATS_MODES_MAX];
        double *x = arena_array(&s, double, n);
        for (size_t i = 0; i < n; i++)
            x[i] = exp(deviation * random_normal(&r)) * (uniform(&r) < share ? apart : 1);
        right += stats_modes(&s, x, n, modes) == 2 && fabs(modes[0].centre - 1) < 0.05 &&
                 fabs(modes[1].centre / apart - 1) < 0.05 && fabs(modes[1].share - share) < 0.2;
        arena_deinit(&s);
    }
    return right / 300.0;
}

static void two_modes_are_found_with_their_shares(void **state)
{
    (void)state;
    const double aparts[] = {1.2, 2, 6};
    for (size_t i = 0; i < 3; i++) {
        assert_true(found(aparts[i], 0.5, 0.01, 30) > 0.95);
        assert_true(found(aparts[i], 0.2, 0.01, 60) > 0.95);
        assert_true(found(aparts[i], 0.05, 0.01, 300) > 0.9);
    }
}

static void three_modes_are_found(void **state)
{
    (void)state;
    Arena s = {0};
    Mode modes[STATS_MODES_MAX];
    double x[60];
    for (size_t i = 0; i < 60; i++)
        x[i] = (i % 3 == 0 ? 1 : i % 3 == 1 ? 2 : 5) * (1 + 0.0001 * (double)i);
    assert_int_equal(stats_modes(&s, x, 60, modes), 3);
    assert_true(modes[0].centre < 1.01 && modes[1].centre > 1.9 && modes[2].centre > 4.9);
    arena_deinit(&s);
}

static void one_hump_is_one_mode(void **state)
{
    (void)state;
    Random r = random_seeded(4);
    for (int family = 0; family < 5; family++)
        for (size_t n = 10; n <= 160; n *= 2) {
            int several = 0;
            for (int t = 0; t < 300; t++) {
                Arena s = {0};
                Mode modes[STATS_MODES_MAX];
                double *x = arena_array(&s, double, n);
                for (size_t i = 0; i < n; i++) {
                    double z = random_normal(&r), u = uniform(&r);
                    x[i] = family == 0   ? 1 + 0.05 * z
                           : family == 1 ? exp(0.5 * z)
                           : family == 2 ? pow(u, -1 / 2.1)
                           : family == 3 ? 1 + u
                                         : 1 - log(u);
                }
                several += stats_modes(&s, x, n, modes) > 1;
                arena_deinit(&s);
            }
            if (several > 300 * 0.05 + 15)
                fail_msg("family %d, %zu values: %d of 300", family, n, several);
        }
}

static void degenerate_samples_have_one_mode_or_the_two_they_have(void **state)
{
    (void)state;
    Arena s = {0};
    Mode modes[STATS_MODES_MAX];
    double x[20];
    for (size_t i = 0; i < 20; i++)
        x[i] = 3;
    assert_int_equal(stats_modes(&s, x, 20, modes), 1);
    assert_int_equal(stats_modes(&s, x, 0, modes), 1);
    for (size_t i = 0; i < 20; i++)
        x[i] = i % 2 ? 0 : 1;
    assert_int_equal(stats_modes(&s, x, 20, modes), 2);
    arena_deinit(&s);
}

static void shares_of_modes_move_the_mean_and_not_the_typical_run(void **state)
{
    (void)state;
    enum { N = 300 };
    Arena s = {0};
    Random r = random_seeded(2);
    CompareOptions options = {.level = 0.95, .margin = 0.01};
    double a[N], b[N], same[N];
    for (size_t i = 0; i < N; i++) {
        a[i] = exp(0.01 * random_normal(&r)) * (uniform(&r) < 0.05 ? 2 : 1);
        same[i] = exp(0.01 * random_normal(&r)) * (uniform(&r) < 0.05 ? 2 : 1);
        b[i] = exp(0.01 * random_normal(&r)) * (uniform(&r) < 0.20 ? 2 : 1);
    }
    Comparison c = stats_compare_paired(&s, a, b, N, &options);
    assert_true(c.mean_disagrees && c.mean_ratio.low > 1.03 && c.ratio.high < 1.03);
    c = stats_compare_paired(&s, a, same, N, &options);
    assert_false(c.mean_disagrees);
    c = stats_compare_unpaired(&s, a, N, b, N, &options);
    assert_true(c.mean_disagrees);
    arena_deinit(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_modes_are_found_with_their_shares),
        cmocka_unit_test(three_modes_are_found),
        cmocka_unit_test(one_hump_is_one_mode),
        cmocka_unit_test(degenerate_samples_have_one_mode_or_the_two_they_have),
        cmocka_unit_test(shares_of_modes_move_the_mean_and_not_the_typical_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
