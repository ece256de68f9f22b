// SPDX-License-Identifier: Apache-2.0
// Counted runs and series -> means, intervals, shares and what is derived.

#include "harness.h"

#include "analyse/counted_runs.h"
#include "model/facts.h"

#include <math.h>

// ---- What is derived -------------------------------------------------------

static const Str events[] = {{"task-clock", 10}, {"cycles", 6},         {"instructions", 12},
                             {"branches", 8},    {"branch-misses", 13}, {"page-faults", 11}};

static void ratios_are_those_of_perf(void **state)
{
    (void)state;
    const double values[] = {2e9, 6e9, 9e9, 1e9, 2e7, 4000};
    DerivedInput in = {events, values, 6, 4.0};
    assert_true(derive(&in, 0).value == 0.5);
    assert_string_equal(derive(&in, 0).unit, "CPUs utilized");
    assert_true(derive(&in, 1).value == 3.0);
    assert_string_equal(derive(&in, 1).unit, "GHz");
    assert_true(derive(&in, 2).value == 1.5);
    assert_true(fabs(derive(&in, 3).value - 500) < 1e-9);
    assert_string_equal(derive(&in, 3).unit, "M/sec");
    assert_true(fabs(derive(&in, 4).value - 2) < 1e-12);
    assert_true(fabs(derive(&in, 5).value - 2) < 1e-12);
    assert_string_equal(derive(&in, 5).unit, "K/sec");
}

static void nothing_is_derived_from_what_was_not_counted(void **state)
{
    (void)state;
    const double values[] = {NAN, 6e9, 9e9, NAN, 2e7, 4000};
    DerivedInput in = {events, values, 6, 4.0};
    assert_null(derive(&in, 0).unit);
    assert_null(derive(&in, 1).unit); // GHz needs the clock
    assert_non_null(derive(&in, 2).unit);
    assert_null(derive(&in, 4).unit); // misses need branches
    assert_null(derive(&in, 5).unit);
}

// ---- Runs ------------------------------------------------------------------

typedef struct Made {
    Profile p;
    Arena arena;
    MetricId clock, faults;
    StrId name, other;
} Made;

static void begin(Made *m)
{
    *m = (Made){0};
    profile_init(&m->p);
    m->clock =
        profile_add_metric(&m->p, STR("task-clock"), STR("ns"), METRIC_SUM, STR("task-clock"));
    m->faults =
        profile_add_metric(&m->p, STR("faults:u"), STR(""), METRIC_SUM, STR("page-faults:u"));
    m->name = profile_str(&m->p, STR("./prog 1"));
    m->other = profile_str(&m->p, STR("./prog 2"));
}

static void end(Made *m)
{
    arena_deinit(&m->arena);
    profile_deinit(&m->p);
}

static RunId run(Made *m, StrId name, int64_t wall_ns, uint8_t flags)
{
    RunRow row = RUN_NOT_KNOWN;
    row.name = name;
    row.wall_ns = wall_ns;
    row.flags = flags;
    return profile_add_run(&m->p, &row);
}

static void values(Made *m, RunId r, double clock_ns, double faults, StrId part)
{
    profile_add_run_count(&m->p, r, m->clock, clock_ns, 1000, 1000, part);
    profile_add_run_count(&m->p, r, m->faults, faults, 1000, 250, part);
}

static void a_row_is_the_mean_of_the_runs_with_its_interval(void **state)
{
    (void)state;
    Made m;
    Counts c;
    begin(&m);
    values(&m, run(&m, m.name, 500, RUN_WARMUP), 77, 77, (StrId){0});
    values(&m, run(&m, m.name, 1000000000, 0), 1e9, 9, (StrId){0});
    values(&m, run(&m, m.other, 9, 0), 5, 5, (StrId){0});
    values(&m, run(&m, m.name, 2000000000, 0), 2e9, 10, (StrId){0});
    values(&m, run(&m, m.name, 3000000000, 0), 3e9, 11, (StrId){0});
    counts_init(&c, &m.arena, &m.p, m.name);
    assert_int_equal(c.runs.len, 3); // neither the warm-up nor the other's
    assert_int_equal(c.rows.len, 2);
    const CountRow *faults = &c.rows.at[1];
    assert_true(faults->value.mean == 10);
    // deviation 1, standard error 1/sqrt(3), t(0.975, 2) = 4.30265
    assert_true(fabs(faults->value.error - 1 / sqrt(3) / 10) < 1e-12);
    assert_true(fabs(faults->value.interval.high - (10 + 4.30265272975 / sqrt(3))) < 1e-6);
    assert_int_equal(faults->running_ns, 250);
    assert_true(faults->running_share == 25);
    assert_true(c.wall_s.mean == 2);
    assert_true(isnan(c.user_s.mean)); // not known is not 0
    // The modifier does not hide which event it is: 10 faults in 2 s of CPU.
    assert_string_equal(faults->derived.unit, "/sec");
    assert_true(fabs(faults->derived.value - 5) < 1e-12);
    assert_true(c.rows.at[0].derived.value == 1); // CPU
    end(&m);
}

static void a_run_without_a_count_does_not_lower_the_mean(void **state)
{
    (void)state;
    Made m;
    Counts c;
    begin(&m);
    profile_add_run_count(&m.p, run(&m, m.name, 10, 0), m.faults, NAN, 100, 0, (StrId){0});
    counts_init(&c, &m.arena, &m.p, m.name);
    assert_true(isnan(c.rows.at[0].value.mean));
    profile_add_run_count(&m.p, run(&m, m.name, 10, 0), m.faults, 8, 100, 100, (StrId){0});
    counts_init(&c, &m.arena, &m.p, m.name);
    assert_true(c.rows.at[0].value.mean == 8);
    assert_true(isnan(c.rows.at[0].value.error)); // of one value
    assert_true(c.rows.at[0].running_share == 50);
    end(&m);
}

static void parts_have_rows_of_their_own(void **state)
{
    (void)state;
    Made m;
    Counts c;
    begin(&m);
    StrId cpu0 = profile_str(&m.p, STR("CPU0")), cpu1 = profile_str(&m.p, STR("CPU1"));
    for (int i = 0; i < 2; i++) {
        RunId r = run(&m, m.name, 1000000000, 0);
        values(&m, r, 1e9, 10, cpu0);
        values(&m, r, 5e8, 20, cpu1);
    }
    counts_init(&c, &m.arena, &m.p, m.name);
    assert_int_equal(c.rows.len, 4);
    assert_int_equal(c.rows.at[2].part.v, cpu1.v);
    assert_true(c.rows.at[3].value.mean == 20);
    assert_true(c.rows.at[3].derived.value == 40); // by the clock of its own CPU
    CountPoints *points = counts_points(&m.arena, &c);
    assert_int_equal(points[3].x.len, 2);
    assert_true(points[3].x.at[1] == 2 && points[3].y.at[1] == 20);
    end(&m);
}

static void names_come_in_the_order_of_their_first_run(void **state)
{
    (void)state;
    Made m;
    begin(&m);
    run(&m, m.other, 1, 0);
    run(&m, m.name, 1, 0);
    run(&m, m.other, 1, 0);
    StrIdVec names = counts_names(&m.arena, &m.p);
    assert_int_equal(names.len, 2);
    assert_int_equal(names.at[0].v, m.other.v);
    end(&m);
}

// ---- Series ----------------------------------------------------------------

static void a_series_is_taken_span_by_span(void **state)
{
    (void)state;
    Made m;
    Counts c;
    begin(&m);
    const int64_t ends[] = {500000000, 1500000000};
    for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
        profile_add_point(&m.p, m.clock, ends[i], 2.5e8, 100, 100, (StrId){0});
        profile_add_point(&m.p, m.faults, ends[i], i ? 50 : NAN, 100, i ? 50 : 0, (StrId){0});
    }
    CountSpan span = {0};
    assert_true(counts_next_span(&m.p, &span));
    assert_int_equal(span.count, 2);
    assert_int_equal(span.length_ns, 500000000);
    CountRowVec rows = counts_of_span(&m.arena, &m.p, &span);
    assert_true(rows.at[0].derived.value == 0.5); // 0.25 s of CPU in half a second
    assert_true(isnan(rows.at[1].value.mean));
    assert_true(counts_next_span(&m.p, &span));
    assert_int_equal(span.length_ns, 1000000000);
    rows = counts_of_span(&m.arena, &m.p, &span);
    assert_true(rows.at[0].derived.value == 0.25);
    assert_true(rows.at[1].running_share == 50);
    assert_true(rows.at[1].derived.value == 200); // a second of CPU
    assert_false(counts_next_span(&m.p, &span));

    values(&m, run(&m, m.name, 1500000000, 0), 5e8, 50, (StrId){0});
    counts_init(&c, &m.arena, &m.p, m.name);
    CountPoints *points = counts_points(&m.arena, &c);
    assert_int_equal(points[0].x.len, 2);
    assert_true(points[0].x.at[0] == 0.5 && points[0].y.at[0] == 5e8);
    assert_int_equal(points[1].x.len, 1); // none where it was not counted
    assert_true(points[1].x.at[0] == 1.5 && points[1].y.at[0] == 50);
    end(&m);
}

static void times_of_a_damaged_file_do_no_harm(void **state)
{
    (void)state;
    Made m;
    begin(&m);
    profile_add_point(&m.p, m.clock, INT64_MAX, 1, 1, 1, (StrId){0});
    profile_add_point(&m.p, m.clock, INT64_MIN, 1, 1, 1, (StrId){0});
    CountSpan span = {0};
    assert_true(counts_next_span(&m.p, &span));
    assert_true(counts_next_span(&m.p, &span));
    assert_int_equal(span.length_ns, 0);
    (void)counts_of_span(&m.arena, &m.p, &span);
    end(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ratios_are_those_of_perf),
        cmocka_unit_test(nothing_is_derived_from_what_was_not_counted),
        cmocka_unit_test(a_row_is_the_mean_of_the_runs_with_its_interval),
        cmocka_unit_test(a_run_without_a_count_does_not_lower_the_mean),
        cmocka_unit_test(parts_have_rows_of_their_own),
        cmocka_unit_test(names_come_in_the_order_of_their_first_run),
        cmocka_unit_test(a_series_is_taken_span_by_span),
        cmocka_unit_test(times_of_a_damaged_file_do_no_harm),
    };
    return RUN_TESTS(tests);
}
