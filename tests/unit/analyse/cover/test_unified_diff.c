// SPDX-License-Identifier: Apache-2.0
// Unified diffs of git and of diff.

#include "harness.h"

#include "analyse/cover/change.h"

#define DIFF                                                                                       \
    "diff --git a/x.c b/x.c\nindex 1..2 100644\n--- a/x.c\n+++ b/x.c\n"                            \
    "@@ -3,4 +3,5 @@ int f(void)\n same\n-old\n+new\n+more\n same\n same\n"                        \
    "@@ -20,2 +21,0 @@\n-gone\n-gone\n\\ No newline at end of file\n"                              \
    "diff --git a/old.c b/new.c\nsimilarity index 100%\nrename from old.c\nrename to new.c\n"      \
    "--- /dev/null\n+++ \"b/q\\303\\250.c\"\n@@ -0,0 +1 @@\n+x\n"

static void changes_are_told_without_their_context(void **state)
{
    (void)state;
    Arena arena = {0};
    DiffFiles files;
    Error err;
    assert_ok(diff_parse(&arena, STR(DIFF), &files, &err), &err);
    assert_int_equal(files.len, 3);
    assert_str(files.at[0].new_path, "x.c");
    assert_int_equal(files.at[0].changes.len, 2);
    DiffChange c = files.at[0].changes.at[0];
    assert_int_equal(c.old_first, 4);
    assert_int_equal(c.old_count, 1);
    assert_int_equal(c.new_first, 4);
    assert_int_equal(c.new_count, 2);
    c = files.at[0].changes.at[1];
    assert_int_equal(c.old_first, 20);
    assert_int_equal(c.old_count, 2);
    assert_int_equal(c.new_first, 22);
    assert_int_equal(c.new_count, 0);
    assert_str(files.at[1].old_path, "old.c");
    assert_str(files.at[1].new_path, "new.c");
    assert_str(files.at[2].old_path, "");
    assert_str(files.at[2].new_path, "q\303\250.c");
    arena_deinit(&arena);
}

static void a_diff_cut_at_any_byte_is_read_or_refused(void **state)
{
    (void)state;
    Str whole = STR(DIFF);
    for (size_t len = 0; len < whole.len; len++) {
        Arena arena = {0};
        DiffFiles files;
        Error err = {0};
        char *copy = arena_c_str(&arena, str_slice(whole, 0, len));
        if (!diff_parse(&arena, str_over(copy, len), &files, &err))
            assert_true(err.text[0]);
        arena_deinit(&arena);
    }
}

static void numbers_that_overflow_are_refused(void **state)
{
    (void)state;
    Arena arena = {0};
    DiffFiles files;
    Error err;
    assert_false(diff_parse(&arena, STR("--- a\n+++ b\n@@ -1 +4294967295,9 @@\n"), &files, &err));
    assert_false(diff_parse(&arena, STR("@@ -1 +1 @@\n"), &files, &err));
    assert_false(diff_parse(&arena, STR("--- a\n+++ b\n@@ -1,2 +1 @@\n x\n"), &files, &err));
    arena_deinit(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(changes_are_told_without_their_context),
        cmocka_unit_test(a_diff_cut_at_any_byte_is_read_or_refused),
        cmocka_unit_test(numbers_that_overflow_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
