// SPDX-License-Identifier: Apache-2.0
// Go's profiles: blocks to lines, repeated blocks, and lines that are broken or cut.

#include "harness.h"

#include "tracefile/tracefile.h"

static const char counted[] = "mode: count\nm/b.go:1.1,1.9 1 2\nm/a.go:3.19,4.11 1 3\n"
                              "m/a.go:4.11,6.3 1 0\nm/a.go:6.8,6.18 2 5\nm/a.go:9.1,9.2 0 0\n";

static bool read_text(Arena *arena, Str text, CoverSet *set, Error *err)
{
    cover_set_init(set, arena);
    return tracefile_read(set, bytes_from_str(text), err);
}

static void a_line_has_the_largest_count_of_its_blocks(void **state)
{
    (void)state;
    Arena arena = {0};
    CoverSet set;
    Error err;
    assert_ok(read_text(&arena, str_from_c(counted), &set, &err), &err);
    assert_int_equal(set.files.len, 2);
    assert_false(set.is_hits);
    const CoverSetFile *f = &set.files.at[0];
    static const CoverSetLine want[] = {{3, 3}, {4, 3}, {5, 0}, {6, 5}};
    assert_str(f->path, "m/a.go");
    assert_int_equal(f->lines.len, ARRAY_LEN(want));
    for (size_t i = 0; i < ARRAY_LEN(want); i++) {
        assert_int_equal(f->lines.at[i].line, want[i].line);
        assert_int_equal(f->lines.at[i].count, want[i].count);
    }
    cover_set_deinit(&set);
    arena_deinit(&arena);
}

static void equal_blocks_are_added_or_in_mode_set_joined(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t count;
        bool is_hits;
    } cases[] = {
        {"mode: atomic\na.go:1.1,1.9 1 2\na.go:1.1,1.9 1 3\n", 5, false},
        {"mode: set\na.go:1.1,1.9 1 1\na.go:1.1,1.9 1 1\n", 1, true},
        {"mode: count\na.go:1.1,1.9 1 18446744073709551615\na.go:1.1,1.9 1 1\n", UINT64_MAX, false},
        {"mode: count\r\nC:/a.go:1.1,1.9 1 2\r\nmode: count\r\nC:/a.go:1.1,1.9 1 2\r\n", 4, false},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        Arena arena = {0};
        CoverSet set;
        Error err;
        assert_ok(read_text(&arena, str_from_c(cases[i].text), &set, &err), &err);
        assert_int_equal(set.files.len, 1);
        assert_int_equal(set.files.at[0].lines.len, 1);
        assert_true(set.files.at[0].lines.at[0].count == cases[i].count);
        assert_int_equal(set.is_hits, cases[i].is_hits);
        cover_set_deinit(&set);
        arena_deinit(&arena);
    }
}

static void broken_lines_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *text, *error;
    } cases[] = {
        {"mode: some\n", "line 1, 'mode: some': its mode is not set, count or atomic"},
        {"mode: set\na.go\n", "line 2, 'a.go': no block of statements"},
        {"mode: set\n:1.1,1.2 1 1\n", "no block of statements"},
        {"mode: set\na.go:1.1,1.2 1\n", "no block of statements"},
        {"mode: set\na.go:1,1.2 1 1\n", "a place is not a line and a column"},
        {"mode: set\na.go:1.x,1.2 1 1\n", "a place is not a line and a column"},
        {"mode: set\na.go:2.1,1.2 1 1\n", "a block ends before it starts"},
        {"mode: set\na.go:0.1,1.2 1 1\n", "a block ends before it starts"},
        {"mode: set\na.go:1.1,4294967295.2 1 1\n", "the blocks span too many lines"},
        {"mode: set\na.go:1.1,4294967296.2 1 1\n", "a place is not a line and a column"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        Arena arena = {0};
        CoverSet set;
        Error err = {0};
        assert_false(read_text(&arena, str_from_c(cases[i].text), &set, &err));
        if (!strstr(err.text, cases[i].error))
            fail_msg("%s: %s", cases[i].text, err.text);
        assert_int_equal(set.files.len, 0);
        cover_set_deinit(&set);
        arena_deinit(&arena);
    }
}

static void a_profile_cut_anywhere_gives_its_whole_lines_or_an_error(void **state)
{
    (void)state;
    size_t whole = strlen(counted);
    for (size_t cut = 0; cut < whole; cut++) {
        Arena arena = {0};
        CoverSet set;
        Error err = {0};
        bool ok = read_text(&arena, str_over(counted, cut), &set, &err);
        assert_int_equal(ok, cut >= strlen("mode: count"));
        assert_true(ok || err.text[0] != '\0');
        assert_true(set.notes.len <= 1);
        cover_set_deinit(&set);
        arena_deinit(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_has_the_largest_count_of_its_blocks),
        cmocka_unit_test(equal_blocks_are_added_or_in_mode_set_joined),
        cmocka_unit_test(broken_lines_are_named),
        cmocka_unit_test(a_profile_cut_anywhere_gives_its_whole_lines_or_an_error),
    };
    return RUN_TESTS(tests);
}
