// SPDX-License-Identifier: Apache-2.0
// Joining a cut walk to the thread's last whole stack.

#include "harness.h"

#include "replay/outer_frames.h"

enum { MAX = 8 };
#define SP ((uint64_t)0x7ffd00000000)

static OuterFrames *kept;

// A whole stack: leaf at 0x10, then 0x20, 0x30 (interrupted by a signal), 0x40.
static int set_up(void **state)
{
    (void)state;
    const UnwindFrame whole[4] = {{0x10, UNWIND_FRAME_EXACT, 0, 0},
                                  {0x20, 0, 100, 0},
                                  {0x30, UNWIND_FRAME_EXACT, 200, 0},
                                  {0x40, 0, UNWIND_SP_FAR, 0}};
    outer_frames_keep(&kept, whole, ARRAY_LEN(whole), SP);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    outer_frames_free(&kept);
    assert_null(kept);
    return 0;
}

// A walk from 50 words further in, cut in a frame at `pc`, `words` above its first.
static uint32_t join(UnwindFrame *frames, uint64_t pc, uint32_t words, uint32_t max)
{
    frames[0] = (UnwindFrame){0x18, UNWIND_FRAME_EXACT, 0, 0};
    frames[1] = (UnwindFrame){pc, 0, words, 0};
    return outer_frames_join(kept, frames, 2, max, SP - 400);
}

static void a_frame_that_still_stands_leads_outwards(void **state)
{
    (void)state;
    UnwindFrame frames[MAX];
    assert_int_equal(join(frames, 0x20, 150, MAX), 4);
    assert_int_equal(frames[1].pc, 0x20);
    assert_int_equal(frames[1].flags, 0);
    assert_int_equal(frames[2].pc, 0x30);
    assert_int_equal(frames[2].flags, UNWIND_FRAME_EXACT | UNWIND_FRAME_GUESSED);
    assert_int_equal(frames[2].sp_words, 250);
    assert_int_equal(frames[3].pc, 0x40);
    assert_int_equal(frames[3].sp_words, UNWIND_SP_FAR);
}

static void what_was_joined_can_be_kept_and_joined_again(void **state)
{
    (void)state;
    UnwindFrame frames[MAX];
    assert_int_equal(join(frames, 0x20, 150, MAX), 4);
    outer_frames_keep(&kept, frames, 4, SP - 400);
    frames[0] = (UnwindFrame){0x30, UNWIND_FRAME_EXACT, 0, 0};
    assert_int_equal(outer_frames_join(kept, frames, 1, MAX, SP + 1600), 2);
    assert_int_equal(frames[1].pc, 0x40);
}

static void another_pc_or_another_place_is_another_call(void **state)
{
    (void)state;
    UnwindFrame frames[MAX];
    assert_int_equal(join(frames, 0x21, 150, MAX), 2);
    assert_int_equal(join(frames, 0x20, 151, MAX), 2);
    assert_int_equal(join(frames, 0x40, UNWIND_SP_FAR, MAX), 2);
    const OuterFrames *none = NULL;
    assert_int_equal(outer_frames_join(none, frames, 2, MAX, SP), 2);
}

static void without_room_for_all_nothing_is_joined(void **state)
{
    (void)state;
    UnwindFrame frames[MAX];
    assert_int_equal(join(frames, 0x20, 150, 3), 2);
    assert_int_equal(join(frames, 0x20, 150, 4), 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_frame_that_still_stands_leads_outwards, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(what_was_joined_can_be_kept_and_joined_again, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(another_pc_or_another_place_is_another_call, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(without_room_for_all_nothing_is_joined, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
