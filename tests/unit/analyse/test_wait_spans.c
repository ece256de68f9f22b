// SPDX-License-Identifier: Apache-2.0
// What threads did over time, out of their single waits.

#include "analyse/wait/wait_spans.h"

#include "harness.h"
#include "model/facts.h"
#include "sketch.h"

enum { MS = 1000000 };

static ThreadId add_thread(Sketch *s, uint32_t tid, int64_t start_ns, int64_t end_ns)
{
    ThreadId t = profile_add_thread(&s->p, s->p.threads.process.at[0], tid,
                                    profile_str(&s->p, STR("t")), start_ns);
    s->p.threads.end_ns.at[t.v] = end_ns;
    return t;
}

static void add_state(Sketch *s, ThreadId thread, WaitClass class, int64_t start_ms,
                      int64_t woken_ms, int64_t end_ms, uint32_t waker)
{
    profile_add_state(&s->p, &(StateRow){.thread = thread,
                                         .start_ns = start_ms * MS,
                                         .woken_ns = woken_ms * MS,
                                         .end_ns = end_ms * MS,
                                         .state = class,
                                         .object = profile_str(&s->p, STR("mutex")),
                                         .stack = sketch_stack(&s->p, "main;look"),
                                         .waker = waker});
}

static void is_span(const WaitSpan *span, ThreadId thread, WaitClass class, int64_t start_ms,
                    int64_t end_ms)
{
    assert_int_equal(span->thread.v, thread.v);
    assert_int_equal(span->state, class);
    assert_int_equal(span->start_ns, start_ms * MS);
    assert_int_equal(span->end_ns, end_ms * MS);
}

// main waits from 10 to 40, is given a processor at 50 and ends at 70; a worker that was there
// before the recording sleeps from 5 to 30, and wakes main.
static void open_waits(Sketch *s, ThreadId *worker, const char *how)
{
    sketch_open(s);
    profile_set_fact(&s->p, STR(FACT_WAITS), str_from_c(how));
    profile_set_fact(&s->p, STR(FACT_WALL_NS), STR("70000000"));
    *worker = add_thread(s, 101, TIME_NONE, 60 * MS);
    add_state(s, *worker, WAIT_SLEEP, 5, 30, 30, 0);
    add_state(s, s->main_thread, WAIT_LOCK, 10, 40, 50, worker->v + 1);
}

static void stretches_have_no_gaps(void **state)
{
    (void)state;
    Sketch s;
    ThreadId worker;
    WaitSpans w;
    Selection all;
    selection_init(&all);
    open_waits(&s, &worker, "bpf");
    wait_spans_init(&w, &s.p, &all);
    assert_int_equal(w.spans.len, 6);
    is_span(&w.spans.at[0], s.main_thread, WAIT_RUNNING, 0, 10);
    is_span(&w.spans.at[1], s.main_thread, WAIT_LOCK, 10, 40);
    is_span(&w.spans.at[2], s.main_thread, WAIT_RUNNABLE, 40, 50);
    is_span(&w.spans.at[3], s.main_thread, WAIT_RUNNING, 50, 70);
    is_span(&w.spans.at[4], worker, WAIT_SLEEP, 5, 30);
    is_span(&w.spans.at[5], worker, WAIT_RUNNING, 30, 60);
    assert_int_equal(w.spans.at[1].waker, worker.v + 1);
    assert_int_equal(w.arrows.len, 1);
    assert_int_equal(w.arrows.at[0].from.v, worker.v);
    assert_int_equal(w.arrows.at[0].to.v, s.main_thread.v);
    assert_int_equal(w.arrows.at[0].time_ns, 40 * MS);
    StrBuf name = {0};
    wait_span_add_name(&s.p, &w.spans.at[1], &name);
    assert_true(str_equal(strbuf_str(&name), STR("lock mutex")));
    strbuf_deinit(&name);
    wait_spans_deinit(&w);
    sketch_close(&s);
}

static void between_looks_nothing_is_known(void **state)
{
    (void)state;
    Sketch s;
    ThreadId worker;
    WaitSpans w;
    Selection all;
    selection_init(&all);
    open_waits(&s, &worker, "looks at /proc");
    wait_spans_init(&w, &s.p, &all);
    assert_int_equal(w.spans.len, 3);
    is_span(&w.spans.at[0], s.main_thread, WAIT_LOCK, 10, 40);
    wait_spans_deinit(&w);
    sketch_close(&s);
}

static void a_selection_cuts_spans(void **state)
{
    (void)state;
    Sketch s;
    ThreadId worker;
    WaitSpans w;
    Selection some;
    selection_init(&some);
    some.from_ns = 20 * MS;
    some.to_ns = 45 * MS;
    open_waits(&s, &worker, "bpf");
    wait_spans_init(&w, &s.p, &some);
    assert_int_equal(w.spans.len, 4);
    is_span(&w.spans.at[0], s.main_thread, WAIT_LOCK, 20, 40);
    is_span(&w.spans.at[1], s.main_thread, WAIT_RUNNABLE, 40, 45);
    is_span(&w.spans.at[3], worker, WAIT_RUNNING, 30, 45);
    assert_int_equal(w.arrows.len, 1);
    wait_spans_deinit(&w);
    U32Vec tids = {0};
    vec_push(NULL, &tids, 101);
    selection_init(&some);
    some.tids = &tids;
    wait_spans_init(&w, &s.p, &some);
    assert_int_equal(w.spans.len, 2);
    assert_int_equal(w.arrows.len, 0);
    wait_spans_deinit(&w);
    vec_free(&tids);
    selection_init(&some);
    some.focus = "look";
    wait_spans_init(&w, &s.p, &some);
    assert_int_equal(w.spans.len + w.arrows.len, 0);
    wait_spans_deinit(&w);
    sketch_close(&s);
}

static void damaged_and_overlapping_waits_do_not_overlap(void **state)
{
    (void)state;
    Sketch s;
    WaitSpans w;
    ThreadId worker;
    Selection all;
    selection_init(&all);
    open_waits(&s, &worker, "bpf");
    add_state(&s, s.main_thread, WAIT_DISK, 45, 20, 55, 0); // woken before its begin
    add_state(&s, s.main_thread, WAIT_DISK, 65, 66, 60, 0); // ends before its begin
    profile_add_state(&s.p, &(StateRow){.thread = s.main_thread,
                                        .start_ns = INT64_MIN + 1,
                                        .woken_ns = 0,
                                        .end_ns = INT64_MAX});
    s.p.states.waker.at[0] = 4000000; // a thread that is not there
    s.p.states.state.at[0] = 200;     // a class that this version does not know
    wait_spans_init(&w, &s.p, &all);
    for (size_t i = 0; i < w.spans.len; i++)
        assert_true(w.spans.at[i].state < WAIT_CLASS_COUNT &&
                    w.spans.at[i].waker <= s.p.threads.tid.len);
    for (size_t i = 0; i + 1 < w.spans.len; i++) {
        assert_true(w.spans.at[i].start_ns < w.spans.at[i].end_ns);
        if (w.spans.at[i].thread.v == w.spans.at[i + 1].thread.v)
            assert_true(w.spans.at[i].end_ns <= w.spans.at[i + 1].start_ns);
    }
    is_span(&w.spans.at[3], s.main_thread, WAIT_RUNNABLE, 50, 55);
    wait_spans_deinit(&w);
    sketch_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stretches_have_no_gaps),
        cmocka_unit_test(between_looks_nothing_is_known),
        cmocka_unit_test(a_selection_cuts_spans),
        cmocka_unit_test(damaged_and_overlapping_waits_do_not_overlap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
