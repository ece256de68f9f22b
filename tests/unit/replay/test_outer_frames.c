// SPDX-License-Identifier: Apache-2.0
// Joining a cut walk to the frames of the thread's last whole stack that it is still in.

#include "harness.h"

#include "replay/outer_frames.h"

enum { MAX = 8, FRAMES = 4 };
#define SP        ((uint64_t)0x7ffd00000000)
#define AT(words) (SP + 8 * (words)-8) // of the return address into a frame

// A whole stack: a leaf and its callers at 100, 200 and 300 words.
static const UnwindFrame calls[FRAMES] = {
    {0x10, UNWIND_FRAME_EXACT, 0, 0}, {0x20, 0, 100, 0}, {0x30, 0, 200, 0}, {0x40, 0, 300, 0}};

// The words of a stack.
typedef struct Stack {
    uint64_t at[3], word[3];
} Stack;
static const Stack unchanged = {.at = {AT(100), AT(200), AT(300)}, .word = {0x21, 0x31, 0x41}};

static OuterFrames *kept;

static int set_up(void **state)
{
    (void)state;
    outer_frames_keep(&kept, calls, FRAMES, SP, true);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    outer_frames_free(&kept);
    assert_null(kept);
    return 0;
}

static bool read_word(void *ctx, uint64_t addr, uint64_t *ret)
{
    const Stack *s = ctx;
    for (size_t i = 0; i < ARRAY_LEN(s->at); i++)
        if (s->at[i] == addr) {
            *ret = s->word[i];
            return true;
        }
    return false;
}

static uint32_t standing(Stack now, uint64_t above)
{
    return outer_frames_standing(kept, above, read_word, &now);
}

static uint32_t lasting(Stack now, bool is_new_time)
{
    return outer_frames_lasting(kept, SP, is_new_time, read_word, &now);
}

// A walk from 50 words further in, cut in a frame at `pc`, `words` above its first.
static uint32_t join(UnwindFrame *frames, uint32_t valid, uint64_t pc, uint32_t words, uint32_t max)
{
    frames[0] = (UnwindFrame){0x18, UNWIND_FRAME_EXACT, 0, 0};
    frames[1] = (UnwindFrame){pc, 0, words, 0};
    return outer_frames_join(kept, valid, frames, 2, max, SP - 400);
}

static void frames_stand_while_their_return_addresses_do(void **state)
{
    (void)state;
    Stack now = unchanged;
    assert_int_equal(standing(now, SP), 3);
    now.word[0] = 0x22; // called from another place
    assert_int_equal(standing(now, SP), 2);
    now.word[0] = 0x21;
    now.word[1] = 0; // what it called is gone with it
    assert_int_equal(standing(now, SP), 1);
    now.at[2] = 0; // cannot be read
    assert_int_equal(standing(now, SP), 0);
    outer_frames_free(&kept);
    assert_int_equal(standing(unchanged, SP), 0);
    assert_int_equal(lasting(unchanged, true), 0);
}

static void frames_within_the_copy_do_not_stand_outside_of_it(void **state)
{
    (void)state;
    assert_int_equal(standing(unchanged, AT(200)), 2);
    assert_int_equal(standing(unchanged, AT(200) + 8), 1);
}

static void a_frame_that_a_signal_interrupted_ends_what_stands(void **state)
{
    (void)state;
    UnwindFrame frames[FRAMES];
    memcpy(frames, calls, sizeof(frames));
    frames[2].flags = UNWIND_FRAME_EXACT;
    outer_frames_keep(&kept, frames, FRAMES, SP, true);
    assert_int_equal(standing(unchanged, SP), 1);
    frames[3].sp_words = UNWIND_SP_FAR;
    outer_frames_keep(&kept, frames, FRAMES, SP, true);
    assert_int_equal(standing(unchanged, SP), 0);
}

// A thread may return and call the same functions once more between a sample and a look.
static void words_of_now_prove_only_what_stood_often(void **state)
{
    (void)state;
    for (int i = 1; i < OUTER_TIMES - 1; i++)
        assert_int_equal(lasting(unchanged, true), 0);
    assert_int_equal(lasting(unchanged, false), 0); // the same time again
    assert_int_equal(lasting(unchanged, true), 3);
    Stack now = unchanged;
    now.word[1] = 0x32;
    assert_int_equal(lasting(now, true), 1);
    assert_int_equal(lasting(unchanged, true), 1); // the inner ones begin anew
}

static void whole_stacks_are_looks_too(void **state)
{
    (void)state;
    UnwindFrame guessed[FRAMES];
    memcpy(guessed, calls, sizeof(guessed));
    guessed[1].flags = guessed[2].flags = guessed[3].flags = UNWIND_FRAME_GUESSED;
    for (int i = 1; i < OUTER_TIMES; i++)
        outer_frames_keep(&kept, i % 2 ? guessed : calls, FRAMES, SP, true);
    assert_int_equal(lasting(unchanged, false), 3);
    UnwindFrame other[FRAMES];
    memcpy(other, calls, sizeof(other));
    other[2].pc = 0x38;
    outer_frames_keep(&kept, other, FRAMES, SP, true);
    outer_frames_keep(&kept, calls, FRAMES, SP, true);
    assert_int_equal(lasting(unchanged, false), 1);
}

// Of a process that has ended there are no words.
static void usual_frames_are_those_of_many_stacks(void **state)
{
    (void)state;
    for (int i = 1; i < OUTER_TIMES - 1; i++)
        outer_frames_keep(&kept, calls, FRAMES, SP, false);
    assert_int_equal(outer_frames_usual(kept, SP), 0);
    outer_frames_keep(&kept, calls, FRAMES, SP, false);
    assert_int_equal(outer_frames_usual(kept, SP), 3);
    assert_int_equal(outer_frames_usual(kept, AT(300)), 1);
    assert_int_equal(lasting(unchanged, false), 0); // they were no looks
    UnwindFrame other[FRAMES];
    memcpy(other, calls, sizeof(other));
    other[2].pc = 0x38;
    outer_frames_keep(&kept, other, FRAMES, SP, true);
    assert_int_equal(outer_frames_usual(kept, SP), 1);
    outer_frames_free(&kept);
    assert_int_equal(outer_frames_usual(kept, SP), 0);
}

static void the_next_function_may_be_at_another_call(void **state)
{
    (void)state;
    uint64_t addr, pc;
    assert_true(outer_frames_next(kept, 1, SP, &addr, &pc));
    assert_int_equal(addr, AT(200));
    assert_int_equal(pc, 0x30);
    assert_false(outer_frames_next(kept, 1, AT(200) + 8, &addr, &pc));
    assert_false(outer_frames_next(kept, FRAMES, SP, &addr, &pc));
    assert_false(outer_frames_next(kept, FRAMES - 1, SP, &addr, &pc)); // the leaf has no call
}

static void a_frame_that_still_stands_leads_outwards(void **state)
{
    (void)state;
    UnwindFrame frames[MAX];
    assert_int_equal(join(frames, 3, 0x20, 150, MAX), 4);
    assert_int_equal(frames[1].pc, 0x20);
    assert_int_equal(frames[1].flags, 0);
    assert_int_equal(frames[2].pc, 0x30);
    assert_int_equal(frames[2].flags, UNWIND_FRAME_GUESSED);
    assert_int_equal(frames[2].sp_words, 250);
    assert_int_equal(frames[3].pc, 0x40);
    assert_int_equal(frames[3].sp_words, 350);
}

// The same function at the same place of the stack, in another call.
static void where_the_outer_frames_are_left_nothing_is_joined(void **state)
{
    (void)state;
    UnwindFrame frames[MAX];
    assert_int_equal(join(frames, 1, 0x20, 150, MAX), 2);
    assert_int_equal(join(frames, 2, 0x20, 150, MAX), 4); // its own word is in the copy
}

static void another_pc_or_another_place_is_another_call(void **state)
{
    (void)state;
    UnwindFrame frames[MAX];
    assert_int_equal(join(frames, 3, 0x21, 150, MAX), 2);
    assert_int_equal(join(frames, 3, 0x20, 151, MAX), 2);
    assert_int_equal(join(frames, 3, 0x40, UNWIND_SP_FAR, MAX), 2);
    const OuterFrames *none = NULL;
    assert_int_equal(outer_frames_join(none, 0, frames, 2, MAX, SP), 2);
}

static void without_room_for_all_nothing_is_joined(void **state)
{
    (void)state;
    UnwindFrame frames[MAX];
    assert_int_equal(join(frames, 3, 0x20, 150, 3), 2);
    assert_int_equal(join(frames, 3, 0x20, 150, 4), 4);
}

static void standing_frames_are_appended_with_their_places(void **state)
{
    (void)state;
    UnwindFrame frames[MAX] = {{0x18, UNWIND_FRAME_EXACT, 0, 0}, {0x28, 0, 20, 0}};
    assert_int_equal(outer_frames_append(kept, 2, frames, 2, 3, SP - 4000), 2);
    assert_int_equal(outer_frames_append(kept, 2, frames, 2, 4, SP - 4000), 4);
    assert_int_equal(frames[2].pc, 0x30);
    assert_int_equal(frames[2].flags, UNWIND_FRAME_GUESSED);
    assert_int_equal(frames[2].sp_words, 700);
    assert_int_equal(frames[3].pc, 0x40);
    assert_int_equal(frames[3].sp_words, 800);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(frames_stand_while_their_return_addresses_do),
        TEST(frames_within_the_copy_do_not_stand_outside_of_it),
        TEST(a_frame_that_a_signal_interrupted_ends_what_stands),
        TEST(words_of_now_prove_only_what_stood_often),
        TEST(whole_stacks_are_looks_too),
        TEST(usual_frames_are_those_of_many_stacks),
        TEST(the_next_function_may_be_at_another_call),
        TEST(a_frame_that_still_stands_leads_outwards),
        TEST(where_the_outer_frames_are_left_nothing_is_joined),
        TEST(another_pc_or_another_place_is_another_call),
        TEST(without_room_for_all_nothing_is_joined),
        TEST(standing_frames_are_appended_with_their_places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
