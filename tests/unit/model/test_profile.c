// SPDX-License-Identifier: Apache-2.0
// model/profile: rows are shared where they are equal, and references hold.

#include "harness.h"

#include "model/profile.h"
#include "model/schema.h"

static Profile p;
static Error err;

static int begin(void **state)
{
    (void)state;
    profile_init(&p);
    return 0;
}

static int end(void **state)
{
    (void)state;
    profile_deinit(&p);
    return 0;
}

static void row_zero_stands_for_none(void **state)
{
    (void)state;
    assert_int_equal(p.modules.path.len, 1);
    assert_int_equal(p.functions.name.len, 1);
    assert_int_equal(profile_frame_count(&p), 1);
    assert_int_equal(p.stacks.parent.len, 1);
    assert_str(profile_text(&p, (StrId){0}), "");
    assert_int_equal(profile_module(&p, MODULE_NONE, STR(""), STR("")).v, 0);
    assert_int_equal(profile_frame(&p, (ModuleId){0}, 0, 0).v, 0);
    assert_ok(profile_check(&p, &err), &err);
}

static void equal_modules_and_functions_share_a_row(void **state)
{
    (void)state;
    ModuleId a = profile_module(&p, MODULE_FILE, STR("/bin/a"), STR("01"));
    assert_int_equal(a.v, 1);
    assert_int_equal(profile_module(&p, MODULE_FILE, STR("/bin/a"), STR("01")).v, a.v);
    assert_int_equal(profile_module(&p, MODULE_FILE, STR("/bin/a"), STR("02")).v, 2);
    assert_int_equal(profile_module(&p, MODULE_JIT, STR("/bin/a"), STR("01")).v, 3);
    FunctionId f = profile_function(&p, STR("f(int)"), STR("_Z1fi"), STR("f.cc"), 3);
    assert_int_equal(profile_function(&p, STR("f(int)"), STR("_Z1fi"), STR("f.cc"), 3).v, f.v);
    assert_int_not_equal(profile_function(&p, STR("f(int)"), STR("_Z1fi"), STR("f.cc"), 4).v, f.v);
    assert_int_not_equal(profile_function(&p, STR("f(int)"), STR("_Z1fi"), STR("g.cc"), 3).v, f.v);
}

static void stacks_with_a_common_root_share_it(void **state)
{
    (void)state;
    ModuleId m = profile_module(&p, MODULE_FILE, STR("/bin/a"), STR(""));
    FrameId frame_main = profile_frame(&p, m, 0x100, 0);
    FrameId frame_a = profile_frame(&p, m, 0x200, 0);
    FrameId exact = profile_frame(&p, m, 0x200, FRAME_EXACT);
    assert_int_not_equal(frame_a.v, exact.v);
    StackId root = profile_stack(&p, (StackId){0}, frame_main);
    StackId a = profile_stack(&p, root, frame_a);
    StackId b = profile_stack(&p, root, exact);
    assert_int_equal(p.stacks.parent.len, 4);
    assert_int_equal(profile_stack(&p, root, frame_a).v, a.v);
    assert_int_equal(p.stacks.parent.at[b.v].v, root.v);
    assert_ok(profile_check(&p, &err), &err);
}

static void an_inlined_frame_leads_to_the_one_it_is_inlined_in(void **state)
{
    (void)state;
    ModuleId m = profile_module(&p, MODULE_FILE, STR("/bin/a"), STR(""));
    FrameId inner = profile_frame(&p, m, 0x100, FRAME_EXACT);
    FrameId outer = profile_frame_add_inliner(&p, inner);
    FunctionId f = profile_function(&p, STR("inner"), STR("inner"), STR("a.c"), 1);
    profile_frame_resolve(&p, inner, f, profile_str(&p, STR("a.c")), 12);
    assert_int_equal(p.frames.inlined_in.at[inner.v].v, outer.v);
    assert_int_equal(p.frames.inlined_in.at[outer.v].v, 0);
    assert_int_equal(p.frames.address.at[outer.v], 0x100);
    assert_int_equal(p.frames.line.at[inner.v], 12);
    assert_int_equal(p.frames.function.at[outer.v].v, 0);
    // The raw place is still the innermost frame.
    assert_int_equal(profile_frame(&p, m, 0x100, FRAME_EXACT).v, inner.v);
    assert_ok(profile_check(&p, &err), &err);
}

static void named_frames_are_shared_and_stay_apart_from_raw_ones(void **state)
{
    (void)state;
    ModuleId m = profile_module(&p, MODULE_FILE, STR("/bin/a"), STR(""));
    FunctionId f = profile_function(&p, STR("f"), STR("f"), STR(""), 0);
    FunctionId g = profile_function(&p, STR("g"), STR("g"), STR(""), 0);
    FrameId one = profile_named_frame(&p, m, 0, f, (StrId){0}, 1, 0);
    assert_int_equal(profile_named_frame(&p, m, 0, f, (StrId){0}, 1, 0).v, one.v);
    assert_int_not_equal(profile_named_frame(&p, m, 0, f, (StrId){0}, 2, 0).v, one.v);
    assert_int_not_equal(profile_named_frame(&p, m, 0, g, (StrId){0}, 1, 0).v, one.v);
    assert_int_not_equal(profile_frame(&p, m, 0, 0).v, one.v);
}

static void a_cut_frame_carries_its_reason(void **state)
{
    (void)state;
    FrameId cut = profile_cut_frame(&p, STACK_CUT_JIT);
    assert_int_equal(p.frames.flags.at[cut.v], FRAME_CUT);
    assert_int_equal(p.frames.address.at[cut.v], STACK_CUT_JIT);
    assert_int_equal(profile_cut_frame(&p, STACK_CUT_JIT).v, cut.v);
    for (int i = 0; i < STACK_CUT_COUNT; i++)
        assert_true(strlen(stack_cut_name((StackCut)i)) > 0);
}

static void a_late_metric_is_zero_in_the_samples_before_it(void **state)
{
    (void)state;
    ProcessId process = profile_add_process(&p, 10, 1, profile_str(&p, STR("prog")), TIME_NONE);
    ThreadId thread = profile_add_thread(&p, process, 11, profile_str(&p, STR("worker")), 5);
    MetricId time =
        profile_add_metric(&p, STR("cpu time"), STR("ns"), METRIC_SUM, STR("cpu-clock:u"));
    size_t first = profile_add_sample(&p, 100, thread, (StackId){0}, 0);
    profile_sample_set(&p, first, time, 1000);
    MetricId faults = profile_add_metric(&p, STR("faults"), STR(""), METRIC_SUM, STR(""));
    size_t second = profile_add_sample(&p, 200, thread, (StackId){0}, SAMPLE_CPU_NONE);
    profile_sample_set(&p, second, faults, 7);
    assert_int_equal(p.samples.values[time.v].at[first], 1000);
    assert_int_equal(p.samples.values[faults.v].at[first], 0);
    assert_int_equal(p.samples.values[time.v].at[second], 0);
    assert_int_equal(p.samples.values[faults.v].at[second], 7);
    assert_ok(profile_check(&p, &err), &err);
}

static void the_last_value_of_a_fact_wins(void **state)
{
    (void)state;
    uint64_t v = 3;
    assert_str(profile_fact(&p, STR("k")), "");
    assert_false(profile_fact_u64(&p, STR("k"), &v));
    profile_set_fact(&p, STR("k"), STR("x"));
    assert_false(profile_fact_u64(&p, STR("k"), &v));
    assert_int_equal(v, 3);
    profile_set_fact(&p, STR("k"), STR("12"));
    assert_true(profile_fact_u64(&p, STR("k"), &v));
    assert_int_equal(v, 12);
    assert_int_equal(p.facts.key.len, 1);
}

static void a_source_line_is_kept_once_and_notes_in_order(void **state)
{
    (void)state;
    StrId file = profile_str(&p, STR("a.c"));
    profile_source_line(&p, file, 3, STR("    return 0;"));
    profile_source_line(&p, file, 3, STR("other"));
    profile_source_line(&p, file, 4, STR("}"));
    assert_int_equal(p.source_lines.file.len, 2);
    assert_str(profile_text(&p, p.source_lines.text.at[0]), "    return 0;");
    profile_note(&p, NOTE_WARNING, STR("lost-samples"), "%d lost", 5);
    profile_note(&p, NOTE_INFO, STR("event"), "cpu-clock");
    assert_str(profile_text(&p, p.notes.text.at[0]), "5 lost");
    assert_str(profile_text(&p, p.notes.key.at[1]), "event");
}

static void a_reference_to_no_row_is_found(void **state)
{
    (void)state;
    ModuleId m = profile_module(&p, MODULE_FILE, STR("/bin/a"), STR(""));
    FrameId frame = profile_frame(&p, m, 0x100, 0);
    StackId stack = profile_stack(&p, (StackId){0}, frame);
    assert_ok(profile_check(&p, &err), &err);
    p.frames.module.at[frame.v].v = 99;
    assert_error(profile_check(&p, &err), &err, ERROR_FORMAT, "frame");
    p.frames.module.at[frame.v] = m;
    p.stacks.frame.at[stack.v].v = 99;
    assert_error(profile_check(&p, &err), &err, ERROR_FORMAT, "stack");
    p.stacks.frame.at[stack.v] = frame;
    p.stacks.parent.at[stack.v] = stack; // its own parent: a walk would not end
    assert_error(profile_check(&p, &err), &err, ERROR_FORMAT, "stack");
    p.stacks.parent.at[stack.v].v = 0;
    p.frames.inlined_in.at[frame.v] = frame; // inlined in itself
    assert_error(profile_check(&p, &err), &err, ERROR_FORMAT, "frame");
}

static void columns_of_unequal_length_are_found(void **state)
{
    (void)state;
    profile_add_process(&p, 10, 1, (StrId){0}, 0);
    p.processes.end_ns.len = 0;
    assert_error(profile_check(&p, &err), &err, ERROR_FORMAT, "process");
}

static void kept_rows_of_a_table_move_up_in_every_column(void **state)
{
    (void)state;
    StrId file = profile_str(&p, STR("a.c"));
    for (uint32_t line = 1; line <= 4; line++) {
        vec_push(&p.arena, &p.line_counts.file, file);
        vec_push(&p.arena, &p.line_counts.line, line);
        vec_push(&p.arena, &p.line_counts.count, 10 * line);
    }
    U32Vec kept = {0};
    vec_push(NULL, &kept, 1);
    vec_push(NULL, &kept, 3);
    profile_keep_rows(&p, TABLE_LINE_COUNTS, &kept);
    assert_int_equal(p.line_counts.file.len, 2);
    assert_int_equal(p.line_counts.line.at[0], 2);
    assert_int_equal(p.line_counts.count.at[1], 40);
    assert_ok(profile_check(&p, &err), &err);
    kept.len = 0;
    profile_keep_rows(&p, TABLE_LINE_COUNTS, &kept);
    assert_int_equal(p.line_counts.count.len, 0);
    vec_free(&kept);
}

static void a_run_comes_back_as_it_was_added(void **state)
{
    (void)state;
    RunRow run = RUN_NOT_KNOWN;
    run.name = profile_str(&p, STR("./new"));
    run.user_ns = 12;
    run.status = 130;
    run.position = 1;
    (void)profile_add_run(&p, &RUN_NOT_KNOWN);
    RunRow back = profile_run(&p, profile_add_run(&p, &run));
    assert_str(profile_text(&p, back.name), "./new");
    assert_int_equal(back.user_ns, 12);
    assert_true(back.wall_ns == TIME_NONE);
    assert_int_equal(back.status, 130);
    assert_int_equal(back.position, 1);
    assert_true(profile_run(&p, (RunId){0}).status == RUN_STATUS_NONE);
    assert_ok(profile_check(&p, &err), &err);
}

static void a_value_of_no_run_is_found(void **state)
{
    (void)state;
    MetricId metric = profile_add_metric(&p, STR("cycles"), STR(""), METRIC_SUM, STR("cycles"));
    profile_add_run_value(&p, (RunId){0}, metric, 1);
    assert_error(profile_check(&p, &err), &err, ERROR_FORMAT, "run values");
}

static void folding_adds_up_what_is_older_and_keeps_the_rest(void **state)
{
    (void)state;
    ProcessId process = profile_add_process(&p, 1, 0, (StrId){0}, 0);
    ThreadId thread = profile_add_thread(&p, process, 1, (StrId){0}, 0);
    ThreadId other = profile_add_thread(&p, process, 2, (StrId){0}, 0);
    MetricId time =
        profile_add_metric(&p, STR("cpu time"), STR("ns"), METRIC_SUM, STR("cpu-clock"));
    StackId stack = profile_stack(&p, (StackId){0}, profile_frame(&p, (ModuleId){0}, 1, 0));
    const struct {
        int64_t at;
        ThreadId thread;
    } samples[] = {{1, thread}, {2, other}, {3, thread}, {10, thread}, {11, other}};
    for (size_t i = 0; i < ARRAY_LEN(samples); i++)
        profile_sample_set(&p, profile_add_sample(&p, samples[i].at, samples[i].thread, stack, 0),
                           time, (int64_t)i + 1);
    profile_fold_samples(&p, 10);
    assert_int_equal(p.samples.stack.len, 4);
    assert_int_equal(p.samples.values[0].at[0], 4); // 1 + 3
    assert_int_equal(p.samples.time_ns.at[0], TIME_NONE);
    assert_int_equal(p.samples.values[0].at[1], 2);
    assert_int_equal(p.samples.thread.at[1].v, other.v);
    assert_int_equal(p.samples.time_ns.at[2], 10);
    profile_fold_samples(&p, 11);
    assert_int_equal(p.samples.stack.len, 3);
    assert_int_equal(p.samples.values[0].at[0], 8);
    assert_int_equal(p.samples.time_ns.at[2], 11);
    assert_ok(profile_check(&p, &err), &err);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(row_zero_stands_for_none),
        TEST(equal_modules_and_functions_share_a_row),
        TEST(stacks_with_a_common_root_share_it),
        TEST(an_inlined_frame_leads_to_the_one_it_is_inlined_in),
        TEST(named_frames_are_shared_and_stay_apart_from_raw_ones),
        TEST(a_cut_frame_carries_its_reason),
        TEST(a_late_metric_is_zero_in_the_samples_before_it),
        TEST(the_last_value_of_a_fact_wins),
        TEST(a_source_line_is_kept_once_and_notes_in_order),
        TEST(a_reference_to_no_row_is_found),
        TEST(columns_of_unequal_length_are_found),
        TEST(a_run_comes_back_as_it_was_added),
        TEST(a_value_of_no_run_is_found),
        TEST(kept_rows_of_a_table_move_up_in_every_column),
        TEST(folding_adds_up_what_is_older_and_keeps_the_rest),
    };
    return RUN_TESTS(tests);
}
