// SPDX-License-Identifier: Apache-2.0
// prof's table: time by function beside counted calls.

#include "analyse/prof.h"

#include "analyse/sketch.h"
#include "harness.h"

typedef struct Case {
    Arena arena;
    Sketch time;
    Profile counts;
    Report report;
    ProfRowVec rows;
    ProfRequest request;
    ProfJoin join;
} Case;

static void begin(Case *c)
{
    *c = (Case){0};
    sketch_open(&c->time);
    profile_init(&c->counts);
}

static void count_at(Case *c, const char *linkage, const char *name, const char *file,
                     uint32_t line, uint64_t calls)
{
    Profile *p = &c->counts;
    FunctionId f =
        profile_function(p, str_from_c(name), str_from_c(linkage), str_from_c(file), line);
    vec_push(&p->arena, &p->function_counts.function, f);
    vec_push(&p->arena, &p->function_counts.count, calls);
    vec_push(&p->arena, &p->function_counts.hash, 0);
    vec_push(&p->arena, &p->function_counts.column, 0);
}

static void count(Case *c, const char *linkage, const char *name, const char *file, uint64_t calls)
{
    count_at(c, linkage, name, file, 1, calls);
}

static void table(Case *c)
{
    ReportRequest request = {.by = BY_FUNCTION};
    selection_init(&request.selection);
    Error err;
    assert_ok(report_init(&c->report, &c->time.p, &request, &err), &err);
    const Profile *counts[] = {&c->time.p, &c->counts};
    c->rows = prof_rows(&c->arena, &c->report, counts, 2, &c->request, &c->join);
}

static void end(Case *c)
{
    vec_free(&c->rows);
    report_deinit(&c->report);
    profile_deinit(&c->counts);
    sketch_close(&c->time);
    arena_deinit(&c->arena);
}

static const ProfRow *row(const Case *c, const char *name)
{
    for (size_t i = 0; i < c->rows.len; i++)
        if (str_equal(c->rows.at[i].name, str_from_c(name)))
            return &c->rows.at[i];
    return NULL;
}

static void calls_stand_where_they_were_counted(void **state)
{
    (void)state;
    Case c;
    begin(&c);
    sketch_add(&c.time, "main;a", 30);
    sketch_add(&c.time, "main;b", 10);
    count(&c, "a", "a", "/src/a.c", 7);
    table(&c);
    assert_int_equal(c.rows.len, 2); // main has no time of its own and no count
    assert_int_equal(row(&c, "a")->calls, 7);
    assert_int_equal(row(&c, "a")->cumulated, 30);
    assert_false(row(&c, "b")->has_calls);
    assert_int_equal(row(&c, "b")->cumulated, 40);
    end(&c);
}

static void a_called_function_without_time_comes_last(void **state)
{
    (void)state;
    Case c;
    begin(&c);
    sketch_add(&c.time, "main;a", 30);
    count(&c, "rare", "rare", "/src/r.c", 2);
    count(&c, "often", "often", "/src/o.c", 9);
    count(&c, "never", "never", "/src/n.c", 0);
    count(&c, "main", "main", "/src/main.c", 1);
    table(&c);
    assert_int_equal(c.rows.len, 4);
    assert_str(c.rows.at[0].name, "a");
    assert_str(c.rows.at[1].name, "main"); // seen on the stack: its time is a measured 0
    assert_int_equal(c.rows.at[1].key == PROF_NO_KEY, 0);
    assert_str(c.rows.at[2].name, "often");
    assert_int_equal(c.rows.at[2].key, PROF_NO_KEY);
    assert_str(c.rows.at[3].name, "rare");
    end(&c);
}

static void local_functions_of_one_name_are_told_apart_by_file(void **state)
{
    (void)state;
    Case c;
    begin(&c);
    sketch_add(&c.time, "main;a", 30);
    count(&c, "src/a.c:a", "src/a.c:a", "/src/a.c", 3);
    count(&c, "src/z.c:a", "src/z.c:a", "/src/z.c", 100);
    count(&c, "lib/a.c;a", "lib/a.c;a", "/src/a.c", 4); // the newer mark; another instance
    table(&c);
    assert_int_equal(row(&c, "a")->calls, 7);
    end(&c);
}

static void colons_of_a_qualified_name_are_no_file(void **state)
{
    (void)state;
    Case c;
    begin(&c);
    sketch_add(&c.time, "main;a", 30);
    count(&c, "ns.x::a", "ns.x::a", "/src/a.c", 5);
    table(&c);
    assert_false(row(&c, "a")->has_calls);
    end(&c);
}

static void a_clone_takes_the_calls_of_its_function_but_a_cold_half_does_not(void **state)
{
    (void)state;
    Case c;
    begin(&c);
    sketch_add(&c.time, "main;f.isra.0", 30);
    sketch_add(&c.time, "main;g.cold", 30);
    count(&c, "f", "f", "", 5);
    count(&c, "g", "g", "", 6);
    table(&c);
    assert_int_equal(row(&c, "f.isra.0")->calls, 5);
    assert_false(row(&c, "g.cold")->has_calls);
    end(&c);
}

static void sums_of_calls_stop_at_the_greatest_number(void **state)
{
    (void)state;
    Case c;
    begin(&c);
    sketch_add(&c.time, "main;a", 30);
    count(&c, "a", "a", "/src/a.c", UINT64_MAX - 1);
    count(&c, "a", "a", "/src/a.c", 5);
    table(&c);
    assert_true(row(&c, "a")->calls == UINT64_MAX);
    end(&c);
}

static void rows_are_sorted_as_asked(void **state)
{
    (void)state;
    static const struct {
        ProfSort by;
        const char *first, *second, *third;
    } orders[] = {{PROF_AS_REPORTED, "b", "a", "c"},
                  {PROF_BY_CALLS, "c", "a", "b"},
                  {PROF_BY_NAME, "a", "b", "c"}};
    for (size_t i = 0; i < ARRAY_LEN(orders); i++) {
        Case c;
        begin(&c);
        c.request.sort = orders[i].by;
        sketch_add(&c.time, "main;a", 10);
        sketch_add(&c.time, "main;b", 30);
        count(&c, "a", "a", "/src/a.c", 7);
        count(&c, "c", "c", "/src/c.c", 9);
        table(&c);
        assert_int_equal(c.rows.len, 3);
        assert_str(c.rows.at[0].name, orders[i].first);
        assert_str(c.rows.at[1].name, orders[i].second);
        assert_str(c.rows.at[2].name, orders[i].third);
        assert_int_equal(c.rows.at[2].cumulated, 40);
        end(&c);
    }
}

static void functions_that_never_ran_are_rows_when_asked_for(void **state)
{
    (void)state;
    Case c;
    begin(&c);
    c.request.never_called = true;
    sketch_add(&c.time, "main;a", 30);
    count(&c, "never", "never", "/src/n.c", 0);
    table(&c);
    assert_true(row(&c, "never")->has_calls);
    assert_int_equal(row(&c, "never")->calls, 0);
    end(&c);
}

static void counts_of_another_program_or_version_are_told(void **state)
{
    (void)state;
    Case c;
    begin(&c);
    sketch_add(&c.time, "main;a", 30);
    count(&c, "z", "z", "/src/z.c", 3);
    table(&c);
    assert_int_equal(c.join.counted, 1);
    assert_int_equal(c.join.timed, 2); // main, too, is on the stack
    assert_int_equal(c.join.matched, 0);
    end(&c);
    begin(&c);
    sketch_add(&c.time, "main;a", 30);
    count_at(&c, "a", "a", "/src/a.c", 500, 0);
    table(&c);
    assert_int_equal(c.join.matched, 1);
    assert_int_equal(c.join.moved, 1);
    assert_int_equal(c.join.silent, 1);
    assert_int_equal(c.join.silent_self, 30);
    end(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_stand_where_they_were_counted),
        cmocka_unit_test(a_called_function_without_time_comes_last),
        cmocka_unit_test(local_functions_of_one_name_are_told_apart_by_file),
        cmocka_unit_test(colons_of_a_qualified_name_are_no_file),
        cmocka_unit_test(a_clone_takes_the_calls_of_its_function_but_a_cold_half_does_not),
        cmocka_unit_test(sums_of_calls_stop_at_the_greatest_number),
        cmocka_unit_test(rows_are_sorted_as_asked),
        cmocka_unit_test(functions_that_never_ran_are_rows_when_asked_for),
        cmocka_unit_test(counts_of_another_program_or_version_are_told),
    };
    return RUN_TESTS(tests);
}
