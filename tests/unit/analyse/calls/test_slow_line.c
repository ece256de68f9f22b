// SPDX-License-Identifier: Apache-2.0
// What one call did, in order: steps touch each other and fill the call.

#include "../sketch.h"
#include "analyse/calls/slow_line.h"
#include "harness.h"
#include "model/facts.h"

enum { US = 1000 };

static StackId stack_of(Sketch *s, Str root, Str leaf)
{
    StackId stack = profile_stack(&s->p, (StackId){0}, sketch_frame(&s->p, root));
    return leaf.len ? profile_stack(&s->p, stack, sketch_frame(&s->p, leaf)) : stack;
}

static void add_sample(Sketch *s, int64_t at_us, StackId stack)
{
    size_t row = profile_add_sample(&s->p, at_us * US, s->main_thread, stack, 0);
    profile_sample_set(&s->p, row, s->time, 1000 * US);
}

static uint32_t add_call(Sketch *s, int64_t begin_us, int64_t end_us)
{
    return profile_add_call(&s->p, &(CallRow){.frame = sketch_frame(&s->p, STR("handle")),
                                              .thread = s->main_thread,
                                              .begin_ns = begin_us * US,
                                              .end_ns = end_us * US});
}

static void add_wait(Sketch *s, WaitClass state, int64_t start, int64_t woken, int64_t end,
                     uint32_t waker)
{
    profile_add_state(&s->p, &(StateRow){.thread = s->main_thread,
                                         .start_ns = start * US,
                                         .woken_ns = woken * US,
                                         .end_ns = end * US,
                                         .state = state,
                                         .object = profile_str(&s->p, STR("cache_lock")),
                                         .stack = stack_of(s, STR("handle"), STR("lookup")),
                                         .waker = waker,
                                         .waker_stack = stack_of(s, STR("flush"), STR(""))});
}

static void expect_step(const CallSteps *steps, size_t i, CallStepKind kind, int64_t begin_us,
                        int64_t end_us)
{
    assert_true(i < steps->len);
    assert_int_equal(steps->at[i].kind, kind);
    assert_int_equal(steps->at[i].begin_ns, begin_us * US);
    assert_int_equal(steps->at[i].end_ns, end_us * US);
}

static void expect_place(const Sketch *s, WaitPlace place, Str name)
{
    FunctionId f = s->p.frames.function.at[place.frame.v];
    assert_true(str_equal(profile_text(&s->p, s->p.functions.name.at[f.v]), name));
}

static void steps_are_what_the_thread_did(void **state)
{
    (void)state;
    Sketch s = {0};
    sketch_open(&s);
    profile_set_fact(&s.p, STR(FACT_WAITS), STR("bpf"));
    StackId parse = stack_of(&s, STR("handle"), STR("parse"));
    StackId copy = stack_of(&s, STR("handle"), STR("copy"));
    uint32_t call = add_call(&s, 100, 1000);
    add_sample(&s, 50, copy); // before the call
    add_sample(&s, 150, parse);
    add_sample(&s, 200, parse);
    add_sample(&s, 260, copy);
    add_sample(&s, 1100, copy);                     // and behind it
    add_wait(&s, WAIT_LOCK, 300, 700, 800, 1);      // it is woken before it has a processor
    add_wait(&s, WAIT_RUNNABLE, 900, 900, 1200, 0); // which goes on when the call has ended
    add_wait(&s, WAIT_LOCK, 20, 90, 100, 0);        // ended as the call began
    CallSteps steps = call_steps(&s.p, call);
    assert_int_equal(steps.len, 6);
    expect_step(&steps, 0, CALL_STEP_RUNS, 100, 230);
    expect_place(&s, steps.at[0].place, STR("parse"));
    assert_int_equal(steps.at[0].samples, 2);
    expect_step(&steps, 1, CALL_STEP_RUNS, 230, 300);
    expect_place(&s, steps.at[1].place, STR("copy"));
    expect_step(&steps, 2, CALL_STEP_WAITS, 300, 700);
    expect_place(&s, steps.at[2].place, STR("lookup"));
    assert_int_equal(steps.at[2].state, WAIT_LOCK);
    assert_int_equal(steps.at[2].waker, 1);
    expect_place(&s, steps.at[2].waker_place, STR("flush"));
    expect_step(&steps, 3, CALL_STEP_QUEUES, 700, 800);
    expect_step(&steps, 4, CALL_STEP_RUNS, 800, 900);
    assert_int_equal(steps.at[4].samples, 0);
    expect_step(&steps, 5, CALL_STEP_QUEUES, 900, 1000);
    vec_free(&steps);
    sketch_close(&s);
}

static void without_waits_the_rest_is_not_said_to_run(void **state)
{
    (void)state;
    Sketch s = {0};
    sketch_open(&s);
    uint32_t call = add_call(&s, 100, 1000);
    CallSteps steps = call_steps(&s.p, call);
    assert_int_equal(steps.len, 1);
    expect_step(&steps, 0, CALL_STEP_UNSEEN, 100, 1000);
    vec_free(&steps);
    call = add_call(&s, 2000, 2000); // an empty one
    steps = call_steps(&s.p, call);
    assert_int_equal(steps.len, 0);
    vec_free(&steps);
    sketch_close(&s);
}

static void waits_that_overlap_do_not_count_twice(void **state)
{
    (void)state;
    Sketch s = {0};
    sketch_open(&s);
    profile_set_fact(&s.p, STR(FACT_WAITS), STR("bpf"));
    uint32_t call = add_call(&s, 0, 1000);
    add_wait(&s, WAIT_LOCK, -50, 400, 400, 0); // of a damaged file
    add_wait(&s, WAIT_SLEEP, 300, 2000, 3000, 0);
    CallSteps steps = call_steps(&s.p, call);
    assert_int_equal(steps.len, 2);
    expect_step(&steps, 0, CALL_STEP_WAITS, 0, 400);
    expect_step(&steps, 1, CALL_STEP_WAITS, 400, 1000);
    vec_free(&steps);
    sketch_close(&s);
}

// A file can claim a call with any number of waits and samples: each is looked at once.
static void a_call_of_many_steps_ends(void **state)
{
    (void)state;
    enum { MANY = 300000 };
    Sketch s = {0};
    sketch_open(&s);
    profile_set_fact(&s.p, STR(FACT_WAITS), STR("bpf"));
    StackId parse = stack_of(&s, STR("handle"), STR("parse"));
    uint32_t call = add_call(&s, 0, 10 * (int64_t)MANY);
    for (int64_t i = 0; i < MANY; i++) {
        add_sample(&s, 10 * i + 2, parse);
        add_wait(&s, WAIT_LOCK, 10 * i + 5, 10 * i + 9, 10 * i + 10, 0);
    }
    CallSteps steps = call_steps(&s.p, call);
    assert_int_equal(steps.len, 3 * MANY);
    assert_int_equal(vec_last(&steps).end_ns, 10 * (int64_t)MANY * US);
    vec_free(&steps);
    sketch_close(&s);
}

// The thread of a goroutine runs others while it is parked, and it may go on on another thread.
static void steps_of_a_goroutine_are_within_the_call(void **state)
{
    (void)state;
    Sketch s = {0};
    sketch_open(&s);
    profile_set_fact(&s.p, STR(FACT_WAITS), STR("bpf"));
    ThreadId other = profile_add_thread(&s.p, s.p.threads.process.at[s.main_thread.v], 101,
                                        profile_str(&s.p, STR("prog")), 0);
    StackId parse = stack_of(&s, STR("handle"), STR("parse"));
    uint32_t call = add_call(&s, 100, 1000);
    profile_add_call_value(&s.p, call, profile_str(&s.p, STR("goroutine")), 18);
    profile_add_call_value(&s.p, call, profile_str(&s.p, STR("end_thread")), 101);
    add_sample(&s, 150, parse);
    add_sample(&s, 500, stack_of(&s, STR("collect"), STR(""))); // of another goroutine
    profile_add_state(&s.p, &(StateRow){.thread = s.main_thread,
                                        .start_ns = 600 * US,
                                        .woken_ns = 700 * US,
                                        .end_ns = 700 * US,
                                        .state = WAIT_LOCK,
                                        .stack = stack_of(&s, STR("park"), STR(""))});
    profile_add_state(&s.p, &(StateRow){.thread = other,
                                        .start_ns = 800 * US,
                                        .woken_ns = 900 * US,
                                        .end_ns = 900 * US,
                                        .state = WAIT_DISK,
                                        .stack = stack_of(&s, STR("handle"), STR("read"))});
    CallSteps steps = call_steps(&s.p, call);
    assert_int_equal(steps.len, 4);
    expect_step(&steps, 0, CALL_STEP_RUNS, 100, 150);
    expect_place(&s, steps.at[0].place, STR("parse"));
    expect_step(&steps, 1, CALL_STEP_APART, 150, 800);
    expect_step(&steps, 2, CALL_STEP_WAITS, 800, 900);
    assert_int_equal(steps.at[2].state, WAIT_DISK);
    expect_step(&steps, 3, CALL_STEP_APART, 900, 1000);
    vec_free(&steps);
    sketch_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_are_what_the_thread_did),
        cmocka_unit_test(without_waits_the_rest_is_not_said_to_run),
        cmocka_unit_test(waits_that_overlap_do_not_count_twice),
        cmocka_unit_test(a_call_of_many_steps_ends),
        cmocka_unit_test(steps_of_a_goroutine_are_within_the_call),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
