// SPDX-License-Identifier: Apache-2.0
// base/strbuf: growing text, and names from outside made safe to show.

#include "harness.h"

#include <inttypes.h>

#include "base/strbuf.h"
#include "base/unshown.h"

static StrBuf b;

static int clear(void **state)
{
    (void)state;
    strbuf_deinit(&b);
    return 0;
}

static void text_grows_in_every_way_of_adding(void **state)
{
    (void)state;
    strbuf_add(&b, STR("a"));
    strbuf_add(&b, (Str){0});
    strbuf_add_char(&b, 'b');
    strbuf_add_repeated(&b, '-', 3);
    strbuf_add_u64(&b, 0);
    strbuf_add_u64(&b, UINT64_MAX);
    strbuf_printf(&b, "[%d]", -5);
    strbuf_add_bytes(&b, bytes_over("\0z", 2));
    assert_true(
        bytes_equal(bytes_from_str(strbuf_str(&b)), "ab---018446744073709551615[-5]\0z", 32));
    strbuf_clear(&b);
    assert_int_equal(b.len, 0);
}

static void numbers_have_as_many_digits_as_they_need(void **state)
{
    (void)state;
    char expected[32];
    for (uint64_t power = 1;; power *= 10) {
        uint64_t around[] = {power - 1, power, power + 1};
        for (size_t i = 0; i < ARRAY_LEN(around); i++) {
            strbuf_clear(&b);
            strbuf_add_u64(&b, around[i]);
            snprintf(expected, sizeof(expected), "%" PRIu64, around[i]);
            assert_true(str_equal(strbuf_str(&b), str_from_c(expected)));
        }
        if (power > UINT64_MAX / 10)
            break;
    }
}

static void a_long_printf_is_not_cut(void **state)
{
    (void)state;
    char text[5000];
    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    strbuf_add_char(&b, '<');
    strbuf_printf(&b, "%s>", text);
    assert_int_equal(b.len, sizeof(text) + 1);
    assert_int_equal(b.ptr[b.len - 1], '>');
}

static void a_name_cannot_drive_the_terminal(void **state)
{
    (void)state;
    strbuf_add_terminal(&b, STR("a\x1b[2Jb\x07\n\x7f\xc2\x9b"));
    assert_str(strbuf_str(&b), "a\\x1b[2Jb\\x07\\x0a\\x7f\\x9b");
    strbuf_clear(&b);
    strbuf_add_terminal(&b, STR("x\xe2\x80\xaey")); // right-to-left override
    assert_str(strbuf_str(&b), "x\\u{202e}y");
    strbuf_clear(&b);
    strbuf_add_terminal(&b, STR("gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80 <\"&'>"));
    assert_str(strbuf_str(&b), "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80 <\"&'>");
}

static void a_name_cannot_leave_its_xml_attribute(void **state)
{
    (void)state;
    strbuf_add_xml(&b, STR("</title><script>\"'&\x01"));
    assert_str(strbuf_str(&b), "&lt;/title&gt;&lt;script&gt;&quot;&#39;&amp;\\x01");
}

static void a_name_cannot_leave_its_cell_in_markdown(void **state)
{
    (void)state;
    strbuf_add_markdown(&b, STR("a|b\n<b>`*_[x]\\ \x07\xff \xc3\xbc"));
    assert_str(strbuf_str(&b), "a\\|b \\<b>\\`\\*\\_\\[x]\\\\ \\\\x07\xef\xbf\xbd \xc3\xbc");
}

static void a_name_cannot_leave_its_json_string_or_script(void **state)
{
    (void)state;
    strbuf_add_json(&b, STR("a\"b\\c\n\r\t\x01</script>\xe2\x80\xa8"));
    assert_str(strbuf_str(&b), "a\\\"b\\\\c\\n\\r\\t\\u0001\\u003c/script>\\u2028");
}

static void a_csv_field_is_quoted_only_where_it_must_be(void **state)
{
    (void)state;
    strbuf_add_csv(&b, STR("plain text"));
    strbuf_add_char(&b, '|');
    strbuf_add_csv(&b, STR("a,b"));
    strbuf_add_char(&b, '|');
    strbuf_add_csv(&b, STR("say \"hi\"\n"));
    assert_str(strbuf_str(&b), "plain text|\"a,b\"|\"say \"\"hi\"\"\n\"");
}

static void a_csv_field_commands_no_terminal_and_no_spreadsheet(void **state)
{
    (void)state;
    const char *fields[] = {"=cmd()", "-1.5", "+0x", "@a,b", "\x1b\x1b[m\r", "\xe2\x80\xae"};
    const char *written[] = {"'=cmd()",  "-1.5", "'+0x", "\"'@a,b\"", "\"\\x1b\\x1b[m\\x0d\"",
                             "\\u{202e}"};
    for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
        strbuf_clear(&b);
        strbuf_add_csv(&b, str_from_c(fields[i]));
        assert_str(strbuf_str(&b), written[i]);
    }
}

static void what_no_terminal_may_get_is_found_byte_by_byte(void **state)
{
    (void)state;
    Str s = STR("a\x1b\x1b\xc2\x9b\xff\xc3\xa9\xe2\x81\xa6");
    const size_t bytes[] = {0, 1, 1, 2, 0, 1, 0, 0, 3, 0, 0};
    for (size_t i = 0; i < s.len; i += bytes[i] ? bytes[i] : 1)
        if (i != 7) // the second byte of a letter
            assert_int_equal(str_unshown(s, i), bytes[i]);
}

static void invalid_utf8_becomes_the_replacement_character(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "\x80",             // a continuation alone
        "\xc0\xaf",         // overlong
        "\xe0\x80\xaf",     // overlong
        "\xed\xa0\x80",     // a surrogate
        "\xf4\x90\x80\x80", // above U+10FFFF
        "\xe2\x82",         // cut short
        "\xff",
    };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        Str s = str_from_c(bad[i]);
        size_t at = 0;
        assert_int_equal(utf8_next(s, &at), 0xfffd);
        assert_int_equal(at, 1);
        strbuf_clear(&b);
        strbuf_add_json(&b, s);
        assert_true(str_starts_with(strbuf_str(&b), STR("\xef\xbf\xbd")));
    }
}

static void every_valid_code_point_comes_back(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint32_t code;
    } rows[] = {{"A", 'A'},
                {"\xc2\x80", 0x80},
                {"\xdf\xbf", 0x7ff},
                {"\xe0\xa0\x80", 0x800},
                {"\xef\xbf\xbf", 0xffff},
                {"\xf0\x90\x80\x80", 0x10000},
                {"\xf4\x8f\xbf\xbf", 0x10ffff}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        Str s = str_from_c(rows[i].text);
        size_t at = 0;
        assert_int_equal(utf8_next(s, &at), rows[i].code);
        assert_int_equal(at, s.len);
    }
}

// Deterministic noise: whatever goes in, no control byte and valid UTF-8 come out.
static void noise_never_escapes_the_escapes(void **state)
{
    (void)state;
    uint32_t random = 12345;
    char noise[64];
    for (int round = 0; round < 2000; round++) {
        for (size_t i = 0; i < sizeof(noise); i++) {
            random = random * 1664525u + 1013904223u;
            noise[i] = (char)(random >> 24);
        }
        Str s = str_over(noise, sizeof(noise));
        strbuf_clear(&b);
        strbuf_add_terminal(&b, s);
        strbuf_add_xml(&b, s);
        strbuf_add_json(&b, s);
        Str out = strbuf_str(&b);
        for (size_t i = 0; i < out.len; i++)
            assert_true((unsigned char)out.ptr[i] >= 0x20 && out.ptr[i] != 0x7f);
        for (size_t at = 0; at < out.len;) {
            size_t from = at;
            if (utf8_next(out, &at) == 0xfffd)
                assert_true(
                    bytes_equal(bytes_from_str(str_slice(out, from, at)), "\xef\xbf\xbd", 3));
        }
    }
}

static void columns_count_what_a_terminal_shows(void **state)
{
    (void)state;
    assert_int_equal(str_columns(STR("abc")), 3);
    assert_int_equal(str_columns(STR("gr\xc3\xbcn")), 4);
    assert_int_equal(str_columns(STR("e\xcc\x81")), 1);        // combining accent
    assert_int_equal(str_columns(STR("\xe6\xbc\xa2")), 2);     // a CJK character
    assert_int_equal(str_columns(STR("\xf0\x9f\x98\x80")), 2); // an emoji
    assert_int_equal(str_columns(STR("\x1b")), 4);             // shown as \x1b
    strbuf_add_terminal(&b, STR("\x07\xe2\x80\xae"));
    assert_int_equal(str_columns(STR("\x07\xe2\x80\xae")), b.len);
}

static void a_text_of_any_size_moves_to_an_arena(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 5000, 8 << 20, (8 << 20) + 1, 21 << 20};
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        Arena arena = {0};
        for (size_t at = 0; at < sizes[i]; at++)
            strbuf_add_char(&b, (char)(at * 31 >> 5));
        Str moved = strbuf_move(&arena, &b);
        assert_int_equal(moved.len, sizes[i]);
        assert_null(b.ptr);
        size_t wrong = 0;
        for (size_t at = 0; at < moved.len; at++)
            wrong += moved.ptr[at] != (char)(at * 31 >> 5);
        assert_int_equal(wrong, 0);
        assert_int_equal(moved.ptr[moved.len], 0);
        arena_deinit(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(text_grows_in_every_way_of_adding, clear),
        cmocka_unit_test_teardown(numbers_have_as_many_digits_as_they_need, clear),
        cmocka_unit_test_teardown(a_long_printf_is_not_cut, clear),
        cmocka_unit_test_teardown(a_name_cannot_drive_the_terminal, clear),
        cmocka_unit_test_teardown(a_name_cannot_leave_its_cell_in_markdown, clear),
        cmocka_unit_test_teardown(a_name_cannot_leave_its_xml_attribute, clear),
        cmocka_unit_test_teardown(a_name_cannot_leave_its_json_string_or_script, clear),
        cmocka_unit_test_teardown(a_csv_field_is_quoted_only_where_it_must_be, clear),
        cmocka_unit_test_teardown(a_csv_field_commands_no_terminal_and_no_spreadsheet, clear),
        cmocka_unit_test(what_no_terminal_may_get_is_found_byte_by_byte),
        cmocka_unit_test_teardown(invalid_utf8_becomes_the_replacement_character, clear),
        cmocka_unit_test_teardown(every_valid_code_point_comes_back, clear),
        cmocka_unit_test_teardown(noise_never_escapes_the_escapes, clear),
        cmocka_unit_test_teardown(a_text_of_any_size_moves_to_an_arena, clear),
        cmocka_unit_test_teardown(columns_count_what_a_terminal_shows, clear),
    };
    return RUN_TESTS(tests);
}
