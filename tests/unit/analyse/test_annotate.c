// SPDX-License-Identifier: Apache-2.0
// Annotation on profiles made by hand.

#include "harness.h"

#include "analyse/annotate.h"

typedef struct Fixture {
    Profile p;
    ThreadId thread;
    MetricId time, faults;
    FunctionId main, work, tiny;
    StrId file;
    FrameId main_frame, work_leaf, work_call, tiny_leaf;
} Fixture;

static FrameId frame(Fixture *f, uint64_t address, FunctionId function, uint32_t line,
                     uint8_t flags)
{
    ModuleId exe = profile_module(&f->p, MODULE_FILE, STR("/bin/prog"), STR("ab"));
    FrameId id = profile_frame(&f->p, exe, address, flags);
    profile_frame_resolve(&f->p, id, function, f->file, line);
    return id;
}

// main calls work, which runs itself at line 20, tiny inlined at line 21, and
// calls itself at line 22.
static void fixture_init(Fixture *f)
{
    profile_init(&f->p);
    f->file = profile_str(&f->p, STR("/src/a.c"));
    ProcessId process = profile_add_process(&f->p, 1, 0, (StrId){0}, 0);
    f->thread = profile_add_thread(&f->p, process, 1, (StrId){0}, 0);
    f->time = profile_add_metric(&f->p, STR("cpu time"), STR("ns"), METRIC_SUM, STR(""));
    f->faults = profile_add_metric(&f->p, STR("page-faults"), STR(""), METRIC_SUM, STR(""));
    f->main = profile_function(&f->p, STR("main"), STR("main"), STR("/src/a.c"), 1);
    f->work = profile_function(&f->p, STR("work"), STR("work"), STR("/src/a.c"), 19);
    f->tiny = profile_function(&f->p, STR("tiny"), STR("tiny"), STR("/src/a.c"), 5);
    f->main_frame = frame(f, 0x10, f->main, 2, 0);
    f->work_leaf = frame(f, 0x20, f->work, 20, FRAME_EXACT);
    f->work_call = frame(f, 0x30, f->work, 22, 0);
    f->tiny_leaf = frame(f, 0x28, f->tiny, 6, FRAME_EXACT);
    FrameId outer = profile_frame_add_inliner(&f->p, f->tiny_leaf);
    profile_frame_resolve(&f->p, outer, f->work, f->file, 21);
}

static void add(Fixture *f, MetricId metric, int64_t value, const FrameId *frames, size_t count)
{
    StackId stack = {0};
    for (size_t i = 0; i < count; i++)
        stack = profile_stack(&f->p, stack, frames[i]);
    size_t row = profile_add_sample(&f->p, 0, f->thread, stack, 0);
    profile_sample_set(&f->p, row, metric, value);
}
#define ADD(f, metric, value, ...)                                                                 \
    add(f, metric, value, (FrameId[]){__VA_ARGS__}, ARRAY_LEN(((FrameId[]){__VA_ARGS__})))

static void annotate(Fixture *f, Annotation *a, Keys *keys, FunctionId function)
{
    keys_init(keys, &f->p, BY_FUNCTION);
    uint32_t key = ANNOTATE_NO_KEY;
    for (uint32_t i = 0; function.v && i < profile_frame_count(&f->p); i++)
        if (f->p.frames.function.at[i].v == function.v)
            key = keys->of_frame[i];
    annotation_init(a, &f->p, keys, key, f->file, 2);
    for (uint32_t m = 0; m < 2; m++) {
        Selection s;
        Weights w;
        Error err;
        selection_init(&s);
        s.metric = (MetricId){m};
        assert_ok(weights_init(&w, &f->p, &s, GROUP_NONE, &err), &err);
        annotation_add(a, &w, m);
        weights_deinit(&w);
    }
    annotation_finish(a);
}

static const AnnotateLine *line_at(const Annotation *a, uint32_t line)
{
    for (size_t i = 0; i < a->lines.len; i++)
        if (a->lines.at[i].line == line)
            return &a->lines.at[i];
    fail_msg("line %u is not there", line);
    return NULL;
}

static void assert_line(const Annotation *a, uint32_t line, uint64_t self, uint64_t total,
                        size_t metric)
{
    const AnnotateLine *l = line_at(a, line);
    assert_int_equal(a->self.at[l->first_value + metric], self);
    assert_int_equal(a->total.at[l->first_value + metric], total);
}

static void lines_have_self_total_and_callees_of_each_metric(void **state)
{
    (void)state;
    Fixture f;
    Annotation a;
    Keys keys;
    fixture_init(&f);
    ADD(&f, f.time, 10, f.main_frame, f.work_leaf);
    ADD(&f, f.time, 5, f.main_frame, f.tiny_leaf);
    ADD(&f, f.time, 3, f.main_frame, f.work_call, f.work_leaf);
    ADD(&f, f.time, 2, f.main_frame);
    ADD(&f, f.faults, 7, f.main_frame, f.work_leaf);
    annotate(&f, &a, &keys, f.work);
    assert_line(&a, 20, 13, 13, 0);
    assert_line(&a, 20, 7, 7, 1);
    assert_line(&a, 21, 0, 5, 0);
    assert_line(&a, 22, 0, 3, 0);
    const AnnotateLine *inlining = line_at(&a, 21);
    assert_int_equal(inlining->callees.len, 1);
    assert_true(inlining->callees.at[0].is_inlined);
    assert_int_equal(inlining->callees.at[0].total, 5);
    const AnnotateLine *calling = line_at(&a, 22);
    assert_int_equal(calling->callees.at[0].key, a.key);
    assert_false(calling->callees.at[0].is_inlined);
    assert_int_equal(a.target_self[0], 13);
    assert_int_equal(a.target_total[0], 18);
    assert_int_equal(a.target_total[1], 7);
    assert_int_equal(a.all[0], 20);
    assert_int_equal(a.samples, 3);
    annotation_deinit(&a);
    keys_deinit(&keys);
    profile_deinit(&f.p);
}

static void recursion_counts_once_a_stack(void **state)
{
    (void)state;
    Fixture f;
    Annotation a;
    Keys keys;
    fixture_init(&f);
    ADD(&f, f.time, 4, f.main_frame, f.work_call, f.work_call, f.work_call, f.work_leaf);
    annotate(&f, &a, &keys, f.work);
    assert_line(&a, 22, 0, 4, 0);
    assert_int_equal(line_at(&a, 22)->callees.at[0].total, 4);
    assert_int_equal(a.target_total[0], 4);
    annotation_deinit(&a);
    keys_deinit(&keys);
    profile_deinit(&f.p);
}

static void addresses_have_what_stood_there_and_what_was_called(void **state)
{
    (void)state;
    Fixture f;
    Annotation a;
    Keys keys;
    fixture_init(&f);
    ADD(&f, f.time, 10, f.main_frame, f.work_leaf);
    ADD(&f, f.time, 3, f.main_frame, f.work_call, f.tiny_leaf);
    annotate(&f, &a, &keys, f.work);
    assert_int_equal(a.addresses.len, 3);
    const uint64_t want[3][3] = {{0x20, 10, 10}, {0x28, 3, 3}, {0x30, 0, 3}};
    for (size_t i = 0; i < 3; i++) {
        const AnnotateAddress *at = &a.addresses.at[i];
        assert_int_equal(at->address, want[i][0]);
        assert_int_equal(a.address_self.at[at->first_value], want[i][1]);
        assert_int_equal(a.address_total.at[at->first_value], want[i][2]);
    }
    annotation_deinit(&a);
    keys_deinit(&keys);
    profile_deinit(&f.p);
}

static void a_file_has_the_lines_of_all_its_functions(void **state)
{
    (void)state;
    Fixture f;
    Annotation a;
    Keys keys;
    fixture_init(&f);
    ADD(&f, f.time, 5, f.main_frame, f.tiny_leaf);
    annotate(&f, &a, &keys, (FunctionId){0});
    assert_line(&a, 2, 0, 5, 0);
    assert_line(&a, 6, 5, 5, 0);
    assert_line(&a, 21, 0, 5, 0);
    annotation_deinit(&a);
    keys_deinit(&keys);
    profile_deinit(&f.p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_have_self_total_and_callees_of_each_metric),
        cmocka_unit_test(recursion_counts_once_a_stack),
        cmocka_unit_test(addresses_have_what_stood_there_and_what_was_called),
        cmocka_unit_test(a_file_has_the_lines_of_all_its_functions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
