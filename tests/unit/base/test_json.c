// SPDX-License-Identifier: Apache-2.0
// base/json: what is written reads back equal; what is not JSON is refused.

#include "harness.h"

#include "base/arena.h"
#include "base/json.h"

#include <float.h>
#include <math.h>

static Arena arena;
static Error err;
static StrBuf out;

static int clear(void **state)
{
    (void)state;
    arena_deinit(&arena);
    strbuf_deinit(&out);
    return 0;
}

static JsonValue *parse(Str text)
{
    JsonValue *v = NULL;
    assert_ok(json_parse(&arena, text, &v, &err), &err);
    return v;
}

static void write_one_of_each(unsigned indent)
{
    JsonWriter w = json_writer(&out, indent);
    json_begin_object(&w, NULL);
    json_str(&w, "text", STR("a\"\n\x01<"));
    json_u64(&w, "most", UINT64_MAX);
    json_i64(&w, "least", INT64_MIN);
    json_double(&w, "third", 1.0 / 3);
    json_double(&w, "nan", NAN);
    json_bool(&w, "yes", true);
    json_key(&w, STR("a \"key\""));
    json_null(&w, NULL);
    json_begin_array(&w, "empty");
    json_end(&w);
    json_begin_array(&w, "list");
    json_u64(&w, NULL, 1);
    json_begin_object(&w, NULL);
    json_end(&w);
    json_str(&w, NULL, STR("x"));
    json_end(&w);
    json_end(&w);
}

static void one_line_and_indented_form_are_as_documented(void **state)
{
    (void)state;
    write_one_of_each(0);
    assert_str(strbuf_str(&out),
               "{\"text\":\"a\\\"\\n\\u0001\\u003c\",\"most\":18446744073709551615,"
               "\"least\":-9223372036854775808,\"third\":0.3333333333333333,\"nan\":null,"
               "\"yes\":true,\"a \\\"key\\\"\":null,\"empty\":[],\"list\":[1,{},\"x\"]}");
    strbuf_clear(&out);
    JsonWriter w = json_writer(&out, 2);
    json_begin_array(&w, NULL);
    json_u64(&w, NULL, 1);
    json_begin_object(&w, NULL);
    json_bool(&w, "b", false);
    json_end(&w);
    json_end(&w);
    assert_str(strbuf_str(&out), "[\n  1,\n  {\n    \"b\": false\n  }\n]\n");
}

static void what_was_written_reads_back_equal(void **state)
{
    (void)state;
    for (unsigned indent = 0; indent < 3; indent++) {
        strbuf_clear(&out);
        write_one_of_each(indent);
        const JsonValue *v = parse(strbuf_str(&out));
        assert_int_equal(v->count, 9);
        assert_str(json_find(v, "text")->text, "a\"\n\x01<");
        assert_str(json_find(v, "most")->text, "18446744073709551615");
        assert_true(json_find(v, "third")->number == 1.0 / 3);
        assert_int_equal(json_find(v, "nan")->kind, JSON_NULL);
        assert_true(json_find(v, "yes")->boolean);
        assert_non_null(json_find(v, "a \"key\""));
        assert_int_equal(json_find(v, "empty")->count, 0);
        assert_int_equal(json_find(v, "list")->count, 3);
        assert_str(json_find(v, "list")->child->next->next->text, "x");
        assert_null(json_find(v, "absent"));
        assert_null(json_find(json_find(v, "list"), "x"));
        assert_null(json_find(NULL, "x"));
    }
}

static void every_double_reads_back_equal(void **state)
{
    (void)state;
    static const double rows[] = {
        0.0, -0.0,   0.1,    1e-7,     123456789,         1e22, DBL_MAX, DBL_MIN,
        -1,  5e-324, 2.5e-5, 99.99999, 1.0000000000000002};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        strbuf_clear(&out);
        JsonWriter w = json_writer(&out, 0);
        json_double(&w, NULL, rows[i]);
        assert_true(parse(strbuf_str(&out))->number == rows[i]);
    }
    strbuf_clear(&out);
    JsonWriter w = json_writer(&out, 0);
    json_double(&w, NULL, 0.1);
    assert_str(strbuf_str(&out), "0.1");
}

static void escapes_become_the_characters_they_stand_for(void **state)
{
    (void)state;
    assert_str(parse(STR("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\""))->text, "\"\\/\b\f\n\r\t");
    assert_str(parse(STR("\"\\u0041\\u00e9\\u20ac\""))->text, "A\xc3\xa9\xe2\x82\xac");
    assert_str(parse(STR("\"\\ud83d\\ude00\""))->text, "\xf0\x9f\x98\x80");
    assert_str(parse(STR("\"\\ud83dx\""))->text, "\xef\xbf\xbdx");
    assert_str(parse(STR("\"\\ud83d\\u0041\""))->text, "\xef\xbf\xbd"
                                                       "A");
    assert_str(parse(STR("\"\\ude00\""))->text, "\xef\xbf\xbd");
}

static void what_is_no_json_is_refused_with_its_offset(void **state)
{
    (void)state;
    static const struct {
        const char *text, *why;
    } rows[] = {
        {"", "expected a value at offset 0"},
        {"  ", "expected a value at offset 2"},
        {"nul", "expected a value"},
        {"{\"a\" 1}", "expected ':'"},
        {"{a:1}", "expected a string"},
        {"{\"a\":1,}", "expected a string"},
        {"[1,]", "expected a value"},
        {"[1 2]", "expected ',' or the end of the list at offset 3"},
        {"[1", "expected ','"},
        {"\"abc", "string without an end"},
        {"\"abc\\", "string without an end"},
        {"\"\\x\"", "unknown escape"},
        {"\"\\u12\"", "bad \\u escape"},
        {"\"\\ud800\\u12\"", "bad \\u escape"},
        {"\"a\nb\"", "control character"},
        {"1-2", "malformed number"},
        {"--1", "malformed number"},
        {"1 2", "text after the end at offset 2"},
        {"{}}", "text after the end"},
        {"NaN", "expected a value"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        JsonValue *v = NULL;
        assert_error(json_parse(&arena, str_from_c(rows[i].text), &v, &err), &err, ERROR_FORMAT,
                     rows[i].why);
        assert_null(v);
    }
}

static void depth_is_limited(void **state)
{
    (void)state;
    char deep[2 * JSON_DEPTH_MAX + 2];
    memset(deep, '[', JSON_DEPTH_MAX);
    memset(deep + JSON_DEPTH_MAX, ']', JSON_DEPTH_MAX);
    parse(str_over(deep, 2 * JSON_DEPTH_MAX));
    memset(deep, '[', JSON_DEPTH_MAX + 1);
    memset(deep + JSON_DEPTH_MAX + 1, ']', JSON_DEPTH_MAX + 1);
    JsonValue *v;
    assert_error(json_parse(&arena, str_over(deep, sizeof(deep)), &v, &err), &err, ERROR_FORMAT,
                 "nested too deeply");
}

static void a_document_cut_at_each_byte_is_refused(void **state)
{
    (void)state;
    write_one_of_each(1);
    Str whole = str_trim(strbuf_str(&out));
    for (size_t len = 0; len < whole.len; len++) {
        // A block of its own, so that a read past the cut is seen by ASan.
        Str cut = arena_str(&arena, str_slice(whole, 0, len));
        JsonValue *v;
        assert_false(json_parse(&arena, cut, &v, &err));
        assert_int_equal(err.kind, ERROR_FORMAT);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(one_line_and_indented_form_are_as_documented, clear),
        cmocka_unit_test_teardown(what_was_written_reads_back_equal, clear),
        cmocka_unit_test_teardown(every_double_reads_back_equal, clear),
        cmocka_unit_test_teardown(escapes_become_the_characters_they_stand_for, clear),
        cmocka_unit_test_teardown(what_is_no_json_is_refused_with_its_offset, clear),
        cmocka_unit_test_teardown(depth_is_limited, clear),
        cmocka_unit_test_teardown(a_document_cut_at_each_byte_is_refused, clear),
    };
    return RUN_TESTS(tests);
}
