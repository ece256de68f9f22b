// SPDX-License-Identifier: Apache-2.0
// Where a mapped file is looked for.

#include "harness.h"

#include "replay/module_search.h"

static void assert_candidates(const ModuleSearch *s, const char *path, const char *build_id,
                              const char *const *want)
{
    Arena arena = {0};
    ModuleCandidateVec got = {0};
    module_candidates(&arena, s, str_from_c(path), str_from_c(build_id), &got);
    size_t count = 0;
    for (; want[count]; count++) {
        assert_true(count < got.len);
        assert_str(got.at[count].path, want[count]);
    }
    assert_int_equal(got.len, count);
    arena_deinit(&arena);
}

static void the_users_folders_come_before_the_path_and_the_build_id(void **state)
{
    (void)state;
    const Str dirs[] = {STR("/mine")};
    const ModuleSearch s = {.sysroot = STR("/root"),
                            .symfs = STR("/sym"),
                            .build_id_cache = STR("/home/u/.debug"),
                            .debuginfod_cache = STR("/dd"),
                            .debug_dirs = dirs,
                            .debug_dir_count = 1};
    assert_candidates(
        &s, "/bin/x", "abcd01",
        (const char *const[]){"/sym/bin/x", "/root/bin/x", "/bin/x",
                              "/home/u/.debug/.build-id/ab/cd01/elf",
                              "/home/u/.debug/.build-id/ab/cd01", "/mine/.build-id/ab/cd01",
                              "/usr/lib/debug/.build-id/ab/cd01", "/dd/abcd01/executable", NULL});
}

static void without_a_build_id_there_are_paths_only(void **state)
{
    (void)state;
    const ModuleSearch s = {.build_id_cache = STR("/c")};
    assert_candidates(&s, "/bin/x", "", (const char *const[]){"/bin/x", NULL});
}

static void the_vdso_is_no_path_but_may_be_in_perfs_cache(void **state)
{
    (void)state;
    const ModuleSearch s = {.sysroot = STR("/root"), .build_id_cache = STR("/c")};
    assert_candidates(&s, "[vdso]", "abcd01",
                      (const char *const[]){"/c/.build-id/ab/cd01/vdso", "/c/.build-id/ab/cd01",
                                            "/usr/lib/debug/.build-id/ab/cd01", NULL});
}

static void a_search_without_files_has_no_candidates(void **state)
{
    (void)state;
    const ModuleSearch s = {.no_files = true, .sysroot = STR("/root")};
    assert_candidates(&s, "/bin/x", "abcd01", (const char *const[]){NULL});
    Arena arena = {0};
    assert_str(module_kallsyms_path(&arena, &s, STR("abcd01")), "");
    arena_deinit(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_users_folders_come_before_the_path_and_the_build_id),
        cmocka_unit_test(without_a_build_id_there_are_paths_only),
        cmocka_unit_test(the_vdso_is_no_path_but_may_be_in_perfs_cache),
        cmocka_unit_test(a_search_without_files_has_no_candidates),
    };
    return RUN_TESTS(tests);
}
