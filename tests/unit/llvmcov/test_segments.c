// SPDX-License-Identifier: Apache-2.0
// From nested regions to lines.

#include "harness.h"

#include "llvmcov/segments.h"

static uint64_t count_of(const CovLineVec *lines, uint32_t line)
{
    for (size_t i = 0; i < lines->len; i++)
        if (lines->at[i].line == line)
            return lines->at[i].count;
    return UINT64_MAX;
}

static void lines_of(const CovSpan *spans, size_t n, CovLineVec *out)
{
    CovSpanVec v = {0};
    CovSegmentVec segments = {0};
    for (size_t i = 0; i < n; i++)
        vec_push(NULL, &v, spans[i]);
    cov_segments(&v, &segments);
    cov_lines(&segments, out);
    vec_free(&v);
    vec_free(&segments);
}

static void the_innermost_region_counts_and_the_outer_one_resumes(void **state)
{
    (void)state;
    CovSpan spans[] = {{1, 1, 9, 2, COV_CODE, 7}, {3, 5, 5, 6, COV_CODE, 2}};
    CovLineVec lines = {0};
    lines_of(spans, 2, &lines);
    assert_int_equal(lines.len, 9);
    assert_int_equal(count_of(&lines, 2), 7);
    assert_int_equal(count_of(&lines, 3), 7); // the outer one runs into it
    assert_int_equal(count_of(&lines, 4), 2);
    assert_int_equal(count_of(&lines, 5), 2);
    assert_int_equal(count_of(&lines, 6), 7);
    vec_free(&lines);
}

static void gaps_do_not_start_a_count_and_skipped_lines_have_none(void **state)
{
    (void)state;
    CovSpan spans[] = {{1, 1, 9, 2, COV_CODE, 7},
                       {2, 10, 3, 5, COV_GAP, 0},
                       {3, 5, 3, 20, COV_CODE, 4},
                       {6, 1, 7, 7, COV_SKIPPED, 0}};
    CovLineVec lines = {0};
    lines_of(spans, 4, &lines);
    assert_int_equal(count_of(&lines, 2), 7);
    assert_int_equal(count_of(&lines, 3), 4);
    assert_true(count_of(&lines, 6) == UINT64_MAX);
    assert_int_equal(count_of(&lines, 8), 7);
    vec_free(&lines);
}

static void equal_spans_add_up_and_lines_between_functions_are_not_mapped(void **state)
{
    (void)state;
    CovSpan spans[] = {
        {1, 1, 3, 2, COV_CODE, 7}, {8, 1, 9, 2, COV_CODE, 0}, {1, 1, 3, 2, COV_CODE, 5}};
    CovLineVec lines = {0};
    lines_of(spans, 3, &lines);
    assert_int_equal(count_of(&lines, 2), 12);
    assert_true(count_of(&lines, 5) == UINT64_MAX);
    assert_int_equal(count_of(&lines, 8), 0);
    vec_free(&lines);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_innermost_region_counts_and_the_outer_one_resumes),
        cmocka_unit_test(gaps_do_not_start_a_count_and_skipped_lines_have_none),
        cmocka_unit_test(equal_spans_add_up_and_lines_between_functions_are_not_mapped),
    };
    return RUN_TESTS(tests);
}
