// SPDX-License-Identifier: Apache-2.0
// Lists of tests as frameworks print them.

#include "harness.h"

#include "collect/cover/testmap_list.h"

static void libtest_names_tests_and_benchmarks(void **state)
{
    (void)state;
    Arena arena = {0};
    StrVec names = {0};
    cover_test_parse_libtest(&arena, STR("a::b: test\nc: benchmark\nd: test\n\n2 tests\n"), &names);
    assert_int_equal(names.len, 2);
    assert_str(names.at[0], "a::b");
    assert_str(names.at[1], "d");
    arena_deinit(&arena);
}

static void gtest_names_stand_below_their_suites(void **state)
{
    (void)state;
    Arena arena = {0};
    StrVec names = {0};
    cover_test_parse_gtest(&arena,
                           STR("Running main() from gtest_main.cc\n  stray\nA.\n  one\n  two\n"
                               "B/0.  # TypeParam = int\n  three  # GetParam() = 5\n"),
                           &names);
    assert_int_equal(names.len, 3);
    assert_str(names.at[0], "A.one");
    assert_str(names.at[1], "A.two");
    assert_str(names.at[2], "B/0.three");
    arena_deinit(&arena);
}

static void ctest_numbers_tests(void **state)
{
    (void)state;
    Arena arena = {0};
    StrVec names = {0}, numbers = {0};
    cover_test_parse_ctest(
        &arena, STR("Test project /b\n  Test  #1: one\n  Test #12: two words\n\nTotal Tests: 2\n"),
        &names, &numbers);
    assert_int_equal(names.len, 2);
    assert_str(names.at[1], "two words");
    assert_str(numbers.at[1], "12");
    arena_deinit(&arena);
}

static void lines_are_shell_commands(void **state)
{
    (void)state;
    Arena arena = {0};
    CoverTestCommands commands = {0};
    cover_test_lines(&arena, STR("# comment\n\n ./a 1 | b \n"), &commands);
    assert_int_equal(commands.len, 1);
    assert_str(commands.at[0].name, "./a 1 | b");
    assert_string_equal(commands.at[0].argv[2], "./a 1 | b");
    assert_null(commands.at[0].argv[3]);
    arena_deinit(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(libtest_names_tests_and_benchmarks),
        cmocka_unit_test(gtest_names_stand_below_their_suites),
        cmocka_unit_test(ctest_numbers_tests),
        cmocka_unit_test(lines_are_shell_commands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
