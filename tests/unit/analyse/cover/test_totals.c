// SPDX-License-Identifier: Apache-2.0
// Totals as a profile states them, and as sums of its rows.

#include "analyse/cover/totals.h"

#include "harness.h"

static void state_total(Profile *p, const char *file, FunctionId function, CoverCriterion criterion,
                        uint64_t covered, uint64_t count)
{
    CoverTotalRows *t = &p->cover_totals;
    vec_push(&p->arena, &t->file, profile_str(p, str_from_c(file)));
    vec_push(&p->arena, &t->function, function);
    vec_push(&p->arena, &t->criterion, (uint8_t)criterion);
    vec_push(&p->arena, &t->covered, covered);
    vec_push(&p->arena, &t->count, count);
}

static void add_line(Profile *p, const char *file, uint32_t line, uint64_t count)
{
    vec_push(&p->arena, &p->line_counts.file, profile_str(p, str_from_c(file)));
    vec_push(&p->arena, &p->line_counts.line, line);
    vec_push(&p->arena, &p->line_counts.count, count);
}

static FunctionId add_function(Profile *p, const char *name, const char *file, uint32_t line,
                               uint64_t count)
{
    Str text = str_from_c(name);
    FunctionId id = profile_function(p, text, text, str_from_c(file), line);
    vec_push(&p->arena, &p->function_counts.function, id);
    vec_push(&p->arena, &p->function_counts.count, count);
    vec_push(&p->arena, &p->function_counts.hash, 0);
    vec_push(&p->arena, &p->function_counts.column, 0);
    return id;
}

static void check(CoverTally t, uint64_t covered, uint64_t count)
{
    assert_int_equal(t.covered, covered);
    assert_int_equal(t.count, count);
}

static void stated_totals_go_before_rows(void **state)
{
    (void)state;
    Profile p;
    Arena arena = {0};
    CoverSubjectVec files = {0};
    profile_init(&p);
    add_line(&p, "a.c", 1, 1);
    state_total(&p, "a.c", (FunctionId){0}, COVER_LINES, 2, 3);
    state_total(&p, "a.c", (FunctionId){0}, COVER_REGIONS, 4, 5);
    cover_totals_by_file(&arena, &p, &files);
    assert_int_equal(files.len, 1);
    assert_str(files.at[0].path, "a.c");
    check(files.at[0].totals.of[COVER_LINES], 2, 3);
    check(files.at[0].totals.of[COVER_REGIONS], 4, 5);
    arena_deinit(&arena);
    profile_deinit(&p);
}

// Two instances of one name and place are two rows of totals, criteria starting again.
static void equal_functions_stay_apart(void **state)
{
    (void)state;
    Profile p;
    Arena arena = {0};
    CoverSubjectVec functions = {0};
    profile_init(&p);
    FunctionId f = add_function(&p, "f", "a.c", 3, 1);
    for (uint64_t i = 0; i < 2; i++) {
        state_total(&p, "a.c", f, COVER_LINES, i, 9);
        state_total(&p, "a.c", f, COVER_FUNCTIONS, i, 1);
    }
    cover_totals_by_function(&arena, &p, &functions);
    assert_int_equal(functions.len, 2);
    check(functions.at[0].totals.of[COVER_LINES], 0, 9);
    check(functions.at[1].totals.of[COVER_LINES], 1, 9);
    check(functions.at[1].totals.of[COVER_FUNCTIONS], 1, 1);
    arena_deinit(&arena);
    profile_deinit(&p);
}

static void rows_sum_where_nothing_is_stated(void **state)
{
    (void)state;
    Profile p;
    Arena arena = {0};
    CoverSubjectVec files = {0}, functions = {0};
    profile_init(&p);
    add_line(&p, "b.c", 3, 1);
    add_line(&p, "b.c", 4, 0);
    add_line(&p, "b.c", 7, 2);
    add_line(&p, "a.c", 1, 0);
    add_function(&p, "f", "b.c", 3, 1);
    add_function(&p, "g", "b.c", 6, 0);
    cover_totals_by_file(&arena, &p, &files);
    assert_int_equal(files.len, 2);
    assert_str(files.at[0].path, "a.c");
    check(files.at[0].totals.of[COVER_LINES], 0, 1);
    check(files.at[1].totals.of[COVER_LINES], 2, 3);
    check(files.at[1].totals.of[COVER_FUNCTIONS], 1, 2);
    cover_totals_by_function(&arena, &p, &functions);
    assert_int_equal(functions.len, 2);
    check(functions.at[0].totals.of[COVER_LINES], 1, 2); // up to the start of g
    check(functions.at[1].totals.of[COVER_LINES], 1, 1);
    arena_deinit(&arena);
    profile_deinit(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stated_totals_go_before_rows),
        cmocka_unit_test(equal_functions_stay_apart),
        cmocka_unit_test(rows_sum_where_nothing_is_stated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
