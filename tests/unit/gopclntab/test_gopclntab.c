// SPDX-License-Identifier: Apache-2.0
// The tables of Go programs: functions, lines, inlined calls, frames.

#include "gopclntab/gopclntab.h"

#include "harness.h"
#include "unwind/unwind_table.h"

enum { TEXT = 0x401000, SUM = 0x20, SWITCH = 0x60, END = 0xa0 };

static Arena arena;
static StrBuf table;
static StrBuf calls; // trees of inlined calls
static Error err;

static int clean_up(void **state)
{
    (void)state;
    strbuf_deinit(&table);
    strbuf_deinit(&calls);
    arena_deinit(&arena);
    err = (Error){0};
    return 0;
}

static void put(StrBuf *b, uint64_t value, size_t size)
{
    memcpy(strbuf_reserve(b, size), &value, size);
    b->len += size;
}

typedef struct Layout {
    uint32_t magic;
    bool wide;       // entries of 8 bytes
    bool start_line; // functions state theirs
} Layout;

static const Layout go_1_16 = {0xfffffffa, true, false};
static const Layout go_1_18 = {0xfffffff0, false, false};
static const Layout go_1_20 = {0xfffffff1, false, true};

// Names: 1 main.sum, 10 main.add, 19 runtime.systemstack, 39 runtime.goexit.
static const char names[] = "\0main.sum\0main.add\0runtime.systemstack\0runtime.goexit";
static const char file_names[] = "/src/a.go\0/src/b.go";
// Pairs of difference (zigzag) and length, each table ended by 0. At 1: no frame
// for 4 bytes, 8 from there for 20, then none for 40. At 8: line 11 for 16 bytes, 31 for 48. At
// 13: file 0 for 16, file 1 for 48. At 18: not inlined (-1) for 16, call 0 for 48.
// At 25: line 5 for 64. At 28: file 0 for 64.
static const uint8_t values[] = {0,  2, 4, 16, 20, 15, 40, 0, 24, 16, 40, 48, 0, 2,  16, 2,
                                 48, 0, 0, 16, 2,  48, 0,  0, 0,  12, 64, 0,  2, 64, 0};

static void put_function(const Layout *l, uint64_t start, uint32_t name, uint32_t lines,
                         uint32_t line, uint8_t flags, bool has_calls)
{
    put(&table, start, l->wide ? 8 : 4);
    put(&table, name, 4);
    put(&table, 0, 8);
    put(&table, 1, 4);                    // frame sizes
    put(&table, lines == 8 ? 13 : 28, 4); // files
    put(&table, lines, 4);
    put(&table, 3, 4); // tables by pc
    put(&table, 0, 4); // unit
    if (l->start_line)
        put(&table, line, 4);
    put(&table, 0, 1);
    put(&table, flags, 1);
    put(&table, 0, 1);
    put(&table, 4, 1); // tables of data
    for (size_t i = 0; i < 3; i++)
        put(&table, i == 2 && has_calls ? 18 : 0, 4);
    for (size_t i = 0; i < 4; i++)
        put(&table, i == 3 && has_calls ? 0 : UINT32_MAX, 4);
}

static size_t function_bytes(const Layout *l)
{
    return (l->wide ? 8 : 4) + 32 + (l->start_line ? 4 : 0) + 4 + 28;
}

// Three functions: sum, with add inlined into its second part, systemstack, goexit.
static Bytes build(const Layout *l)
{
    size_t head = 8 + (l->wide ? 7 : 8) * 8, entry = l->wide ? 8 : 4;
    size_t at = head;
    put(&table, l->magic, 4);
    put(&table, 0x08010000, 4);
    put(&table, 3, 8);
    put(&table, 2, 8);
    if (!l->wide)
        put(&table, TEXT, 8);
    put(&table, at, 8);
    put(&table, at += sizeof(names), 8);
    put(&table, at += 8, 8);
    put(&table, at += sizeof(file_names), 8);
    put(&table, at += sizeof(values), 8);
    strbuf_add(&table, (Str){names, sizeof(names)});
    put(&table, 0, 4);
    put(&table, 10, 4);
    strbuf_add(&table, (Str){file_names, sizeof(file_names)});
    strbuf_add_bytes(&table, bytes_over(values, sizeof(values)));
    const uint64_t starts[] = {SUM, SWITCH, END, END + 0x20};
    size_t first = 3 * 2 * entry + entry;
    for (size_t i = 0; i < 4; i++) {
        put(&table, l->wide ? TEXT + starts[i] : starts[i], entry);
        if (i < 3)
            put(&table, first + i * function_bytes(l), entry);
    }
    uint64_t base = l->wide ? TEXT : 0;
    put_function(l, base + SUM, 1, 8, 10, 0, true);
    put_function(l, base + SWITCH, 19, 25, 5, 0, false);
    put_function(l, base + END, 39, 25, 5, 1, false);
    if (l->start_line) {
        put(&calls, 0, 4);
        put(&calls, 10, 4);
        put(&calls, 4, 4); // called at sum+4
        put(&calls, 30, 4);
    } else {
        put(&calls, 0, 8);
        put(&calls, 0, 4);
        put(&calls, 10, 4);
        put(&calls, 4, 4);
    }
    return bytes_from_str(strbuf_str(&table));
}

static void open_table(const Layout *l, GoPclntab *ret)
{
    assert_true(gopclntab_open(build(l), ret, &err));
    ret->text_svma = TEXT;
    ret->function_data = bytes_from_str(strbuf_str(&calls));
}

static void functions_have_names_files_and_lines_in_each_layout(void **state)
{
    (void)state;
    const Layout *const layouts[] = {&go_1_16, &go_1_18, &go_1_20};
    for (size_t i = 0; i < ARRAY_LEN(layouts); i++) {
        GoPclntab t;
        GoFrame frames[GO_FRAMES_MAX];
        open_table(layouts[i], &t);
        assert_int_equal(gopclntab_lookup(&t, TEXT + SUM - 1, frames), 0);
        assert_int_equal(gopclntab_lookup(&t, TEXT + SUM, frames), 1);
        assert_str(frames[0].name, "main.sum");
        assert_str(frames[0].file, "/src/a.go");
        assert_int_equal(frames[0].line, 11);
        assert_int_equal(frames[0].start_line, layouts[i]->start_line ? 10 : 0);
        assert_int_equal(gopclntab_lookup(&t, TEXT + END, frames), 1);
        assert_str(frames[0].name, "runtime.goexit");
        assert_int_equal(gopclntab_lookup(&t, TEXT + END + 0x20, frames), 0);
        assert_int_equal(gopclntab_lookup(&t, UINT64_MAX, frames), 0);
        clean_up(NULL);
    }
}

static void an_inlined_call_stands_before_its_caller(void **state)
{
    (void)state;
    const Layout *const layouts[] = {&go_1_18, &go_1_20};
    for (size_t i = 0; i < ARRAY_LEN(layouts); i++) {
        GoPclntab t;
        GoFrame frames[GO_FRAMES_MAX];
        open_table(layouts[i], &t);
        assert_int_equal(gopclntab_lookup(&t, TEXT + SUM + 20, frames), 2);
        assert_str(frames[0].name, "main.add");
        assert_str(frames[0].file, "/src/b.go");
        assert_int_equal(frames[0].line, 31);
        assert_str(frames[1].name, "main.sum");
        assert_str(frames[1].file, "/src/a.go");
        assert_int_equal(frames[1].line, 11);
        clean_up(NULL);
    }
}

static void a_call_inlined_into_itself_ends(void **state)
{
    (void)state;
    GoPclntab t;
    GoFrame frames[GO_FRAMES_MAX];
    open_table(&go_1_20, &t);
    calls.ptr[8] = 20; // called from where it is inlined
    assert_int_equal(gopclntab_lookup(&t, TEXT + SUM + 20, frames), GO_FRAMES_MAX);
}

static void other_tables_are_refused(void **state)
{
    (void)state;
    const uint32_t magics[] = {0xfffffffb, 0xfbffffff, 0xf1ffffff, 0, 0x464c457f};
    GoPclntab t;
    for (size_t i = 0; i < ARRAY_LEN(magics); i++) {
        Bytes b = build(&go_1_20);
        memcpy(table.ptr, &magics[i], 4);
        assert_false(gopclntab_open(b, &t, &err));
        assert_int_not_equal(err.text[0], 0);
        clean_up(NULL);
    }
    Bytes b = build(&go_1_20);
    table.ptr[8] = 100; // more functions than fit
    assert_false(gopclntab_open(b, &t, &err));
}

static void a_table_cut_at_each_byte_gives_less_and_nothing_wrong(void **state)
{
    (void)state;
    Bytes whole = build(&go_1_20);
    uint8_t code[END + 0x20] = {0};
    for (size_t n = 0; n < whole.len; n++) {
        // Of its own, so that a sanitizer sees a read behind its end.
        StrBuf copy = {0};
        strbuf_add_bytes(&copy, bytes_slice(whole, 0, n));
        strbuf_reserve(&copy, 1);
        GoPclntab t;
        err = (Error){0};
        if (!gopclntab_open(bytes_over(copy.ptr, n), &t, &err)) {
            assert_int_not_equal(err.text[0], 0);
        } else {
            StrBuf rules = {0};
            GoFrame frames[GO_FRAMES_MAX];
            for (uint64_t at = TEXT; at < TEXT + END + 0x20; at += 4)
                for (size_t i = gopclntab_lookup(&t, at, frames); i-- > 0;)
                    assert_true(frames[i].name.len == 0 ||
                                str_find_char(STR("mr"), frames[i].name.ptr[0]) != SIZE_MAX);
            gopclntab_debug_frame(&t, bytes_over(code, sizeof(code)), &rules);
            strbuf_deinit(&rules);
        }
        strbuf_deinit(&copy);
    }
}

static UnwindTable unwind_table(const GoPclntab *t, Bytes code)
{
    StrBuf rules = {0};
    UnwindTable ret = {0};
    UnwindBuildStats stats;
    gopclntab_debug_frame(t, code, &rules);
    UnwindSections s = {.arch = UNWIND_X86_64,
                        .debug_frame = bytes_from_str(strbuf_str(&rules)),
                        .text = {TEXT, TEXT + code.len}};
    assert_true(unwind_table_build(&arena, &s, &ret, &stats, &err));
    assert_int_equal(stats.broken, 0);
    strbuf_deinit(&rules);
    return ret;
}

static void frames_are_left_by_their_size_and_saved_frame_pointer(void **state)
{
    (void)state;
    GoPclntab t;
    uint8_t code[END + 0x20] = {0};
    code[SUM + 3] = 0x55; // push rbp
    open_table(&go_1_20, &t);
    UnwindTable u = unwind_table(&t, bytes_over(code, sizeof(code)));
    UnwindAction a = unwind_table_find(&u, TEXT + SUM);
    assert_int_equal(a.kind, UNWIND_FP_KEPT);
    assert_int_equal(a.cfa & UNWIND_CFA_REG, UNWIND_X86_64_SP);
    assert_int_equal(unwind_cfa_off(a), 8);
    a = unwind_table_find(&u, TEXT + SUM + 4);
    assert_int_equal(a.kind, UNWIND_FP_AT_CFA);
    assert_int_equal(a.fp_off, -16);
    assert_int_equal(unwind_cfa_off(a), 16);
    a = unwind_table_find(&u, TEXT + SUM + 24);
    assert_int_equal(a.kind, UNWIND_FP_KEPT);
    assert_int_equal(unwind_cfa_off(a), 8);
}

static void a_stack_switch_is_left_by_the_frame_pointer(void **state)
{
    (void)state;
    GoPclntab t;
    uint8_t code[END + 0x20] = {0};
    code[SWITCH + 3] = 0x55;
    open_table(&go_1_20, &t);
    UnwindTable u = unwind_table(&t, bytes_over(code, sizeof(code)));
    UnwindAction a = unwind_table_find(&u, TEXT + SWITCH + 4);
    assert_int_equal(a.kind, UNWIND_FP_AT_CFA);
    assert_int_equal(a.cfa & UNWIND_CFA_REG, UNWIND_X86_64_FP);
    assert_int_equal(unwind_cfa_off(a), 16);
    assert_true(gopclntab_switches_stack(STR("runtime.systemstack")));
    assert_false(gopclntab_switches_stack(STR("main.sum")));
}

static void a_stack_switch_that_saves_nothing_is_left_by_its_callers_frame_pointer(void **state)
{
    (void)state;
    GoPclntab t;
    uint8_t code[END + 0x20] = {0};
    memcpy(code + SWITCH + 8, "\x48\x8b\x5a\x38\x48\x89\xdc", 7); // by way of rbx
    open_table(&go_1_18, &t);
    UnwindTable u = unwind_table(&t, bytes_over(code, sizeof(code)));
    UnwindAction before = unwind_table_find(&u, TEXT + SWITCH + 14);
    UnwindAction after = unwind_table_find(&u, TEXT + SWITCH + 15);
    assert_int_equal(before.cfa & UNWIND_CFA_REG, UNWIND_X86_64_SP);
    assert_int_equal(after.kind, UNWIND_FP_AT_CFA);
    assert_int_equal(after.cfa & UNWIND_CFA_REG, UNWIND_X86_64_FP);
    assert_int_equal(unwind_cfa_off(after), 16);
}

static void the_outermost_function_ends_the_stack(void **state)
{
    (void)state;
    GoPclntab t;
    uint8_t code[END + 0x20] = {0};
    open_table(&go_1_20, &t);
    UnwindTable u = unwind_table(&t, bytes_over(code, sizeof(code)));
    assert_int_equal(unwind_table_find(&u, TEXT + END).kind, UNWIND_END);
}

static void an_object_without_the_section_is_no_go_program(void **state)
{
    (void)state;
    Elf elf = {0};
    GoPclntab t;
    assert_false(gopclntab_open_elf(&elf, &t, &err));
    assert_int_equal(err.kind, ERROR_NOT_FOUND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(functions_have_names_files_and_lines_in_each_layout, clean_up),
        cmocka_unit_test_teardown(an_inlined_call_stands_before_its_caller, clean_up),
        cmocka_unit_test_teardown(a_call_inlined_into_itself_ends, clean_up),
        cmocka_unit_test_teardown(other_tables_are_refused, clean_up),
        cmocka_unit_test_teardown(a_table_cut_at_each_byte_gives_less_and_nothing_wrong, clean_up),
        cmocka_unit_test_teardown(frames_are_left_by_their_size_and_saved_frame_pointer, clean_up),
        cmocka_unit_test_teardown(a_stack_switch_is_left_by_the_frame_pointer, clean_up),
        cmocka_unit_test_teardown(
            a_stack_switch_that_saves_nothing_is_left_by_its_callers_frame_pointer, clean_up),
        cmocka_unit_test_teardown(the_outermost_function_ends_the_stack, clean_up),
        cmocka_unit_test_teardown(an_object_without_the_section_is_no_go_program, clean_up),
    };
    return RUN_TESTS(tests);
}
