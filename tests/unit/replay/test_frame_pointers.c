// SPDX-License-Identifier: Apache-2.0
// Going on with the kernel's chain where a walk left the copied stack.

#include "harness.h"

#include "replay/frame_pointers.h"

enum { MAX = 8 };
#define SP      ((uint64_t)0x7ffd00000000)
#define ELSE_FP ((uint64_t)0xc000012340)

// The copied stack: two frames, then a switch to the frame at ELSE_FP.
static const uint64_t stack[8] = {0, 0, SP + 40, 0x2001, 0, ELSE_FP, 0x3001, 0};
static uint64_t chain[] = {(uint64_t)PERF_CONTEXT_KERNEL,
                           0xffffffff81000000,
                           (uint64_t)PERF_CONTEXT_USER,
                           0x1000,
                           0x2001,
                           0x3001,
                           0x4001,
                           0x5001};

static uint32_t join_chain(const uint64_t *entries, size_t count, uint64_t end_fp,
                           UnwindFrame *frames, uint32_t max)
{
    UnwindMemory memory = {.window = stack, .window_addr = SP, .window_size = sizeof(stack)};
    UnwindWalk walk = {.frame_count = 3, .end = UNWIND_CUT_BAD_FRAME, .end_fp = end_fp};
    return frame_pointers_join((U64List){(const uint8_t *)entries, count}, SP + 16, &memory, &walk,
                               frames, max);
}

static void a_chain_that_left_the_copy_at_that_frame_goes_on(void **state)
{
    (void)state;
    UnwindFrame frames[MAX] = {0};
    assert_int_equal(join_chain(chain, ARRAY_LEN(chain), ELSE_FP, frames, MAX), 5);
    assert_int_equal(frames[3].pc, 0x4000);
    assert_int_equal(frames[4].pc, 0x5000);
    assert_int_equal(frames[4].sp_words, UNWIND_SP_FAR);
    assert_int_equal(join_chain(chain, ARRAY_LEN(chain), ELSE_FP, frames, 4), 4);
}

static void a_chain_that_left_it_elsewhere_is_not_followed(void **state)
{
    (void)state;
    UnwindFrame frames[MAX];
    assert_int_equal(join_chain(chain, ARRAY_LEN(chain), ELSE_FP + 16, frames, MAX), 3);
    assert_int_equal(join_chain(chain, ARRAY_LEN(chain), 0, frames, MAX), 3);
}

static void a_chain_of_other_return_addresses_is_not_followed(void **state)
{
    (void)state;
    UnwindFrame frames[MAX];
    uint64_t other[ARRAY_LEN(chain)];
    memcpy(other, chain, sizeof(chain));
    other[4] = 0x9999;
    assert_int_equal(join_chain(other, ARRAY_LEN(other), ELSE_FP, frames, MAX), 3);
}

static void a_chain_without_a_user_part_or_cut_short_adds_nothing(void **state)
{
    (void)state;
    UnwindFrame frames[MAX];
    for (size_t n = 0; n <= 6; n++)
        assert_int_equal(join_chain(chain, n, ELSE_FP, frames, MAX), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_chain_that_left_the_copy_at_that_frame_goes_on),
        cmocka_unit_test(a_chain_that_left_it_elsewhere_is_not_followed),
        cmocka_unit_test(a_chain_of_other_return_addresses_is_not_followed),
        cmocka_unit_test(a_chain_without_a_user_part_or_cut_short_adds_nothing),
    };
    return RUN_TESTS(tests);
}
