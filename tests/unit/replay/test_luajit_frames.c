// SPDX-License-Identifier: Apache-2.0
// The frame of a trace: where the interpreter was called, behind what the trace added to it.

#include "harness.h"

#include "replay/luajit_frames.h"

#define SP ((uint64_t)0x7ffd00001000)
enum { CALLER = 0x5000, WORDS = 40 };

static uint64_t words[WORDS];

static bool load(void *ctx, uint64_t addr, uint64_t *ret)
{
    (void)ctx;
    uint64_t at = (addr - SP) / 8;
    if (addr < SP || at >= WORDS)
        return false;
    *ret = words[at];
    return true;
}

static bool is_caller(void *ctx, uint64_t word)
{
    (void)ctx;
    return word == CALLER;
}

// With the return address at word `at`.
static bool step(size_t at, UnwindGenerated *f)
{
    memset(words, 0, sizeof(words));
    words[at] = CALLER;
    words[at - 1] = 0x77;
    *f = (UnwindGenerated){.pc = 1, .sp = SP, .fp = 2, .load = load};
    return luajit_step(f, is_caller, NULL);
}

static void a_trace_runs_in_the_interpreters_frame(void **state)
{
    (void)state;
    UnwindGenerated f;
    assert_true(step(9, &f));
    assert_int_equal(f.pc, CALLER);
    assert_int_equal(f.sp, SP + 80);
    assert_int_equal(f.fp, 0x77);
}

static void which_it_may_have_made_larger(void **state)
{
    (void)state;
    UnwindGenerated f;
    assert_true(step(13, &f));
    assert_int_equal(f.sp, SP + 112);
}

static void a_return_address_elsewhere_is_none(void **state)
{
    (void)state;
    UnwindGenerated f;
    assert_false(step(10, &f)); // not where a frame can end
    assert_int_equal(f.pc, 1);
    assert_int_equal(f.sp, SP);
    assert_false(step(7, &f)); // within the interpreter's own part
}

static void the_interpreter_is_known_by_its_rule(void **state)
{
    (void)state;
    UnwindAction a = {.kind = UNWIND_FP_AT_CFA,
                      .cfa = UNWIND_X86_64_SP,
                      .cfa_off = 80,
                      .fp_off = -16,
                      .bx_slot = 3};
    assert_true(luajit_is_interpreter(a));
    a.bx_slot = 2;
    assert_false(luajit_is_interpreter(a));
    a.bx_slot = 3;
    a.cfa_off = 64;
    assert_false(luajit_is_interpreter(a));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_trace_runs_in_the_interpreters_frame),
        cmocka_unit_test(which_it_may_have_made_larger),
        cmocka_unit_test(a_return_address_elsewhere_is_none),
        cmocka_unit_test(the_interpreter_is_known_by_its_rule),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
