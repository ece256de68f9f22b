// SPDX-License-Identifier: Apache-2.0
// Rules for code that repeats CPython's trampoline.

#include "harness.h"

#include "replay/trampolines.h"

#define START ((uint64_t)0x7f0000001000)

static const uint8_t one[] = {0x48, 0x83, 0xec, 0x08, 0xff, 0xd1, 0x48, 0x83, 0xc4, 0x08, 0xc3};
static uint8_t code[64];
static Arena arena;

static int clean_up(void **state)
{
    (void)state;
    arena_deinit(&arena);
    memset(code, 0, sizeof(code));
    return 0;
}

static void repeat(size_t step)
{
    for (size_t i = 0; i < 3; i++)
        memcpy(code + i * step, one, sizeof(one));
}

static int32_t cfa_at(const UnwindTable *t, size_t at)
{
    UnwindAction a = unwind_table_find(t, START + at);
    return a.kind == UNWIND_NONE ? 0 : unwind_cfa_off(a);
}

static void each_trampoline_is_left_before_in_and_behind_its_call(void **state)
{
    (void)state;
    const size_t steps[] = {sizeof(one), 16};
    for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
        UnwindTable t;
        repeat(steps[i]);
        assert_true(trampolines_table(&arena, bytes_over(code, sizeof(code)), START, &t));
        for (size_t k = 0; k < 3; k++) {
            assert_int_equal(cfa_at(&t, k * steps[i]), 8);
            assert_int_equal(cfa_at(&t, k * steps[i] + 4), 16);
            assert_int_equal(cfa_at(&t, k * steps[i] + 6), 16); // the return address
            assert_int_equal(cfa_at(&t, k * steps[i] + 10), 8);
        }
        assert_int_equal(cfa_at(&t, 3 * steps[i]), 0);
        clean_up(NULL);
    }
}

static void other_code_has_no_rules(void **state)
{
    (void)state;
    UnwindTable t;
    assert_false(trampolines_table(&arena, bytes_over(code, sizeof(code)), START, &t));
    repeat(sizeof(one));
    assert_false(trampolines_table(&arena, bytes_over(code + 1, 40), START, &t));
}

static void code_cut_at_each_byte_has_rules_for_whole_trampolines(void **state)
{
    (void)state;
    repeat(sizeof(one));
    for (size_t n = 0; n <= sizeof(code); n++) {
        UnwindTable t;
        bool found = trampolines_table(&arena, bytes_over(code, n), START, &t);
        assert_int_equal(found, n >= sizeof(one));
        for (size_t at = 0; found && at < sizeof(code); at++)
            assert_true(cfa_at(&t, at) == 0 || at < n);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(each_trampoline_is_left_before_in_and_behind_its_call, clean_up),
        cmocka_unit_test_teardown(other_code_has_no_rules, clean_up),
        cmocka_unit_test_teardown(code_cut_at_each_byte_has_rules_for_whole_trampolines, clean_up),
    };
    return RUN_TESTS(tests);
}
