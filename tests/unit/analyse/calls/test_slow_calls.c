// SPDX-License-Identifier: Apache-2.0
// What slow calls do that fast ones do not: planted causes, and none with labels by chance.

#include "analyse/calls/slow_calls.h"
#include "harness.h"
#include "model/facts.h"

enum { CALLS = 2000, EVERY = 50, MS = 1000000 };

// Calls of one thread, one after the other. Each computes 20 to 60 µs in `parse`, sampled at 1 kHz;
// every 50th computes 5 ms in `reparse` (cause 0), waits 8 ms for a lock (1) or sleeps 6 ms (2).
// Some of all calls, by chance, wait for a processor.
typedef struct Planted {
    Profile p;
    StackId parse, reparse, handle;
    Random random;
} Planted;

static StackId stack_of(Profile *p, ModuleId module, StackId parent, const char *name)
{
    FunctionId f = profile_function(p, str_from_c(name), STR(""), STR("srv.c"), 1);
    FrameId frame = profile_named_frame(p, module, 0, f, profile_str(p, STR("srv.c")), 1, 0);
    return profile_stack(p, parent, frame);
}

static void add_sampled(Planted *x, StackId stack, int64_t from, int64_t to)
{
    for (int64_t t = (from / MS + 1) * MS; t <= to; t += MS) {
        size_t row = profile_add_sample(&x->p, t, (ThreadId){0}, stack, 0);
        profile_sample_set(&x->p, row, (MetricId){0}, MS);
    }
}

static int64_t add_state(Planted *x, WaitClass state, const char *object, int64_t from, int64_t ns)
{
    profile_add_state(&x->p, &(StateRow){.thread = {0},
                                         .start_ns = from,
                                         .woken_ns = state == WAIT_RUNNABLE ? from : from + ns,
                                         .end_ns = from + ns,
                                         .state = state,
                                         .object = profile_str(&x->p, str_from_c(object)),
                                         .stack = x->handle});
    return from + ns;
}

static int64_t add_cause(Planted *x, uint64_t cause, int64_t t)
{
    if (cause == 1)
        return add_state(x, WAIT_LOCK, "cache_lock", t, 8 * MS);
    if (cause == 2)
        return add_state(x, WAIT_SLEEP, "", t, 6 * MS);
    add_sampled(x, x->reparse, t, t + 5 * MS);
    return t + 5 * MS;
}

static void plant(Planted *x, uint64_t seed)
{
    *x = (Planted){.random = random_seeded(seed)};
    Profile *p = &x->p;
    profile_init(p);
    profile_set_fact(p, STR(FACT_WAITS), STR("bpf"));
    profile_add_metric(p, STR("cpu time"), STR("ns"), METRIC_SUM, STR("cpu-clock"));
    ProcessId process = profile_add_process(p, 1, 0, profile_str(p, STR("srv")), 0);
    profile_add_thread(p, process, 1, profile_str(p, STR("srv")), 0);
    ModuleId module = profile_module(p, MODULE_FILE, STR("/srv"), STR(""));
    x->handle = stack_of(p, module, (StackId){0}, "handle");
    x->parse = stack_of(p, module, x->handle, "parse");
    x->reparse = stack_of(p, module, x->handle, "reparse");
    FrameId frame = p->stacks.frame.at[x->handle.v];
    int64_t t = 0;
    for (int i = 0; i < CALLS; i++) {
        int64_t begin = t, end = t + 20000 + (int64_t)random_below(&x->random, 40000);
        add_sampled(x, x->parse, t, end);
        t = end;
        if (random_below(&x->random, 10) == 0)
            t = add_state(x, WAIT_RUNNABLE, "", t, (int64_t)random_below(&x->random, 3 * MS));
        if (i % EVERY == 0)
            t = add_cause(x, random_below(&x->random, 3), t);
        profile_add_call(p, &(CallRow){.frame = frame, .begin_ns = begin, .end_ns = t});
        t += 1000;
    }
}

static bool is_planted(const Profile *p, const SlowCause *c)
{
    Str name = profile_text(p, p->functions.name.at[p->frames.function.at[c->place.frame.v].v]);
    if (c->kind == SLOW_CPU)
        return str_equal(name, STR("reparse"));
    return c->kind == SLOW_WAIT && (c->state == WAIT_LOCK || c->state == WAIT_SLEEP);
}

static void planted_causes_come_first(void **state)
{
    (void)state;
    enum { RUNS = 60 };
    int right = 0;
    for (uint64_t seed = 0; seed < RUNS; seed++) {
        Planted x;
        SlowCalls slow;
        plant(&x, seed);
        CallSummaries all = call_summaries(&x.p);
        SlowLimit limit = {.ns = 4 * MS};
        assert_true(slow_calls_compute(&x.p, &all.at[0], &limit, &slow));
        bool first = slow.causes.len >= 3;
        for (size_t i = 0; first && i < 3; i++)
            first = is_planted(&x.p, &slow.causes.at[i]) && slow.causes.at[i].is_certain;
        right += first;
        assert_true(slow.explained >= 0.95);
        slow_calls_deinit(&slow);
        call_summaries_free(&all);
        profile_deinit(&x.p);
    }
    print_message("planted causes first: %d of %d\n", right, RUNS);
    assert_true(right >= RUNS * 95 / 100);
}

static void labels_by_chance_have_no_cause(void **state)
{
    (void)state;
    enum { RUNS = 400 };
    Planted x;
    plant(&x, 1);
    CallSummaries all = call_summaries(&x.p);
    Random random = random_seeded(7);
    int wrong = 0;
    for (int run = 0; run < RUNS; run++) {
        uint8_t is_slow[CALLS] = {0};
        SlowCalls slow;
        for (int i = 0; i < CALLS / EVERY; i++)
            is_slow[random_below(&random, CALLS)] = 1;
        assert_true(slow_calls_judge(&x.p, &all.at[0], is_slow, &slow));
        bool found = false;
        for (size_t i = 0; i < slow.causes.len; i++)
            found |= slow.causes.at[i].is_certain;
        wrong += found;
        slow_calls_deinit(&slow);
    }
    print_message("false causes with shuffled labels: %d of %d\n", wrong, RUNS);
    assert_true(wrong <= RUNS * 5 / 100);
    call_summaries_free(&all);
    profile_deinit(&x.p);
}

static void without_waits_the_rest_is_off_the_processor(void **state)
{
    (void)state;
    Planted x;
    SlowCalls slow;
    plant(&x, 3);
    profile_set_fact(&x.p, STR(FACT_WAITS), STR(""));
    x.p.states = (States){0};
    CallSummaries all = call_summaries(&x.p);
    SlowLimit limit = {.part = 0.02};
    assert_true(slow_calls_compute(&x.p, &all.at[0], &limit, &slow));
    assert_int_equal(slow.slow, CALLS / EVERY);
    assert_int_equal(slow.causes.at[0].kind, SLOW_OFF_CPU);
    assert_true(slow.causes.at[0].is_certain);
    slow_calls_deinit(&slow);
    limit = (SlowLimit){.ns = (uint64_t)MS * 1000000};
    assert_false(slow_calls_compute(&x.p, &all.at[0], &limit, &slow));
    call_summaries_free(&all);
    profile_deinit(&x.p);
}

static void limits_are_parsed(void **state)
{
    (void)state;
    SlowLimit l;
    Error err;
    assert_ok(slow_limit_parse(STR("1%"), &l, &err), &err);
    assert_true(l.part > 0.0099 && l.part < 0.0101);
    assert_ok(slow_limit_parse(STR(">5ms"), &l, &err), &err);
    assert_int_equal(l.ns, 5 * MS);
    assert_ok(slow_limit_parse(STR("> 0.5 s"), &l, &err), &err);
    assert_int_equal(l.ns, 500 * MS);
    static const char *const wrong[] = {"", "5", "0%", "100%", ">", ">ms", ">5", "-1%", ">1e300s"};
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
        assert_error(slow_limit_parse(str_from_c(wrong[i]), &l, &err), &err, ERROR_USAGE, "slow");
}

static void histograms_have_every_call_near_its_bucket(void **state)
{
    (void)state;
    Planted x;
    plant(&x, 5);
    CallSummaries all = call_summaries(&x.p);
    CallBuckets b = call_histogram(&x.p, &all.at[0], 36);
    uint64_t count = 0;
    size_t at = 0;
    for (size_t i = 0; i < b.len; i++) {
        for (uint64_t k = 0; k < b.at[i].count; k++, at++) {
            double ns = (double)call_duration_ns(&x.p, all.at[0].rows.at[at]);
            assert_true(ns >= (double)b.at[i].from_ns && ns <= (double)b.at[i].from_ns * 1.03);
        }
        count += b.at[i].count;
    }
    assert_int_equal(count, CALLS);
    vec_free(&b);
    call_summaries_free(&all);
    profile_deinit(&x.p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(planted_causes_come_first),
        cmocka_unit_test(labels_by_chance_have_no_cause),
        cmocka_unit_test(without_waits_the_rest_is_off_the_processor),
        cmocka_unit_test(limits_are_parsed),
        cmocka_unit_test(histograms_have_every_call_near_its_bucket),
    };
    return RUN_TESTS(tests);
}
