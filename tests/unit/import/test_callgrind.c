// SPDX-License-Identifier: Apache-2.0
// Callgrind's format -> Profile.

#include "harness.h"

#include "analyse/report.h"
#include "import/import.h"

static Profile p;
static Error err;

static bool read_text(const char *text)
{
    return import_callgrind(bytes_from_str(str_from_c(text)), &p, &err);
}

static void expect(uint32_t metric, const char *name, uint64_t self, uint64_t total)
{
    Report r;
    ReportRequest request = {.by = BY_FUNCTION};
    selection_init(&request.selection);
    request.selection.metric.v = metric;
    assert_ok(report_init(&r, &p, &request, &err), &err);
    StrBuf text = {0};
    bool found = false;
    for (size_t i = 0; i < r.rows.len; i++) {
        strbuf_clear(&text);
        report_add_row_name(&r, &r.rows.at[i], &text);
        if (!str_equal(strbuf_str(&text), str_from_c(name)))
            continue;
        found = true;
        assert_int_equal(r.rows.at[i].self, self);
        assert_int_equal(r.rows.at[i].total, total);
    }
    if (!found)
        fail_msg("no row '%s'", name);
    strbuf_deinit(&text);
    report_deinit(&r);
}

static uint64_t calls_of(const char *name)
{
    for (size_t i = 0; i < p.function_counts.count.len; i++) {
        FunctionId f = p.function_counts.function.at[i];
        if (str_equal(profile_text(&p, p.functions.name.at[f.v]), str_from_c(name)))
            return p.function_counts.count.at[i];
    }
    return 0;
}

// The example of the format's specification, with both compressions and two events.
static const char example[] = "# callgrind format\n"
                              "version: 1\n"
                              "creator: callgrind-3.19\n"
                              "cmd: ./prog arg\n"
                              "positions: line\n"
                              "events: Instructions Reads\n"
                              "\n"
                              "ob=(1) /bin/prog\n"
                              "fl=(1) file1.c\n"
                              "fn=(1) main\n"
                              "16 20 1\n"
                              "cfn=(2) func1\n"
                              "calls=1 50\n"
                              "+0 400 7\n"
                              "cfi=(2) file2.c\n"
                              "cfn=(3) func2\n"
                              "calls=3 20\n"
                              "* 400\n"
                              "\n"
                              "fn=(2)\n"
                              "51 100 7\n"
                              "cfi=(2)\n"
                              "cfn=(3)\n"
                              "calls=2 20\n"
                              "51 300\n"
                              "\n"
                              "fl=(2)\n"
                              "fn=(3)\n"
                              "20 500\n"
                              "fi=(3) inlined.h\n"
                              "-10 200 5\n"
                              "fe=(2)\n"
                              "+11 0\n";

static void the_example_gives_its_costs_and_calls(void **state)
{
    (void)state;
    assert_ok(read_text(example), &err);
    expect(0, "main", 20, 820);
    expect(0, "func1", 100, 400);
    expect(0, "func2", 700, 700);
    expect(1, "func2", 5, 5);
    expect(1, "main", 1, 13);
    assert_int_equal(calls_of("func1"), 1);
    assert_int_equal(calls_of("func2"), 5);
    assert_int_equal(calls_of("main"), 0);
    assert_int_equal(p.notes.key.len, 0);
    assert_true(profile_check(&p, &err));
    profile_deinit(&p);
}

static void lines_of_inlined_code_stand_in_its_file(void **state)
{
    (void)state;
    assert_ok(read_text(example), &err);
    bool found = false;
    for (uint32_t f = 1; f < profile_frame_count(&p); f++)
        found |= str_equal(profile_text(&p, p.frames.file.at[f]), STR("inlined.h")) &&
                 p.frames.line.at[f] == 10;
    assert_true(found);
    profile_deinit(&p);
}

static void recursion_counts_once(void **state)
{
    (void)state;
    assert_ok(read_text("events: Ir\nfn=main\n1 10\ncfn=f\ncalls=1 5\n2 90\n"
                        "fn=f\n5 90\ncfn=f\ncalls=9 5\n6 400\n"),
              &err);
    expect(0, "main", 10, 100);
    expect(0, "f", 90, 90);
    assert_int_equal(calls_of("f"), 10);
    profile_deinit(&p);
}

static void a_cycle_keeps_every_self_cost(void **state)
{
    (void)state;
    assert_ok(read_text("events: Ir\nfn=main\n1 1\ncfn=a\ncalls=1 1\n1 30\n"
                        "fn=a\n1 10\ncfn=b\ncalls=3 1\n1 25\n"
                        "fn=b\n1 20\ncfn=a\ncalls=2 1\n1 15\n"),
              &err);
    uint64_t sum = 0;
    for (size_t i = 0; i < p.samples.stack.len; i++)
        sum += (uint64_t)p.samples.values[0].at[i];
    assert_int_equal(sum, 31);
    profile_deinit(&p);
}

static void instruction_positions_and_jumps_are_passed_over(void **state)
{
    (void)state;
    assert_ok(read_text("positions: instr line\nevents: Ir\nfn=main\n0x400 5 7\n+3 +1 2\n"
                        "jcnd=1/2 +4 +2\n* *\njump=3 0x410 9\n+2 *\njfi=(4) other.h\n* * 1\n"),
              &err);
    expect(0, "main", 10, 10);
    assert_int_equal(p.notes.key.len, 0);
    profile_deinit(&p);
}

static void a_file_without_costs_is_refused(void **state)
{
    (void)state;
    assert_error(read_text("events: Ir\nfn=main\n"), &err, ERROR_FORMAT, "no costs");
    assert_error(read_text("fn=main\n3 4\n"), &err, ERROR_FORMAT, "before any 'events:'");
}

static void what_is_cut_or_broken_is_counted_or_refused(void **state)
{
    (void)state;
    for (size_t len = 0; len < sizeof(example); len++) {
        err = (Error){0};
        if (!import_callgrind(bytes_over(example, len), &p, &err)) {
            assert_true(err.text[0] != 0);
            continue;
        }
        assert_true(profile_check(&p, &err));
        profile_deinit(&p);
    }
    assert_ok(read_text("events: Ir\nfn=(9)\n1 1\nfn=main\n1 x\n2 3\ncalls=1 1\nhello\n"), &err);
    expect(0, "main", 3, 3);
    assert_int_equal(p.notes.key.len, 1);
    profile_deinit(&p);
}

static void huge_costs_do_not_overflow(void **state)
{
    (void)state;
    assert_ok(read_text("events: Ir\nfn=main\n1 18446744073709551615\n1 18446744073709551615\n"
                        "cfn=f\ncalls=18446744073709551615 1\n1 18446744073709551615\n"
                        "fn=f\n1 18446744073709551615\ncfn=main\ncalls=1 1\n1 9\n"),
              &err);
    assert_true(profile_check(&p, &err));
    profile_deinit(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_example_gives_its_costs_and_calls),
        cmocka_unit_test(lines_of_inlined_code_stand_in_its_file),
        cmocka_unit_test(recursion_counts_once),
        cmocka_unit_test(a_cycle_keeps_every_self_cost),
        cmocka_unit_test(instruction_positions_and_jumps_are_passed_over),
        cmocka_unit_test(a_file_without_costs_is_refused),
        cmocka_unit_test(what_is_cut_or_broken_is_counted_or_refused),
        cmocka_unit_test(huge_costs_do_not_overflow),
    };
    return RUN_TESTS(tests);
}
