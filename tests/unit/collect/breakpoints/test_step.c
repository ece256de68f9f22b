// SPDX-License-Identifier: Apache-2.0
// Copies of instructions, and whether they do what the instructions do.

#include "collect/breakpoints/step.h"

#include "harness.h"

#ifdef __x86_64__

#include <string.h>
#include <sys/mman.h>

enum { AT = 64, COPY = 1024, DATA = 2048, PAGE = 4096 };

// Puts `code` at AT of a page, whose next instruction returns, and its copy at COPY.
static uint8_t *page_with(const uint8_t *code, size_t len, unsigned *ret_len)
{
    uint8_t original[STEP_CODE_BYTES] = {0},
            *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(page != MAP_FAILED);
    memcpy(original, code, len);
    memcpy(page + AT, code, len);
    page[AT + len] = 0xc3; // ret
    uint64_t at = (uint64_t)(uintptr_t)page;
    assert_true(step_copy(original, at + AT, at + COPY, page + COPY, ret_len));
    assert_int_equal(*ret_len, len);
    return page;
}

static long call(uint8_t *at, long argument)
{
    long (*function)(long);
    memcpy(&function, &at, sizeof(function));
    return function(argument);
}

static void a_copy_goes_on_behind_the_instruction(void **state)
{
    (void)state;
    static const uint8_t lea[] = {0x48, 0x8d, 0x47, 0x05}; // lea 5(%rdi), %rax
    unsigned len;
    uint8_t *page = page_with(lea, sizeof(lea), &len);
    assert_int_equal(call(page + COPY, 7), 12);
    munmap(page, PAGE);
}

// mov distance(%rip), %rax and lock incq distance(%rip), with the data at DATA.
static void a_copy_reaches_the_same_data(void **state)
{
    (void)state;
    uint8_t mov[] = {0x48, 0x8b, 0x05, 0, 0, 0, 0}, inc[] = {0xf0, 0x48, 0xff, 0x05, 0, 0, 0, 0};
    int32_t distance = DATA - AT - (int32_t)sizeof(mov);
    long value = 1234, after;
    unsigned len;
    memcpy(mov + 3, &distance, sizeof(distance));
    uint8_t *page = page_with(mov, sizeof(mov), &len);
    memcpy(page + DATA, &value, sizeof(value));
    assert_int_equal(call(page + COPY, 0), 1234);
    munmap(page, PAGE);
    distance--;
    memcpy(inc + 4, &distance, sizeof(distance));
    page = page_with(inc, sizeof(inc), &len);
    memcpy(page + DATA, &value, sizeof(value));
    (void)call(page + COPY, 0);
    memcpy(&after, page + DATA, sizeof(after));
    assert_int_equal(after, 1235);
    munmap(page, PAGE);
}

static void what_a_copy_would_not_do_is_refused(void **state)
{
    (void)state;
    static const uint8_t refused[][STEP_CODE_BYTES] = {
        {0x55},                               // push, which is emulated
        {0xe8, 1, 2, 3, 4},                   // call, the same
        {0xff, 0xd0},                         // call *%rax pushes the copy's address
        {0xff, 0x15, 1, 2, 3, 4},             // call *distance(%rip), the same
        {0x0f, 0x05},                         // syscall
        {0xe2, 0x10},                         // loop
        {0xc5, 0xf8, 0x77},                   // vzeroupper: its length is not known here
        {0x67, 0x48, 0x8b, 0x05, 1, 2, 3, 4}, // mov distance(%eip), %rax
    };
    uint8_t copy[STEP_COPY_BYTES];
    unsigned len;
    for (size_t i = 0; i < ARRAY_LEN(refused); i++)
        assert_false(step_copy(refused[i], 0x1000, 0x2000, copy, &len));
    static const uint8_t mov[STEP_CODE_BYTES] = {0x48, 0x8b, 0x05, 0, 0, 0, 0x80};
    assert_false(step_copy(mov, 0x1000, 0x2000, copy, &len)); // the distance does not fit any more
    assert_true(step_copy(mov, 0x2000, 0x1000, copy, &len));
    assert_false(step_copy(mov, 1ull << 40, 0x1000, copy, &len)); // nor the way back
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_copy_goes_on_behind_the_instruction),
        cmocka_unit_test(a_copy_reaches_the_same_data),
        cmocka_unit_test(what_a_copy_would_not_do_is_refused),
    };
    return RUN_TESTS(tests);
}

#else

int main(void)
{
    return 0;
}

#endif
