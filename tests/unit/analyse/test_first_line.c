// SPDX-License-Identifier: Apache-2.0
// Which line to look at first.

#include "analyse/survey/first_line.h"
#include "harness.h"
#include "sketch.h"

static const HeapAdviceVec no_advice = {0};

static FirstLine choose(LineCosts *c, Sketch *s)
{
    Error err;
    line_costs_init(c);
    assert_true(line_costs_add_cpu(c, &s->p, &err));
    line_costs_add_waits(c, &s->p);
    line_costs_finish(c);
    return first_line_choose(c, NULL, &no_advice);
}

static void close_all(LineCosts *c, Sketch *s)
{
    line_costs_deinit(c);
    sketch_close(s);
}

static void the_hottest_line_comes_first(void **state)
{
    Sketch s;
    LineCosts c;
    (void)state;
    sketch_open(&s);
    sketch_add(&s, "main;a:20", 70);
    sketch_add(&s, "main;b:30", 30);
    FirstLine first = choose(&c, &s);
    assert_int_equal(first.reason, FIRST_CPU);
    assert_int_equal(first.line.line, 20);
    assert_true(str_equal(first.line.function, STR("a")));
    assert_true(first.stands_out && first.share > 0.69 && first.share < 0.71);
    assert_true(first.next_share > 0.29 && first.next_share < 0.31);
    close_all(&c, &s);
}

static void time_in_the_allocator_counts_for_its_caller(void **state)
{
    Sketch s;
    LineCosts c;
    (void)state;
    sketch_open(&s);
    sketch_add(&s, "main;keeps:20;malloc", 40);
    sketch_add(&s, "main;keeps:20", 15);
    sketch_add(&s, "main;other:30", 45);
    FirstLine first = choose(&c, &s);
    assert_int_equal(first.line.line, 20);
    assert_int_equal(first.line.cpu, 55);
    assert_int_equal(first.line.cpu_below[BELOW_ALLOCATOR], 40);
    assert_int_equal(first.line.cpu_below[BELOW_NOTHING], 15);
    assert_int_equal(c.cpu_in_allocator, 40);
    assert_true(str_equal(first.line.callee, STR("malloc")));
    close_all(&c, &s);
}

static void time_in_the_kernel_counts_for_its_caller(void **state)
{
    Sketch s;
    LineCosts c;
    (void)state;
    sketch_open(&s);
    sketch_add(&s, "main;writes:20;k!vfs_write", 60);
    sketch_add(&s, "main;a:30", 40);
    FirstLine first = choose(&c, &s);
    assert_int_equal(first.line.line, 20);
    assert_int_equal(first.line.cpu_below[BELOW_KERNEL], 60);
    close_all(&c, &s);
}

// A frame of a header of the system, called at "outer:20".
static StackId stack_into(Profile *p, const char *file)
{
    ModuleId program = profile_module(p, MODULE_FILE, STR("/bin/prog"), STR("abcd"));
    FunctionId lock = profile_function(p, STR("lock"), STR("lock"), str_from_c(file), 1);
    FrameId frame =
        profile_named_frame(p, program, 0x9000, lock, profile_str(p, str_from_c(file)), 7, 0);
    return profile_stack(p, sketch_stack(p, "main;outer:20"), frame);
}

static void headers_of_the_system_are_not_the_programs(void **state)
{
    static const char *const files[] = {"/usr/include/x86_64-linux-gnu/c++/12/bits/gthr-default.h",
                                        "/usr/lib/python3.11/json/decoder.py",
                                        "/root/.cargo/registry/src/index/serde-1.0/src/de.rs",
                                        "<frozen importlib._bootstrap>"};
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        Sketch s;
        LineCosts c;
        sketch_open(&s);
        size_t sample = profile_add_sample(&s.p, 0, s.main_thread, stack_into(&s.p, files[i]), 0);
        profile_sample_set(&s.p, sample, s.time, 50);
        FirstLine first = choose(&c, &s);
        assert_int_equal(first.line.line, 20);
        assert_int_equal(first.line.cpu_below[BELOW_LIBRARY], 50);
        close_all(&c, &s);
    }
}

static void inlined_code_has_its_own_line(void **state)
{
    Sketch s;
    LineCosts c;
    (void)state;
    sketch_open(&s);
    sketch_add(&s, "main;outer:20;=inner:50", 60);
    sketch_add(&s, "main;outer:20", 40);
    FirstLine first = choose(&c, &s);
    assert_int_equal(first.line.line, 50);
    assert_true(str_equal(first.line.function, STR("inner")));
    close_all(&c, &s);
}

static void a_flat_program_gives_the_hottest_line_of_its_hottest_function(void **state)
{
    Sketch s;
    LineCosts c;
    (void)state;
    sketch_open(&s);
    // One line with 9 %, and a function of 14 lines that has 8 % at most in each.
    sketch_add(&s, "main;single:5", 9);
    for (int i = 0; i < 14; i++) {
        char stack[64];
        snprintf(stack, sizeof(stack), "main;wide:%d", 100 + i);
        sketch_add(&s, stack, i == 3 ? 8 : 7);
    }
    FirstLine first = choose(&c, &s);
    assert_false(first.stands_out);
    assert_int_equal(first.line.line, 103);
    assert_true(first.function_share > 0.8);
    close_all(&c, &s);
}

static void a_long_wait_comes_before_a_hot_line(void **state)
{
    Sketch s;
    LineCosts c;
    (void)state;
    sketch_open(&s);
    sketch_add(&s, "main;a:20", 30);
    WaitRow row = {.thread = s.main_thread,
                   .stack = sketch_stack(&s.p, "main;reads:40"),
                   .state = WAIT_DISK,
                   .object = profile_str(&s.p, STR("/data/file")),
                   .count = 1,
                   .blocked_ns = 100,
                   .longest_ns = 100};
    (void)profile_add_wait(&s.p, &row);
    FirstLine first = choose(&c, &s);
    assert_int_equal(first.reason, FIRST_WAIT);
    assert_int_equal(first.line.line, 40);
    assert_int_equal(first.line.wait_state, WAIT_DISK);
    assert_true(str_equal(first.line.wait_object, STR("/data/file")));
    close_all(&c, &s);
}

static void waiting_for_a_processor_is_nobodys_line(void **state)
{
    Sketch s;
    LineCosts c;
    (void)state;
    sketch_open(&s);
    sketch_add(&s, "main;a:20", 30);
    WaitRow row = {.thread = s.main_thread,
                   .stack = sketch_stack(&s.p, "main;reads:40"),
                   .state = WAIT_RUNNABLE,
                   .count = 1,
                   .blocked_ns = 100};
    (void)profile_add_wait(&s.p, &row);
    FirstLine first = choose(&c, &s);
    assert_int_equal(first.reason, FIRST_CPU);
    assert_int_equal(first.line.line, 20);
    close_all(&c, &s);
}

static void without_lines_the_function_is_named(void **state)
{
    Sketch s;
    LineCosts c;
    (void)state;
    sketch_open(&s);
    sketch_add(&s, "k!start;k!busy", 30);
    FirstLine first = choose(&c, &s);
    assert_int_equal(first.reason, FIRST_NOTHING);
    assert_true(str_equal(c.top_functions[0].name, STR("busy")));
    assert_int_equal(c.cpu_without_line, 30);
    close_all(&c, &s);
}

static void nothing_recorded_names_nothing(void **state)
{
    Sketch s;
    LineCosts c;
    (void)state;
    sketch_open(&s);
    FirstLine first = choose(&c, &s);
    assert_int_equal(first.reason, FIRST_NOTHING);
    assert_int_equal(c.top_functions[0].name.len, 0);
    close_all(&c, &s);
}

// A recording of the heap in which "turns:60" allocates all blocks.
static void open_heap(Sketch *heap)
{
#define ADD(name, text, unit, kind, which)                                                         \
    (void)profile_add_metric(&heap->p, STR(text), STR(unit), kind, STR(""));
    profile_init(&heap->p);
    HEAP_METRICS(ADD)
#undef ADD
    ProcessId process = profile_add_process(&heap->p, 1, 0, profile_str(&heap->p, STR("p")), 0);
    heap->main_thread = profile_add_thread(&heap->p, process, 1, (StrId){0}, 0);
    size_t i = profile_add_sample(&heap->p, TIME_NONE, heap->main_thread,
                                  sketch_stack(&heap->p, "main;turns:60;malloc"), 0);
    static const struct {
        enum HeapMetric metric;
        int64_t value;
    } values[] = {{HEAP_BLOCKS, 1000000}, {HEAP_BYTES, 64000000},      {HEAP_PEAK_BLOCKS, 1},
                  {HEAP_FREED, 1000000},  {HEAP_SHORT_LIVED, 1000000}, {HEAP_LIFETIME, 2000000},
                  {HEAP_MAX_BLOCKS, 1}};
    for (size_t k = 0; k < ARRAY_LEN(values); k++)
        profile_sample_set(&heap->p, i, (MetricId){values[k].metric}, values[k].value);
    profile_set_fact(&heap->p, STR("collector"), STR("heap"));
}

// With `in_malloc` of 100 in the allocator, below two lines, and the rest in a line of its own.
static FirstLine choose_with_heap(Sketch *s, LineCosts *c, Sketch *heap, HeapView *v,
                                  HeapAdviceVec *advice, int64_t in_malloc)
{
    Error err;
    Selection all;
    sketch_open(s);
    sketch_add(s, "main;one:21;malloc", in_malloc / 2);
    sketch_add(s, "main;two:22;free", in_malloc / 2);
    sketch_add(s, "main;three:23", 100 - in_malloc);
    open_heap(heap);
    selection_init(&all);
    assert_true(heap_view_init(v, &heap->p, &all, &err));
    *advice = heap_advice_find(v);
    assert_true(advice->len > 0);
    line_costs_init(c);
    assert_true(line_costs_add_cpu(c, &s->p, &err));
    line_costs_add_heap(c, v);
    line_costs_finish(c);
    return first_line_choose(c, v, advice);
}

static void close_heap(Sketch *s, LineCosts *c, Sketch *heap, HeapView *v, HeapAdviceVec *advice)
{
    vec_free(advice);
    heap_view_deinit(v);
    sketch_close(heap);
    close_all(c, s);
}

static void a_program_that_mostly_allocates_gets_the_line_that_does(void **state)
{
    Sketch s, heap;
    LineCosts c;
    HeapView v;
    HeapAdviceVec advice;
    (void)state;
    FirstLine first = choose_with_heap(&s, &c, &heap, &v, &advice, 80);
    assert_int_equal(first.reason, FIRST_ALLOCATOR);
    assert_int_equal(first.line.line, 60);
    assert_true(str_equal(first.line.function, STR("turns")));
    assert_true(first.share > 0.7);
    close_heap(&s, &c, &heap, &v, &advice);
}

static void a_hot_line_comes_before_advice_that_saves_less(void **state)
{
    Sketch s, heap;
    LineCosts c;
    HeapView v;
    HeapAdviceVec advice;
    (void)state;
    FirstLine first = choose_with_heap(&s, &c, &heap, &v, &advice, 20);
    assert_int_equal(first.reason, FIRST_CPU);
    assert_int_equal(first.line.line, 23);
    close_heap(&s, &c, &heap, &v, &advice);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_hottest_line_comes_first),
        cmocka_unit_test(time_in_the_allocator_counts_for_its_caller),
        cmocka_unit_test(time_in_the_kernel_counts_for_its_caller),
        cmocka_unit_test(headers_of_the_system_are_not_the_programs),
        cmocka_unit_test(inlined_code_has_its_own_line),
        cmocka_unit_test(a_flat_program_gives_the_hottest_line_of_its_hottest_function),
        cmocka_unit_test(a_long_wait_comes_before_a_hot_line),
        cmocka_unit_test(waiting_for_a_processor_is_nobodys_line),
        cmocka_unit_test(without_lines_the_function_is_named),
        cmocka_unit_test(nothing_recorded_names_nothing),
        cmocka_unit_test(a_program_that_mostly_allocates_gets_the_line_that_does),
        cmocka_unit_test(a_hot_line_comes_before_advice_that_saves_less),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
