// SPDX-License-Identifier: Apache-2.0
// The statistics against scipy, numpy and statsmodels (stats_reference.h), and
// against what must hold by construction.

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "stats/compare.h"
#include "stats/distributions.h"
#include "stats/hypothesis.h"
#include "stats/intervals.h"
#include "stats/series.h"
#include "stats/summary.h"

#include "random_normal.h"
#include "stats_reference.h"

enum { A_LEN = ARRAY_LEN(SAMPLE_A), LONG_LEN = ARRAY_LEN(LONG_D) };

static void assert_close(double got, double want, double relative)
{
    if (!(fabs(got - want) <= relative * fabs(want)))
        fail_msg("got %.17g, want %.17g within %g", got, want, relative);
}

static void assert_interval(Interval got, const double *want, double relative)
{
    assert_close(got.low, want[0], relative);
    assert_close(got.point, want[1], relative);
    assert_close(got.high, want[2], relative);
}

static void log_ratios(double *d)
{
    for (size_t i = 0; i < A_LEN; i++)
        d[i] = log(SAMPLE_B[i] / SAMPLE_A[i]);
}

static void distributions_equal_scipy(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(NORMAL_P); i++)
        if (NORMAL_QUANTILE[i] != 0)
            assert_close(normal_quantile(NORMAL_P[i]), NORMAL_QUANTILE[i], 1e-12);
    for (size_t i = 0; i < ARRAY_LEN(STUDENT_T); i++) {
        assert_close(student_two_sided(STUDENT_T[i], STUDENT_DF[i]), STUDENT_P[i], 1e-11);
        assert_close(student_quantile(0.975, STUDENT_DF[i]), STUDENT_Q975[i], 1e-11);
        assert_close(student_quantile(0.025, STUDENT_DF[i]), -STUDENT_Q975[i], 1e-11);
    }
    for (size_t i = 0; i < ARRAY_LEN(BINOMIAL_K); i++)
        assert_close(binomial_cdf((int64_t)BINOMIAL_K[i], (uint64_t)BINOMIAL_N[i], BINOMIAL_P[i]),
                     BINOMIAL_CDF[i], 1e-9);
    assert_true(binomial_cdf(-1, 5, 0.5) == 0 && binomial_cdf(5, 5, 0.5) == 1);
}

static void check_summary(const double *x, size_t n, const double *want, const double *fences)
{
    Arena a = {0};
    double *sorted = stats_sorted(&a, x, n);
    assert_close(stats_mean(x, n), want[0], 1e-13);
    assert_close(stats_deviation(x, n), want[1], 1e-12);
    assert_close(stats_median(&a, x, n), want[2], 1e-14);
    assert_close(stats_mad(&a, x, n), want[3], 1e-13);
    assert_close(stats_percentile_sorted(sorted, n, 0.9), want[4], 1e-13);
    assert_close(stats_trimmed_mean_sorted(sorted, n, 0.2), want[5], 1e-12);
    TukeyFences f = stats_fences_sorted(sorted, n);
    assert_close(f.low_severe, fences[0], 1e-12);
    assert_close(f.low_mild, fences[1], 1e-12);
    assert_close(f.high_mild, fences[2], 1e-12);
    assert_close(f.high_severe, fences[3], 1e-12);
    arena_deinit(&a);
}

static void summaries_equal_numpy(void **state)
{
    (void)state;
    const double a[] = {MEAN_A, DEVIATION_A, MEDIAN_A, MAD_A, P90_A, TRIMMED_A};
    const double l[] = {MEAN_LONG, DEVIATION_LONG, MEDIAN_LONG, MAD_LONG, P90_LONG, TRIMMED_LONG};
    check_summary(SAMPLE_A, A_LEN, a, FENCES_A);
    check_summary(LONG_D, LONG_LEN, l, FENCES_LONG);
}

static void estimates_equal_criterions_formulae(void **state)
{
    (void)state;
    enum { N = ARRAY_LEN(CRITERION_ITERS) };
    Arena a = {0};
    double each[N];
    for (size_t i = 0; i < N; i++)
        each[i] = CRITERION_TIMES[i] / CRITERION_ITERS[i];
    assert_close(stats_mean(each, N), CRITERION_MEAN, 1e-12);
    assert_close(stats_median(&a, each, N), CRITERION_MEDIAN, 1e-12);
    assert_close(stats_mad(&a, each, N), CRITERION_MAD, 1e-12);
    assert_close(stats_deviation(each, N), CRITERION_DEVIATION, 1e-12);
    TukeyFences f = stats_fences_sorted(stats_sorted(&a, each, N), N);
    assert_close(f.low_severe, CRITERION_FENCES[0], 1e-12);
    assert_close(f.low_mild, CRITERION_FENCES[1], 1e-12);
    assert_close(f.high_mild, CRITERION_FENCES[2], 1e-12);
    assert_close(f.high_severe, CRITERION_FENCES[3], 1e-12);
    arena_deinit(&a);
}

static void outliers_are_classed_with_fences_inside(void **state)
{
    (void)state;
    TukeyFences f = {-3, -1, 1, 3};
    assert_int_equal(stats_outlier(&f, 1), OUTLIER_NONE);
    assert_int_equal(stats_outlier(&f, 1.5), OUTLIER_HIGH_MILD);
    assert_int_equal(stats_outlier(&f, 3), OUTLIER_HIGH_MILD);
    assert_int_equal(stats_outlier(&f, 3.5), OUTLIER_HIGH_SEVERE);
    assert_int_equal(stats_outlier(&f, -1.5), OUTLIER_LOW_MILD);
    assert_int_equal(stats_outlier(&f, -9), OUTLIER_LOW_SEVERE);
}

static void paired_tests_equal_scipy(void **state)
{
    (void)state;
    Arena a = {0};
    double d[A_LEN];
    log_ratios(d);
    assert_close(stats_sign_test(d, A_LEN), SIGN_P, 1e-12);
    RankTest w = stats_wilcoxon(&a, d, A_LEN);
    assert_true(w.exact);
    assert_close(w.statistic, WILCOXON_W, 0);
    assert_close(w.p, WILCOXON_P, 1e-12);
    w = stats_wilcoxon(&a, LONG_D, LONG_LEN);
    assert_false(w.exact);
    assert_close(w.statistic, WILCOXON_LONG_W, 0);
    assert_close(w.p, WILCOXON_LONG_P, 1e-12);
    assert_close(stats_wilcoxon(&a, TIED_D, ARRAY_LEN(TIED_D)).p, WILCOXON_TIED_EXACT_P, 1e-12);
    arena_deinit(&a);
}

static void unpaired_tests_equal_scipy(void **state)
{
    (void)state;
    Arena a = {0};
    enum { NY = ARRAY_LEN(UNPAIRED_Y) };
    RankTest u = stats_mann_whitney(&a, SAMPLE_A, 12, UNPAIRED_Y, NY);
    assert_true(u.exact);
    assert_close(u.statistic, MANN_WHITNEY_U, 0);
    assert_close(u.p, MANN_WHITNEY_EXACT_P, 1e-12);
    double x[LONG_LEN];
    for (size_t i = 0; i < LONG_LEN; i++)
        x[i] = nearbyint((LONG_D[i] + (i < 80 ? 0 : 0.4)) * 10) / 10;
    u = stats_mann_whitney(&a, x, 80, x + 80, LONG_LEN - 80);
    assert_false(u.exact);
    assert_close(u.statistic, MANN_WHITNEY_TIED_U, 0);
    assert_close(u.p, MANN_WHITNEY_TIED_P, 1e-12);
    arena_deinit(&a);
}

static void intervals_of_location_equal_their_definitions(void **state)
{
    (void)state;
    Arena a = {0};
    double d[A_LEN];
    log_ratios(d);
    assert_interval(stats_hodges_lehmann(&a, d, A_LEN, 0.95), HL_D, 1e-15);
    assert_interval(stats_hodges_lehmann(&a, d, 8, 0.95), HL_D8, 1e-15);
    assert_close(stats_hodges_lehmann(&a, LONG_D, LONG_LEN, 0.95).point, HL_LONG, 1e-15);
    assert_close(
        stats_hodges_lehmann_shift(&a, SAMPLE_A, 12, UNPAIRED_Y, ARRAY_LEN(UNPAIRED_Y), 0.95).point,
        HL_SHIFT, 1e-15);
    double *sorted = stats_sorted(&a, LONG_D, LONG_LEN);
    assert_interval(stats_median_interval_sorted(sorted, LONG_LEN, 0.95), MEDIAN_INTERVAL_LONG,
                    1e-15);
    assert_interval(stats_mean_interval(d, A_LEN, 0.95), MEAN_INTERVAL_D, 1e-11);
    arena_deinit(&a);
}

static void too_few_values_give_infinite_ends(void **state)
{
    (void)state;
    Arena a = {0};
    const double x[] = {1, 2, 3, 4, 5, 6};
    assert_true(isinf(stats_median_interval_sorted(x, 5, 0.95).low));
    assert_false(isinf(stats_median_interval_sorted(x, 6, 0.95).low));
    assert_true(isinf(stats_hodges_lehmann(&a, x, 5, 0.95).high));
    assert_false(isinf(stats_hodges_lehmann(&a, x, 6, 0.95).high));
    assert_true(isnan(stats_hodges_lehmann(&a, x, 0, 0.95).point));
    assert_true(isinf(stats_mean_interval(x, 1, 0.95).low));
    arena_deinit(&a);
}

static double mean_of(const void *ctx, const uint32_t *rows, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += ((const double *)ctx)[rows[i]];
    return sum / (double)n;
}

static void bootstrap_equals_scipy_within_monte_carlo_error(void **state)
{
    (void)state;
    Arena a = {0};
    Random random = random_seeded(7);
    Bootstrap b = stats_bootstrap(&a, mean_of, SAMPLE_A, A_LEN, 100000, 0.95, &random);
    // An endpoint's own error is about 0.8 % of the standard error; 5 of them.
    double slack = 0.04 * BOOT_MEAN_SE;
    assert_true(fabs(b.percentile.low - BOOT_MEAN_LOW) < slack);
    assert_true(fabs(b.percentile.high - BOOT_MEAN_HIGH) < slack);
    assert_true(fabs(b.bca.low - BOOT_MEAN_BCA_LOW) < slack);
    assert_true(fabs(b.bca.high - BOOT_MEAN_BCA_HIGH) < slack);
    assert_close(b.standard_error, BOOT_MEAN_SE, 0.01);
    arena_deinit(&a);
}

static void same_seed_gives_same_numbers(void **state)
{
    (void)state;
    Random a = random_seeded(42), b = random_seeded(42), c = random_seeded(43);
    assert_true(random_u64(&a) == random_u64(&b));
    assert_true(random_u64(&a) != random_u64(&c));
    for (int i = 0; i < 1000; i++)
        assert_true(random_below(&a, 7) < 7);
    // First output for the state {1, 2, 3, 4}, from the authors' test vector.
    Random fixed = {{1, 2, 3, 4}};
    assert_true(random_u64(&fixed) == 11520);
    assert_true(random_u64(&fixed) == 0);
    assert_true(random_u64(&fixed) == 1509978240);
}

static void holms_correction_equals_statsmodels(void **state)
{
    (void)state;
    Arena a = {0};
    double holm[ARRAY_LEN(PS)];
    memcpy(holm, PS, sizeof(PS));
    stats_adjust_holm(&a, holm, ARRAY_LEN(PS));
    for (size_t i = 0; i < ARRAY_LEN(PS); i++)
        assert_close(holm[i], PS_HOLM[i], 1e-14);
    arena_deinit(&a);
}

static void autocorrelation_and_effective_size(void **state)
{
    (void)state;
    const size_t lags[] = {1, 2, 7};
    for (size_t i = 0; i < ARRAY_LEN(lags); i++)
        assert_close(stats_autocorrelation(LONG_D, LONG_LEN, lags[i]), ACF_LONG[i], 1e-11);
    // AR(1) with φ = 0.5: n (1 - φ) / (1 + φ) = n / 3.
    Random random = random_seeded(5);
    double x[6000];
    x[0] = 0;
    for (size_t i = 1; i < ARRAY_LEN(x); i++)
        x[i] = 0.5 * x[i - 1] + random_normal(&random);
    double size = stats_effective_size(x, ARRAY_LEN(x));
    assert_true(size > 1500 && size < 2600);
    assert_true(stats_autocorrelation(x, 1, 1) == 0);
}

static void change_points_are_found_where_they_are(void **state)
{
    (void)state;
    Arena a = {0};
    Random random = random_seeded(9);
    double x[300];
    for (size_t i = 0; i < ARRAY_LEN(x); i++)
        x[i] = 10 + (i >= 100 ? 2 : 0) + 0.2 * random_normal(&random);
    U32Vec c = stats_change_points(&a, x, ARRAY_LEN(x));
    assert_int_equal(c.len, 1);
    assert_int_equal(c.at[0], 100);
    assert_int_equal(stats_change_points(&a, x, 90).len, 0);
    for (size_t i = 0; i < ARRAY_LEN(x); i++)
        x[i] = 3;
    assert_int_equal(stats_change_points(&a, x, ARRAY_LEN(x)).len, 0);
    assert_int_equal(stats_change_points(&a, x, 2).len, 0);
    arena_deinit(&a);
}

static void planted_warm_ups_are_found_and_flat_series_left_alone(void **state)
{
    (void)state;
    Arena a = {0};
    Random random = random_seeded(3);
    int found = 0, false_trims = 0;
    for (int t = 0; t < 200; t++) {
        double x[60];
        for (size_t i = 0; i < ARRAY_LEN(x); i++)
            x[i] = 100 * exp(0.02 * random_normal(&random));
        false_trims += stats_steady_state(&a, x, ARRAY_LEN(x), 0.001).prefix != 0;
        for (size_t i = 0; i < 5; i++)
            x[i] *= 1.3;
        Steady s = stats_steady_state(&a, x, ARRAY_LEN(x), 0.001);
        found += s.kind == STEADY_WARM_UP && s.prefix == 5;
        arena_deinit(&a);
    }
    assert_true(found >= 190);
    assert_true(false_trims <= 10);
}

static const CompareOptions USUAL = {.level = 0.95, .margin = 0.01};

static void verdicts_have_three_outcomes(void **state)
{
    (void)state;
    Arena s = {0};
    Random random = random_seeded(21);
    double a[400], same[400], slow[400];
    for (size_t i = 0; i < ARRAY_LEN(a); i++) {
        a[i] = exp(0.03 * random_normal(&random));
        same[i] = exp(0.03 * random_normal(&random));
        slow[i] = 1.05 * exp(0.03 * random_normal(&random));
    }
    Comparison c = stats_compare_paired(&s, a, slow, 400, &USUAL);
    assert_int_equal(c.verdict, VERDICT_SLOWER);
    assert_true(c.differs && c.ratio.low < 1.05 && 1.05 < c.ratio.high && c.more_pairs == 0);
    c = stats_compare_paired(&s, slow, a, 400, &USUAL);
    assert_int_equal(c.verdict, VERDICT_FASTER);
    c = stats_compare_paired(&s, a, same, 400, &USUAL);
    assert_int_equal(c.verdict, VERDICT_EQUIVALENT);
    c = stats_compare_paired(&s, a, same, 12, &USUAL);
    assert_int_equal(c.verdict, VERDICT_INCONCLUSIVE);
    assert_true(c.more_pairs >= 10 && c.least_seen > 0.02);
    c = stats_compare_paired(&s, a, slow, 3, &USUAL);
    assert_int_equal(c.method, COMPARE_PAIRED_FEW);
    assert_int_equal(c.verdict, VERDICT_INCONCLUSIVE);
    assert_true(isinf(c.ratio.low) || c.ratio.low == 0);
    c = stats_compare_unpaired(&s, a, 400, slow, 300, &USUAL);
    assert_int_equal(c.verdict, VERDICT_SLOWER);
    assert_int_equal(c.method, COMPARE_UNPAIRED);
    arena_deinit(&s);
}

static void confidence_sequence_has_the_published_width(void **state)
{
    (void)state;
    // √(2 (nρ²+1) / (nρ²) ln(√(nρ²+1) / α)), ρ² = (−2 ln α + ln(−2 ln α) + 1) / n0
    double rho2 = (-2 * log(0.05) + log(-2 * log(0.05)) + 1) / 150, n = 150;
    double want = sqrt(2 * (n * rho2 + 1) / (n * rho2) * log(sqrt(n * rho2 + 1) / 0.05));
    assert_close(stats_sequence_z(150, 0.95, 150, 0), want, 1e-13);
    // Without an end 3.04 standard errors at best; where it is known 2.50 there, the
    // 0.99375 quantile: half of the error, and a walk's highest point is beyond what its
    // end is beyond twice as often.
    assert_close(stats_sequence_z(100, 0.95, 100, 0), 3.0354, 1e-4);
    assert_close(stats_sequence_z(400, 0.95, 100, 400), 2.4977, 1e-4);
    assert_true(stats_sequence_z(10, 0.95, 100, 400) < 6);
    assert_close(stats_sequence_z(401, 0.95, 100, 400), stats_sequence_z(401, 0.95, 100, 0), 0);
}

static void the_sequence_leaves_no_pair_out(void **state)
{
    (void)state;
    Arena s = {0};
    // Six of seven pairs agree; the seventh contradicts them by far.
    const double x[] = {1.88, 1.90, 1.89, 1.91, 1.90, 1.88, -1.9, 1.89, 1.9};
    Interval i = stats_sequence_location(&s, x, 7, 0.95, 100, 0);
    assert_true(isinf(i.low) && isinf(i.high));
    i = stats_sequence_location(&s, x, 9, 0.95, 100, 0);
    assert_true(i.low == -1.9 && i.high == 1.91);
    // Two modes, each with half of the runs: the median may be either.
    double modes[12];
    for (size_t k = 0; k < ARRAY_LEN(modes); k++)
        modes[k] = k % 3 == 1 ? 2 : 1;
    i = stats_sequence_median(&s, modes, ARRAY_LEN(modes), 0.95, 100);
    assert_true(i.low == 1 && i.high == 2);
    i = stats_sequence_median(&s, modes, 7, 0.95, 100);
    assert_true(isinf(i.low));
    arena_deinit(&s);
}

static void few_values_of_two_samples_have_the_exact_interval(void **state)
{
    (void)state;
    Arena s = {0};
    // R: qwilcox(0.025, m, n), 0 where none is below.
    static const uint64_t want[][3] = {{3, 3, 0}, {3, 4, 0},  {4, 4, 1},    {5, 5, 3},
                                       {6, 6, 6}, {8, 8, 14}, {10, 10, 24}, {5, 12, 12}};
    for (size_t i = 0; i < ARRAY_LEN(want); i++)
        assert_int_equal(stats_mann_whitney_quantile(&s, want[i][0], want[i][1], 0.025),
                         want[i][2]);
    arena_deinit(&s);
}

static void line_fit_equals_scipy(void **state)
{
    (void)state;
    const double x[] = {1, 2, 4, 8, 16, 32}, y[] = {1.1, 4.2, 15.5, 66, 250, 1040};
    double lx[6], ly[6];
    for (size_t i = 0; i < 6; i++) {
        lx[i] = log(x[i]);
        ly[i] = log(y[i]);
    }
    LineFit f;
    assert_true(stats_line_fit(lx, ly, 6, 0.95, &f));
    assert_close(f.intercept, LINE_FIT[0], 1e-11);
    assert_close(f.slope, LINE_FIT[1], 1e-12);
    assert_close(f.slope_low, LINE_FIT[2], 1e-11);
    assert_close(f.slope_high, LINE_FIT[3], 1e-11);
    assert_false(stats_line_fit(lx, ly, 2, 0.95, &f));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distributions_equal_scipy),
        cmocka_unit_test(summaries_equal_numpy),
        cmocka_unit_test(estimates_equal_criterions_formulae),
        cmocka_unit_test(outliers_are_classed_with_fences_inside),
        cmocka_unit_test(paired_tests_equal_scipy),
        cmocka_unit_test(unpaired_tests_equal_scipy),
        cmocka_unit_test(intervals_of_location_equal_their_definitions),
        cmocka_unit_test(too_few_values_give_infinite_ends),
        cmocka_unit_test(bootstrap_equals_scipy_within_monte_carlo_error),
        cmocka_unit_test(same_seed_gives_same_numbers),
        cmocka_unit_test(holms_correction_equals_statsmodels),
        cmocka_unit_test(autocorrelation_and_effective_size),
        cmocka_unit_test(change_points_are_found_where_they_are),
        cmocka_unit_test(planted_warm_ups_are_found_and_flat_series_left_alone),
        cmocka_unit_test(verdicts_have_three_outcomes),
        cmocka_unit_test(confidence_sequence_has_the_published_width),
        cmocka_unit_test(the_sequence_leaves_no_pair_out),
        cmocka_unit_test(few_values_of_two_samples_have_the_exact_interval),
        cmocka_unit_test(line_fit_equals_scipy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
