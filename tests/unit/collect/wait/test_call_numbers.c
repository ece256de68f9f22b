// SPDX-License-Identifier: Apache-2.0
// Numbers of system calls in machine code.

#include "collect/wait/call_numbers_internal.h"

#include "harness.h"

#include <sys/syscall.h>
#include <unistd.h>

#define NUMBER_IN(ret, ...)                                                                        \
    call_number_in(bytes_over((const uint8_t[]){__VA_ARGS__}, sizeof((uint8_t[]){__VA_ARGS__})),   \
                   ret)

#if defined(__x86_64__)
static void a_number_stands_before_the_call(void **state)
{
    (void)state;
    uint32_t n = 7;
    assert_true(NUMBER_IN(&n, 0xb8, 0xca, 0, 0, 0, 0x0f, 0x05));
    assert_int_equal(n, SYS_futex);
    // mov $0xe6,%eax; mov %rcx,%r10; syscall
    assert_true(NUMBER_IN(&n, 0x90, 0xb8, 0xe6, 0, 0, 0, 0x49, 0x89, 0xca, 0x0f, 0x05));
    assert_int_equal(n, SYS_clock_nanosleep);
    assert_true(NUMBER_IN(&n, 0x31, 0xc0, 0x0f, 0x05));
    assert_int_equal(n, SYS_read);
}

static void other_registers_do_not_count(void **state)
{
    (void)state;
    uint32_t n = 7;
    // mov $1,%eax; xor %r8d,%r8d; mov $2,%r8d; syscall
    assert_true(
        NUMBER_IN(&n, 0xb8, 1, 0, 0, 0, 0x45, 0x31, 0xc0, 0x41, 0xb8, 2, 0, 0, 0, 0x0f, 0x05));
    assert_int_equal(n, SYS_write);
}

static void code_without_a_number_or_a_call_says_nothing(void **state)
{
    (void)state;
    uint32_t n = 7;
    assert_false(NUMBER_IN(&n, 0x0f, 0x05));
    assert_false(NUMBER_IN(&n, 0x05));
    assert_false(call_number_in(bytes_over(NULL, 0), &n));
    assert_false(NUMBER_IN(&n, 0x48, 0x89, 0xf8, 0x0f, 0x05));       // mov %rdi,%rax
    assert_false(NUMBER_IN(&n, 0xb8, 0xca, 0, 0, 0, 0x90));          // no call
    assert_false(NUMBER_IN(&n, 0xb8, 0xca, 0, 0, 0x40, 0x0f, 0x05)); // no number of a call
    assert_int_equal(n, 7);
}
#endif

static void what_looks_have_seen_comes_first(void **state)
{
    (void)state;
    CallNumbers n = {0};
    uint64_t pc = (uint64_t)(uintptr_t)&n; // no code
    call_numbers_learn(&n, 1, 0x1234, SYS_read);
    assert_int_equal(call_numbers_find(&n, 1, 0x1234), SYS_read);
    call_numbers_learn(&n, 1, 0x1234, SYS_read);
    assert_int_equal(call_numbers_find(&n, 1, 0x1234), SYS_read);
    call_numbers_learn(&n, 1, 0x1234, SYS_write); // as in the C library's syscall()
    assert_int_equal(call_numbers_find(&n, 1, 0x1234), WAIT_UNKNOWN_CALL);
    assert_int_equal(call_numbers_find(&n, (uint32_t)getpid(), pc), WAIT_UNKNOWN_CALL);
    call_numbers_deinit(&n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#if defined(__x86_64__)
        cmocka_unit_test(a_number_stands_before_the_call),
        cmocka_unit_test(other_registers_do_not_count),
        cmocka_unit_test(code_without_a_number_or_a_call_says_nothing),
#endif
        cmocka_unit_test(what_looks_have_seen_comes_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
