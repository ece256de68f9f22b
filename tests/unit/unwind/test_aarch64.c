// SPDX-License-Identifier: Apache-2.0
// Walks over stacks recorded on aarch64 (make-aarch64-stacks): through a signal
// handler into a leaf, with and without frame pointers, with signed addresses.

#include "harness.h"

#include "aarch64_stacks.h"
#include "unwind/space.h"

enum { FRAMES = 64, PAGE = 4096 };

static Arena arena;
static UnwindFrame frames[FRAMES];

static UnwindSpace space_of(const Aarch64Stack *a)
{
    UnwindTable *program = arena_new(&arena, UnwindTable);
    UnwindTable *trampoline = arena_new(&arena, UnwindTable);
    UnwindSections s = {.arch = UNWIND_AARCH64,
                        .eh_frame = bytes_over(a->eh_frame, a->eh_frame_size),
                        .eh_frame_svma = a->eh_frame_svma,
                        .text = a->text};
    UnwindSections t = {.arch = UNWIND_AARCH64, .sigreturn = {a->sigreturn, a->sigreturn + 8}};
    UnwindBuildStats stats;
    Error err;
    assert_true(unwind_table_build(&arena, &s, program, &stats, &err));
    assert_int_equal(stats.broken, 0);
    assert_true(unwind_table_build(&arena, &t, trampoline, NULL, &err));
    UnwindSpace space;
    unwind_space_init(&space, UNWIND_AARCH64);
    unwind_space_map(&space, (UnwindMapping){a->text.start, a->text.end, 0, program, 0, 0});
    unwind_space_map(
        &space, (UnwindMapping){a->sigreturn - PAGE, a->sigreturn + PAGE, 0, trampoline, 0, 0});
    return space;
}

static UnwindWalk walk(const Aarch64Stack *a, uint64_t words, UnwindCache *cache)
{
    UnwindSpace space = space_of(a);
    UnwindRegs regs = {.pc = a->regs[UNWIND_AARCH64_PC], .known = 0x1ffffffff};
    memcpy(regs.reg, a->regs, sizeof(regs.reg));
    UnwindMemory memory = {.window = a->stack,
                           .window_addr = a->regs[UNWIND_AARCH64_SP],
                           .window_size = 8 * words,
                           .window_cut = words < a->stack_words};
    UnwindWalk w = unwind_walk(&space, cache, &regs, &memory, frames, FRAMES);
    unwind_space_deinit(&space);
    return w;
}

static void check_frame(unsigned i, uint64_t pc, uint32_t flags)
{
    assert_int_equal(frames[i].pc, pc);
    assert_int_equal(frames[i].flags & UNWIND_FRAME_HOW, flags);
}

static void check_stack(const Aarch64Stack *a)
{
    static UnwindCache cache;
    for (unsigned round = 0; round < 2; round++) {
        UnwindWalk w = walk(a, a->stack_words, &cache);
        uint64_t n = a->call_count;
        assert_int_equal(w.end, UNWIND_COMPLETE);
        assert_int_equal(w.frame_count, n + 3);
        check_frame(0, a->regs[UNWIND_AARCH64_PC], UNWIND_FRAME_EXACT);
        check_frame(1, a->calls[n - 1] - 1, 0); // the handler
        check_frame(2, a->sigreturn - 1, 0);
        check_frame(3, a->interrupted, UNWIND_FRAME_EXACT);
        for (unsigned i = 4; i < w.frame_count; i++)
            check_frame(i, a->calls[n - 2 - (i - 4)] - 1, 0);
    }
}

static const Aarch64Stack *find(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(aarch64_stacks); i++)
        if (strcmp(aarch64_stacks[i].name, name) == 0)
            return &aarch64_stacks[i];
    fail_msg("no stack '%s'", name);
    return NULL;
}

static void usual_code_is_walked(void **state)
{
    (void)state;
    check_stack(find("plain"));
}

static void code_without_frame_pointers_is_walked(void **state)
{
    (void)state;
    check_stack(find("without_frame_pointer"));
}

static void unoptimised_code_is_walked(void **state)
{
    (void)state;
    check_stack(find("unoptimised"));
}

static void code_with_signed_return_addresses_is_walked(void **state)
{
    (void)state;
    const Aarch64Stack *a = find("signed");
    bool has_signature = false;
    for (size_t i = 0; i < a->stack_words; i++) {
        uint64_t address = a->stack[i] & 0xffffffffffff;
        has_signature = has_signature || (a->stack[i] != address && address >= a->text.start &&
                                          address < a->text.end);
    }
    assert_true(has_signature);
    check_stack(a);
}

static void a_dump_cut_anywhere_gives_the_inner_part(void **state)
{
    (void)state;
    const Aarch64Stack *a = find("plain");
    uint32_t last = 1;
    for (uint64_t words = 0; words < a->stack_words; words++) {
        UnwindWalk w = walk(a, words, NULL);
        assert_true(w.end == UNWIND_CUT_DUMP_SHORT || w.end == UNWIND_COMPLETE);
        assert_true(w.frame_count >= last);
        last = w.frame_count;
    }
    assert_true(last > 8);
}

static int tear_down(void **state)
{
    (void)state;
    arena_deinit(&arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(usual_code_is_walked),
        cmocka_unit_test(code_without_frame_pointers_is_walked),
        cmocka_unit_test(unoptimised_code_is_walked),
        cmocka_unit_test(code_with_signed_return_addresses_is_walked),
        cmocka_unit_test(a_dump_cut_anywhere_gives_the_inner_part),
    };
    return cmocka_run_group_tests(tests, NULL, tear_down);
}
