// SPDX-License-Identifier: Apache-2.0
// Blocks of value profiles, written and read.

#include "harness.h"

#include "llvmcov/prof_values.h"

static const ProfValue values[] = {{3, 30}, {4, 40}, {5, 50}};
// Two call sites, one of them without values, and a table.
static const uint32_t counts[PROF_VALUE_KINDS] = {2, 0, 1};
static const ProfValueSite sites[] = {{values, 2}, {NULL, 0}, {values + 2, 1}};

static ProfValues parse(const StrBuf *b)
{
    ProfValues v;
    Error err;
    Cursor c = cursor_over(bytes_from_str(strbuf_str(b)), "values");
    prof_values_parse(&c, &v);
    assert_ok(cursor_check(&c, &err), &err);
    assert_int_equal(cursor_left(&c), 0);
    return v;
}

static void what_is_written_is_read(void **state)
{
    (void)state;
    StrBuf b = {0};
    prof_values_write(&b, counts, sites);
    ProfValues v = parse(&b);
    assert_int_equal(v.kinds[0].site_count, 2);
    assert_int_equal(v.kinds[0].lengths[0], 2);
    assert_int_equal(v.kinds[0].lengths[1], 0);
    assert_int_equal(prof_value_get(&v, &v.kinds[0], 1).value, 4);
    assert_int_equal(prof_value_get(&v, &v.kinds[0], 1).count, 40);
    assert_int_equal(v.kinds[1].site_count, 0);
    assert_int_equal(prof_value_get(&v, &v.kinds[2], 0).count, 50);
    strbuf_deinit(&b);
}

static void without_sites_nothing_is_written(void **state)
{
    (void)state;
    StrBuf b = {0};
    prof_values_write(&b, (uint32_t[PROF_VALUE_KINDS]){0}, NULL);
    assert_int_equal(b.len, 0);
    strbuf_deinit(&b);
}

static void a_block_cut_at_any_byte_is_refused(void **state)
{
    (void)state;
    StrBuf b = {0};
    prof_values_write(&b, counts, sites);
    for (size_t cut = 0; cut < b.len; cut++) {
        ProfValues v;
        Cursor c = cursor_over(bytes_over(b.ptr, cut), "values");
        prof_values_parse(&c, &v);
        assert_false(cursor_ok(&c));
    }
    strbuf_deinit(&b);
}

// A block with one byte changed.
static const char *refusal(size_t at, char byte)
{
    StrBuf b = {0};
    prof_values_write(&b, counts, sites);
    b.ptr[at] = byte;
    ProfValues v;
    Cursor c = cursor_over(bytes_over(b.ptr, b.len), "values");
    prof_values_parse(&c, &v);
    strbuf_deinit(&b);
    static char reason[80];
    return c.why ? cursor_reason(&c, reason, sizeof(reason)) : "";
}

static void what_a_block_must_not_say_is_refused_by_name(void **state)
{
    (void)state;
    enum { KINDS_AT = 4, FIRST_KIND_AT = 8, SECOND_KIND_AT = 8 + 16 + 32, SITES_AT = 12 };
    assert_string_equal(refusal(0, 9), "size of a value profile is not a multiple of 8");
    assert_string_equal(refusal(0, 0), "size of a value profile is not a multiple of 8");
    assert_string_equal(refusal(KINDS_AT, 4), "value profile of more kinds than are known: 4");
    assert_string_equal(refusal(FIRST_KIND_AT, 3), "unknown kind of a value profile: 3");
    assert_string_equal(refusal(SECOND_KIND_AT, 0), "a kind of value profile stands twice");
    assert_string_equal(refusal(SITES_AT + 3, 0x7f), "cut short");
    assert_string_equal(refusal(16, (char)0xff), "cut short"); // values of the first site
}

static void the_most_frequent_stand_first_and_equals_in_order(void **state)
{
    (void)state;
    ProfValue v[] = {{1, 5}, {2, 9}, {3, 5}, {4, 0}, {5, 9}};
    prof_values_sort_by_count(v, ARRAY_LEN(v));
    static const uint64_t want[] = {2, 5, 1, 3, 4};
    for (size_t i = 0; i < ARRAY_LEN(v); i++)
        assert_int_equal(v[i].value, want[i]);
}

static void a_site_keeps_the_255_largest_of_any_number(void **state)
{
    (void)state;
    enum { MANY = 200000 };
    ProfValue *v = heap_alloc(MANY * sizeof(*v));
    for (uint64_t i = 0; i < MANY; i++)
        v[i] = (ProfValue){i, i / 2}; // pairs of equals, rising
    assert_int_equal(prof_values_keep_largest(v, MANY), 255);
    for (uint64_t i = 0; i < 255; i++) {
        assert_int_equal(v[i].count, (MANY - 1 - i) / 2);
        assert_int_equal(v[i].value, MANY - 2 - i / 2 * 2 + i % 2);
    }
    assert_int_equal(prof_values_keep_largest(v, 3), 3);
    heap_free(v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(without_sites_nothing_is_written),
        cmocka_unit_test(a_block_cut_at_any_byte_is_refused),
        cmocka_unit_test(what_a_block_must_not_say_is_refused_by_name),
        cmocka_unit_test(the_most_frequent_stand_first_and_equals_in_order),
        cmocka_unit_test(a_site_keeps_the_255_largest_of_any_number),
    };
    return RUN_TESTS(tests);
}
