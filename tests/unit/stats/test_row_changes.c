// SPDX-License-Identifier: Apache-2.0
// Changes of many rows on seeded data: unchanged programs are seldom called changed, a changed row
// is found, and a change of the machine's speed is not taken for one of the rows.

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "stats/row_changes.h"

enum { ROWS = 30, RECORDINGS_MAX = 10 };

typedef struct Trial {
    size_t recordings;
    double samples;   // of the largest row, in a recording
    double row_noise; // relative
    double machine;   // relative deviation of a recording's speed
    size_t changed;   // the first rows that change …
    double change;    // … by this factor
} Trial;

static double normal(Random *r)
{
    double sum = 0; // the sum of 12 uniform numbers
    for (int i = 0; i < 12; i++)
        sum += (double)random_u64(r) / 0x1p64;
    return sum - 6;
}

static double values[CHANGE_SIDES][ROWS][RECORDINGS_MAX];

static RowChanges simulate(Arena *a, const Trial *t, Random *random)
{
    static ChangeInput input[ROWS];
    for (int side = 0; side < CHANGE_SIDES; side++)
        for (size_t i = 0; i < t->recordings; i++) {
            double speed = exp(t->machine * normal(random));
            for (size_t row = 0; row < ROWS; row++) {
                double expected = t->samples / (double)((row + 1) * (row + 1)) * speed *
                                  exp(t->row_noise * normal(random));
                if (side == CHANGE_NEW && row < t->changed)
                    expected *= t->change;
                values[side][row][i] = fmax(0, round(expected + sqrt(expected) * normal(random)));
            }
        }
    for (size_t row = 0; row < ROWS; row++)
        for (int side = 0; side < CHANGE_SIDES; side++)
            input[row].value[side] = input[row].samples[side] = values[side][row];
    ChangeOptions o = {0.95, 0.01, {t->recordings, t->recordings}};
    return stats_row_changes(a, input, ROWS, &o);
}

// How often at least one of the rows from `first` on is called changed.
static double alarms(const Trial *t, size_t first, size_t trials)
{
    Random random = random_seeded(42);
    size_t wrong = 0;
    for (size_t i = 0; i < trials; i++) {
        Arena a = {0};
        RowChanges c = simulate(&a, t, &random);
        bool alarm = false;
        for (size_t row = first; row < ROWS; row++)
            alarm |= c.rows[row].verdict == VERDICT_FASTER || c.rows[row].verdict == VERDICT_SLOWER;
        wrong += alarm;
        arena_deinit(&a);
    }
    return (double)wrong / (double)trials;
}

// How often the first row is called slower.
static double found(const Trial *t, size_t trials)
{
    Random random = random_seeded(43);
    size_t right = 0;
    for (size_t i = 0; i < trials; i++) {
        Arena a = {0};
        right += simulate(&a, t, &random).rows[0].verdict == VERDICT_SLOWER;
        arena_deinit(&a);
    }
    return (double)right / (double)trials;
}

// The bound of a share of 5 %, and four Monte-Carlo errors of 400 trials.
#define AT_MOST_5_PERCENT (0.05 + 4 * 0.0109)

static void unchanged_programs_are_not_called_changed(void **state)
{
    static const Trial trials[] = {
        {1, 10000, 0.00, 0.0, 0, 1}, {1, 10000, 0.02, 0.2, 0, 1}, {1, 100, 0.01, 0.2, 0, 1},
        {2, 10000, 0.02, 0.2, 0, 1}, {3, 10000, 0.02, 0.1, 0, 1}, {5, 2000, 0.00, 0.2, 0, 1},
        {10, 2000, 0.05, 0.3, 0, 1},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(trials); i++) {
        double wrong = alarms(&trials[i], 0, 400);
        if (!(wrong <= AT_MOST_5_PERCENT))
            fail_msg("trial %zu: %.3f with a false alarm", i, wrong);
    }
}

static void changed_rows_are_found(void **state)
{
    // 30 s at 999 Hz for each side, of which the row has 62 %.
    static const Trial trials[] = {
        {10, 1860, 0.01, 0.01, 1, 1.05}, // on a quiet machine
        {10, 7440, 0.01, 0.2, 1, 1.05},  // at -F 4000, on a machine whose speed differs by 20 %
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(trials); i++) {
        double right = found(&trials[i], 400);
        if (!(right >= 0.9))
            fail_msg("trial %zu: a change of 5 %% found in %.3f", i, right);
    }
}

static void what_other_rows_do_is_no_change_of_a_row(void **state)
{
    static const Trial t = {5, 5000, 0.01, 0.2, 3, 0.3};
    (void)state;
    double wrong = alarms(&t, 3, 400);
    if (!(wrong <= 2 * AT_MOST_5_PERCENT)) // of the rows called changed, with three that are
        fail_msg("%.3f with a false alarm", wrong);
}

static void a_change_of_all_rows_is_told_when_recordings_agree(void **state)
{
    static const Trial quiet = {5, 5000, 0.01, 0.01, ROWS, 1.3},
                       moved = {10, 5000, 0.01, 0.1, ROWS, 1.5},
                       single = {1, 5000, 0.01, 0.01, ROWS, 1.3};
    Random random = random_seeded(44);
    Arena a = {0};
    (void)state;
    RowChanges c = simulate(&a, &quiet, &random);
    assert_int_equal(c.rows[0].verdict, VERDICT_SLOWER);
    assert_true(c.rows[0].ratio.low > 1.2 && c.rows[0].ratio.high < 1.4);
    c = simulate(&a, &moved, &random);
    if (!(c.common_rows && c.common_is_real && c.common > 1.3 && c.common < 1.7))
        fail_msg("%zu rows, real %d, %f", c.common_rows, c.common_is_real, c.common);
    assert_int_equal(c.rows[0].verdict, VERDICT_SLOWER);
    // One recording of each side cannot tell a slower machine from a slower program.
    c = simulate(&a, &single, &random);
    assert_true(!c.common_is_real && c.common > 1.25 && c.common < 1.35);
    assert_true(c.rows[0].ratio.point < 1.1);
    arena_deinit(&a);
}

static void more_recordings_are_asked_for_where_rows_are_uncertain(void **state)
{
    static const Trial t = {5, 2000, 0.01, 0.01, 0, 1};
    Random random = random_seeded(45);
    Arena a = {0};
    (void)state;
    RowChanges c = simulate(&a, &t, &random);
    assert_true(c.rows[0].more >= 1 && c.rows[0].more < 10);
    assert_true(c.rows[20].more > 10);
    arena_deinit(&a);
}

static void rows_of_one_side_and_no_rows(void **state)
{
    static const double none[] = {0}, some[] = {400}, few[] = {3}, many[] = {1000};
    ChangeInput input[] = {{{none, some}, {none, some}},
                           {{none, few}, {none, few}},
                           {{none, none}, {none, none}},
                           {{many, many}, {many, many}}};
    ChangeOptions o = {0.95, 0.01, {1, 1}};
    Arena a = {0};
    (void)state;
    RowChanges c = stats_row_changes(&a, input, ARRAY_LEN(input), &o);
    assert_int_equal(c.rows[0].verdict, VERDICT_SLOWER);
    assert_int_equal(c.rows[1].verdict, VERDICT_INCONCLUSIVE);
    assert_int_equal(c.rows[2].verdict, VERDICT_INCONCLUSIVE);
    c = stats_row_changes(&a, input, 0, &o);
    assert_int_equal(c.common_rows, 0);
    arena_deinit(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unchanged_programs_are_not_called_changed),
        cmocka_unit_test(changed_rows_are_found),
        cmocka_unit_test(what_other_rows_do_is_no_change_of_a_row),
        cmocka_unit_test(a_change_of_all_rows_is_told_when_recordings_agree),
        cmocka_unit_test(more_recordings_are_asked_for_where_rows_are_uncertain),
        cmocka_unit_test(rows_of_one_side_and_no_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
