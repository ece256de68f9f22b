// SPDX-License-Identifier: Apache-2.0
// Coverage and false verdicts on seeded data: a sample of bench/stats_simulation.c. Bounds are
// the target ± 4 Monte-Carlo errors.

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "stats_simulate.h"

static double most(double share, size_t trials)
{
    return share + 4 * sqrt(share * (1 - share) / (double)trials);
}

static void intervals_cover_at_their_level(void **state)
{
    enum { TRIALS = 300 };
    (void)state;
    for (SimulatedKind k = 0; k < SIMULATED_COUNT; k++) {
        double c = simulate_coverage(k, 30, 1.02, TRIALS, 0.95, 1234 + (uint64_t)k);
        if (!(1 - c <= most(0.07, TRIALS) && c <= most(0.97, TRIALS)))
            fail_msg("%s: coverage %.4f", simulated_name(k), c);
    }
}

static void few_pairs_give_no_false_verdict(void **state)
{
    enum { TRIALS = 300 };
    (void)state;
    for (SimulatedKind k = 0; k < SIMULATED_COUNT; k++)
        for (size_t pairs = 2; pairs <= 7; pairs++) {
            double wrong = simulate_false_verdicts(k, pairs, TRIALS, 7 + (uint64_t)k);
            if (!(wrong <= most(0.05, TRIALS)))
                fail_msg("%s, %zu pairs: %.4f wrong", simulated_name(k), pairs, wrong);
        }
}

static void sequential_order_is_what_breaks_under_drift(void **state)
{
    (void)state;
    // The reason for interleaving: the same data taken A…A B…B calls identical
    // programs different far too often. If pairing or order were lost, the
    // interleaved figure would be like the sequential one.
    double interleaved = simulate_false_verdicts(SIMULATED_DRIFT, 30, 300, 99);
    double sequential = simulate_sequential(SIMULATED_DRIFT, 30, true, 300, 99);
    assert_true(interleaved <= 0.09);
    assert_true(sequential >= 0.25);
}

static void two_samples_of_one_family_are_alike(void **state)
{
    enum { TRIALS = 150 };
    (void)state;
    for (SimulatedKind k = 0; k < SIMULATED_DRIFT; k++) {
        double wrong = simulate_sequential(k, 20, false, TRIALS, 5);
        if (!(wrong <= most(0.05, TRIALS)))
            fail_msg("%s: %.4f wrong", simulated_name(k), wrong);
    }
    // Neighbours that depend on each other: 14 % of 30 runs if nobody looked at that, and 8.8 % of
    // 8 runs if their own estimate of it is believed.
    assert_true(simulate_sequential(SIMULATED_AR1, 30, false, TRIALS, 5) <= most(0.05, TRIALS));
    assert_true(simulate_sequential(SIMULATED_AR1, 8, false, 1500, 5) <= most(0.05, 1500));
}

static void looking_after_every_pair_stays_below_the_level(void **state)
{
    enum { TRIALS = 80, PAIRS = 30 };
    (void)state;
    for (SimulatedKind k = 0; k < SIMULATED_COUNT; k++)
        for (int known_end = 0; known_end < 2; known_end++) {
            double wrong = simulate_stopping(k, PAIRS, 1, TRIALS, known_end, 0.95, 77).stopped;
            if (!(wrong <= most(0.03, TRIALS)))
                fail_msg("%s: %.4f wrong", simulated_name(k), wrong);
        }
}

static void modes_do_not_hide_a_difference_from_the_sequence(void **state)
{
    (void)state;
    // Every fifth run takes 20 % longer: a mean needs several times as many pairs.
    Stopping s = simulate_stopping(SIMULATED_MODES_1_2_20, 300, 1.02, 40, false, 0.95, 5);
    assert_true(s.stopped >= 0.9);
    assert_true(s.median_pairs <= 60);
}

static void the_median_of_one_command_is_what_is_known(void **state)
{
    enum { TRIALS = 120 };
    (void)state;
    for (SimulatedKind k = 0; k < SIMULATED_COUNT; k++) {
        if (k == SIMULATED_DRIFT || k == SIMULATED_STEP)
            continue; // there is no one median
        double wrong = simulate_one_command(k, 100, TRIALS, 9);
        if (!(wrong <= most(0.05, TRIALS)))
            fail_msg("%s: %.4f wrong", simulated_name(k), wrong);
    }
}

static void steady_runs_get_no_advice_to_warm_up(void **state)
{
    enum { TRIALS = 150 };
    (void)state;
    for (SimulatedKind k = 0; k < SIMULATED_COUNT; k++) {
        if (k == SIMULATED_DRIFT || k == SIMULATED_STEP)
            continue; // the level does change
        for (size_t runs = 15; runs <= 60; runs *= 2) {
            double wrong = simulate_warm_up_advice(k, runs, TRIALS, 4);
            if (!(wrong <= most(0.05, TRIALS)))
                fail_msg("%s, %zu runs: %.4f wrong", simulated_name(k), runs, wrong);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(intervals_cover_at_their_level),
        cmocka_unit_test(few_pairs_give_no_false_verdict),
        cmocka_unit_test(sequential_order_is_what_breaks_under_drift),
        cmocka_unit_test(two_samples_of_one_family_are_alike),
        cmocka_unit_test(looking_after_every_pair_stays_below_the_level),
        cmocka_unit_test(modes_do_not_hide_a_difference_from_the_sequence),
        cmocka_unit_test(the_median_of_one_command_is_what_is_known),
        cmocka_unit_test(steady_runs_get_no_advice_to_warm_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
