// SPDX-License-Identifier: Apache-2.0
// Readers of /proc.

#include "os/proc.h"

#include "harness.h"

#include <unistd.h>

static void a_mapping_with_a_file_is_read_whole(void **state)
{
    (void)state;
    ProcMap m;
    assert_true(proc_map_parse(
        STR("7f12a000-7f12b000 r-xp 00002000 fd:01 1234567    /usr/lib/lib a.so (deleted)"), &m));
    assert_int_equal(m.start, 0x7f12a000);
    assert_int_equal(m.end, 0x7f12b000);
    assert_int_equal(m.offset, 0x2000);
    assert_int_equal(m.device_major, 0xfd);
    assert_int_equal(m.device_minor, 1);
    assert_int_equal(m.inode, 1234567);
    assert_true(m.read && !m.write && m.exec && !m.shared && m.deleted);
    assert_str(m.path, "/usr/lib/lib a.so");
}

static void memory_without_a_file_has_no_path(void **state)
{
    (void)state;
    ProcMap m;
    assert_true(proc_map_parse(STR("ffff0000-ffffffffff600000 rw-s 00000000 00:00 0 "), &m));
    assert_int_equal(m.inode, 0);
    assert_int_equal(m.path.len, 0);
    assert_true(m.shared && !m.exec);
}

static void what_is_no_mapping_is_refused(void **state)
{
    (void)state;
    const char *const bad[] = {"",
                               "Size: 4 kB",
                               "7f12b000-7f12a000 r-xp 0 fd:01 1 /x",
                               "7f12a000-7f12b000 r-x 0 fd:01 1 /x",
                               "7f12a000-7f12b000 r-xp 0 fd01 1 /x",
                               "7f12a000-7f12b000 r-xp 0 fd:01 x /x",
                               "zz-7f12b000 r-xp 0 fd:01 1 /x"};
    ProcMap m;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        assert_false(proc_map_parse(str_from_c(bad[i]), &m));
}

static void a_mapping_cut_at_each_byte_never_reads_past_its_end(void **state)
{
    (void)state;
    Str line = STR("7f12a000-7f12b000 r-xp 00002000 fd:01 12 /a");
    ProcMap m;
    for (size_t n = 0; n < line.len; n++) {
        char copy[64];
        memcpy(copy, line.ptr, n);
        if (proc_map_parse(str_over(copy, n), &m))
            assert_true(m.inode == 1 || m.inode == 12);
    }
}

static void a_status_gives_the_innermost_pid_and_the_effective_user(void **state)
{
    (void)state;
    ProcStatus st;
    assert_true(proc_status_parse(STR("Name:\ta b\nTgid:\t70\nPid:\t71\nPPid:\t3\nTracerPid:\t9\n"
                                      "Uid:\t1000\t1001\t1002\t1003\nNStgid:\t70\t12\t1\n"
                                      "CapEff:\t0000004000004000\nSeccomp:\t2\n"),
                                  &st));
    assert_str(st.name, "a b");
    assert_int_equal(st.thread_group, 70);
    assert_int_equal(st.parent, 3);
    assert_int_equal(st.ns_pid, 1);
    assert_int_equal(st.uid, 1001);
    assert_int_equal(st.tracer, 9);
    assert_int_equal(st.seccomp, 2);
    assert_int_equal(st.cap_effective, 0x4000004000);
    assert_false(proc_status_parse(STR("Name: x\n"), &st));
}

static void our_own_process_is_found_in_proc(void **state)
{
    (void)state;
    Arena arena = {0};
    Error err;
    ProcStatus st;
    ProcMapVec maps = {0};
    U32Vec tids = {0};
    assert_ok(proc_status_read(&arena, 0, &st, &err), &err);
    assert_int_equal(st.thread_group, getpid());
    assert_ok(proc_maps_read(&arena, (uint32_t)getpid(), &maps, &err), &err);
    assert_true(maps.len > 5);
    assert_ok(proc_list_threads((uint32_t)getpid(), &tids, &err), &err);
    assert_int_equal(tids.len, 1);
    assert_int_equal(tids.at[0], getpid());
    assert_true(proc_exists((uint32_t)getpid()));
    assert_false(proc_exists(0));
    vec_free(&tids);
    arena_deinit(&arena);
}

static void a_list_of_cpus_has_ranges_and_limits(void **state)
{
    (void)state;
    U32Vec cpus = {0};
    Error err;
    assert_ok(cpu_list_parse(STR("0-2,8\n"), 64, &cpus, &err), &err);
    assert_int_equal(cpus.len, 4);
    assert_int_equal(cpus.at[3], 8);
    const char *const bad[] = {"", "a", "3-1", "0-99999999999", "0-64", "1,,2", "-1"};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        vec_free(&cpus);
        assert_false(cpu_list_parse(str_from_c(bad[i]), 64, &cpus, &err));
        assert_int_equal(err.kind, ERROR_USAGE);
    }
    vec_free(&cpus);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_mapping_with_a_file_is_read_whole),
        cmocka_unit_test(memory_without_a_file_has_no_path),
        cmocka_unit_test(what_is_no_mapping_is_refused),
        cmocka_unit_test(a_mapping_cut_at_each_byte_never_reads_past_its_end),
        cmocka_unit_test(a_status_gives_the_innermost_pid_and_the_effective_user),
        cmocka_unit_test(our_own_process_is_found_in_proc),
        cmocka_unit_test(a_list_of_cpus_has_ranges_and_limits),
    };
    return RUN_TESTS(tests);
}
