// SPDX-License-Identifier: Apache-2.0
// gcov's JSON: what stands in which order, templates, and documents that are broken or cut.

#include "harness.h"

#include "tracefile/tracefile.h"

// Lines before functions, files before the folder; two instances of one template on lines 2 and 3.
static const char first_form[] =
    "{\"gcc_version\": \"12.2.0\", \"files\": [{\"lines\": ["
    "{\"branches\": [{\"fallthrough\": true, \"count\": 3, \"throw\": false}, {\"count\": 1, "
    "\"throw\": true}], \"count\": 4, \"line_number\": 2, \"function_name\": \"f<int>\"},"
    "{\"branches\": [{\"count\": 5, \"throw\": false}, {\"count\": 0, \"throw\": true}], "
    "\"count\": 5, \"line_number\": 2, \"function_name\": \"f<long>\"},"
    "{\"branches\": [{\"count\": 0}, {\"count\": 0}], \"count\": 0, \"line_number\": 9, "
    "\"function_name\": \"main\"},"
    "{\"branches\": [{\"count\": 7}], \"count\": 7, \"line_number\": 9, "
    "\"function_name\": \"other\"}],"
    "\"functions\": [{\"name\": \"f<int>\", \"start_line\": 2, \"start_column\": 5, \"end_line\": "
    "3, \"execution_count\": 4}, {\"name\": \"f<long>\", \"start_line\": 2, \"start_column\": 5, "
    "\"end_line\": 3, \"execution_count\": 5}, {\"name\": \"main\", \"start_line\": 9, "
    "\"start_column\": 1, \"execution_count\": 0}, {\"name\": \"other\", \"start_line\": 9, "
    "\"start_column\": 30, \"execution_count\": 7}], \"file\": \"a.cc\"}],"
    " \"format_version\": \"1\", \"current_working_directory\": \"/src\", \"data_file\": \"a\"}";
static const char second_form[] =
    "{\"format_version\":\"2\",\"files\":[{\"file\":\"/src/a.cc\",\"functions\":[],\"lines\":["
    "{\"line_number\":9,\"count\":1,\"branches\":[{\"count\":1,\"source_block_id\":2}],"
    "\"calls\":[{\"returned\":1}],\"conditions\":[{\"count\":2,\"covered\":1,"
    "\"not_covered_true\":[0],\"not_covered_false\":[]}]}]}]}";

static bool read_text(Arena *arena, Str text, CoverSet *set, Error *err)
{
    cover_set_init(set, arena);
    return tracefile_read(set, bytes_from_str(text), err);
}

static void members_come_in_any_order(void **state)
{
    (void)state;
    Arena arena = {0};
    CoverSet set;
    Error err;
    assert_ok(read_text(&arena, str_from_c(first_form), &set, &err), &err);
    assert_int_equal(set.files.len, 1);
    const CoverSetFile *f = &set.files.at[0];
    assert_str(f->path, "/src/a.cc");
    assert_int_equal(f->lines.len, 2);
    assert_int_equal(f->lines.at[0].count, 9);
    assert_int_equal(f->lines.at[1].count, 7);
    assert_int_equal(f->functions.len, 4);
    assert_str(f->functions.at[0].name, "f<int>");
    assert_int_equal(f->functions.at[0].count, 4);
    assert_int_equal(f->functions.at[0].end_line, 3);

    assert_ok(tracefile_read(&set, bytes_from_str(str_from_c(second_form)), &err), &err);
    f = &set.files.at[0];
    assert_int_equal(set.files.len, 1);
    assert_int_equal(f->lines.at[1].count, 8);
    cover_set_deinit(&set);
    arena_deinit(&arena);
}

static void instances_share_branches_and_neighbours_do_not(void **state)
{
    (void)state;
    Arena arena = {0};
    CoverSet set;
    Error err;
    assert_ok(read_text(&arena, str_from_c(first_form), &set, &err), &err);
    const CoverSetFile *f = &set.files.at[0];
    assert_int_equal(f->branches.len, 5);
    assert_int_equal(f->branches.at[0].count, 8);
    assert_int_equal(f->branches.at[1].count, 1);
    assert_true(f->branches.at[1].is_exception);
    assert_int_equal(f->branches.at[2].line, 9);
    assert_false(f->branches.at[2].is_reached);
    assert_int_equal(f->branches.at[4].branch, 2);
    assert_int_equal(f->branches.at[4].count, 7);
    cover_set_deinit(&set);
    arena_deinit(&arena);
}

static void broken_documents_are_refused_with_their_place(void **state)
{
    (void)state;
    static const struct {
        const char *text, *error;
    } cases[] = {
        {"{\"format_version\":\"3\",\"files\":[]}", "gcov's JSON"},
        {"{\"format_version\":\"1\"}", "no format_version or no files"},
        {"{\"format_version\":1,\"files\":[{\"lines\":[]}]}", "a file has no name"},
        {"{\"format_version\":\"1\",\"files\":[{\"file\":\"a\",\"lines\":[{\"line_number\":"
         "4294967296}]}]}",
         "too large"},
        {"{\"format_version\":\"1\",\"files\":[{\"file\":\"a\",\"lines\":[{\"count\":-1}]}]}",
         "a number was expected at offset"},
        {"{\"format_version\":\"one\",\"files\":[]}", "the version is not a number"},
        {"{\"format_version\":\"1\",\"files\":{}}", "another value was expected"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        Arena arena = {0};
        CoverSet set;
        Error err = {0};
        assert_false(read_text(&arena, str_from_c(cases[i].text), &set, &err));
        assert_non_null(strstr(err.text, cases[i].error));
        cover_set_deinit(&set);
        arena_deinit(&arena);
    }
}

static void documents_cut_anywhere_give_the_whole_ones_before_them(void **state)
{
    (void)state;
    char text[sizeof(first_form) + sizeof(second_form)];
    size_t first = strlen(first_form), len = first + strlen(second_form) + 1;
    snprintf(text, sizeof(text), "%s\n%s", first_form, second_form);
    for (size_t cut = 0; cut < len; cut++) {
        Arena arena = {0};
        CoverSet set;
        Error err = {0};
        bool ok = read_text(&arena, str_over(text, cut), &set, &err);
        assert_int_equal(ok, cut >= first);
        if (ok) {
            assert_int_equal(set.files.at[0].lines.at[1].count, 7);
            assert_int_equal(set.notes.len, cut > first + 1);
        } else {
            assert_true(err.text[0] != '\0');
            assert_int_equal(set.files.len, 0);
        }
        cover_set_deinit(&set);
        arena_deinit(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_come_in_any_order),
        cmocka_unit_test(instances_share_branches_and_neighbours_do_not),
        cmocka_unit_test(broken_documents_are_refused_with_their_place),
        cmocka_unit_test(documents_cut_anywhere_give_the_whole_ones_before_them),
    };
    return RUN_TESTS(tests);
}
