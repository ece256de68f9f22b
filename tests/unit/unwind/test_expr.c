// SPDX-License-Identifier: Apache-2.0
// Expressions: each operation, and what is refused.

#include "harness.h"

#include "unwind/expr_internal.h"

static const uint64_t memory[4] = {0x1122334455667788, 1, 2, 3};

static bool get_reg(void *ctx, uint64_t reg, uint64_t *ret)
{
    (void)ctx;
    *ret = 1000 * reg;
    return reg < 17;
}

static bool load(void *ctx, uint64_t addr, uint64_t *ret)
{
    (void)ctx;
    if (addr < 0x100 || addr >= 0x100 + sizeof(memory))
        return false;
    memcpy(ret, (const char *)memory + (addr - 0x100), 8);
    return true;
}

static const ExprContext context = {.reg = get_reg, .load = load};

static void check(const uint8_t *code, size_t size, uint64_t want)
{
    uint64_t got = 0, cfa = 0x108;
    assert_true(expr_evaluate(code, size, &cfa, &context, &got));
    assert_int_equal(got, want);
}

static void refuse(const uint8_t *code, size_t size)
{
    uint64_t got = 77;
    assert_false(expr_evaluate(code, size, NULL, &context, &got));
    assert_int_equal(got, 77);
}

#define CHECK(want, ...)                                                                           \
    check((const uint8_t[]){__VA_ARGS__}, sizeof((uint8_t[]){__VA_ARGS__}), (uint64_t)(want))
#define REFUSE(...) refuse((const uint8_t[]){__VA_ARGS__}, sizeof((uint8_t[]){__VA_ARGS__}))

static void constants_are_pushed(void **state)
{
    (void)state;
    CHECK(0x0807060504030201, 0x03, 1, 2, 3, 4, 5, 6, 7, 8);
    CHECK(0xff, 0x08, 0xff);
    CHECK(-1, 0x09, 0xff);
    CHECK(0xfffe, 0x0a, 0xfe, 0xff);
    CHECK(-2, 0x0b, 0xfe, 0xff);
    CHECK(0xfffffffe, 0x0c, 0xfe, 0xff, 0xff, 0xff);
    CHECK(-2, 0x0d, 0xfe, 0xff, 0xff, 0xff);
    CHECK(0x0807060504030201, 0x0e, 1, 2, 3, 4, 5, 6, 7, 8);
    CHECK(300, 0x10, 0xac, 0x02);
    CHECK(-300, 0x11, 0xd4, 0x7d);
    CHECK(0, 0x30);
    CHECK(31, 0x4f);
}

static void the_stack_is_rearranged(void **state)
{
    (void)state;
    CHECK(0x108, 0x96); // what was there first
    CHECK(0x210, 0x12, 0x22);
    CHECK(0x108, 0x31, 0x13);
    CHECK(1, 0x31, 0x32, 0x14);
    CHECK(0x108, 0x31, 0x32, 0x15, 2);
    CHECK(1, 0x31, 0x32, 0x16);
    CHECK(2, 0x31, 0x32, 0x33, 0x17); // rot: 3 1 2, 2 on top
    CHECK(1, 0x31, 0x32, 0x33, 0x17, 0x13);
    CHECK(3, 0x31, 0x32, 0x33, 0x17, 0x13, 0x13);
}

static void arithmetic_is_64_bit(void **state)
{
    (void)state;
    CHECK(5, 0x35, 0x1f, 0x19);
    CHECK(4, 0x36, 0x3c, 0x1a);
    CHECK(-3, 0x36, 0x1f, 0x32, 0x1b);
    CHECK(-1, 0x31, 0x32, 0x1c);
    CHECK(2, 0x35, 0x33, 0x1d);
    CHECK(15, 0x35, 0x33, 0x1e);
    CHECK(-6, 0x35, 0x20);
    CHECK(7, 0x35, 0x33, 0x21);
    CHECK(8, 0x35, 0x33, 0x22);
    CHECK(305, 0x35, 0x23, 0xac, 0x02);
    CHECK(40, 0x35, 0x33, 0x24);
    CHECK(0, 0x35, 0x08, 64, 0x24);
    CHECK(1, 0x35, 0x32, 0x25);
    CHECK(0, 0x35, 0x08, 64, 0x25);
    CHECK(-2, 0x35, 0x1f, 0x32, 0x26);
    CHECK(-1, 0x35, 0x1f, 0x08, 64, 0x26);
    CHECK(6, 0x35, 0x33, 0x27);
}

static void comparisons_are_signed(void **state)
{
    (void)state;
    CHECK(1, 0x35, 0x35, 0x29);
    CHECK(0, 0x35, 0x1f, 0x31, 0x2a);
    CHECK(0, 0x35, 0x1f, 0x31, 0x2b);
    CHECK(1, 0x35, 0x1f, 0x31, 0x2c);
    CHECK(1, 0x35, 0x1f, 0x31, 0x2d);
    CHECK(1, 0x35, 0x31, 0x2e);
}

static void memory_and_registers_are_read(void **state)
{
    (void)state;
    CHECK(1, 0x06);
    CHECK(0x88, 0x0a, 0x00, 0x01, 0x94, 1);
    CHECK(0x55667788, 0x0a, 0x00, 0x01, 0x94, 4);
    CHECK(6996, 0x77, 0x7c);
    CHECK(16008, 0x92, 16, 8);
    REFUSE(0x30, 0x06);    // no such memory
    REFUSE(0x30, 0x94, 9); // wider than a word
    REFUSE(0x92, 17, 0);   // not known
}

static void jumps_stay_inside(void **state)
{
    (void)state;
    CHECK(2, 0x31, 0x28, 1, 0, 0x31, 0x32); // taken, over one operation
    CHECK(1, 0x32, 0x30, 0x28, 1, 0, 0x31); // not taken
    CHECK(0x108, 0x2f, 1, 0, 0x31);
    REFUSE(0x2f, 0xfc, 0xff); // before the start
    REFUSE(0x2f, 1, 0);       // behind the end
    REFUSE(0x2f, 0xfd, 0xff); // for ever
}

static void broken_ones_are_refused(void **state)
{
    (void)state;
    REFUSE(0x13);             // nothing to drop
    REFUSE(0x31, 0x22);       // one operand
    REFUSE(0x31, 0x30, 0x1b); // by zero
    REFUSE(0x31, 0x30, 0x1d);
    REFUSE(0x0e, 0, 0, 0, 0, 0, 0, 0, 0x80, 0x09, 0xff, 0x1b); // overflows
    REFUSE(0x31, 0x15, 1);                                     // pick too deep
    REFUSE(0x0c, 1, 2);                                        // cut short
    REFUSE(0x10, 0x80);
    REFUSE(0xff);                         // unknown
    REFUSE(0x31, 0x13);                   // nothing left
    REFUSE(0x31, 0x12, 0x2f, 0xfc, 0xff); // pushes for ever
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constants_are_pushed),          cmocka_unit_test(the_stack_is_rearranged),
        cmocka_unit_test(arithmetic_is_64_bit),          cmocka_unit_test(comparisons_are_signed),
        cmocka_unit_test(memory_and_registers_are_read), cmocka_unit_test(jumps_stay_inside),
        cmocka_unit_test(broken_ones_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
