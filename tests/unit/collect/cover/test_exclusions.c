// SPDX-License-Identifier: Apache-2.0
// Marks that leave lines and branches out.

#include "harness.h"

#include "collect/cover/exclusions.h"

static const char source[] = "a\n"
                             "b // LCOV_EXCL_LINE\n"
                             "c /* GCOVR_EXCL_START */\n"
                             "d LCOV_EXCL_LINE\n"
                             "e GRCOV_EXCL_START\n"
                             "f GCOVR_EXCL_STOP\n"
                             "g GRCOV_EXCL_STOP\n"
                             "h LCOV_EXCL_BR_LINE\n"
                             "i GCOV_EXCL_BR_START\n"
                             "j\n"
                             "k GCOV_EXCL_BR_STOP XLCOV_EXCL_LINE LCOV_EXCL_LINES LCOV_EXCL_STOP\n";

static void lines_and_branches_are_told_apart(void **state)
{
    (void)state;
    Arena arena = {0};
    CoverExclusions e;
    assert_true(cover_exclusions_find(&arena, str_from_c(source), &e));
    //                          a  b  c  d  e  f  g  h  i  j  k
    static const bool lines[] = {0, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0};
    static const bool branches[] = {0, 1, 1, 1, 1, 1, 0, 1, 1, 1, 0};
    for (uint32_t i = 0; i < ARRAY_LEN(lines); i++) {
        assert_int_equal(cover_excludes_line(&e, i + 1), lines[i]);
        assert_int_equal(cover_excludes_branch(&e, i + 1), branches[i]);
    }
    assert_int_equal(e.open, 0);
    assert_int_equal(e.lines.len, 1);
    arena_deinit(&arena);
}

static void a_start_without_stop_reaches_to_the_end(void **state)
{
    (void)state;
    Arena arena = {0};
    CoverExclusions e;
    assert_true(cover_exclusions_find(&arena, STR("a\nLCOV_EXCL_START\nb\n"), &e));
    assert_int_equal(e.open, 1);
    assert_false(cover_excludes_line(&e, 1));
    assert_true(cover_excludes_line(&e, 1000000));
    assert_false(cover_exclusions_find(&arena, STR("LCOV_EXCL_STOP and _EXCL_LINE\n"), &e));
    assert_false(cover_excludes_line(NULL, 3));
    arena_deinit(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_and_branches_are_told_apart),
        cmocka_unit_test(a_start_without_stop_reaches_to_the_end),
    };
    return RUN_TESTS(tests);
}
