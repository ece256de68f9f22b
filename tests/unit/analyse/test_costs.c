// SPDX-License-Identifier: Apache-2.0
// What accounts for the difference of two programs.

#include "harness.h"

#include <math.h>

#include "analyse/costs.h"
#include "analyse/sketch.h"

static Error err;

// The change of the row called `name`; fails when there is none.
static const CostChange *find_change(const CostChangeVec *changes, const char *name)
{
    for (size_t i = 0; i < changes->len; i++)
        if (str_equal(cost_change_row(&changes->at[i])->name, str_from_c(name)))
            return &changes->at[i];
    fail_msg("no row '%s'", name);
    return NULL;
}

static void add(Costs *c, const char *stack, int64_t value, int times)
{
    Sketch s;
    sketch_open(&s);
    for (int i = 0; i < times; i++)
        sketch_add(&s, stack, value);
    sketch_add(&s, "main", value);
    assert_ok(costs_add(c, &s.p, &err), &err);
    sketch_close(&s);
}

static void changes_add_up_to_the_whole_difference(void **state)
{
    (void)state;
    Arena arena = {0};
    Costs before = {0}, after = {0};
    // Before: 100 samples, 3 s a run. After: recorded twice, 50 samples, 1 s a run.
    add(&before, "main;work;slow", 10, 99);
    add(&after, "main;work", 7, 24);
    add(&after, "main;new", 7, 24);
    assert_int_equal(after.recordings, 2);
    CostChangeVec changes = costs_compare(&arena, &before, 3, &after, 1, COST_FUNCTION);
    double sum = 0;
    for (size_t i = 0; i < changes.len; i++)
        sum += changes.at[i].after_s - changes.at[i].before_s;
    assert_true(fabs(sum + 2) < 1e-12);
    const CostChange *slow = find_change(&changes, "slow");
    assert_ptr_equal(slow, &changes.at[0]); // the largest first
    assert_null(slow->after);
    assert_true(fabs(slow->before_s - 2.97) < 1e-12 && slow->after_s == 0);
    const CostChange *new = find_change(&changes, "new");
    assert_null(new->before);
    assert_true(fabs(new->after_s - 0.48) < 1e-12);
    // Half of 50 samples: ± 1 s * sqrt(.25 / 50).
    assert_true(fabs(new->error_s - sqrt(0.25 / 50)) < 0.05);
    costs_deinit(&before);
    costs_deinit(&after);
    arena_deinit(&arena);
}

static void callers_hold_what_they_call(void **state)
{
    (void)state;
    Arena arena = {0};
    Costs before = {0}, after = {0};
    add(&before, "main;work;slow", 10, 99);
    add(&after, "main;work", 10, 99);
    CostChangeVec changes = costs_compare(&arena, &before, 2, &after, 1, COST_CALLER);
    const CostChange *work = find_change(&changes, "work");
    assert_true(fabs(work->before_s - 1.98) < 1e-12 && fabs(work->after_s - 0.99) < 1e-12);
    assert_true(fabs(find_change(&changes, "main")->before_s - 2) < 1e-12);
    costs_deinit(&before);
    costs_deinit(&after);
    arena_deinit(&arena);
}

static void lines_are_told_apart_by_number_where_there_is_no_text(void **state)
{
    (void)state;
    Arena arena = {0};
    Costs before = {0}, after = {0};
    add(&before, "main;work:20", 10, 50);
    add(&after, "main;work:20", 10, 25);
    add(&after, "main;work:21", 10, 23);
    CostChangeVec changes = costs_compare(&arena, &before, 1, &after, 1, COST_LINE);
    size_t of_work = 0;
    for (size_t i = 0; i < changes.len; i++)
        of_work += str_equal(cost_change_row(&changes.at[i])->name, STR("work"));
    assert_int_equal(of_work, 2);
    costs_deinit(&before);
    costs_deinit(&after);
    arena_deinit(&arena);
}

static void text_finds_a_line_that_moved(void **state)
{
    (void)state;
    Arena arena = {0};
    Costs sides[2];
    memset(sides, 0, sizeof(sides));
    for (uint32_t i = 0; i < 2; i++) {
        Sketch s;
        sketch_open(&s);
        sketch_add(&s, i ? "main;work:30" : "main;work:20", 5);
        profile_source_line(&s.p, profile_str(&s.p, STR("/src/work.c")), i ? 30 : 20,
                            STR("    x += y;"));
        assert_ok(costs_add(&sides[i], &s.p, &err), &err);
        sketch_close(&s);
    }
    CostChangeVec changes = costs_compare(&arena, &sides[0], 1, &sides[1], 1, COST_LINE);
    assert_int_equal(changes.len, 1);
    assert_non_null(changes.at[0].before);
    assert_non_null(changes.at[0].after);
    assert_true(str_equal(changes.at[0].after->text, STR("x += y;")));
    costs_deinit(&sides[0]);
    costs_deinit(&sides[1]);
    arena_deinit(&arena);
}

static void nothing_recorded_is_nothing_changed(void **state)
{
    (void)state;
    Arena arena = {0};
    Costs none = {0}, some = {0};
    Sketch s;
    sketch_open(&s);
    assert_ok(costs_add(&none, &s.p, &err), &err);
    sketch_close(&s);
    add(&some, "main;work", 1, 9);
    assert_int_equal(costs_compare(&arena, &none, 0, &none, 0, COST_FUNCTION).len, 0);
    CostChangeVec changes = costs_compare(&arena, &none, 0, &some, 1, COST_FUNCTION);
    assert_true(fabs(find_change(&changes, "work")->after_s - 0.9) < 1e-12);
    costs_deinit(&none);
    costs_deinit(&some);
    arena_deinit(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(changes_add_up_to_the_whole_difference),
        cmocka_unit_test(callers_hold_what_they_call),
        cmocka_unit_test(lines_are_told_apart_by_number_where_there_is_no_text),
        cmocka_unit_test(text_finds_a_line_that_moved),
        cmocka_unit_test(nothing_recorded_is_nothing_changed),
    };
    return RUN_TESTS(tests);
}
