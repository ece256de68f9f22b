// SPDX-License-Identifier: Apache-2.0
// What system calls wait for.

#include "collect/wait/reasons_internal.h"

#include "collect/wait/wait_objects_internal.h"
#include "harness.h"
#include "wire/wait.h"

#include <sys/syscall.h>

static void a_descriptor_decides_between_disk_and_network(void **state)
{
    (void)state;
    assert_int_equal(wait_class_of(SYS_read, 0, STR("/var/lib/data")), WAIT_DISK);
    assert_int_equal(wait_class_of(SYS_read, 0, STR("pipe:[12]")), WAIT_NETWORK);
    assert_int_equal(wait_class_of(SYS_write, 0, STR("socket:[12]")), WAIT_NETWORK);
    assert_int_equal(wait_class_of(SYS_read, 0, STR("/dev/pts/3")), WAIT_NETWORK);
    // Nothing is known of the descriptor: only a disk is waited for without heeding signals.
    assert_int_equal(wait_class_of(SYS_read, 0, STR("")), WAIT_NETWORK);
    assert_int_equal(wait_class_of(SYS_read, WAIT_HOW_DEEP, STR("")), WAIT_DISK);
    assert_int_equal(wait_class_of(SYS_fsync, 0, STR("")), WAIT_DISK);
}

static void other_calls_have_one_class(void **state)
{
    (void)state;
    assert_int_equal(wait_class_of(SYS_futex, 0, STR("")), WAIT_LOCK);
    assert_int_equal(wait_class_of(SYS_clock_nanosleep, 0, STR("")), WAIT_SLEEP);
    assert_int_equal(wait_class_of(SYS_wait4, 0, STR("")), WAIT_CHILD);
    assert_int_equal(wait_class_of(SYS_flock, 0, STR("/lock")), WAIT_LOCK);
    assert_int_equal(wait_class_of(SYS_getpid, 0, STR("")), WAIT_OTHER);
    assert_int_equal(wait_class_of(100000, 0, STR("")), WAIT_OTHER);
}

static void stopped_threads_and_faults_are_in_no_call(void **state)
{
    (void)state;
    assert_int_equal(wait_class_of(WAIT_NO_CALL, 0, STR("")), WAIT_FAULT);
    assert_int_equal(wait_class_of(SYS_futex, WAIT_HOW_STOPPED, STR("")), WAIT_STOPPED);
}

static void objects_are_in_the_argument_that_names_them(void **state)
{
    (void)state;
    uint32_t arg = 7;
    assert_int_equal(wait_object_of(SYS_futex, &arg), WAIT_OBJECT_LOCK);
    assert_int_equal(arg, 0);
    assert_int_equal(wait_object_of(SYS_read, &arg), WAIT_OBJECT_FD);
    assert_int_equal(wait_object_of(SYS_nanosleep, &arg), WAIT_OBJECT_NONE);
    assert_int_equal(wait_object_of(WAIT_NO_CALL, &arg), WAIT_OBJECT_NONE);
}

static void a_named_pipe_is_opened_by_its_other_end(void **state)
{
    (void)state;
    uint32_t arg;
    assert_int_equal(wait_class_of(SYS_openat, 0, STR("")), WAIT_NETWORK);
    assert_int_equal(wait_class_of(SYS_openat, WAIT_HOW_DEEP, STR("")), WAIT_DISK);
    assert_int_equal(wait_object_of(SYS_openat, &arg), WAIT_OBJECT_NONE);
}

static void assert_socket(const char *table, const char *line, uint64_t inode, const char *name)
{
    StrBuf out = {0};
    assert_int_equal(wait_socket_name(str_from_c(table), str_from_c(line), inode, &out),
                     name[0] != '\0');
    assert_str(strbuf_str(&out), name);
    strbuf_deinit(&out);
}

static void sockets_have_the_name_of_their_other_end(void **state)
{
    (void)state;
    const char *open =
        "   3: 0100007F:1538 0100007F:CF5E 01 00000000:00000000 00:00000000 00000000 "
        " 1000        0 41877 1 0000000000000000 20 4 30 10 -1";
    const char *listening = "   0: 00000000:1F90 00000000:0000 0A 00000000:00000000 00:00000000 "
                            "00000000     0        0 999 1 0000000000000000 100 0 0 10 0";
    assert_socket("tcp", open, 41877, "tcp 127.0.0.1:53086");
    assert_socket("tcp", open, 41878, "");
    assert_socket("tcp", listening, 999, "tcp on 0.0.0.0:8080");
    assert_socket(
        "tcp6",
        "  0: 00000000000000000000000001000000:0016 00000000000000000000000001000000:A000 "
        "01 00000000:00000000 00:00000000 00000000 0 0 77 1",
        77, "tcp6 [::1]:40960");
    assert_socket("unix", "0000000000000000: 00000003 00000000 00000000 0001 03 555 /run/db.sock",
                  555, "unix /run/db.sock");
    assert_socket("unix", "0000000000000000: 00000003 00000000 00000000 0001 03 556", 556, "");
}

static void lines_that_are_none_have_no_name(void **state)
{
    (void)state;
    assert_socket("tcp", "", 1, "");
    assert_socket("tcp",
                  "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt"
                  "   uid  timeout inode",
                  1, "");
    assert_socket("tcp", "0: 0100007F:1 0100007F 01 0:0 0:0 0 0 0 1", 1, "");
    assert_socket("tcp", "0: 0100007G:1538 0100007F:FFFFF 01 0:0 0:0 0 0 0 1", 1, "");
    assert_socket("unix", "Num       RefCount Protocol Flags    Type St Inode Path", 1, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_descriptor_decides_between_disk_and_network),
        cmocka_unit_test(other_calls_have_one_class),
        cmocka_unit_test(stopped_threads_and_faults_are_in_no_call),
        cmocka_unit_test(objects_are_in_the_argument_that_names_them),
        cmocka_unit_test(a_named_pipe_is_opened_by_its_other_end),
        cmocka_unit_test(sockets_have_the_name_of_their_other_end),
        cmocka_unit_test(lines_that_are_none_have_no_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
