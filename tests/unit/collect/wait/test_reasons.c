// SPDX-License-Identifier: Apache-2.0
// What system calls wait for.

#include "collect/wait/reasons_internal.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_descriptor_decides_between_disk_and_network),
        cmocka_unit_test(other_calls_have_one_class),
        cmocka_unit_test(stopped_threads_and_faults_are_in_no_call),
        cmocka_unit_test(objects_are_in_the_argument_that_names_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
