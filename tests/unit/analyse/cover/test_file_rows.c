// SPDX-License-Identifier: Apache-2.0
// Counts grouped by file, whatever order they come in.

#include "analyse/cover/file_rows.h"

#include "harness.h"

#include "base/strbuf.h"

static void add_line(Profile *p, const char *file, uint32_t line, uint64_t count)
{
    vec_push(&p->arena, &p->line_counts.file, profile_str(p, str_from_c(file)));
    vec_push(&p->arena, &p->line_counts.line, line);
    vec_push(&p->arena, &p->line_counts.count, count);
}

static void add_function(Profile *p, const char *name, const char *file)
{
    Str text = str_from_c(name);
    vec_push(&p->arena, &p->function_counts.function,
             profile_function(p, text, text, str_from_c(file), 1));
    vec_push(&p->arena, &p->function_counts.count, 1);
    vec_push(&p->arena, &p->function_counts.hash, 0);
    vec_push(&p->arena, &p->function_counts.column, 0);
}

// The rows of each file are 'row row …', files by path.
static void check(const Profile *p, const char *lines, const char *functions)
{
    Arena arena = {0};
    CoverFiles files = {0};
    StrBuf l = {0}, f = {0};
    cover_files_group(&arena, p, &files);
    for (size_t i = 0; i < files.files.len; i++) {
        const CoverFileRows *rows = &files.files.at[i];
        strbuf_add(&l, profile_text(p, rows->file));
        strbuf_add(&f, profile_text(p, rows->file));
        for (uint32_t k = rows->lines.first; k < rows->lines.end; k++)
            strbuf_printf(&l, " %u", files.lines.at[k]);
        for (uint32_t k = rows->functions.first; k < rows->functions.end; k++)
            strbuf_printf(&f, " %u", files.functions.at[k]);
        strbuf_add(&l, STR(";"));
        strbuf_add(&f, STR(";"));
    }
    assert_true(str_equal(strbuf_str(&l), str_from_c(lines)));
    assert_true(str_equal(strbuf_str(&f), str_from_c(functions)));
    strbuf_deinit(&l);
    strbuf_deinit(&f);
    arena_deinit(&arena);
}

static void rows_in_order_stay_in_order(void **state)
{
    (void)state;
    Profile p;
    profile_init(&p);
    check(&p, "", "");
    add_line(&p, "a.c", 1, 5);
    add_line(&p, "a.c", 1, 0);
    add_line(&p, "a.c", 7, 0);
    add_line(&p, "b.c", 2, 1);
    add_function(&p, "f", "a.c");
    add_function(&p, "g", "b.c");
    check(&p, "a.c 0 1 2;b.c 3;", "a.c 0;b.c 1;");
    profile_deinit(&p);
}

static void rows_in_any_order_go_by_file_and_line(void **state)
{
    (void)state;
    Profile p;
    profile_init(&p);
    add_line(&p, "b.c", 9, 1);
    add_line(&p, "a.c", 8, 1);
    add_line(&p, "b.c", 2, 1);
    add_line(&p, "a.c", 1, 1);
    add_line(&p, "b.c", 9, 2);
    add_function(&p, "z", "c.c");
    add_function(&p, "y", "a.c");
    add_function(&p, "x", "c.c");
    check(&p, "a.c 3 1;b.c 2 0 4;c.c;", "a.c 1;b.c;c.c 0 2;");
    profile_deinit(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_in_order_stay_in_order),
        cmocka_unit_test(rows_in_any_order_go_by_file_and_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
