// SPDX-License-Identifier: Apache-2.0
// Waits beside processor time, by the rows of a report.

#include "analyse/wait/wait_columns.h"

#include "harness.h"
#include "sketch.h"

enum { MS = 1000000 };

typedef struct Fixture {
    Sketch s;
    MetricId lock, runnable;
} Fixture;

static void open_waits(Fixture *f)
{
    sketch_open(&f->s);
    Profile *p = &f->s.p;
    f->runnable = profile_add_metric(p, STR("runnable"), STR("ns"), METRIC_SUM, STR("waiting"));
    f->lock = profile_add_metric(p, STR("lock"), STR("ns"), METRIC_SUM, STR("waiting"));
}

static void add_wait(Fixture *f, ThreadId thread, const char *stack, uint64_t lock_ns,
                     uint64_t runnable_ns)
{
    Profile *p = &f->s.p;
    StackId at = sketch_stack(p, stack);
    profile_add_wait(p, &(WaitRow){.thread = thread,
                                   .stack = at,
                                   .state = WAIT_LOCK,
                                   .count = 1,
                                   .blocked_ns = lock_ns,
                                   .runnable_ns = runnable_ns});
    size_t row = profile_add_sample(p, TIME_NONE, thread, at, SAMPLE_CPU_NONE);
    profile_sample_set(p, row, f->lock, (int64_t)lock_ns);
    profile_sample_set(p, row, f->runnable, (int64_t)runnable_ns);
}

static void make_report(Fixture *f, const ReportRequest *request, Report *r, WaitColumns *c)
{
    Error err;
    assert_true(report_init(r, &f->s.p, request, &err));
    assert_true(wait_columns_apply(r));
    assert_true(wait_columns_init(c, r, &err));
}

static const FlatRow *row_named(const Report *r, const char *name)
{
    StrBuf text = {0};
    const FlatRow *found = NULL;
    for (size_t i = 0; i < r->rows.len && !found; i++) {
        strbuf_clear(&text);
        report_add_row_name(r, &r->rows.at[i], &text);
        if (str_equal(strbuf_str(&text), str_from_c(name)))
            found = &r->rows.at[i];
    }
    strbuf_deinit(&text);
    return found;
}

static void a_wait_in_the_c_library_is_the_programs_own(void **state)
{
    (void)state;
    Fixture f;
    Report r;
    WaitColumns c;
    open_waits(&f);
    sketch_add(&f.s, "main;work", 30 * MS);
    add_wait(&f, f.s.main_thread, "main;look:20;?libc", 60 * MS, 10 * MS);
    ReportRequest request = {.want_lines = true};
    selection_init(&request.selection);
    make_report(&f, &request, &r, &c);
    assert_int_equal(wait_columns_whole(&c), 100 * MS);
    const FlatRow *look = row_named(&r, "look"), *caller = row_named(&r, "main");
    assert_non_null(look);
    assert_ptr_equal(look, &r.rows.at[0]); // the most time of both kinds
    assert_int_equal(look->self, 0);
    const WaitCell *cell = wait_columns_row(&c, look);
    assert_int_equal(wait_cell_self(cell), 70 * MS);
    assert_int_equal(cell->self[WAIT_LOCK], 60 * MS);
    assert_int_equal(cell->self[WAIT_RUNNABLE], 10 * MS);
    WaitClass class;
    assert_true(wait_cell_class(cell, &class));
    assert_int_equal(class, WAIT_LOCK);
    assert_int_equal(caller->total, 30 * MS);
    assert_int_equal(wait_cell_self(wait_columns_row(&c, caller)), 0);
    assert_int_equal(wait_cell_total(wait_columns_row(&c, caller)), 70 * MS);
    assert_int_equal(wait_cell_total(wait_columns_row(&c, row_named(&r, "work"))), 0);
    // Lines: that of the wait stands before that of the processor time.
    assert_int_equal(r.lines.len, 2);
    assert_int_equal(r.lines.at[0].line, 20);
    assert_int_equal(wait_cell_self(wait_columns_line(&c, &r.lines.at[0])), 70 * MS);
    wait_columns_deinit(&c);
    report_deinit(&r);
    sketch_close(&f.s);
}

static void threads_without_work_are_left_out(void **state)
{
    (void)state;
    Fixture f;
    Report r;
    WaitColumns c;
    open_waits(&f);
    sketch_add(&f.s, "main;work", 10 * MS);
    add_wait(&f, f.s.main_thread, "main;serve;epoll_wait", 500 * MS, 0);
    add_wait(&f, f.s.main_thread, "main;look;?libc", 30 * MS, 0);
    ReportRequest request = {.by = BY_LINE};
    selection_init(&request.selection);
    make_report(&f, &request, &r, &c);
    assert_int_equal(c.idle_ns, 500 * MS);
    assert_int_equal(wait_columns_whole(&c), 40 * MS);
    wait_columns_deinit(&c);
    report_deinit(&r);
    sketch_close(&f.s);
}

static void a_thread_that_only_waits_has_a_row(void **state)
{
    (void)state;
    Fixture f;
    Report r;
    WaitColumns c;
    open_waits(&f);
    Profile *p = &f.s.p;
    ThreadId other =
        profile_add_thread(p, p->threads.process.at[0], 101, profile_str(p, STR("pool")), 0);
    sketch_add(&f.s, "main;work", 10 * MS);
    add_wait(&f, other, "main;look;?libc", 40 * MS, 0);
    ReportRequest request = {.group = GROUP_THREAD};
    selection_init(&request.selection);
    make_report(&f, &request, &r, &c);
    assert_int_equal(r.rows.len, 2);
    const FlatRow *pool = row_named(&r, "pool 101");
    assert_ptr_equal(pool, &r.rows.at[0]);
    assert_int_equal(wait_cell_total(wait_columns_row(&c, pool)), 40 * MS);
    wait_columns_deinit(&c);
    report_deinit(&r);
    sketch_close(&f.s);
}

static void other_metrics_and_parts_of_the_time_have_no_columns(void **state)
{
    (void)state;
    Fixture f;
    Report r;
    Error err;
    open_waits(&f);
    sketch_add(&f.s, "main;work", 10 * MS);
    ReportRequest request = {0};
    selection_init(&request.selection);
    assert_true(report_init(&r, &f.s.p, &request, &err));
    assert_false(wait_columns_apply(&r)); // there are no waits
    report_deinit(&r);
    add_wait(&f, f.s.main_thread, "main;look;?libc", 40 * MS, 0);
    request.selection.metric = f.lock;
    assert_true(report_init(&r, &f.s.p, &request, &err));
    assert_false(wait_columns_apply(&r));
    report_deinit(&r);
    selection_init(&request.selection);
    request.selection.to_ns = 5;
    assert_true(report_init(&r, &f.s.p, &request, &err));
    assert_false(wait_columns_apply(&r));
    report_deinit(&r);
    sketch_close(&f.s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wait_in_the_c_library_is_the_programs_own),
        cmocka_unit_test(threads_without_work_are_left_out),
        cmocka_unit_test(a_thread_that_only_waits_has_a_row),
        cmocka_unit_test(other_metrics_and_parts_of_the_time_have_no_columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
