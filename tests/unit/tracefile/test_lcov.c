// SPDX-License-Identifier: Apache-2.0
// lcov tracefiles of both generations, and what is wrong with broken ones.

#include "harness.h"

#include "tracefile/tracefile.h"

static const char old_form[] = "TN:t1\nSF:/a/x.c\nFN:3,9,f\nFN:12,g\nFNDA:4,f\nFNDA:0,g\nFNF:2\n"
                               "FNH:1\nBRDA:5,0,0,3\nBRDA:5,0,1,-\nBRF:2\nBRH:1\nDA:4,7,abc\n"
                               "DA:5,-2\nDA:6,1e3\nLF:3\nLH:2\nend_of_record\n";
static const char new_form[] =
    "# made by hand\r\nTN:\r\nSF:/a/x.c\r\nVER:9\r\nFNL:0,3,9\r\nFNA:0,5,f\r\nFNA:0,1,f<int, 2>\r\n"
    "BRDA:5,0,x && y,2\r\nBRDA:5,e0,1,0\r\nMCDC:5,2,t,1,0,x\r\nMCDC:5,2,f,0,1,y\r\nDA:4,1\r\n"
    "DA:8,1\r\nend_of_record\r\n";

static bool read_text(Arena *arena, const char *text, CoverSet *set, Error *err)
{
    cover_set_init(set, arena);
    return tracefile_read(set, bytes_from_str(str_from_c(text)), err);
}

static void both_generations_give_lines_functions_and_branches(void **state)
{
    (void)state;
    Arena arena = {0};
    CoverSet set;
    Error err;
    assert_ok(read_text(&arena, old_form, &set, &err), &err);
    const CoverSetFile *f = &set.files.at[0];
    assert_str(f->path, "/a/x.c");
    assert_int_equal(f->lines.len, 3);
    assert_int_equal(f->lines.at[1].count, 0);
    assert_int_equal(set.clamped, 1);
    assert_int_equal(f->lines.at[2].count, 1000);
    assert_int_equal(f->functions.len, 2);
    assert_int_equal(f->functions.at[0].end_line, 9);
    assert_int_equal(f->functions.at[0].count, 4);
    assert_true(f->branches.at[0].is_reached);
    assert_false(f->branches.at[1].is_reached);

    assert_ok(tracefile_read(&set, bytes_from_str(str_from_c(new_form)), &err), &err);
    f = &set.files.at[0];
    assert_int_equal(set.files.len, 1);
    assert_int_equal(f->lines.len, 4);
    assert_int_equal(f->lines.at[0].count, 8);
    assert_int_equal(f->lines.at[3].line, 8);
    assert_int_equal(f->functions.len, 3);
    assert_int_equal(f->functions.at[0].count, 9);
    assert_str(f->functions.at[1].name, "f<int, 2>");
    assert_int_equal(f->branches.len, 4);
    assert_str(f->branches.at[1].expression, "x && y");
    assert_true(f->branches.at[3].is_exception);
    assert_int_equal(f->conditions.len, 2);
    assert_true(f->conditions.at[0].sense);
    assert_str(f->conditions.at[1].expression, "y");
    cover_set_deinit(&set);
    arena_deinit(&arena);
}

static void lists_in_any_order_are_summed(void **state)
{
    (void)state;
    Arena arena = {0};
    CoverSet set;
    Error err;
    assert_ok(read_text(&arena,
                        "SF:y\nDA:9,1\nDA:2,1\nDA:9,18446744073709551615\nFNDA:2,late\nFN:7,late\n"
                        "end_of_record\nSF:y\nDA:5,3\nDA:2,1\nend_of_record\n",
                        &set, &err),
              &err);
    const CoverSetFile *f = &set.files.at[0];
    assert_int_equal(f->lines.len, 3);
    assert_int_equal(f->lines.at[0].count, 2);
    assert_int_equal(f->lines.at[1].line, 5);
    assert_true(f->lines.at[2].count == UINT64_MAX);
    assert_int_equal(f->functions.len, 1);
    assert_int_equal(f->functions.at[0].line, 7);
    assert_int_equal(f->functions.at[0].count, 2);
    cover_set_deinit(&set);
    arena_deinit(&arena);
}

static void broken_records_are_named_with_their_line(void **state)
{
    (void)state;
    static const struct {
        const char *text, *want;
    } cases[] = {
        {"SF:a\nDA:x,1\nend_of_record\n", "line 2, 'DA:x,1': a number was expected"},
        {"SF:a\nDA:7\nend_of_record\n", "line 2, 'DA:7': a field is missing"},
        {"SF:a\nQQ:7\nend_of_record\n", "line 2, 'QQ:7': its kind is not known"},
        {"TN:\nDA:1,1\n", "line 2, 'DA:1,1': it stands outside of any section"},
        {"SF:a\nSF:b\n", "the section before has no end_of_record"},
        {"SF:a\nFNA:3,1,f\n", "its index has no FNL record"},
        {"SF:a\nBRDA:1,0,0,x\n", "a count was expected"},
        {"SF:a\nMCDC:1,2,q,1,0,x\n", "its sense is neither t nor f"},
        {"SF:a\nDA:5000000000,1\n", "a number is too large"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        Arena arena = {0};
        CoverSet set;
        Error err;
        assert_error(read_text(&arena, cases[i].text, &set, &err), &err, ERROR_FORMAT,
                     cases[i].want);
        cover_set_deinit(&set);
        arena_deinit(&arena);
    }
}

static void a_file_cut_anywhere_gives_whole_sections_or_an_error(void **state)
{
    (void)state;
    size_t whole = strlen(old_form);
    // Before the section's name has begun nothing tells a cut from another format.
    for (size_t cut = 3; cut < whole; cut++) {
        Arena arena = {0};
        CoverSet set;
        Error err;
        cover_set_init(&set, &arena);
        Str part = str_over(old_form, cut);
        if (tracefile_read(&set, bytes_from_str(part), &err))
            assert_int_equal(set.files.len, cut == whole - 1);
        else
            assert_true(err.text[0] != '\0' && cut < 9);
        cover_set_deinit(&set);
        arena_deinit(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_generations_give_lines_functions_and_branches),
        cmocka_unit_test(lists_in_any_order_are_summed),
        cmocka_unit_test(broken_records_are_named_with_their_line),
        cmocka_unit_test(a_file_cut_anywhere_gives_whole_sections_or_an_error),
    };
    return RUN_TESTS(tests);
}
