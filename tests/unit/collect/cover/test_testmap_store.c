// SPDX-License-Identifier: Apache-2.0
// The file of tests and their lines.

#include "harness.h"

#include "collect/cover/testmap_smallest.h"

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
    CoverTestChoice c;
    Error err;
    encode(&arena, &out);
    assert_ok(cover_tests_open(bytes_from_str(strbuf_str(&out)), &s, &err), &err);
    cover_tests_smallest(&arena, &s, &c);
    assert_true(c.minimal);
    assert_int_equal(c.tests.len, 2);
    assert_int_equal(c.tests.at[0], 1);
    assert_int_equal(c.gains.at[0], 3);
    assert_int_equal(c.tests.at[1], 0);
    assert_int_equal(c.gains.at[1], 1);
    strbuf_deinit(&out);
    arena_deinit(&arena);
}

// A table of lines that each have a set of their own, `count` of them.
static void choose(const uint64_t *sets, uint32_t count, uint32_t tests, CoverTestChoice *ret,
                   Arena *arena)
{
    CoverTestTable t = {.words = (tests + 63) / 64};
    StrBuf out = {0};
    CoverTestStore s;
    Error err;
    for (uint32_t i = 0; i < tests; i++)
        vec_push(arena, &t.tests, (CoverTest){STR("t"), 0, 0});
    vec_push(arena, &t.files, STR("/x/a.c"));
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t w = 0; w < t.words; w++)
            vec_push(arena, &t.sets, sets[i * t.words + w]);
        vec_push(arena, &t.lines, (CoverTestLine){0, i + 1, i});
    }
    cover_tests_encode(&t, &out);
    assert_ok(cover_tests_open(bytes_from_str(strbuf_str(&out)), &s, &err), &err);
    cover_tests_smallest(arena, &s, ret);
    strbuf_deinit(&out);
}

// Whether the tests of `chosen` run every line that any does.
static bool is_cover(const uint64_t *sets, uint32_t count, uint64_t chosen)
{
    for (uint32_t i = 0; i < count; i++)
        if (sets[i] && !(sets[i] & chosen))
            return false;
    return true;
}

static uint32_t fewest_by_trying_all(const uint64_t *sets, uint32_t count, uint32_t tests)
{
    uint32_t best = tests;
    for (uint64_t chosen = 0; chosen < 1ull << tests; chosen++)
        if ((uint32_t)__builtin_popcountll(chosen) < best && is_cover(sets, count, chosen))
            best = (uint32_t)__builtin_popcountll(chosen);
    return best;
}

static void where_the_greedy_choice_is_not_the_smallest_that_is_found(void **state)
{
    (void)state;
    // Test 0 has lines 1-4, the most; but tests 1 and 2 have all six between them.
    const uint64_t sets[] = {1 | 2, 1 | 2, 1 | 4, 1 | 4, 2, 4};
    Arena arena = {0};
    CoverTestChoice c;
    choose(sets, ARRAY_LEN(sets), 3, &c, &arena);
    assert_true(c.minimal);
    assert_int_equal(c.tests.len, 2);
    assert_int_equal(c.tests.at[0], 1);
    assert_int_equal(c.tests.at[1], 2);
    arena_deinit(&arena);
}

static void the_smallest_set_is_that_of_trying_all(void **state)
{
    (void)state;
    enum { TESTS = 11, LINES = 24 };
    uint64_t seed = 88172645463325252ull;
    for (int round = 0; round < 400; round++) {
        uint64_t sets[LINES], chosen = 0;
        Arena arena = {0};
        CoverTestChoice c;
        for (uint32_t i = 0; i < LINES; i++) {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            // From one test in eight to half of them.
            uint64_t bits = seed & (seed >> 11);
            sets[i] =
                (round % 3 ? bits & (seed >> 22) : bits | (seed >> 33 & 3)) & ((1 << TESTS) - 1);
        }
        choose(sets, LINES, TESTS, &c, &arena);
        for (size_t i = 0; i < c.tests.len; i++)
            chosen |= 1ull << c.tests.at[i];
        assert_true(c.minimal);
        assert_true(is_cover(sets, LINES, chosen));
        assert_int_equal(c.tests.len, fewest_by_trying_all(sets, LINES, TESTS));
        arena_deinit(&arena);
    }
}

// Sets at random are the hard case: the search ends with what it has, and says so.
static void a_search_that_is_too_long_ends(void **state)
{
    (void)state;
    enum { TESTS = 256, LINES = 1500, WORDS = TESTS / 64 };
    static uint64_t sets[LINES * WORDS];
    uint64_t seed = 1234567;
    Arena arena = {0};
    CoverTestChoice c;
    uint64_t chosen[WORDS] = {0};
    for (uint32_t i = 0; i < LINES * 8; i++) {
        seed = seed * 6364136223846793005ull + 1442695040888963407ull;
        uint32_t test = (uint32_t)(seed >> 33) % TESTS;
        sets[i / 8 * WORDS + test / 64] |= 1ull << (test % 64);
    }
    choose(sets, LINES, TESTS, &c, &arena);
    assert_false(c.minimal);
    for (size_t i = 0; i < c.tests.len; i++)
        chosen[c.tests.at[i] / 64] |= 1ull << (c.tests.at[i] % 64);
    for (uint32_t i = 0; i < LINES; i++) {
        uint64_t any = 0;
        for (uint32_t w = 0; w < WORDS; w++)
            any |= sets[i * WORDS + w] & chosen[w];
        assert_true(any != 0);
    }
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
        cmocka_unit_test(where_the_greedy_choice_is_not_the_smallest_that_is_found),
        cmocka_unit_test(the_smallest_set_is_that_of_trying_all),
        cmocka_unit_test(a_search_that_is_too_long_ends),
        cmocka_unit_test(a_file_cut_at_any_byte_is_refused),
        cmocka_unit_test(a_reference_out_of_its_table_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
