// SPDX-License-Identifier: Apache-2.0
// The file of tests and their lines.

#include "harness.h"

#include "collect/cover/test_store.h"

// Three tests over five lines: {0}, {0, 1}, {1}, {1, 2}, {}.
static void encode(Arena *arena, StrBuf *out)
{
    CoverTestTable t = {.words = 1};
    const char *names[] = {"first", "second", "third"};
    const uint64_t sets[] = {1, 3, 2, 6, 0};
    for (uint32_t i = 0; i < 3; i++)
        vec_push(arena, &t.tests, (CoverTest){str_from_c(names[i]), i, i * 10});
    vec_push(arena, &t.files, STR("/x/a.c"));
    vec_push(arena, &t.files, STR("/x/b.c"));
    for (uint32_t i = 0; i < 5; i++) {
        vec_push(arena, &t.sets, sets[i]);
        vec_push(arena, &t.lines, (CoverTestLine){i >= 2, 10 + i, i});
    }
    cover_tests_encode(&t, out);
}

static void what_is_written_is_read(void **state)
{
    (void)state;
    Arena arena = {0};
    StrBuf out = {0};
    CoverTestStore s;
    Error err;
    encode(&arena, &out);
    assert_ok(cover_tests_open(bytes_from_str(strbuf_str(&out)), &s, &err), &err);
    assert_int_equal(s.test_count, 3);
    assert_str(cover_tests_test(&s, 2).name, "third");
    assert_int_equal(cover_tests_test(&s, 2).duration_us, 20);
    assert_str(cover_tests_file(&s, 1).path, "/x/b.c");
    assert_int_equal(cover_tests_file(&s, 1).first, 2);
    assert_int_equal(cover_tests_file(&s, 1).count, 3);
    assert_int_equal(cover_tests_line(&s, 3).line, 13);
    assert_true(cover_tests_in_set(&s, cover_tests_line(&s, 3).set, 2));
    assert_false(cover_tests_in_set(&s, cover_tests_line(&s, 3).set, 0));
    strbuf_deinit(&out);
    arena_deinit(&arena);
}

static void the_smallest_set_covers_all_that_runs(void **state)
{
    (void)state;
    Arena arena = {0};
    StrBuf out = {0};
    CoverTestStore s;
    Error err;
    U32Vec tests = {0}, gains = {0};
    encode(&arena, &out);
    assert_ok(cover_tests_open(bytes_from_str(strbuf_str(&out)), &s, &err), &err);
    cover_tests_smallest(&arena, &s, &tests, &gains);
    assert_int_equal(tests.len, 2);
    assert_int_equal(tests.at[0], 1);
    assert_int_equal(gains.at[0], 3);
    assert_int_equal(tests.at[1], 0);
    assert_int_equal(gains.at[1], 1);
    strbuf_deinit(&out);
    arena_deinit(&arena);
}

static void a_file_cut_at_any_byte_is_refused(void **state)
{
    (void)state;
    Arena arena = {0};
    StrBuf out = {0};
    CoverTestStore s;
    encode(&arena, &out);
    for (size_t len = 0; len < out.len; len++) {
        Error err = {0};
        assert_false(cover_tests_open(bytes_over(out.ptr, len), &s, &err));
        assert_true(err.text[0]);
    }
    strbuf_deinit(&out);
    arena_deinit(&arena);
}

static void a_reference_out_of_its_table_is_refused(void **state)
{
    (void)state;
    Arena arena = {0};
    StrBuf out = {0};
    CoverTestStore s;
    Error err;
    encode(&arena, &out);
    // The set of the last line: 4 bytes in front of the texts.
    size_t texts = 5 + 6 + 5 + 6 + 6;
    out.ptr[out.len - texts - 4] = 5;
    assert_false(cover_tests_open(bytes_from_str(strbuf_str(&out)), &s, &err));
    strbuf_deinit(&out);
    arena_deinit(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(the_smallest_set_covers_all_that_runs),
        cmocka_unit_test(a_file_cut_at_any_byte_is_refused),
        cmocka_unit_test(a_reference_out_of_its_table_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
