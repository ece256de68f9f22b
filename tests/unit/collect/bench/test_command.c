// SPDX-License-Identifier: Apache-2.0
// Command lines: variables, words, which need a shell.

#include "harness.h"

#include "base/shell_words.h"
#include "collect/bench/command.h"

static Arena arena;
static Error err;

static int clean_up(void **state)
{
    (void)state;
    arena_deinit(&arena);
    err = (Error){0};
    return 0;
}

static void lists_split_at_commas_that_are_not_escaped(void **state)
{
    (void)state;
    StrVec v = {0};
    bench_split_list(&arena, STR("a,b\\,c,,\\x"), &v);
    assert_int_equal(v.len, 4);
    assert_str(v.at[0], "a");
    assert_str(v.at[1], "b,c");
    assert_str(v.at[2], "");
    assert_str(v.at[3], "\\x");
}

static void scans_keep_the_decimals_they_are_given_with(void **state)
{
    (void)state;
    StrVec v = {0};
    assert_ok(bench_scan_values(&arena, STR("1"), STR("3"), STR(""), &v, &err), &err);
    assert_int_equal(v.len, 3);
    assert_str(v.at[2], "3");
    v = (StrVec){0};
    assert_ok(bench_scan_values(&arena, STR("0.3"), STR("0.7"), STR("0.2"), &v, &err), &err);
    assert_int_equal(v.len, 3);
    assert_str(v.at[0], "0.3");
    assert_str(v.at[2], "0.7");
}

static void bad_scans_are_refused(void **state)
{
    (void)state;
    StrVec v = {0};
    assert_error(bench_scan_values(&arena, STR("3"), STR("1"), STR(""), &v, &err), &err,
                 ERROR_USAGE, "empty");
    assert_error(bench_scan_values(&arena, STR("0"), STR("1"), STR("0"), &v, &err), &err,
                 ERROR_USAGE, "step");
    assert_error(bench_scan_values(&arena, STR("0"), STR("1e9"), STR("1"), &v, &err), &err,
                 ERROR_USAGE, "more than");
    assert_error(bench_scan_values(&arena, STR("a"), STR("1"), STR("1"), &v, &err), &err,
                 ERROR_USAGE, "numbers");
    assert_error(bench_scan_values(&arena, STR("0.5"), STR("1.5"), STR(""), &v, &err), &err,
                 ERROR_USAGE, "-D");
    assert_int_equal(v.len, 0);
}

static void variables_are_filled_in_and_other_braces_stay(void **state)
{
    (void)state;
    RunParameterVec p = {0};
    vec_push(&arena, &p, (RunParameter){STR("n"), STR("{m}")});
    vec_push(&arena, &p, (RunParameter){STR("m"), STR("7")});
    assert_str(bench_fill_in(&arena, STR("a {n} {m}{x} {"), &p), "a {m} 7{x} {");
    assert_str(bench_fill_in(&arena, STR(""), &p), "");
}

static void words_split_as_in_a_shell(void **state)
{
    (void)state;
    StrVec v = {0};
    assert_ok(shell_split_words(&arena, STR(" a 'b c'd \"e\\\"f\\n\" g\\ h '' "), &v, &err), &err);
    assert_int_equal(v.len, 5);
    assert_str(v.at[0], "a");
    assert_str(v.at[1], "b cd");
    assert_str(v.at[2], "e\"f\\n");
    assert_str(v.at[3], "g h");
    assert_str(v.at[4], "");
    assert_error(shell_split_words(&arena, STR("a 'b"), &v, &err), &err, ERROR_USAGE, "quote");
}

static void only_plain_commands_do_without_a_shell(void **state)
{
    (void)state;
    const char *const plain[] = {"ls -l /tmp", "./prog --n=3", "/bin/true", "sleep 0.1"};
    const char *const not_plain[] = {"ls | wc",  "a; b",    "A=1 ls",  "echo hi", "ls *.c", "ls ~",
                                     "ls $HOME", "cd /tmp", "ls > x",  "exec ls", "",       "  ",
                                     "ls 'a b'", "ls `x`",  "ls & ls", "a\nb",    "(ls)",   "! ls"};
    for (size_t i = 0; i < ARRAY_LEN(plain); i++)
        assert_true(bench_is_plain(str_from_c(plain[i])));
    for (size_t i = 0; i < ARRAY_LEN(not_plain); i++)
        if (bench_is_plain(str_from_c(not_plain[i])))
            fail_msg("'%s' taken for plain", not_plain[i]);
}

static void programs_are_found_along_the_path(void **state)
{
    (void)state;
    const char *found;
    assert_true(bench_find_program(&arena, STR("sh"), STR("/nonexistent:/bin"), &found));
    assert_string_equal(found, "/bin/sh");
    assert_true(bench_find_program(&arena, STR("/bin/sh"), STR(""), &found));
    assert_false(bench_find_program(&arena, STR("sh"), STR("/nonexistent"), &found));
    assert_false(bench_find_program(&arena, STR("/etc"), STR("/bin"), &found));
    assert_false(bench_find_program(&arena, STR("/etc/passwd"), STR("/bin"), &found));
}

static void missing_programs_are_an_error_only_without_a_shell(void **state)
{
    (void)state;
    const char *const shell[] = {"/bin/sh", "-c", NULL};
    BenchCommand c = {.text = STR("no-such-program-here x")};
    assert_error(bench_prepare_command(&arena, &c, NULL, false, STR("/bin"), &err), &err,
                 ERROR_NOT_FOUND, "no-such-program-here");
    assert_ok(bench_prepare_command(&arena, &c, shell, true, STR("/bin"), &err), &err);
    assert_true(c.via_shell);
    assert_string_equal(c.argv[2], "no-such-program-here x");
    c = (BenchCommand){.text = STR("sh -x")};
    assert_ok(bench_prepare_command(&arena, &c, shell, true, STR("/bin"), &err), &err);
    assert_false(c.via_shell);
    assert_string_equal(c.argv[1], "-x");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(lists_split_at_commas_that_are_not_escaped, clean_up),
        cmocka_unit_test_teardown(scans_keep_the_decimals_they_are_given_with, clean_up),
        cmocka_unit_test_teardown(bad_scans_are_refused, clean_up),
        cmocka_unit_test_teardown(variables_are_filled_in_and_other_braces_stay, clean_up),
        cmocka_unit_test_teardown(words_split_as_in_a_shell, clean_up),
        cmocka_unit_test_teardown(only_plain_commands_do_without_a_shell, clean_up),
        cmocka_unit_test_teardown(programs_are_found_along_the_path, clean_up),
        cmocka_unit_test_teardown(missing_programs_are_an_error_only_without_a_shell, clean_up),
    };
    return RUN_TESTS(tests);
}
