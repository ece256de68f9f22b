// SPDX-License-Identifier: Apache-2.0
// Decisions at one place: instances that ran the same become one.

#include "analyse/cover/decisions.h"

#include "harness.h"

#include "base/strbuf.h"

static void add_decision(Profile *p, const char *file, uint32_t line, const char *vectors,
                         uint8_t flags)
{
    Decisions *d = &p->decisions;
    Str name = str_from_c(vectors);
    vec_push(&p->arena, &d->file, profile_str(p, str_from_c(file)));
    vec_push(&p->arena, &d->line, line);
    vec_push(&p->arena, &d->column, 5);
    vec_push(&p->arena, &d->end_line, line);
    vec_push(&p->arena, &d->end_column, 20);
    vec_push(&p->arena, &d->function, profile_function(p, name, name, str_from_c(file), 1));
    vec_push(&p->arena, &d->flags, flags);
    vec_push(&p->arena, &d->vectors, profile_str(p, name));
}

static void add_line(Profile *p, const char *file)
{
    vec_push(&p->arena, &p->line_counts.file, profile_str(p, str_from_c(file)));
    vec_push(&p->arena, &p->line_counts.line, 1);
    vec_push(&p->arena, &p->line_counts.count, 1);
}

// The groups of the first file are 'row+more …', with '!' where several functions share a place.
static void check(const Profile *p, const char *groups)
{
    Arena arena = {0};
    CoverFiles files = {0};
    CoverDecisionGroupVec found = {0};
    StrBuf out = {0};
    cover_files_group(&arena, p, &files);
    assert_true(files.files.len > 0);
    cover_decisions_group(p, &files, &files.files.at[0], &found);
    for (size_t i = 0; i < found.len; i++)
        strbuf_printf(&out, "%s%u+%u%s", i ? " " : "", found.at[i].row, found.at[i].more,
                      found.at[i].is_shared ? "!" : "");
    assert_str(strbuf_str(&out), groups);
    strbuf_deinit(&out);
    vec_free(&found);
    arena_deinit(&arena);
}

static void instances_that_ran_the_same_become_one(void **state)
{
    (void)state;
    Profile p;
    profile_init(&p);
    add_line(&p, "a.c");
    add_decision(&p, "a.c", 7, "TFF", 0);
    add_decision(&p, "a.c", 7, "TTT", 0);
    add_decision(&p, "a.c", 7, "TFF", 0);
    check(&p, "0+1! 1+0!");
    profile_deinit(&p);
}

static void an_instance_that_never_ran_stands_alone(void **state)
{
    (void)state;
    Profile p;
    profile_init(&p);
    add_line(&p, "a.c");
    add_decision(&p, "a.c", 7, "TFF", 0);
    add_decision(&p, "a.c", 7, "", 0);
    add_decision(&p, "a.c", 7, "", 0);
    check(&p, "0+0! 1+1!");
    profile_deinit(&p);
}

static void decisions_come_by_place_without_excluded_ones(void **state)
{
    (void)state;
    Profile p;
    profile_init(&p);
    add_line(&p, "a.c");
    add_decision(&p, "a.c", 9, "T", 0);
    add_decision(&p, "a.c", 8, "T", DECISION_IS_EXCLUDED);
    add_decision(&p, "a.c", 3, "T", 0);
    check(&p, "2+0 0+0");
    profile_deinit(&p);
}

static void decisions_of_a_file_without_lines_are_passed_over(void **state)
{
    (void)state;
    Profile p;
    profile_init(&p);
    add_decision(&p, "0.c", 1, "T", 0); // all of its lines are excluded
    add_line(&p, "a.c");
    add_decision(&p, "a.c", 2, "T", 0);
    check(&p, "1+0");
    profile_deinit(&p);
}

static void conditions_are_found_by_their_decision(void **state)
{
    (void)state;
    Profile p;
    profile_init(&p);
    const uint32_t of[] = {0, 0, 2, 2, 2};
    for (size_t i = 0; i < ARRAY_LEN(of); i++)
        vec_push(&p.arena, &p.decision_conditions.decision, of[i]);
    CoverRows none = cover_decision_conditions(&p, 1), last = cover_decision_conditions(&p, 2);
    assert_int_equal(none.end - none.first, 0);
    assert_int_equal(last.first, 2);
    assert_int_equal(last.end, 5);
    profile_deinit(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(instances_that_ran_the_same_become_one),
        cmocka_unit_test(an_instance_that_never_ran_stands_alone),
        cmocka_unit_test(decisions_come_by_place_without_excluded_ones),
        cmocka_unit_test(decisions_of_a_file_without_lines_are_passed_over),
        cmocka_unit_test(conditions_are_found_by_their_decision),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
