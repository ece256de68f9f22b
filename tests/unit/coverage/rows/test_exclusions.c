// SPDX-License-Identifier: Apache-2.0
// Marks that leave lines and branches out.

#include "harness.h"

#include "base/strbuf.h"
#include "coverage/rows/exclusions.h"

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
    assert_true(cover_exclusions_find(&arena, str_from_c(source), NULL, &e));
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
    assert_true(cover_exclusions_find(&arena, STR("a\nLCOV_EXCL_START\nb\n"), NULL, &e));
    assert_int_equal(e.open, 1);
    assert_false(cover_excludes_line(&e, 1));
    assert_true(cover_excludes_line(&e, 1000000));
    assert_false(cover_exclusions_find(&arena, STR("LCOV_EXCL_STOP and _EXCL_LINE\n"), NULL, &e));
    assert_false(cover_excludes_line(NULL, 3));
    arena_deinit(&arena);
}

static void exception_branches_have_marks_of_their_own(void **state)
{
    (void)state;
    Arena arena = {0};
    CoverExclusions e;
    assert_true(cover_exclusions_find(&arena,
                                      STR("a LCOV_EXCL_EXCEPTION_BR_LINE\n"
                                          "b LCOV_EXCL_EXCEPTION_BR_START\n"
                                          "c\n"
                                          "d LCOV_EXCL_EXCEPTION_BR_STOP LCOV_EXCL_BR_STOP\n"),
                                      NULL, &e));
    static const bool exceptions[] = {1, 1, 1, 0};
    for (uint32_t i = 0; i < ARRAY_LEN(exceptions); i++) {
        assert_int_equal(cover_excludes_exception(&e, i + 1), exceptions[i]);
        assert_false(cover_excludes_branch(&e, i + 1));
    }
    arena_deinit(&arena);
}

static void targets_of_branches_have_a_mark(void **state)
{
    (void)state;
    Arena arena = {0};
    CoverExclusions e;
    assert_true(cover_exclusions_find(&arena, STR("a\nb GCOVR_EXCL_BR_SOURCE\n"), NULL, &e));
    assert_true(cover_excludes_source(&e, 2));
    assert_false(cover_excludes_source(&e, 1));
    assert_false(cover_excludes_branch(&e, 2));
    arena_deinit(&arena);
}

// Functions at 2-9 (with one at 4-6 inside), 11-14 below its mark, 20, and a mark
// where there is none. The places of an instance and of another file's are harmless.
static void functions_are_left_out_without_those_inside(void **state)
{
    (void)state;
    Arena arena = {0};
    StrBuf text = {0};
    CoverExclusions e;
    for (int line = 1; line <= 24; line++)
        strbuf_add(&text, line == 2    ? STR("int f() { // GCOVR_EXCL_FUNCTION\n")
                          : line == 10 ? STR("int g() // LCOV_EXCL_FUNCTION\n")
                          : line == 16 ? STR("f(); // GCOVR_EXCL_FUNCTION\n")
                          : line == 18 ? STR("int h() { // GCOVR_EXCL_BR_FUNCTION\n")
                                       : STR("\n"));
    assert_true(cover_exclusions_find(&arena, strbuf_str(&text), NULL, &e));
    static const CoverFunctionPlace places[] = {{4, 9, 6, 5},   {2, 5, 9, 1},   {2, 5, 9, 1},
                                                {11, 1, 14, 1}, {18, 9, 20, 1}, {8, 1, 12, 1},
                                                {21, 0, 20, 0}};
    for (size_t i = 0; i < ARRAY_LEN(places); i++)
        cover_exclusions_add_function(&e, places[i]);
    cover_exclusions_settle(&e);
    assert_int_equal(e.unplaced, 1);
    for (uint32_t line = 1; line <= 24; line++) {
        bool f = line >= 2 && line <= 9 && !(line >= 4 && line <= 6);
        assert_int_equal(cover_excludes_line(&e, line), f || (line >= 11 && line <= 14));
        assert_int_equal(cover_excludes_branch(&e, line),
                         f || (line >= 11 && line <= 14) || (line >= 18 && line <= 20));
    }
    strbuf_deinit(&text);
    arena_deinit(&arena);
}

static void a_function_of_one_line_is_marked_inside(void **state)
{
    (void)state;
    Arena arena = {0};
    for (uint32_t end = 10; end <= 80; end += 70) {
        CoverExclusions e;
        assert_true(cover_exclusions_find(
            &arena, STR("int f() { return 1; /* GCOVR_EXCL_FUNCTION */ }\n"), NULL, &e));
        cover_exclusions_add_function(&e, (CoverFunctionPlace){1, 5, 1, end});
        cover_exclusions_settle(&e);
        assert_int_equal(cover_excludes_line(&e, 1), end == 80);
        assert_int_equal(e.unplaced, end == 10);
    }
    arena_deinit(&arena);
}

static void unreachable_lines_wait_for_counts(void **state)
{
    (void)state;
    Arena arena = {0};
    CoverExclusions e;
    assert_true(cover_exclusions_find(&arena,
                                      STR("a LCOV_UNREACHABLE_LINE\n"
                                          "b LCOV_UNREACHABLE_START\n"
                                          "c\n"
                                          "d LCOV_UNREACHABLE_STOP GCOVR_UNREACHABLE_LINE\n"),
                                      NULL, &e));
    assert_true(cover_exclusions_need_counts(&e));
    static const bool unreachable[] = {1, 1, 1, 0};
    for (uint32_t i = 0; i < ARRAY_LEN(unreachable); i++) {
        assert_int_equal(cover_exclusions_is_unreachable(&e, i + 1), unreachable[i]);
        assert_false(cover_excludes_line(&e, i + 1));
    }
    cover_exclusions_add_line(&e, 3, false);
    cover_exclusions_add_line(&e, 1, false);
    cover_exclusions_counted(&e);
    assert_false(cover_exclusions_need_counts(&e));
    assert_true(cover_excludes_line(&e, 1));
    assert_false(cover_excludes_line(&e, 2));
    assert_true(cover_excludes_line(&e, 3));
    arena_deinit(&arena);
}

static void branches_without_hit_say_how_many(void **state)
{
    (void)state;
    Arena arena = {0};
    CoverExclusions e;
    assert_true(cover_exclusions_find(&arena,
                                      STR("a GCOVR_EXCL_BR_WITHOUT_HIT: 1/2 why\n"
                                          "b LCOV_EXCL_BR_WITHOUT_HIT:  3/14\n"
                                          "c GCOVR_EXCL_BR_WITHOUT_HIT\n"
                                          "d GCOVR_EXCL_BR_WITHOUT_HIT: 3/2\n"
                                          "e GCOVR_EXCL_BR_WITHOUT_HIT: 3\n"
                                          "f GCOVR_EXCL_WITHOUT_HIT: 1/2\n"),
                                      NULL, &e));
    assert_int_equal(e.miss_marks.len, 2);
    assert_int_equal(e.unread, 3);
    assert_null(cover_exclusions_miss_mark(&e, 3));
    const CoverMissMark *mark = cover_exclusions_miss_mark(&e, 2);
    assert_non_null(mark);
    assert_int_equal(mark->missed, 3);
    assert_int_equal(mark->all, 14);
    assert_false(cover_excludes_branch(&e, 1));
    arena_deinit(&arena);
}

static void coverage_stops_and_begins_again(void **state)
{
    (void)state;
    Arena arena = {0};
    CoverExclusions e;
    assert_true(cover_exclusions_find(&arena,
                                      STR("a\n"
                                          "b // GRCOV_STOP_COVERAGE\n"
                                          "c XGRCOV_BEGIN_COVERAGE\n"
                                          "d // GRCOV_BEGIN_COVERAGE\n"
                                          "e\n"
                                          "f // GRCOV_STOP_COVERAGE\n"),
                                      NULL, &e));
    static const bool lines[] = {0, 1, 1, 0, 0, 1, 1};
    for (uint32_t i = 0; i < ARRAY_LEN(lines); i++)
        assert_int_equal(cover_excludes_line(&e, i + 1), lines[i]);
    assert_int_equal(e.open, 0); // usual before tests at the end of a file
    assert_false(
        cover_exclusions_find(&arena, STR("STOP_COVERAGE\nLCOV_STOP_COVERAGE\n"), NULL, &e));
    arena_deinit(&arena);
}

static void expressions_of_the_user_are_marks(void **state)
{
    (void)state;
    Arena arena = {0};
    CoverExclusions e;
    static const char *const texts[COVER_PATTERN_COUNT] = {"^#\\[derive", "mod tests", "^}$",
                                                           "assert\\(",   "QUIET",     "LOUD"};
    regex_t regexes[COVER_PATTERN_COUNT];
    CoverPatterns patterns = {0};
    for (size_t i = 0; i < COVER_PATTERN_COUNT; i++) {
        assert_int_equal(regcomp(&regexes[i], texts[i], REG_EXTENDED | REG_NOSUB), 0);
        patterns.at[i] = &regexes[i];
    }
    assert_true(cover_exclusions_find(&arena,
                                      STR("#[derive(Debug)]\n"
                                          "mod tests {\r\n"
                                          "    x\n"
                                          "}\r\n"
                                          "assert(a || b) QUIETLY\n"
                                          "y\n"
                                          "LOUD\n"),
                                      &patterns, &e));
    static const bool lines[] = {1, 1, 1, 0, 0, 0, 0};
    static const bool branches[] = {1, 1, 1, 0, 1, 1, 0};
    for (uint32_t i = 0; i < ARRAY_LEN(lines); i++) {
        assert_int_equal(cover_excludes_line(&e, i + 1), lines[i]);
        assert_int_equal(cover_excludes_branch(&e, i + 1), branches[i]);
    }
    for (size_t i = 0; i < COVER_PATTERN_COUNT; i++)
        regfree(&regexes[i]);
    arena_deinit(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_and_branches_are_told_apart),
        cmocka_unit_test(a_start_without_stop_reaches_to_the_end),
        cmocka_unit_test(exception_branches_have_marks_of_their_own),
        cmocka_unit_test(targets_of_branches_have_a_mark),
        cmocka_unit_test(functions_are_left_out_without_those_inside),
        cmocka_unit_test(a_function_of_one_line_is_marked_inside),
        cmocka_unit_test(unreachable_lines_wait_for_counts),
        cmocka_unit_test(branches_without_hit_say_how_many),
        cmocka_unit_test(coverage_stops_and_begins_again),
        cmocka_unit_test(expressions_of_the_user_are_marks),
    };
    return RUN_TESTS(tests);
}
