// SPDX-License-Identifier: Apache-2.0
// Going on behind code without rules.

#include "harness.h"

#include "replay/entry_frames.h"
#include "unwind/frame_search.h"

enum {
    MAX = 8,
    JIT = 0x1000,
    FUNCTION = 0x10000,
    START = 0x20000,
    BY_HAND = 0x30000,
    SIZE = 0x1000
};
#define SP ((uint64_t)0x7ffd00000000)

typedef struct Program {
    FoundFrame function, start;
    UnwindMapping at[4];
    UnwindSpace space;
} Program;

// A table with one rule for all of a module.
static void rule_of(FoundFrame *f, uint64_t start, UnwindAction a)
{
    found_frame_set(f, start, UNWIND_X86_64, a);
    f->table.size = SIZE;
    f->table.bucket_shift = 16;
}

static void program_init(Program *p)
{
    *p = (Program){0};
    rule_of(&p->function, FUNCTION,
            (UnwindAction){.kind = UNWIND_FP_KEPT, .cfa = UNWIND_X86_64_SP, .cfa_off = 16});
    rule_of(&p->start, START, (UnwindAction){.kind = UNWIND_END});
    p->at[0] = (UnwindMapping){.start = JIT, .end = JIT + SIZE, .flags = UNWIND_MAP_JIT};
    p->at[1] = (UnwindMapping){FUNCTION, FUNCTION + SIZE, 0, &p->function.table, 0, 1};
    p->at[2] = (UnwindMapping){START, START + SIZE, 0, &p->start.table, 0, 2};
    p->at[3] = (UnwindMapping){BY_HAND, BY_HAND + SIZE, 0, NULL, 0, 3};
    p->space = (UnwindSpace){.at = p->at, .count = 4, .arch = UNWIND_X86_64, .generation = 1};
}

// The code: addresses whose lower byte is 0x10 follow `call *%rax`, 0x20 `call *8(%r12)`, 0x30
// a call of BY_HAND; all others a move.
static bool code_before(void *ctx, uint64_t address, uint8_t *ret)
{
    (void)ctx;
    static const uint8_t by_register[8] = {0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0xff, 0xd0};
    static const uint8_t by_memory[8] = {0x90, 0x90, 0x90, 0x41, 0xff, 0x54, 0x24, 0x08};
    static const uint8_t move[8] = {0x90, 0x90, 0x48, 0x8b, 0x44, 0x24, 0xff, 0x10};
    uint8_t direct[8] = {0x90, 0x90, 0x90, 0xe8};
    int32_t distance = (int32_t)(BY_HAND - address);
    memcpy(direct + 4, &distance, sizeof(distance));
    switch (address & 0xff) {
    case 0x10:
        memcpy(ret, by_register, 8);
        return true;
    case 0x20:
        memcpy(ret, by_memory, 8);
        return true;
    case 0x30:
        memcpy(ret, direct, 8);
        return true;
    case 0x40:
        return false;
    default:
        memcpy(ret, move, 7);
        ret[7] = 0;
        return true;
    }
}

// The walk that ended in its first frame, in code at `pc`, with these words above it.
static UnwindWalk join(const uint64_t *words, size_t count, uint64_t pc, UnwindFrame *frames)
{
    Program p;
    program_init(&p);
    UnwindMemory memory = {.window = words, .window_addr = SP, .window_size = count * 8};
    UnwindWalk walk = {.frame_count = 1, .end_pc = pc, .end_sp = SP};
    walk.end = pc < FUNCTION ? UNWIND_CUT_JIT : UNWIND_CUT_NO_TABLE;
    frames[0] = (UnwindFrame){.pc = pc, .flags = UNWIND_FRAME_EXACT};
    EntrySearch search = {&p.space, NULL, code_before, NULL};
    entry_frames_join(&search, &memory, frames, MAX, &walk);
    return walk;
}

static void generated_code_is_left_to_the_call_through_a_pointer(void **state)
{
    (void)state;
    // Data, a function whose address follows no call, and the call with its caller.
    const uint64_t words[] = {7, FUNCTION + 0x50, FUNCTION + 0x40, FUNCTION + 0x10,
                              5, START + 0x80};
    UnwindFrame frames[MAX];
    UnwindWalk walk = join(words, ARRAY_LEN(words), JIT + 8, frames);
    assert_int_equal(walk.end, UNWIND_COMPLETE);
    assert_int_equal(walk.frame_count, 3);
    assert_int_equal(frames[1].pc, FUNCTION + 0xf);
    assert_int_equal(frames[1].flags & UNWIND_FRAME_HOW, UNWIND_FRAME_GUESSED);
    assert_int_equal(frames[1].sp_words, 4);
    assert_int_equal(frames[2].pc, START + 0x7f);
    assert_int_equal(frames[2].sp_words, 6);
}

static void functions_of_generated_code_call_each_other(void **state)
{
    (void)state;
    const uint64_t words[] = {JIT + 0x110, JIT + 0x200, FUNCTION + 0x20, 5, START + 0x80};
    UnwindFrame frames[MAX];
    UnwindWalk walk = join(words, ARRAY_LEN(words), JIT + 8, frames);
    assert_int_equal(walk.end, UNWIND_COMPLETE);
    assert_int_equal(walk.frame_count, 4);
    assert_int_equal(frames[1].pc, JIT + 0x10f);
    assert_int_equal(frames[2].pc, FUNCTION + 0x1f);
}

static void words_that_lead_nowhere_are_no_callers(void **state)
{
    (void)state;
    // The first call's caller is no code, the second one's return address is 0.
    const uint64_t words[] = {FUNCTION + 0x10, 5, 6, FUNCTION + 0x20, 5, 0};
    UnwindFrame frames[MAX];
    UnwindWalk walk = join(words, ARRAY_LEN(words), JIT + 8, frames);
    assert_int_equal(walk.end, UNWIND_CUT_JIT);
    assert_int_equal(walk.frame_count, 1);
}

static void code_by_hand_is_left_to_a_call_of_it(void **state)
{
    (void)state;
    const uint64_t words[] = {FUNCTION + 0x30, 5, START + 0x80};
    UnwindFrame frames[MAX];
    UnwindWalk walk = join(words, ARRAY_LEN(words), BY_HAND + 0x10, frames);
    assert_int_equal(walk.end, UNWIND_COMPLETE);
    assert_int_equal(walk.frame_count, 3);
    // Generated code is not called by that address.
    walk = join(words, ARRAY_LEN(words), JIT + 8, frames);
    assert_int_equal(walk.end, UNWIND_CUT_JIT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(generated_code_is_left_to_the_call_through_a_pointer),
        cmocka_unit_test(functions_of_generated_code_call_each_other),
        cmocka_unit_test(words_that_lead_nowhere_are_no_callers),
        cmocka_unit_test(code_by_hand_is_left_to_a_call_of_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
