// SPDX-License-Identifier: Apache-2.0
// Decision diagrams: how paths are numbered, and which pairs show independence.

#include "harness.h"

#include "llvmcov/mcdc.h"

// a && (b || c): false of a ends, true of a asks b, false of b asks c.
static const CovCondition and_or[] = {{0, {-1, 1}}, {1, {2, -1}}, {2, {-1, -1}}};

static void paths_are_numbered_by_width_and_order(void **state)
{
    (void)state;
    CovMcdc m = {0};
    Error err;
    // Paths: F is 0, TT 1, TFF 2, TFT 3. All but TFF ran; the bits end at bit 12.
    const uint8_t bitmap[] = {0, 0xb << 0, 0};
    assert_ok(cov_mcdc_evaluate(and_or, 3, 12, false, bytes_over(bitmap, 3), &m, &err), &err);
    assert_int_equal(m.vector_count, 3);
    static const uint8_t want[] = {COV_FALSE, COV_NOT_EVALUATED, COV_NOT_EVALUATED, 0,
                                   COV_TRUE,  COV_FALSE,         COV_TRUE,          1,
                                   COV_TRUE,  COV_TRUE,          COV_NOT_EVALUATED, 1};
    assert_int_equal(m.vectors.len, sizeof(want));
    assert_memory_equal(m.vectors.at, want, sizeof(want));
    // a: the first and the second; b and c need a path that ends in false.
    static const uint32_t pairs[] = {1, 2, 0, 0, 0, 0};
    assert_memory_equal(m.pairs.at, pairs, sizeof(pairs));
    cov_mcdc_deinit(&m);
}

static void the_older_form_has_a_bit_for_each_mask_of_true_conditions(void **state)
{
    (void)state;
    CovMcdc m = {0};
    Error err;
    // Byte 1: masks 0 (F), 1 (TFF), 3 (TT), 5 (TFT).
    const uint8_t bitmap[] = {0xff, 0x2b};
    assert_ok(cov_mcdc_evaluate(and_or, 3, 1, true, bytes_over(bitmap, 2), &m, &err), &err);
    assert_int_equal(m.vector_count, 4);
    static const uint32_t pairs[] = {1, 3, 2, 4, 2, 3};
    assert_memory_equal(m.pairs.at, pairs, sizeof(pairs));
    cov_mcdc_deinit(&m);
}

static void broken_diagrams_and_short_bitmaps_are_errors(void **state)
{
    (void)state;
    static const struct {
        CovCondition at[2];
        const char *want;
    } cases[] = {
        {{{0, {1, 0}}, {1, {-1, -1}}}, "no diagram"},   // back to the start
        {{{0, {1, -1}}, {1, {1, -1}}}, "no diagram"},   // to itself
        {{{0, {-1, -1}}, {1, {-1, -1}}}, "no diagram"}, // out of reach
        {{{0, {1, 2}}, {1, {-1, -1}}}, "no diagram"},
        {{{0, {1, -1}}, {0, {-1, -1}}}, "no diagram"},
        {{{0, {1, -1}}, {1, {-1, -1}}}, "bit 17 of 16"},
    };
    const uint8_t bitmap[2] = {0xff, 0xff};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        CovMcdc m = {0};
        Error err;
        assert_error(cov_mcdc_evaluate(cases[i].at, 2, 17, false, bytes_over(bitmap, 2), &m, &err),
                     &err, ERROR_FORMAT, cases[i].want);
        cov_mcdc_deinit(&m);
    }
    CovMcdc m = {0};
    Error err;
    assert_error(cov_mcdc_evaluate(and_or, 3, 3, false, bytes_over(bitmap, 2), &m, &err), &err,
                 ERROR_FORMAT, "bitmap");
    cov_mcdc_deinit(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_are_numbered_by_width_and_order),
        cmocka_unit_test(the_older_form_has_a_bit_for_each_mask_of_true_conditions),
        cmocka_unit_test(broken_diagrams_and_short_bitmaps_are_errors),
    };
    return RUN_TESTS(tests);
}
