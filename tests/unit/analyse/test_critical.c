// SPDX-License-Identifier: Apache-2.0
// The walk back over states that make up a known path.

#include "analyse/critical.h"

#include "harness.h"
#include "sketch.h"

enum { MS = 1000000 };

static ThreadId add_thread(Sketch *s, uint32_t tid, int64_t start_ms)
{
    return profile_add_thread(&s->p, s->p.threads.process.at[0], tid, profile_str(&s->p, STR("t")),
                              start_ms * MS);
}

static void add_state(Sketch *s, ThreadId thread, WaitClass class, const char *stack,
                      int64_t start_ms, int64_t woken_ms, int64_t end_ms, uint32_t waker)
{
    profile_add_state(&s->p, &(StateRow){.thread = thread,
                                         .start_ns = start_ms * MS,
                                         .woken_ns = woken_ms * MS,
                                         .end_ns = end_ms * MS,
                                         .state = class,
                                         .stack = sketch_stack(&s->p, stack),
                                         .waker = waker});
}

static Sketch *open_waits(Sketch *s)
{
    sketch_open(s);
    profile_add_wait(&s->p, &(WaitRow){.thread = s->main_thread, .state = WAIT_RUNNING});
    return s;
}

static uint64_t spent(const Critical *c, ThreadId thread, WaitClass class)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < c->lines.len; i++)
        if (c->lines.at[i].thread.v == thread.v && c->lines.at[i].state == class)
            sum += c->lines.at[i].ns;
    return sum / MS;
}

static void a_wait_leads_into_the_thread_that_ended_it(void **state)
{
    (void)state;
    Sketch s;
    Critical c;
    open_waits(&s);
    ThreadId worker = add_thread(&s, 101, 0);
    // main runs 10 ms, waits until the worker wakes it at 50, runs from 55 to 70. The worker sleeps
    // from 15 to 30 until a timer.
    add_state(&s, s.main_thread, WAIT_LOCK, "main;look", 10, 50, 55, worker.v + 1);
    add_state(&s, worker, WAIT_SLEEP, "work;nap", 15, 30, 31, 0);
    sketch_sample(&s, worker, 40 * MS, "work;hot", MS);
    assert_true(critical_init(&c, &s.p, s.main_thread, 0, 70 * MS));
    assert_int_equal(c.total_ns, 70 * MS);
    assert_int_equal(c.steps, 1);
    assert_int_equal(spent(&c, s.main_thread, WAIT_RUNNING), 15);
    assert_int_equal(spent(&c, s.main_thread, WAIT_RUNNABLE), 5);
    assert_int_equal(spent(&c, s.main_thread, WAIT_LOCK), 0);
    // From 50 back to 31, and from 15 back to its start at 0.
    assert_int_equal(spent(&c, worker, WAIT_RUNNING), 34);
    assert_int_equal(spent(&c, worker, WAIT_SLEEP), 15);
    assert_int_equal(spent(&c, worker, WAIT_RUNNABLE), 1);
    critical_deinit(&c);
    sketch_close(&s);
}

static void a_thread_leads_back_to_the_one_that_made_it(void **state)
{
    (void)state;
    Sketch s;
    Critical c;
    open_waits(&s);
    ThreadId worker = add_thread(&s, 101, 20);
    profile_add_state(&s.p, &(StateRow){.thread = worker,
                                        .start_ns = 20 * MS - 1,
                                        .woken_ns = 20 * MS,
                                        .end_ns = 20 * MS,
                                        .state = WAIT_RUNNABLE,
                                        .waker = s.main_thread.v + 1});
    add_state(&s, s.main_thread, WAIT_LOCK, "main;pthread_join;?libc", 21, 60, 60, worker.v + 1);
    assert_true(critical_init(&c, &s.p, s.main_thread, 0, 65 * MS));
    assert_int_equal(spent(&c, worker, WAIT_RUNNING), 40);
    assert_int_equal(spent(&c, s.main_thread, WAIT_RUNNING), 25);
    critical_deinit(&c);
    sketch_close(&s);
}

static void a_thread_that_is_told_to_end_is_innocent(void **state)
{
    (void)state;
    Sketch s;
    Critical c;
    open_waits(&s);
    ThreadId busy = add_thread(&s, 101, 0);
    add_state(&s, s.main_thread, WAIT_LOCK, "main;?libc;pthread_join", 98, 100, 100, busy.v + 1);
    assert_true(critical_init(&c, &s.p, s.main_thread, 0, 100 * MS));
    assert_int_equal(spent(&c, busy, WAIT_RUNNING), 0);
    assert_int_equal(spent(&c, s.main_thread, WAIT_RUNNING), 98);
    assert_int_equal(spent(&c, s.main_thread, WAIT_LOCK), 2);
    critical_deinit(&c);
    sketch_close(&s);
}

static void a_wait_beyond_the_end_is_for_the_thread_that_ends_it(void **state)
{
    (void)state;
    Sketch s;
    Critical c;
    open_waits(&s);
    ThreadId worker = add_thread(&s, 101, 0);
    add_state(&s, s.main_thread, WAIT_LOCK, "main;look", 10, 90, 95, worker.v + 1);
    assert_true(critical_init(&c, &s.p, s.main_thread, 20 * MS, 50 * MS));
    assert_int_equal(c.total_ns, 30 * MS);
    assert_int_equal(spent(&c, worker, WAIT_RUNNING), 30);
    critical_deinit(&c);
    sketch_close(&s);
}

static void the_longest_span_between_marks_is_found(void **state)
{
    (void)state;
    Sketch s;
    CriticalSpan span;
    Error err;
    open_waits(&s);
    MetricId begin = profile_add_metric(&s.p, STR("prog:begin"), STR(""), METRIC_SUM, STR(""));
    MetricId end = profile_add_metric(&s.p, STR("prog:end"), STR(""), METRIC_SUM, STR(""));
    ThreadId other = add_thread(&s, 101, 0);
    const int64_t begins[] = {10, 30, 80, 95}, ends[] = {20, 70, 90};
    for (size_t i = 0; i < ARRAY_LEN(begins); i++)
        profile_sample_set(&s.p, profile_add_sample(&s.p, begins[i], other, (StackId){0}, 0), begin,
                           1);
    for (size_t i = 0; i < ARRAY_LEN(ends); i++)
        profile_sample_set(&s.p, profile_add_sample(&s.p, ends[i], other, (StackId){0}, 0), end, 1);
    assert_true(critical_find_marks(&s.p, STR("begin"), STR("prog:end"), 100, &span, &err));
    assert_int_equal(span.from_ns, 30);
    assert_int_equal(span.to_ns, 70);
    assert_int_equal(span.count, 3);
    assert_int_equal(span.thread.v, other.v);
    assert_true(critical_find_marks(&s.p, STR(""), STR("end"), 100, &span, &err));
    assert_int_equal(span.to_ns, 90);
    assert_true(critical_find_marks(&s.p, STR("begin"), STR(""), 100, &span, &err));
    assert_int_equal(span.from_ns, 10);
    assert_int_equal(span.to_ns, 100);
    assert_false(critical_find_marks(&s.p, STR("begin"), STR("nothing"), 100, &span, &err));
    assert_false(critical_find_marks(&s.p, STR("end"), STR("prog"), 100, &span, &err));
    sketch_close(&s);
}

static void states_that_make_no_sense_end_the_walk(void **state)
{
    (void)state;
    Sketch s;
    Critical c;
    open_waits(&s);
    ThreadId other = add_thread(&s, 101, 0);
    // Both wait for each other until the same moment, and one ends before it begins.
    add_state(&s, s.main_thread, WAIT_LOCK, "main;a", 10, 50, 50, other.v + 1);
    add_state(&s, other, WAIT_LOCK, "main;b", 10, 50, 50, s.main_thread.v + 1);
    add_state(&s, s.main_thread, WAIT_DISK, "main;a", 60, 5, 1, 77);
    assert_true(critical_init(&c, &s.p, s.main_thread, 0, 100 * MS));
    assert_true(c.total_ns <= 100 * MS);
    critical_deinit(&c);
    assert_false(critical_init(&c, &s.p, (ThreadId){99}, 0, 100 * MS));
    sketch_close(&s);
}

static void a_lock_is_held_by_the_thread_that_had_it_longest(void **state)
{
    (void)state;
    Sketch s;
    open_waits(&s);
    Profile *p = &s.p;
    ThreadId flusher = add_thread(&s, 101, 0), first = add_thread(&s, 102, 0);
    StrId lock = profile_str(p, STR("cache_lock"));
    // Both wait from 10 on. The flusher holds the lock until 90; the first worker then has it until
    // 92, and wakes main.
    const StateRow rows[] = {
        {.thread = first,
         .start_ns = 10 * MS,
         .woken_ns = 90 * MS,
         .end_ns = 90 * MS,
         .state = WAIT_LOCK,
         .object = lock,
         .stack = sketch_stack(p, "work;get"),
         .waker = flusher.v + 1,
         .waker_stack = sketch_stack(p, "run;flush:70")},
        {.thread = s.main_thread,
         .start_ns = 10 * MS,
         .woken_ns = 92 * MS,
         .end_ns = 92 * MS,
         .state = WAIT_LOCK,
         .object = lock,
         .stack = sketch_stack(p, "main;get"),
         .waker = first.v + 1,
         .waker_stack = sketch_stack(p, "work;get:46")},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        profile_add_state(p, &rows[i]);
        profile_add_wait(p, &(WaitRow){.thread = rows[i].thread,
                                       .stack = rows[i].stack,
                                       .state = WAIT_LOCK,
                                       .object = lock,
                                       .count = 1,
                                       .blocked_ns = 80 * MS});
    }
    WaitLineVec lines = wait_lines(p, WAIT_BY_LOCK, false);
    assert_int_equal(lines.len, 1);
    assert_int_equal(lines.at[0].other.line, 70);
    assert_true(lines.at[0].other_share > 0.98); // 160 of 162 ms
    vec_free(&lines);
    sketch_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wait_leads_into_the_thread_that_ended_it),
        cmocka_unit_test(a_thread_leads_back_to_the_one_that_made_it),
        cmocka_unit_test(a_thread_that_is_told_to_end_is_innocent),
        cmocka_unit_test(a_wait_beyond_the_end_is_for_the_thread_that_ends_it),
        cmocka_unit_test(the_longest_span_between_marks_is_found),
        cmocka_unit_test(states_that_make_no_sense_end_the_walk),
        cmocka_unit_test(a_lock_is_held_by_the_thread_that_had_it_longest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
