// SPDX-License-Identifier: Apache-2.0
// kallsyms and perf-PID.map.

#include "symbolise/text_maps.h"

#include "base/strbuf.h"
#include "harness.h"

static Arena arena;
static Error err;

static int clean_up(void **state)
{
    (void)state;
    arena_deinit(&arena);
    err = (Error){0};
    return 0;
}

static void assert_name(const SymbolIndex *index, uint64_t address, const char *name)
{
    const Symbol *s = symbol_index_find(index, address);
    assert_str(s ? s->name : STR("-"), name);
}

static void kallsyms_give_kernel_and_module_functions(void **state)
{
    (void)state;
    SymbolIndex index;
    assert_ok(kallsyms_parse(&arena,
                             STR("ffffffff81000000 T _text\n"
                                 "ffffffff81000000 t startup\n"
                                 "0000000000000000 A fixed_percpu_data\n"
                                 "ffffffff81000100 D some_data\n"
                                 "ffffffff81000200 t local_one\n"
                                 "ffffffffc0000000 t mod_fn\t[nf]\n"),
                             &index, NULL, &err),
              &err);
    assert_name(&index, 0xffffffff81000000, "_text");
    assert_name(&index, 0xffffffff810001ff, "_text");
    assert_name(&index, 0xffffffff81000204, "local_one");
    assert_name(&index, 0xffffffffc0000010, "mod_fn");
    assert_name(&index, 0xffffffffb0000000, "-"); // far behind the last one before it
}

static void hidden_kernel_addresses_are_refused_with_the_remedy(void **state)
{
    (void)state;
    SymbolIndex index;
    assert_error(kallsyms_parse(&arena, STR("0000000000000000 T _text\n0000000000000000 t a\n"),
                                &index, NULL, &err),
                 &err, ERROR_PERMISSION, "kptr_restrict");
    assert_non_null(strstr(err.hint, "sysctl"));
}

static void broken_kallsyms_lines_are_skipped(void **state)
{
    (void)state;
    SymbolIndex index;
    assert_ok(kallsyms_parse(&arena,
                             STR("\nxyz\nffffffff81000000\nffffffff81000000 T\n"
                                 "fffffffffffffffffffff T long\nffffffff81000000 T ok\n12"),
                             &index, NULL, &err),
              &err);
    assert_int_equal(index.symbols.len, 1);
    assert_name(&index, 0xffffffff81000001, "ok");
}

static void names_of_generated_code_may_have_spaces(void **state)
{
    (void)state;
    SymbolIndex index;
    size_t bad;
    jit_map_parse(&arena, STR("1000 20 LazyCompile:~run /srv/a.js:1\n0x2000 0x10 b\n"), &index,
                  &bad);
    assert_name(&index, 0x101f, "LazyCompile:~run /srv/a.js:1");
    assert_name(&index, 0x1020, "-");
    assert_name(&index, 0x2000, "b");
    assert_int_equal(bad, 0);
}

static void later_entries_win_where_generated_code_overlaps(void **state)
{
    (void)state;
    SymbolIndex index;
    jit_map_parse(&arena,
                  STR("1000 100 first\n"
                      "1080 100 second\n" // over the end of first
                      "1040 10 third\n"   // inside first
                      "0f00 110 fourth\n" // over the start of first
                      "1000 4 fifth\n"),
                  &index, NULL);
    assert_name(&index, 0xf00, "fourth");
    assert_name(&index, 0x1000, "fifth");
    assert_name(&index, 0x1004, "fourth");
    assert_name(&index, 0x1010, "first");
    assert_name(&index, 0x1040, "third");
    assert_name(&index, 0x1050, "first");
    assert_name(&index, 0x1080, "second");
    assert_name(&index, 0x117f, "second");
    assert_name(&index, 0x1180, "-");
}

static void an_older_larger_entry_does_not_hide_a_later_smaller_one(void **state)
{
    (void)state;
    SymbolIndex index;
    jit_map_parse(&arena, STR("2000 10 new_first\n1000 2000 old\n3800 10 x\n2800 10 y\n"), &index,
                  NULL);
    assert_name(&index, 0x2004, "old"); // made after new_first
    assert_name(&index, 0x2804, "y");
    assert_name(&index, 0x2810, "old");
    assert_name(&index, 0x3804, "x");
}

static void bad_lines_of_a_jit_map_are_counted(void **state)
{
    (void)state;
    SymbolIndex index;
    size_t bad;
    jit_map_parse(
        &arena, STR("zz 10 a\n1000 10\n1000 0 empty\nffffffffffffffff 2 wraps\n\n2000 8 ok\n3000 "),
        &index, &bad);
    assert_int_equal(bad, 5);
    assert_int_equal(index.symbols.len, 1);
    assert_name(&index, 0x2007, "ok");
}

static void thousands_of_entries_on_one_spot_are_no_trouble(void **state)
{
    (void)state;
    StrBuf text = {0};
    for (int i = 0; i < 20000; i++)
        strbuf_printf(&text, "%x 100000 f%d\n", 0x100000 + (i * 7919) % 20000, i);
    SymbolIndex index;
    jit_map_parse(&arena, strbuf_str(&text), &index, NULL);
    assert_true(index.symbols.len <= 40000);
    assert_name(&index, 0x100000 + 0x100000 - 1, "f19999");
    strbuf_deinit(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(kallsyms_give_kernel_and_module_functions, clean_up),
        cmocka_unit_test_teardown(hidden_kernel_addresses_are_refused_with_the_remedy, clean_up),
        cmocka_unit_test_teardown(broken_kallsyms_lines_are_skipped, clean_up),
        cmocka_unit_test_teardown(names_of_generated_code_may_have_spaces, clean_up),
        cmocka_unit_test_teardown(later_entries_win_where_generated_code_overlaps, clean_up),
        cmocka_unit_test_teardown(an_older_larger_entry_does_not_hide_a_later_smaller_one,
                                  clean_up),
        cmocka_unit_test_teardown(bad_lines_of_a_jit_map_are_counted, clean_up),
        cmocka_unit_test_teardown(thousands_of_entries_on_one_spot_are_no_trouble, clean_up),
    };
    return RUN_TESTS(tests);
}
