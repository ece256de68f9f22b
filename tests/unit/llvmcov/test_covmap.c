// SPDX-License-Identifier: Apache-2.0
// Mappings of single functions, built here: expressions and regions.

#include "harness.h"

#include "base/strbuf.h"
#include "llvmcov/covmap.h"

static void add_uleb(StrBuf *b, uint64_t v)
{
    for (; v > 0x7f; v >>= 7)
        strbuf_add_char(b, (char)(v | 0x80));
    strbuf_add_char(b, (char)v);
}

// The same number with bytes that add nothing.
static void add_long_uleb(StrBuf *b, uint64_t v, unsigned more)
{
    for (; v > 0x7f || more; v >>= 7) {
        strbuf_add_char(b, (char)(v | 0x80));
        more -= v <= 0x7f;
    }
    strbuf_add_char(b, (char)v);
}

static CovMapFunction function_of(const StrBuf *b)
{
    return (CovMapFunction){.mapping = bytes_over(b->ptr, b->len), .files_count = 2};
}

// Part `side` of expression i: numbers of one to three bytes, in no order.
static CovCounter part_of(uint32_t i, uint32_t side, uint32_t count)
{
    uint32_t x = (2 * i + side) * 2654435761u >> 7;
    if (x % 3 == 0)
        return (x % 31) << 2 | COV_COUNTER;
    return (x % count) << 2 | (x % 2 ? COV_ADD : COV_SUBTRACT);
}

static void build(StrBuf *b, uint32_t expressions)
{
    add_uleb(b, 1);
    add_uleb(b, 0); // the only file
    add_uleb(b, expressions);
    for (uint32_t i = 0; i < expressions; i++) {
        add_uleb(b, part_of(i, 0, expressions));
        add_uleb(b, part_of(i, 1, expressions));
    }
    add_uleb(b, 2);
    add_uleb(b, 5 << 2 | COV_COUNTER);
    const uint64_t place[] = {300, 4, 2, 1}, gap[] = {1, 9, 0, 12 | 1u << 31};
    for (size_t i = 0; i < 4; i++)
        add_uleb(b, place[i]);
    add_uleb(b, 0);
    for (size_t i = 0; i < 4; i++)
        add_long_uleb(b, gap[i], i == 0 ? 9 : i == 1 ? 2 : 0);
}

static void check_expressions(uint32_t count)
{
    StrBuf b = {0};
    CovFunctionMap m = {0};
    CovExpression x;
    Error err;
    build(&b, count);
    CovMapFunction f = function_of(&b);
    assert_ok(covmap_decode(&f, &m, &err), &err);
    assert_int_equal(m.expression_count, count);
    for (uint32_t i = 0; i < count; i++) {
        assert_true(covmap_expression(&m, i, &x));
        assert_int_equal(x.lhs, part_of(i, 0, count));
        assert_int_equal(x.rhs, part_of(i, 1, count));
    }
    assert_int_equal(m.regions.len, 2);
    assert_int_equal(m.regions.at[0].count, 5 << 2 | COV_COUNTER);
    assert_int_equal(m.regions.at[0].line, 300);
    assert_int_equal(m.regions.at[0].end_line, 302);
    assert_int_equal(m.regions.at[1].kind, COV_GAP);
    assert_int_equal(m.regions.at[1].line, 301);
    assert_int_equal(m.regions.at[1].column, 9);
    assert_int_equal(m.regions.at[1].end_column, 12);
    covmap_function_deinit(&m);
    strbuf_deinit(&b);
}

static void every_expression_is_found_wherever_it_stands(void **state)
{
    (void)state;
    for (uint32_t count = 0; count < 150; count++)
        check_expressions(count);
    check_expressions(20000); // numbers of three bytes
}

static void a_mapping_cut_at_any_byte_is_refused(void **state)
{
    (void)state;
    StrBuf b = {0};
    CovFunctionMap m = {0};
    Error err;
    build(&b, 70);
    for (size_t cut = 0; cut < b.len; cut++) {
        // At an address of its own, so that a look behind the end is seen.
        uint8_t *bytes = heap_alloc(cut);
        memcpy(bytes, b.ptr, cut);
        CovMapFunction f = {.mapping = bytes_over(bytes, cut), .files_count = 2};
        assert_false(covmap_decode(&f, &m, &err));
        assert_non_null(strstr(err.text, "mapping of a function"));
        heap_free(bytes);
    }
    CovMapFunction absent = {.files_count = 2};
    assert_false(covmap_decode(&absent, &m, &err));
    covmap_function_deinit(&m);
    strbuf_deinit(&b);
}

static void an_unknown_region_kind_is_in_the_error(void **state)
{
    (void)state;
    // One file, no expression, a region in whose head the kind stands above the three low bits.
    const uint64_t numbers[] = {1, 0, 0, 1, 9 << 3, 1, 1, 0, 1};
    StrBuf b = {0};
    CovFunctionMap m = {0};
    Error err;
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
        add_uleb(&b, numbers[i]);
    CovMapFunction f = function_of(&b);
    assert_error(covmap_decode(&f, &m, &err), &err, ERROR_FORMAT, "unknown region kind 9 at");
    covmap_function_deinit(&m);
    strbuf_deinit(&b);
}

// Two expressions, of which the second is `word` and 0, and no region.
static void build_broken(StrBuf *b, uint64_t word)
{
    const uint64_t head[] = {1, 0, 2, 0, 0};
    for (size_t i = 0; i < ARRAY_LEN(head); i++)
        add_uleb(b, head[i]);
    add_uleb(b, word);
    add_uleb(b, 0);
    add_uleb(b, 0);
}

static void an_expression_names_only_what_is_in_the_table(void **state)
{
    (void)state;
    const uint64_t broken[] = {2 << 2 | COV_ADD, 1ull << 32, UINT64_MAX};
    for (size_t i = 0; i <= ARRAY_LEN(broken); i++) {
        StrBuf b = {0};
        CovFunctionMap m = {0};
        CovExpression x;
        Error err;
        build_broken(&b, i < ARRAY_LEN(broken) ? broken[i] : 1 << 2 | COV_ADD);
        CovMapFunction f = function_of(&b);
        assert_ok(covmap_decode(&f, &m, &err), &err);
        assert_true(covmap_expression(&m, 0, &x));
        assert_int_equal(covmap_expression(&m, 1, &x), i == ARRAY_LEN(broken));
        covmap_function_deinit(&m);
        strbuf_deinit(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_expression_is_found_wherever_it_stands),
        cmocka_unit_test(a_mapping_cut_at_any_byte_is_refused),
        cmocka_unit_test(an_unknown_region_kind_is_in_the_error),
        cmocka_unit_test(an_expression_names_only_what_is_in_the_table),
    };
    return RUN_TESTS(tests);
}
