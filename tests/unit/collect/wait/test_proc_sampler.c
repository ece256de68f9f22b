// SPDX-License-Identifier: Apache-2.0
// Lines of /proc/PID/task/TID/syscall, and looks at this very process.

#include "collect/wait/proc_sampler_internal.h"

#include "harness.h"
#include "os/clock.h"
#include "wire/wait.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static void a_line_states_call_arguments_and_place(void **state)
{
    (void)state;
    ProcWait w = {0};
    assert_true(
        proc_syscall_parse(STR("202 0x5590a0 0x80 0x2 0x0 0x1 0x0 0x7ffd10 0x7f00aa\n"), &w));
    assert_int_equal(w.call, 202);
    assert_int_equal(w.args[0], 0x5590a0);
    assert_int_equal(w.args[2], 2);
    assert_int_equal(w.sp, 0x7ffd10);
    assert_int_equal(w.pc, 0x7f00aa);
}

static void a_thread_may_sleep_outside_of_a_call(void **state)
{
    (void)state;
    ProcWait w = {0};
    assert_true(proc_syscall_parse(STR("-1 0x7ffd10 0x7f00aa\n"), &w));
    assert_int_equal(w.call, WAIT_NO_CALL);
    assert_int_equal(w.sp, 0x7ffd10);
}

static void other_lines_are_refused_and_change_nothing(void **state)
{
    (void)state;
    ProcWait w = {.call = 99, .sp = 1};
    assert_false(proc_syscall_parse(STR("running\n"), &w));
    assert_false(proc_syscall_parse(STR(""), &w));
    assert_false(proc_syscall_parse(STR("-1"), &w));
    assert_false(proc_syscall_parse(STR("-1 0x1"), &w));
    assert_false(proc_syscall_parse(STR("0 0x1 0x2"), &w));
    assert_false(proc_syscall_parse(STR("0 1 2 3 4 5 6 0xg 0x1"), &w));
    assert_false(proc_syscall_parse(STR("99999999999999999999 0x1"), &w));
    Str line = STR("202 0x5590a0 0x80 0x2 0x0 0x1 0x0 0x7ffd10 0x7f00aa");
    for (size_t i = 0; i < line.len - 8; i++)
        assert_false(proc_syscall_parse(str_slice(line, 0, i), &w));
    assert_int_equal(w.call, 99);
    assert_int_equal(w.sp, 1);
}

static void *sleep_long(void *unused)
{
    const struct timespec nap = {0, 300000000};
    clock_nanosleep(CLOCK_MONOTONIC, 0, &nap, NULL);
    return unused;
}

static void a_sleeping_thread_is_seen_with_its_stack(void **state)
{
    (void)state;
    ProcSampler *s;
    Error err;
    pthread_t sleeper;
    uint64_t slept = 0, ended = 0;
    uint32_t with_stack = 0;
    assert_true(proc_sampler_open(false, false, false, &s, &err));
    proc_sampler_add(s, (uint32_t)getpid(), false);
    assert_int_equal(pthread_create(&sleeper, NULL, sleep_long, NULL), 0);
    pthread_join(sleeper, NULL);
    proc_sampler_stop(s);
    if (proc_sampler_counts(s).refused) { // by a filter or a security module
        proc_sampler_close(s);
        skip();
    }
    ProcEvent e;
    while (proc_sampler_take(s, UINT64_MAX, &e)) {
        if (e.kind == PROC_THREAD_ENDS)
            ended++;
        if (e.kind == PROC_WAIT_BEGINS && e.wait->call == SYS_clock_nanosleep &&
            e.wait->tid != (uint32_t)getpid())
            with_stack += e.wait->stack_len > 0;
        if (e.kind != PROC_WAIT_ENDS)
            continue;
        if (e.wait->call == SYS_clock_nanosleep && e.wait->tid != (uint32_t)getpid())
            slept = MAX(slept, e.wait->span_ns);
        heap_free(e.wait->stack);
        heap_free(e.wait);
    }
    assert_true(ended >= 2); // the sampler's own thread, too
    assert_true(with_stack >= 1);
    assert_true(slept > 100000000 && slept < 2000000000);
    proc_sampler_close(s);
}

static void what_was_not_taken_is_freed(void **state)
{
    (void)state;
    ProcSampler *s;
    Error err;
    assert_true(proc_sampler_open(true, true, true, &s, &err));
    proc_sampler_add(s, (uint32_t)getpid(), false);
    proc_sampler_add(s, 0x7fffffff, true); // there is no such process
    (void)sleep_long(NULL);
    ProcEvent e;
    assert_false(proc_sampler_take(s, 1, &e));
    proc_sampler_close(s);
    proc_sampler_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_states_call_arguments_and_place),
        cmocka_unit_test(a_thread_may_sleep_outside_of_a_call),
        cmocka_unit_test(other_lines_are_refused_and_change_nothing),
        cmocka_unit_test(a_sleeping_thread_is_seen_with_its_stack),
        cmocka_unit_test(what_was_not_taken_is_freed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
