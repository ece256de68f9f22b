// SPDX-License-Identifier: Apache-2.0
// base/str: slices, searching, splitting, numbers, globs.

#include "harness.h"

static void a_slice_is_clamped_to_the_text(void **state)
{
    (void)state;
    assert_str(str_slice(STR("hello"), 1, 3), "el");
    assert_str(str_slice(STR("hello"), 3, 99), "lo");
    assert_str(str_slice(STR("hello"), 7, 99), "");
    assert_str(str_slice(STR("hello"), 4, 2), "");
    Bytes b = bytes_slice(bytes_from_str(STR("abc")), 1, SIZE_MAX);
    assert_true(bytes_equal(b, "bc", 2));
}

static void comparing_puts_the_shorter_first_among_equals(void **state)
{
    (void)state;
    assert_true(str_compare(STR("ab"), STR("abc")) < 0);
    assert_true(str_compare(STR("b"), STR("abc")) > 0);
    assert_int_equal(str_compare(STR(""), (Str){0}), 0);
    assert_true(str_compare(STR("a\xff"), STR("a\x01")) > 0);
}

static void finding_gives_the_position_or_size_max(void **state)
{
    (void)state;
    assert_int_equal(str_find(STR("a.b.c"), STR(".c")), 3);
    assert_int_equal(str_find(STR("aaab"), STR("aab")), 1);
    assert_true(str_find(STR("abc"), STR("abcd")) == SIZE_MAX);
    assert_int_equal(str_find(STR("abc"), STR("")), 0);
    assert_int_equal(str_find_char(STR("a.b.c"), '.'), 1);
    assert_int_equal(str_find_last_char(STR("a.b.c"), '.'), 3);
    assert_true(str_find_char((Str){0}, 'x') == SIZE_MAX);
    assert_true(str_find_last_char((Str){0}, 'x') == SIZE_MAX);
}

static void a_prefix_and_a_suffix_may_be_the_whole_text(void **state)
{
    (void)state;
    assert_true(str_starts_with(STR("abc"), STR("abc")));
    assert_true(str_ends_with(STR("abc"), STR("abc")));
    assert_true(str_starts_with(STR("abc"), STR("")));
    assert_false(str_starts_with(STR("ab"), STR("abc")));
    assert_false(str_ends_with(STR("bc"), STR("abc")));
}

static void trimming_drops_white_space_at_both_ends_only(void **state)
{
    (void)state;
    assert_str(str_trim(STR(" \t a b\r\n")), "a b");
    assert_str(str_trim(STR(" \n ")), "");
    assert_str(str_trim((Str){0}), "");
}

static void a_path_splits_into_folder_and_name(void **state)
{
    (void)state;
    assert_str(str_base_name(STR("/a/b.c")), "b.c");
    assert_str(str_dir_name(STR("/a/b.c")), "/a");
    assert_str(str_base_name(STR("b.c")), "b.c");
    assert_str(str_dir_name(STR("b.c")), "");
    assert_str(str_dir_name(STR("/b")), "/");
}

static void parts_include_the_last_one_without_separator(void **state)
{
    (void)state;
    Str rest = STR("a,,b");
    Str part;
    assert_true(str_next_part(&rest, ',', &part));
    assert_str(part, "a");
    assert_true(str_next_part(&rest, ',', &part));
    assert_str(part, "");
    assert_true(str_next_part(&rest, ',', &part));
    assert_str(part, "b");
    assert_false(str_next_part(&rest, ',', &part));
}

static void lines_end_with_or_without_a_carriage_return(void **state)
{
    (void)state;
    Str rest = STR("one\r\ntwo\nthree");
    Str line;
    assert_true(str_next_line(&rest, &line));
    assert_str(line, "one");
    assert_true(str_next_line(&rest, &line));
    assert_str(line, "two");
    assert_true(str_next_line(&rest, &line));
    assert_str(line, "three");
    assert_false(str_next_line(&rest, &line));
}

static void splitting_without_a_separator_leaves_the_outputs_alone(void **state)
{
    (void)state;
    Str head = STR("h");
    Str tail = STR("t");
    assert_false(str_split(STR("abc"), '=', &head, &tail));
    assert_str(head, "h");
    assert_str(tail, "t");
    assert_true(str_split(STR("a=b=c"), '=', &head, &tail));
    assert_str(head, "a");
    assert_str(tail, "b=c");
}

static void an_unsigned_number_takes_the_whole_text_or_nothing(void **state)
{
    (void)state;
    uint64_t v = 7;
    assert_true(str_parse_u64(STR("18446744073709551615"), 10, &v));
    assert_true(v == UINT64_MAX);
    v = 7;
    assert_false(str_parse_u64(STR("18446744073709551616"), 10, &v));
    assert_false(str_parse_u64(STR(""), 10, &v));
    assert_false(str_parse_u64(STR("-1"), 10, &v));
    assert_false(str_parse_u64(STR(" 1"), 10, &v));
    assert_false(str_parse_u64(STR("1x"), 10, &v));
    assert_false(str_parse_u64(STR("0x"), 0, &v));
    assert_int_equal(v, 7);
    assert_true(str_parse_u64(STR("ffFF"), 16, &v));
    assert_int_equal(v, 0xffff);
    assert_true(str_parse_u64(STR("0x1f"), 0, &v));
    assert_int_equal(v, 0x1f);
    assert_true(str_parse_u64(STR("19"), 0, &v));
    assert_int_equal(v, 19);
}

static void a_signed_number_reaches_both_limits(void **state)
{
    (void)state;
    int64_t v = 7;
    assert_true(str_parse_i64(STR("-9223372036854775808"), &v));
    assert_true(v == INT64_MIN);
    assert_true(str_parse_i64(STR("9223372036854775807"), &v));
    assert_true(v == INT64_MAX);
    assert_false(str_parse_i64(STR("9223372036854775808"), &v));
    assert_false(str_parse_i64(STR("-9223372036854775809"), &v));
    assert_false(str_parse_i64(STR("-"), &v));
    assert_true(v == INT64_MAX);
}

static void a_decimal_fraction_takes_the_whole_text_or_nothing(void **state)
{
    (void)state;
    double v = 7;
    assert_true(str_parse_double(STR("-2.5e3"), &v));
    assert_true(v < -2499.9 && v > -2500.1);
    assert_false(str_parse_double(STR("2.5 "), &v));
    assert_false(str_parse_double(STR(""), &v));
    assert_false(str_parse_double(STR("1e999"), &v));
    assert_true(v < -2499.9 && v > -2500.1);
}

static void a_glob_matches_as_in_a_shell(void **state)
{
    (void)state;
    static const struct {
        const char *pattern, *text;
        bool matches;
    } rows[] = {
        {"", "", true},          {"", "a", false},         {"*", "", true},
        {"*", "anything", true}, {"a*c", "abbbc", true},   {"a*c", "abbb", false},
        {"?", "", false},        {"?b", "ab", true},       {"*.c", "x.c.c", true},
        {"a**b", "ab", true},    {"[abc]x", "bx", true},   {"[abc]x", "dx", false},
        {"[a-f]", "e", true},    {"[!a-f]", "e", false},   {"[^a-f]", "z", true},
        {"[]]", "]", true},      {"[a-]", "-", true},      {"[x", "[x", true},
        {"[x", "x", false},      {"*a*b*c*", "abc", true}, {"ab", "abc", false},
        {"sys:*", "sys:", true},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (str_glob_match(str_from_c(rows[i].pattern), str_from_c(rows[i].text)) !=
            rows[i].matches)
            fail_msg("'%s' against '%s'", rows[i].pattern, rows[i].text);
}

static void a_glob_of_many_stars_takes_no_exponential_time(void **state)
{
    (void)state;
    char text[4096];
    memset(text, 'a', sizeof(text));
    assert_false(str_glob_match(STR("*a*a*a*a*a*a*a*a*a*a*a*a*a*b"), str_over(text, sizeof(text))));
}

static void a_hash_is_the_same_on_every_machine(void **state)
{
    (void)state;
    // XXH3_64bits("") as its specification states it.
    assert_true(str_hash((Str){0}) == 0x2d06800538d394c2ull);
    assert_true(str_hash(STR("")) == str_hash((Str){0}));
    assert_true(str_hash(STR("a")) != str_hash(STR("b")));
    Bytes b = bytes_from_str(STR("a"));
    assert_true(bytes_hash_seeded(b, 1) != bytes_hash_seeded(b, 2));
    assert_true(bytes_hash_seeded(b, 0) == bytes_hash(b));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_slice_is_clamped_to_the_text),
        cmocka_unit_test(comparing_puts_the_shorter_first_among_equals),
        cmocka_unit_test(finding_gives_the_position_or_size_max),
        cmocka_unit_test(a_prefix_and_a_suffix_may_be_the_whole_text),
        cmocka_unit_test(trimming_drops_white_space_at_both_ends_only),
        cmocka_unit_test(a_path_splits_into_folder_and_name),
        cmocka_unit_test(parts_include_the_last_one_without_separator),
        cmocka_unit_test(lines_end_with_or_without_a_carriage_return),
        cmocka_unit_test(splitting_without_a_separator_leaves_the_outputs_alone),
        cmocka_unit_test(an_unsigned_number_takes_the_whole_text_or_nothing),
        cmocka_unit_test(a_signed_number_reaches_both_limits),
        cmocka_unit_test(a_decimal_fraction_takes_the_whole_text_or_nothing),
        cmocka_unit_test(a_glob_matches_as_in_a_shell),
        cmocka_unit_test(a_glob_of_many_stars_takes_no_exponential_time),
        cmocka_unit_test(a_hash_is_the_same_on_every_machine),
    };
    return RUN_TESTS(tests);
}
