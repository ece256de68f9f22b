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
        {0xff, 0xd0},                         // call *%rax, the same
        {0xff, 0x15, 1, 2, 3, 4},             // call *distance(%rip), the same
        {0x65, 0xff, 0x14, 0x25, 1, 2, 3, 4}, // call *%gs:address pushes the copy's address
        {0x0f, 0x05},                         // syscall
        {0xe2, 0x10},                         // loop
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

// As the assembler writes them.
static void the_length_of_vector_instructions_is_known(void **state)
{
    (void)state;
    static const struct {
        unsigned len;
        uint8_t code[STEP_CODE_BYTES];
    } all[] = {
        {3, {0xc5, 0xf8, 0x77}},                               // vzeroupper
        {8, {0xc5, 0xf9, 0x6e, 0x05, 0x10, 0x00, 0x00, 0x00}}, // vmovd 0x10(%rip),%xmm0
        {4, {0xc5, 0xec, 0x58, 0xd9}},                         // vaddps %ymm1,%ymm2,%ymm3
        {6, {0xc5, 0xfc, 0x10, 0x44, 0x24, 0x20}},             // vmovups 0x20(%rsp),%ymm0
        {10,
         {0xc4, 0xc1, 0x7c, 0x10, 0x84, 0x84, 0x78, 0x56, 0x34,
          0x12}},                                        // vmovups 0x12345678(%r12,%rax,4),%ymm0
        {7, {0xc4, 0xc1, 0x79, 0x70, 0x4d, 0x00, 0x03}}, // vpshufd $0x3,0x0(%r13),%xmm1
        {6, {0xc5, 0xf0, 0xc2, 0x57, 0x08, 0x01}},       // vcmpltps 0x8(%rdi),%xmm1,%xmm2
        {10,
         {0xc4, 0xe3, 0x75, 0x18, 0x15, 0x10, 0x00, 0x00, 0x00,
          0x01}},                                        // vinsertf128 $0x1,0x10(%rip),%ymm1,%ymm2
        {6, {0xc4, 0xe3, 0x61, 0x4a, 0xe2, 0x10}},       // vblendvps %xmm1,%xmm2,%xmm3,%xmm4
        {6, {0xc4, 0xe2, 0x75, 0xb8, 0x14, 0x37}},       // vfmadd231ps (%rdi,%rsi,1),%ymm1,%ymm2
        {7, {0x62, 0xf1, 0x7c, 0x48, 0x10, 0x4f, 0x01}}, // vmovups 0x40(%rdi),%zmm1
        {11,
         {0x62, 0xf3, 0x75, 0x48, 0x25, 0x15, 0x10, 0x00, 0x00, 0x00,
          0x07}}, // vpternlogd $0x7,0x10(%rip),%zmm1,%zmm2
        {11,
         {0x62, 0xe1, 0x75, 0x40, 0xfe, 0x14, 0xc5, 0x00, 0x00, 0x00,
          0x00}},                                  // vpaddd 0x0(,%rax,8),%zmm17,%zmm18
        {6, {0x66, 0x0f, 0x38, 0x00, 0x4f, 0x08}}, // pshufb 0x8(%rdi),%xmm1
        {10,
         {0x66, 0x0f, 0x3a, 0x0f, 0x0d, 0x10, 0x00, 0x00, 0x00,
          0x04}},                                        // palignr $0x4,0x10(%rip),%xmm1
        {6, {0xf2, 0x48, 0x0f, 0x38, 0xf1, 0x08}},       // crc32q (%rax),%rcx
        {5, {0xc4, 0xe2, 0xe0, 0xf2, 0xc8}},             // andn %rax,%rbx,%rcx
        {6, {0xc4, 0xe3, 0xfb, 0xf0, 0x07, 0x03}},       // rorx $0x3,(%rdi),%rax
        {7, {0xc4, 0xe3, 0x7d, 0x39, 0x45, 0x00, 0x01}}, // vextracti128 $0x1,%ymm0,0x0(%rbp)
        {5, {0xc5, 0xe9, 0x72, 0xd1, 0x05}},             // vpsrld $0x5,%xmm1,%xmm2
    };
    uint8_t copy[STEP_COPY_BYTES];
    unsigned len;
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        assert_true(step_copy(all[i].code, 0x2000, 0x1000, copy, &len));
        assert_int_equal(len, all[i].len);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_copy_goes_on_behind_the_instruction),
        cmocka_unit_test(a_copy_reaches_the_same_data),
        cmocka_unit_test(what_a_copy_would_not_do_is_refused),
        cmocka_unit_test(the_length_of_vector_instructions_is_known),
    };
    return RUN_TESTS(tests);
}

#else

int main(void)
{
    return 0;
}

#endif
