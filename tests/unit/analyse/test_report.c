// SPDX-License-Identifier: Apache-2.0
// Weights, trees and tables over profiles made by hand.

#include "analyse/report.h"

#include "analyse/program_self.h"
#include "analyse/sketch.h"
#include "harness.h"
#include "model/facts.h"

#include <math.h>

// The report refers to its own parts, so it is made where it stays.
static void report_of(Report *r, const Sketch *s, ReportRequest request)
{
    Error err = {0};
    assert_true(report_init(r, &s->p, &request, &err));
}

static ReportRequest by(By what)
{
    ReportRequest request = {.by = what, .want_lines = true, .want_tree = true};
    selection_init(&request.selection);
    return request;
}

static const FlatRow *row_of(const Report *r, const FlatRowVec *rows, const char *name)
{
    StrBuf text = {0};
    const FlatRow *found = NULL;
    for (size_t i = 0; i < rows->len && !found; i++) {
        strbuf_clear(&text);
        report_add_row_name(r, &rows->at[i], &text);
        if (str_equal(strbuf_str(&text), str_from_c(name)))
            found = &rows->at[i];
    }
    strbuf_deinit(&text);
    return found;
}

static void expect_row(const Report *r, const FlatRowVec *rows, const char *name, uint64_t self,
                       uint64_t total)
{
    const FlatRow *row = row_of(r, rows, name);
    if (!row)
        fail_msg("no row '%s'", name);
    assert_int_equal(row->self, self);
    assert_int_equal(row->total, total);
}

static void self_and_total_add_up(void **state)
{
    (void)state;
    Sketch s;
    sketch_open(&s);
    sketch_add(&s, "main;a;b", 10);
    sketch_add(&s, "main;a", 5);
    sketch_add(&s, "main;c;b", 7);
    sketch_add(&s, "main;a;b:20", 1);
    Report r;
    report_of(&r, &s, by(BY_FUNCTION));
    assert_int_equal(r.rows.len, 4);
    expect_row(&r, &r.rows, "main", 0, 23);
    expect_row(&r, &r.rows, "a", 5, 16);
    expect_row(&r, &r.rows, "b", 18, 18);
    expect_row(&r, &r.rows, "c", 0, 7);
    // The hottest first.
    assert_int_equal(r.rows.at[0].self, 18);
    assert_int_equal(r.weights.samples, 4);
    assert_int_equal(r.weights.rows.len, 4);
    report_deinit(&r);
    sketch_close(&s);
}

static void recursion_counts_once_a_stack(void **state)
{
    (void)state;
    Sketch s;
    sketch_open(&s);
    sketch_add(&s, "main;f;f;f", 10);
    sketch_add(&s, "main;f;g;f;g", 4);
    Report r;
    report_of(&r, &s, by(BY_FUNCTION));
    expect_row(&r, &r.rows, "f", 10, 14);
    expect_row(&r, &r.rows, "g", 4, 4);
    expect_row(&r, &r.rows, "main", 0, 14);
    uint32_t f = row_of(&r, &r.rows, "f")->key;
    FlatRowVec callers = flat_callers(&r.tree, f);
    expect_row(&r, &callers, "main", 0, 14);
    assert_int_equal(callers.len, 1);
    vec_free(&callers);
    report_deinit(&r);
    sketch_close(&s);
}

static void inlined_calls_are_functions_of_their_own(void **state)
{
    (void)state;
    Sketch s;
    sketch_open(&s);
    sketch_add(&s, "main;a;=b;=c", 6);
    sketch_add(&s, "main;a;=b:30", 3);
    sketch_add(&s, "main;c", 1);
    Report r;
    report_of(&r, &s, by(BY_FUNCTION));
    expect_row(&r, &r.rows, "a", 0, 9);
    expect_row(&r, &r.rows, "b", 3, 9);
    expect_row(&r, &r.rows, "c", 7, 7);
    assert_true(row_of(&r, &r.rows, "b")->inlined);
    assert_true(row_of(&r, &r.rows, "c")->inlined);
    assert_false(row_of(&r, &r.rows, "a")->inlined);
    // The line is that of the innermost call.
    assert_int_equal(r.lines.len, 2);
    assert_int_equal(r.lines.at[0].self, 7);
    assert_int_equal(r.lines.at[0].samples, 2);
    assert_true(str_equal(profile_text(&s.p, r.lines.at[0].file), STR("/src/c.c")));
    uint32_t b = row_of(&r, &r.rows, "b")->key;
    FlatRowVec callees = flat_callees(&r.tree, b);
    assert_int_equal(callees.len, 1);
    expect_row(&r, &callees, "c", 6, 6);
    vec_free(&callees);
    report_deinit(&r);
    sketch_close(&s);
}

static void cut_stacks_are_counted_by_reason(void **state)
{
    (void)state;
    Sketch s;
    sketch_open(&s);
    sketch_add(&s, "main;a", 1);
    sketch_add(&s, "#1;a", 1);
    sketch_add(&s, "#2;b;a", 1);
    sketch_add(&s, "#2;a", 1);
    sketch_add(&s, "", 1);
    Report r;
    report_of(&r, &s, by(BY_FUNCTION));
    assert_int_equal(r.truth.cut[STACK_CUT_NONE], 1);
    assert_int_equal(r.truth.cut[STACK_CUT_DUMP_SHORT], 1);
    assert_int_equal(r.truth.cut[STACK_CUT_NO_TABLE], 2);
    assert_int_equal(r.truth.without_stack, 1);
    assert_float_equal(r.truth.complete_percent, 25.0, 1e-9);
    assert_null(row_of(&r, &r.rows, "[stack cut: dump too short]"));
    expect_row(&r, &r.rows, "a", 4, 4);
    expect_row(&r, &r.rows, "[unknown]", 1, 1);
    report_deinit(&r);
    sketch_close(&s);
}

static void stacks_with_a_gap_are_counted_apart(void **state)
{
    (void)state;
    Sketch s;
    sketch_open(&s);
    sketch_add(&s, "main;a", 1);
    sketch_add(&s, "main;b;#10;a", 2);
    sketch_add(&s, "#1;b;#10;a", 1); // as a file may have it
    Report r;
    report_of(&r, &s, by(BY_FUNCTION));
    assert_int_equal(r.truth.cut[STACK_CUT_NONE], 1);
    assert_int_equal(r.truth.cut[STACK_CUT_GAP], 2);
    assert_float_equal(r.truth.complete_percent, 100.0 / 3, 1e-9);
    expect_row(&r, &r.rows, "main", 0, 3);
    expect_row(&r, &r.rows, "b", 0, 3);
    StrBuf text = {0};
    truth_add_text(&r.truth, &text);
    assert_non_null(strstr(strbuf_str(&text).ptr,
                           "33.3% of stacks complete, 66.7% more reach their outermost call over "
                           "a marked gap: 100.0%"));
    strbuf_deinit(&text);
    report_deinit(&r);
    sketch_close(&s);
}

static void only_stacks_by_tables_are_called_complete(void **state)
{
    (void)state;
    const char *const modes[] = {"frame pointers", "lbr", "none", "tables"};
    const char *const words[] = {"stacks by frame pointers", "stacks by lbr", "no stacks recorded",
                                 "all stacks complete"};
    for (size_t i = 0; i < ARRAY_LEN(modes); i++) {
        Sketch s;
        sketch_open(&s);
        sketch_add(&s, "main;a", 1);
        profile_set_fact(&s.p, STR(FACT_STACK_MODE), str_from_c(modes[i]));
        Report r;
        report_of(&r, &s, by(BY_FUNCTION));
        StrBuf text = {0};
        truth_add_text(&r.truth, &text);
        assert_int_equal(isnan(r.truth.complete_percent), i < 3);
        assert_true(str_find(strbuf_str(&text), str_from_c(words[i])) != SIZE_MAX);
        strbuf_deinit(&text);
        report_deinit(&r);
        sketch_close(&s);
    }
}

static void an_empty_profile_gives_empty_tables(void **state)
{
    (void)state;
    Sketch s;
    sketch_open(&s);
    Report r;
    report_of(&r, &s, by(BY_FUNCTION));
    assert_int_equal(r.rows.len, 0);
    assert_int_equal(r.lines.len, 0);
    assert_int_equal(r.tree.nodes.len, 1);
    assert_true(isnan(r.truth.complete_percent));
    CallTree inverted;
    call_tree_invert(&inverted, &r.tree, 1, 100);
    assert_int_equal(inverted.nodes.len, 1);
    call_tree_deinit(&inverted);
    report_deinit(&r);
    sketch_close(&s);

    profile_init(&s.p); // without even a metric
    report_of(&r, &s, by(BY_LINE));
    assert_int_equal(r.rows.len, 0);
    assert_true(str_equal(report_metric_name(&r), STR("samples")));
    report_deinit(&r);
    profile_deinit(&s.p);
}

static void a_metric_counts_only_its_own_samples(void **state)
{
    (void)state;
    Sketch s;
    sketch_open(&s);
    MetricId faults =
        profile_add_metric(&s.p, STR("page-faults"), STR(""), METRIC_SUM, STR("page-faults"));
    sketch_add(&s, "main;a", 100);
    sketch_add(&s, "main;b", 0);
    profile_sample_set(&s.p, 1, faults, 3);
    Report r;
    report_of(&r, &s, by(BY_FUNCTION));
    assert_int_equal(r.weights.samples, 1);
    assert_null(row_of(&r, &r.rows, "b"));
    report_deinit(&r);

    ReportRequest request = by(BY_FUNCTION);
    Error err = {0};
    assert_true(metric_find(&s.p, STR("page-faults"), &request.selection.metric, &err));
    report_of(&r, &s, request);
    assert_int_equal(r.weights.samples, 1);
    expect_row(&r, &r.rows, "b", 3, 3);
    assert_true(str_equal(report_metric_name(&r), STR("page-faults")));
    report_deinit(&r);
    assert_false(metric_find(&s.p, STR("branches"), &request.selection.metric, &err));
    assert_non_null(strstr(err.hint, "page-faults"));
    sketch_close(&s);
}

static void filters_choose_stacks_times_and_threads(void **state)
{
    (void)state;
    Sketch s;
    sketch_open(&s);
    ThreadId worker =
        profile_add_thread(&s.p, (ProcessId){0}, 101, profile_str(&s.p, STR("worker")), 0);
    sketch_sample(&s, s.main_thread, 0, "main;a;b", 1);
    sketch_sample(&s, s.main_thread, 10, "main;c;=b", 2);
    sketch_sample(&s, worker, 20, "start;b", 4);
    sketch_sample(&s, worker, TIME_NONE, "start;c", 8);

    ReportRequest request = by(BY_FUNCTION);
    request.selection.focus = "^b$";
    Report r;
    report_of(&r, &s, request);
    assert_int_equal(r.weights.value, 7);
    assert_int_equal(r.weights.samples_outside, 1);
    report_deinit(&r);

    request.selection.ignore = "^c|^a";
    report_of(&r, &s, request);
    assert_int_equal(r.weights.value, 4);
    report_deinit(&r);

    request = by(BY_FUNCTION);
    request.selection.from_ns = 5;
    request.selection.to_ns = 20;
    report_of(&r, &s, request);
    assert_int_equal(r.weights.value, 2);
    report_deinit(&r);

    request = by(BY_FUNCTION);
    Str name = STR("worker");
    StrVec comms = {.at = &name, .len = 1};
    request.selection.comms = &comms;
    report_of(&r, &s, request);
    assert_int_equal(r.weights.value, 12);
    report_deinit(&r);

    request = by(BY_FUNCTION);
    request.group = GROUP_THREAD;
    report_of(&r, &s, request);
    assert_int_equal(r.rows.len, 2);
    expect_row(&r, &r.rows, "worker 101", 12, 12);
    expect_row(&r, &r.rows, "prog 100", 3, 3);
    report_deinit(&r);

    request.selection.focus = "(";
    Error err = {0};
    assert_false(report_init(&r, &s.p, &request, &err));
    assert_int_equal(err.kind, ERROR_USAGE);
    report_deinit(&r);
    sketch_close(&s);
}

static void groups_are_the_first_level_of_a_tree(void **state)
{
    (void)state;
    Sketch s;
    sketch_open(&s);
    ThreadId worker =
        profile_add_thread(&s.p, (ProcessId){0}, 101, profile_str(&s.p, STR("worker")), 0);
    sketch_sample(&s, s.main_thread, 0, "main;a", 1);
    sketch_sample(&s, worker, 1, "main;a", 2);
    sketch_sample(&s, s.main_thread, 2, "main;a", 4);
    Weights w;
    Selection all;
    selection_init(&all);
    Error err = {0};
    assert_true(weights_init(&w, &s.p, &all, GROUP_COMM, &err));
    assert_int_equal(w.groups.len, 2);
    assert_int_equal(w.rows.len, 2);
    Keys keys;
    keys_init(&keys, &s.p, BY_FUNCTION);
    CallTree tree;
    call_tree_init(&tree, &w, &keys);
    // all, prog, main, a, worker, main, a
    assert_int_equal(tree.nodes.len, 7);
    assert_int_equal(tree.nodes.at[0].total, 7);
    call_tree_sort(&tree);
    StrBuf name = {0};
    call_tree_add_name(&tree, tree.nodes.at[0].first_child, &name);
    assert_true(str_equal(strbuf_str(&name), STR("prog")));
    strbuf_deinit(&name);
    call_tree_deinit(&tree);
    keys_deinit(&keys);
    weights_deinit(&w);
    sketch_close(&s);
}

// 300 stacks of up to eight calls of nine functions, some inlined, some at two lines of one
// function, some in a library without symbols.
static void sketch_many(Sketch *s)
{
    uint32_t seed = 7;
    sketch_open(s);
    for (int line = 0; line < 300; line++) {
        StrBuf text = {0};
        seed = seed * 1664525 + 1013904223;
        for (uint32_t i = 0; i <= seed >> 29; i++) {
            uint32_t draw = seed >> (3 * i), f = draw % 9;
            const char *mark = i && draw % 5 == 0 ? "=" : draw % 11 == 0 ? "?" : "";
            strbuf_printf(&text, "%s%sf%u", i ? ";" : "", mark, f);
            if (draw % 7 == 0)
                strbuf_add(&text, STR(":20"));
        }
        strbuf_add_char(&text, '\0');
        sketch_add(s, strbuf_str(&text).ptr, line % 7 + 1);
        strbuf_deinit(&text);
    }
}

// The child of a node with that key, NODE_NONE: there is none.
static uint32_t child_of(const CallTree *t, uint32_t parent, uint32_t key)
{
    for (uint32_t i = t->nodes.at[parent].first_child; i != NODE_NONE; i = t->nodes.at[i].next)
        if (t->nodes.at[i].key == key)
            return i;
    return NODE_NONE;
}

static void expect_wide_part(const CallTree *whole, const CallTree *wide, uint64_t least)
{
    assert_int_equal(wide->narrow.len, wide->nodes.len);
    U32Vec number = {0}; // in `wide`, of each node of `whole`
    uint32_t found = 0, narrow = 0;
    for (uint32_t i = 0; i < whole->nodes.len; i++) {
        const CallNode *expected = &whole->nodes.at[i];
        uint32_t above = i ? number.at[expected->parent] : NODE_NONE;
        uint32_t at = i == 0               ? 0
                      : above == NODE_NONE ? NODE_NONE
                                           : child_of(wide, above, expected->key);
        vec_push(NULL, &number, at);
        assert_true((expected->total >= least) == (at != NODE_NONE));
        narrow += at == NODE_NONE && above != NODE_NONE;
        if (at == NODE_NONE)
            continue;
        const CallNode *n = &wide->nodes.at[at];
        assert_int_equal(n->parent, above);
        assert_int_equal(n->flags, expected->flags);
        assert_int_equal(n->self, expected->self);
        assert_int_equal(n->total, expected->total);
        assert_int_equal(n->self_samples, expected->self_samples);
        assert_int_equal(n->total_samples, expected->total_samples);
        found++;
    }
    assert_int_equal(found, wide->nodes.len);
    for (size_t i = 0; i < wide->narrow.len; i++)
        narrow -= wide->narrow.at[i];
    assert_int_equal(narrow, 0);
    vec_free(&number);
}

static void the_tree_of_wide_nodes_is_the_whole_one_without_the_narrow(void **state)
{
    (void)state;
    Sketch s;
    sketch_many(&s);
    Selection all;
    selection_init(&all);
    Weights w;
    Error err = {0};
    assert_true(weights_init(&w, &s.p, &all, GROUP_NONE, &err));
    const By views[] = {BY_FUNCTION, BY_LINE, BY_MODULE, BY_MODULE_FUNCTION};
    for (size_t i = 0; i < ARRAY_LEN(views); i++) {
        Keys keys;
        keys_init(&keys, &s.p, views[i]);
        CallTree whole, wide;
        call_tree_init(&whole, &w, &keys);
        for (uint64_t least = 1; least < 200; least += 13) {
            call_tree_init_wide(&wide, &w, &keys, least);
            expect_wide_part(&whole, &wide, least);
            call_tree_deinit(&wide);
        }
        call_tree_deinit(&whole);
        keys_deinit(&keys);
    }
    weights_deinit(&w);
    sketch_close(&s);
}

static void an_inverted_tree_starts_at_what_ran(void **state)
{
    (void)state;
    Sketch s;
    sketch_open(&s);
    sketch_add(&s, "main;a;b", 10);
    sketch_add(&s, "main;c;b", 5);
    sketch_add(&s, "main;c", 1);
    Report r;
    report_of(&r, &s, by(BY_FUNCTION));
    CallTree t;
    call_tree_invert(&t, &r.tree, 1, 100);
    call_tree_sort(&t);
    const CallNode *nodes = t.nodes.at;
    assert_int_equal(nodes[0].total, 16);
    const CallNode *b = &nodes[nodes[0].first_child];
    assert_int_equal(b->total, 15);
    const CallNode *a = &nodes[b->first_child];
    assert_int_equal(a->total, 10);
    assert_int_equal(nodes[a->first_child].total, 10);
    assert_int_equal(nodes[a->first_child].self, 10);
    assert_int_equal(nodes[a->next].total, 5);
    assert_int_equal(t.dropped_nodes, 0);
    call_tree_deinit(&t);
    call_tree_invert(&t, &r.tree, 6, 100);
    assert_int_equal(t.nodes.len, 4); // all, b, a, main
    assert_int_equal(t.dropped_nodes, 2);
    call_tree_deinit(&t);
    call_tree_invert(&t, &r.tree, 1, 1);
    assert_int_equal(t.nodes.len, 3); // all, b, c
    call_tree_deinit(&t);
    report_deinit(&r);
    sketch_close(&s);
}

static void lines_and_modules_are_keys_too(void **state)
{
    (void)state;
    Sketch s;
    sketch_open(&s);
    sketch_add(&s, "main:12;a:20", 3);
    sketch_add(&s, "main:12;a:21", 4);
    sketch_add(&s, "main:12;?libx", 2);
    sketch_add(&s, "main:12;k!sys_read", 1);
    Report r;
    report_of(&r, &s, by(BY_LINE));
    expect_row(&r, &r.rows, "/src/main.c:12", 0, 10);
    expect_row(&r, &r.rows, "/src/a.c:21", 4, 4);
    expect_row(&r, &r.rows, "[unknown in libx.so]", 2, 2);
    expect_row(&r, &r.rows, "sys_read", 1, 1);
    assert_float_equal(r.truth.kernel_percent, 10.0, 1e-9);
    assert_float_equal(r.truth.unnamed_percent, 20.0, 1e-9);
    report_deinit(&r);
    report_of(&r, &s, by(BY_MODULE));
    expect_row(&r, &r.rows, "/bin/prog", 7, 10);
    expect_row(&r, &r.rows, "[kernel]", 1, 1);
    assert_int_equal(r.tree.nodes.len, 4); // main;a is one node: one module
    report_deinit(&r);
    sketch_close(&s);
}

// A sketch whose metric is an event.
static Sketch *sketch_of_event(Sketch *s, const char *name)
{
    sketch_open(s);
    s->time = profile_add_metric(&s->p, str_from_c(name), STR(""), METRIC_SUM, str_from_c(name));
    return s;
}

static ReportRequest by_event(const Sketch *s, By what)
{
    ReportRequest request = by(what);
    request.selection.metric = s->time;
    return request;
}

static void kernel_events_count_for_the_program(void **state)
{
    (void)state;
    Sketch s;
    sketch_of_event(&s, "context-switches");
    sketch_add(&s, "main:12;wait:20;k!do_futex;k!schedule", 6);
    sketch_add(&s, "main:12;=get:30;k!do_read;k!schedule", 3);
    sketch_add(&s, "k!kthread;k!schedule", 2); // nothing of a program: the kernel keeps it
    sketch_add(&s, "#1;k!schedule", 1);        // what is outside the kernel is not known
    Report r;
    report_of(&r, &s, by_event(&s, BY_FUNCTION));
    expect_row(&r, &r.rows, "wait", 6, 6);
    expect_row(&r, &r.rows, "get", 3, 3);
    expect_row(&r, &r.rows, "main", 0, 9);
    expect_row(&r, &r.rows, "schedule", 3, 12);
    expect_row(&r, &r.rows, "do_futex", 0, 6);
    assert_ptr_equal(&r.rows.at[3], row_of(&r, &r.rows, "main")); // before those of the kernel
    assert_true(row_of(&r, &r.rows, "get")->inlined);
    assert_int_equal(r.lines.at[0].line, 20);
    assert_int_equal(r.lines.at[0].self, 6);
    assert_float_equal(r.truth.kernel_percent, 100.0, 1e-9);
    report_deinit(&r);

    report_of(&r, &s, by_event(&s, BY_MODULE));
    expect_row(&r, &r.rows, "/bin/prog", 9, 9);
    expect_row(&r, &r.rows, "[kernel]", 3, 12);
    report_deinit(&r);

    ReportRequest request = by_event(&s, BY_FUNCTION);
    request.kernel_self = true;
    report_of(&r, &s, request);
    expect_row(&r, &r.rows, "wait", 0, 6);
    expect_row(&r, &r.rows, "schedule", 12, 12);
    report_deinit(&r);

    request.kernel_self = false;
    request.inverted = true;
    report_of(&r, &s, request);
    CallTree inverted;
    call_tree_invert(&inverted, &r.tree, 1, 100);
    call_tree_sort(&inverted);
    StrBuf name = {0};
    call_tree_add_name(&inverted, inverted.nodes.at[0].first_child, &name);
    assert_str(strbuf_str(&name), "wait");
    strbuf_deinit(&name);
    call_tree_deinit(&inverted);
    report_deinit(&r);
    sketch_close(&s);
}

static void only_events_of_the_kernel_count_for_the_program(void **state)
{
    (void)state;
    const struct {
        const char *event;
        bool counts;
    } cases[] = {
        {"page-faults", true},
        {"page-faults/period=3/", true},
        {"faults:u", true},
        {"cs", true},
        {"sched:sched_switch", true},
        {"raw_syscalls:sys_enter:k", true},
        {"cycles", false},
        {"cycles:u", false},
        {"instructions:kHG", false},
        {"cpu/cache-misses/", false},
        {"r01c2", false},
        {"mem:0x1000:rw", false},
        {"sched:sched_switch prev_pid", false},
        {"executions", false},
        {"", false},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        Sketch s;
        sketch_of_event(&s, cases[i].event);
        if (metric_counts_kernel_events(&s.p, s.time) != cases[i].counts)
            fail_msg("'%s'", cases[i].event);
        sketch_add(&s, "main;k!x", 1);
        Report r;
        report_of(&r, &s, by_event(&s, BY_FUNCTION));
        expect_row(&r, &r.rows, "main", cases[i].counts, 1);
        report_deinit(&r);
        sketch_close(&s);
    }
    Sketch clock; // the kernel's time is the kernel's
    sketch_open(&clock);
    assert_false(metric_counts_kernel_events(&clock.p, clock.time));
    assert_false(metric_counts_kernel_events(&clock.p, (MetricId){7}));
    sketch_close(&clock);
}

static void huge_values_do_not_overflow(void **state)
{
    (void)state;
    Sketch s;
    sketch_open(&s);
    sketch_add(&s, "main;a", INT64_MAX);
    sketch_add(&s, "main;b", INT64_MAX);
    sketch_add(&s, "main;c", -5);
    Report r;
    report_of(&r, &s, by(BY_FUNCTION));
    assert_true(r.weights.clamped);
    assert_true(r.weights.value <= INT64_MAX);
    assert_null(row_of(&r, &r.rows, "c"));
    report_deinit(&r);
    sketch_close(&s);
}

static void a_share_carries_its_interval(void **state)
{
    (void)state;
    // Reference values: R, binom::binom.wilson(10, 100) and (0, 10).
    ShareInterval i = share_interval(10, 100);
    assert_float_equal(i.low, 0.05522914, 1e-7);
    assert_float_equal(i.high, 0.1743657, 1e-7);
    i = share_interval(0, 10);
    assert_float_equal(i.low, 0, 1e-12);
    assert_float_equal(i.high, 0.2775328, 1e-7);
    i = share_interval(0, 0);
    assert_float_equal(i.high, 1, 1e-12);
}

static void a_function_is_found_by_what_users_type(void **state)
{
    (void)state;
    Sketch s;
    sketch_open(&s);
    profile_deinit(&s.p); // names of its own
    profile_init(&s.p);
    s.time = profile_add_metric(&s.p, STR("t"), STR("ns"), METRIC_SUM, STR(""));
    ProcessId process = profile_add_process(&s.p, 1, 0, (StrId){0}, 0);
    ThreadId thread = profile_add_thread(&s.p, process, 1, (StrId){0}, 0);
    const char *const names[] = {"ns::Map<int>::find(int) const", "ns::Map<char>::find(char) const",
                                 "find"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        Str name = str_from_c(names[i]);
        FrameId f =
            profile_named_frame(&s.p, (ModuleId){0}, i,
                                profile_function(&s.p, name, name, STR(""), 0), (StrId){0}, 0, 0);
        size_t at = profile_add_sample(&s.p, 0, thread, profile_stack(&s.p, (StackId){0}, f), 0);
        profile_sample_set(&s.p, at, s.time, (int64_t)i + 1);
    }
    Report r;
    report_of(&r, &s, by(BY_FUNCTION));
    uint32_t key;
    size_t others;
    Error err = {0};
    assert_true(report_find_function(&r, STR("find"), &key, &others, &err));
    assert_int_equal(key, row_of(&r, &r.rows, "find")->key);
    assert_int_equal(others, 0);
    assert_true(report_find_function(&r, STR("Map::find"), &key, &others, &err));
    assert_int_equal(key, row_of(&r, &r.rows, names[1])->key);
    assert_int_equal(others, 1);
    assert_true(report_find_function(&r, STR("Map<int>"), &key, &others, &err));
    assert_int_equal(key, row_of(&r, &r.rows, names[0])->key);
    assert_false(report_find_function(&r, STR("nothing"), &key, &others, &err));
    report_deinit(&r);
    sketch_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(self_and_total_add_up),
        cmocka_unit_test(recursion_counts_once_a_stack),
        cmocka_unit_test(inlined_calls_are_functions_of_their_own),
        cmocka_unit_test(cut_stacks_are_counted_by_reason),
        cmocka_unit_test(stacks_with_a_gap_are_counted_apart),
        cmocka_unit_test(only_stacks_by_tables_are_called_complete),
        cmocka_unit_test(an_empty_profile_gives_empty_tables),
        cmocka_unit_test(a_metric_counts_only_its_own_samples),
        cmocka_unit_test(filters_choose_stacks_times_and_threads),
        cmocka_unit_test(groups_are_the_first_level_of_a_tree),
        cmocka_unit_test(the_tree_of_wide_nodes_is_the_whole_one_without_the_narrow),
        cmocka_unit_test(an_inverted_tree_starts_at_what_ran),
        cmocka_unit_test(lines_and_modules_are_keys_too),
        cmocka_unit_test(kernel_events_count_for_the_program),
        cmocka_unit_test(only_events_of_the_kernel_count_for_the_program),
        cmocka_unit_test(huge_values_do_not_overflow),
        cmocka_unit_test(a_share_carries_its_interval),
        cmocka_unit_test(a_function_is_found_by_what_users_type),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
