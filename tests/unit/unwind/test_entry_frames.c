// SPDX-License-Identifier: Apache-2.0
// Going on behind code without rules.

#include "harness.h"

#include "unwind/entry_frames.h"
#include "unwind/frame_search.h"

enum {
    MAX = 8,
    JIT = 0x1000,
    FUNCTION = 0x10000,
    START = 0x20000,
    BY_HAND = 0x30000,
    LIBC = 0x40000, // without rules
    CRT = 0x50000,  // the same: _start
    SIZE = 0x1000
};
#define SP ((uint64_t)0x7ffd00000000)
// Return addresses into the first function of a program and of a thread, and where signal handlers
// return to.
enum { CRT_STARTED = CRT + 0x16, LIBC_THREAD_STARTED = LIBC + 0x48, LIBC_SIGRETURN = LIBC + 0x98 };

typedef struct Program {
    FoundFrame function, start;
    UnwindMapping at[6];
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
    p->at[4] = (UnwindMapping){LIBC, LIBC + SIZE, 0, NULL, 0, 4};
    p->at[5] = (UnwindMapping){CRT, CRT + SIZE, 0, NULL, 0, 5};
    p->space = (UnwindSpace){.at = p->at, .count = 6, .arch = UNWIND_X86_64, .generation = 1};
}

// The code: addresses whose lower byte is 0x10 follow `call *%rax`, 0x20 `call *8(%r12)`, 0x30
// a call of BY_HAND, 0x60 a call of the stub before FUNCTION + 0x78, and those of the functions of
// libc and _start what their names say; all others a move.
static bool code_before(void *ctx, uint64_t address, uint8_t *ret)
{
    (void)ctx;
    static const uint8_t by_register[8] = {0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0xff, 0xd0};
    static const uint8_t by_memory[8] = {0x90, 0x90, 0x90, 0x41, 0xff, 0x54, 0x24, 0x08};
    static const uint8_t move[8] = {0x90, 0x90, 0x48, 0x8b, 0x44, 0x24, 0xff, 0x10};
    static const uint8_t stub[8] = {0xf3, 0x0f, 0x1e, 0xfa, 0xff, 0x25, 0x01, 0x02};
    static const uint8_t aligns[8] = {0x83, 0xe4, 0xf0, 0xe8, 1, 2, 3, 4};
    static const uint8_t ends[8] = {0x89, 0xc7, 0x31, 0xc0, 0xb0, 0x3c, 0x0f, 0x05};
    static const uint8_t returns[8] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f};
    const uint8_t *special = address == FUNCTION + 0x78           ? stub
                             : address == CRT_STARTED             ? aligns
                             : address == LIBC_THREAD_STARTED + 8 ? ends
                             : address == LIBC_SIGRETURN + 8      ? returns
                                                                  : NULL;
    if (special) {
        memcpy(ret, special, 8);
        return true;
    }
    uint8_t direct[8] = {0x90, 0x90, 0x90, 0xe8};
    int32_t distance = (int32_t)(BY_HAND - address);
    if ((address & 0xff) == 0x60)
        distance = (int32_t)(FUNCTION + 0x70 - address);
    memcpy(direct + 4, &distance, sizeof(distance));
    switch (address & 0xff) {
    case 0x10:
        memcpy(ret, by_register, 8);
        return true;
    case 0x20:
        memcpy(ret, by_memory, 8);
        return true;
    case 0x30:
    case 0x60:
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
    EntrySearch search = {&p.space, NULL, code_before, NULL, 4096};
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

static void libc_without_rules_is_left_to_the_code_that_begins_programs_and_threads(void **state)
{
    (void)state;
    const uint64_t begins[] = {CRT_STARTED, LIBC_THREAD_STARTED};
    for (size_t i = 0; i < ARRAY_LEN(begins); i++) {
        // The caller of main: saved registers, and the return address.
        const uint64_t words[] = {7, 0, 1, LIBC + 0x10, begins[i], 1};
        UnwindFrame frames[MAX];
        UnwindWalk walk = join(words, ARRAY_LEN(words), LIBC + 0x88, frames);
        assert_int_equal(walk.end, UNWIND_COMPLETE);
        assert_int_equal(walk.frame_count, 2);
        assert_int_equal(frames[1].pc, begins[i] - 1);
        assert_int_equal(frames[1].flags & UNWIND_FRAME_HOW, UNWIND_FRAME_GUESSED);
    }
}

static void functions_of_libc_are_left_to_a_call_by_a_stub_and_on_through_more_of_them(void **state)
{
    (void)state;
    // In libc, called by a function, called by libc, called by a function, called by libc.
    const uint64_t words[] = {7, FUNCTION + 0x60, 5, LIBC + 0x88, 6, FUNCTION + 0x60,
                              5, LIBC + 0x88,     6, CRT_STARTED, 1};
    UnwindFrame frames[MAX];
    UnwindWalk walk = join(words, ARRAY_LEN(words), LIBC + 0x90, frames);
    assert_int_equal(walk.end, UNWIND_COMPLETE);
    assert_int_equal(walk.frame_count, 6);
    assert_int_equal(frames[1].pc, FUNCTION + 0x5f);
    assert_int_equal(frames[2].pc, LIBC + 0x87);
    assert_int_equal(frames[3].pc, FUNCTION + 0x5f);
    assert_int_equal(frames[5].pc, CRT_STARTED - 1);
}

static void a_walk_that_has_come_to_the_first_function_is_complete(void **state)
{
    (void)state;
    const uint64_t words[] = {1, 2};
    UnwindFrame frames[MAX];
    UnwindWalk walk = join(words, ARRAY_LEN(words), CRT_STARTED - 1, frames);
    assert_int_equal(walk.end, UNWIND_COMPLETE);
    assert_int_equal(walk.frame_count, 1);
}

static void a_frame_that_a_signal_has_interrupted_is_not_passed_over(void **state)
{
    (void)state;
    const uint64_t words[] = {7, FUNCTION + 0x60, 5, LIBC + 0x88, 6, CRT_STARTED, 1};
    UnwindFrame frames[MAX];
    UnwindWalk walk = join(words, ARRAY_LEN(words), LIBC_SIGRETURN - 1, frames);
    assert_int_equal(walk.end, UNWIND_CUT_NO_TABLE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(generated_code_is_left_to_the_call_through_a_pointer),
        cmocka_unit_test(functions_of_generated_code_call_each_other),
        cmocka_unit_test(words_that_lead_nowhere_are_no_callers),
        cmocka_unit_test(code_by_hand_is_left_to_a_call_of_it),
        cmocka_unit_test(libc_without_rules_is_left_to_the_code_that_begins_programs_and_threads),
        cmocka_unit_test(
            functions_of_libc_are_left_to_a_call_by_a_stub_and_on_through_more_of_them),
        cmocka_unit_test(a_walk_that_has_come_to_the_first_function_is_complete),
        cmocka_unit_test(a_frame_that_a_signal_has_interrupted_is_not_passed_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
