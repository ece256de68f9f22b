// SPDX-License-Identifier: Apache-2.0
// Coverage and false positives on seeded data: the short form of
// bench/stats_simulation.c. Bounds are the target ± 4 Monte-Carlo errors.

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "stats_simulate.h"

// Share of `trials` with the true ratio inside the interval.
static double coverage(SimulatedKind kind, size_t pairs, int trials)
{
    return simulate_coverage(kind, pairs, 1.02, (size_t)trials, 0.95, 1234 + (uint64_t)kind);
}

static void intervals_cover_at_their_level(void **state)
{
    (void)state;
    for (SimulatedKind k = 0; k < SIMULATED_COUNT; k++) {
        double c = coverage(k, 30, 1000);
        if (!(c > 0.930 && c < 0.980))
            fail_msg("%s: coverage %.4f", simulated_name(k), c);
    }
}

static void sequential_order_is_what_breaks_under_drift(void **state)
{
    (void)state;
    // The reason for interleaving: the same data taken A…A B…B calls identical
    // programs different far too often. If pairing or order were lost, the
    // interleaved figure would be like the sequential one.
    double interleaved = simulate_false_positives(SIMULATED_DRIFT, 30, true, 300, 0.95, 99);
    double sequential = simulate_false_positives(SIMULATED_DRIFT, 30, false, 300, 0.95, 99);
    assert_true(interleaved <= 0.09);
    assert_true(sequential >= 0.25);
}

static void looking_after_every_pair_stays_below_the_level(void **state)
{
    (void)state;
    for (int known_end = 0; known_end < 2; known_end++) {
        double peeking =
            simulate_stopping(SIMULATED_LOG_NORMAL, 120, 1, 100, known_end, 0.95, 77).stopped;
        assert_true(peeking <= 0.09);
    }
}

static void modes_do_not_hide_a_difference_from_the_sequence(void **state)
{
    (void)state;
    // Every third run takes 20 % longer: a mean needs three times as many pairs.
    Stopping s = simulate_stopping(SIMULATED_BIMODAL, 300, 1.02, 40, false, 0.95, 5);
    assert_true(s.stopped >= 0.8);
    assert_true(s.median_pairs <= 180);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(intervals_cover_at_their_level),
        cmocka_unit_test(sequential_order_is_what_breaks_under_drift),
        cmocka_unit_test(looking_after_every_pair_stays_below_the_level),
        cmocka_unit_test(modes_do_not_hide_a_difference_from_the_sequence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
