// SPDX-License-Identifier: Apache-2.0
// Counts of lines, found again by the paths of another build.

#include "analyse/executions.h"

#include "harness.h"

typedef struct Case {
    Profile first, second;
    Executions x;
} Case;

static void begin(Case *c)
{
    *c = (Case){0};
    profile_init(&c->first);
    profile_init(&c->second);
}

static void count(Profile *p, const char *file, uint32_t line, uint64_t count)
{
    LineCounts *to = &p->line_counts;
    vec_push(&p->arena, &to->file, profile_str(p, str_from_c(file)));
    vec_push(&p->arena, &to->line, line);
    vec_push(&p->arena, &to->count, count);
}

static void join(Case *c)
{
    const Profile *all[] = {&c->first, &c->second};
    executions_init(&c->x, all, ARRAY_LEN(all));
}

static void end(Case *c)
{
    executions_deinit(&c->x);
    profile_deinit(&c->first);
    profile_deinit(&c->second);
}

// The count of a line, UINT64_MAX - 1 for none.
static uint64_t ran(const Case *c, const char *path, uint32_t line)
{
    uint64_t n;
    uint32_t file = executions_file(&c->x, str_from_c(path));
    return executions_of(&c->x, file, line, &n) ? n : UINT64_MAX - 1;
}

enum { NOBODY_COUNTED = -2 };

static void counts_of_several_recordings_add_up(void **state)
{
    (void)state;
    Case c;
    begin(&c);
    count(&c.first, "/src/a.c", 7, 3);
    count(&c.first, "/src/b.c", 1, 1);
    count(&c.first, "/src/a.c", 2, 0);
    count(&c.second, "/src/a.c", 7, 4);
    count(&c.second, "/src/a.c", 9, UINT64_MAX);
    count(&c.first, "/src/a.c", 9, 5);
    join(&c);
    assert_int_equal(ran(&c, "/src/a.c", 7), 7);
    assert_int_equal(ran(&c, "/src/a.c", 2), 0);
    assert_int_equal(ran(&c, "/src/a.c", 3), NOBODY_COUNTED);
    assert_true(ran(&c, "/src/a.c", 9) == UINT64_MAX);
    assert_int_equal(ran(&c, "/src/b.c", 1), 1);
    end(&c);
}

static void a_file_of_another_folder_is_known_by_the_end_of_its_path(void **state)
{
    (void)state;
    Case c;
    begin(&c);
    count(&c.first, "/build/1/lib/x/util.c", 1, 10);
    count(&c.first, "/build/1/lib/y/util.c", 1, 20);
    count(&c.first, "/build/1/main.c", 1, 30);
    join(&c);
    assert_int_equal(ran(&c, "/home/me/lib/y/util.c", 1), 20);
    assert_int_equal(ran(&c, "x/util.c", 1), 10);
    assert_int_equal(ran(&c, "main.c", 1), 30);
    assert_int_equal(ran(&c, "/elsewhere/main.c", 1), 30);
    end(&c);
}

static void a_file_that_could_be_either_is_neither(void **state)
{
    (void)state;
    Case c;
    begin(&c);
    count(&c.first, "/p/x/util.c", 1, 10);
    count(&c.first, "/p/y/util.c", 1, 20);
    join(&c);
    assert_int_equal(ran(&c, "/p/z/util.c", 1), NOBODY_COUNTED);
    assert_int_equal(ran(&c, "util.c", 1), NOBODY_COUNTED);
    assert_int_equal(ran(&c, "/p/x/other.c", 1), NOBODY_COUNTED);
    assert_int_equal(ran(&c, "/p/x/autil.c", 1), NOBODY_COUNTED);
    end(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_of_several_recordings_add_up),
        cmocka_unit_test(a_file_of_another_folder_is_known_by_the_end_of_its_path),
        cmocka_unit_test(a_file_that_could_be_either_is_neither),
    };
    return RUN_TESTS(tests);
}
