// SPDX-License-Identifier: Apache-2.0
// Walks over hand-made tables and stacks: every kind of step, and every way a
// walk can end.

#include "harness.h"

#include "cfi_maker.h"
#include "unwind/space.h"

enum { BX = UNWIND_X86_64_BX, SP = UNWIND_X86_64_SP, FP = UNWIND_X86_64_FP };
enum { FRAMES = 16, WORDS = 64 };
#define BIAS  ((uint64_t)0x7f0000000000)
#define STACK ((uint64_t)0x7ffc00000000)
#define CODE  (BIAS + TEXT)

static Arena arena;
static UnwindSpace space;
static UnwindTable table;
static UnwindCache cache;
static UnwindRegs regs;
static UnwindFrame frames[FRAMES];
static uint64_t words[WORDS]; // the stack, from STACK up
static UnwindMemory memory;
static CfiMaker made;

static uint64_t slot(unsigned i)
{
    return STACK + 8 * i;
}

static void begin(UnwindArch arch)
{
    unwind_space_deinit(&space);
    unwind_space_init(&space, arch);
    made = (CfiMaker){.arch = arch};
    cfi_cie(&made, "");
    memset(words, 0, sizeof(words));
    memory = (UnwindMemory){.window = words, .window_addr = STACK, .window_size = sizeof(words)};
    regs = (UnwindRegs){.pc = CODE, .known = UINT64_MAX};
    regs.reg[arch == UNWIND_AARCH64 ? UNWIND_AARCH64_SP : SP] = STACK;
}

static void ready(void)
{
    UnwindSections s = cfi_sections(&made);
    UnwindBuildStats stats;
    Error err;
    assert_true(unwind_table_build(&arena, &s, &table, &stats, &err));
    assert_int_equal(stats.broken, 0);
    unwind_space_map(
        &space,
        (UnwindMapping){.start = CODE, .end = CODE + 0x1000, .bias = BIAS, .table = &table});
}

static UnwindWalk walk(void)
{
    UnwindWalk w = unwind_walk(&space, NULL, &regs, &memory, frames, FRAMES);
    // The first with the cache fills it.
    for (unsigned round = 0; round < 2; round++) {
        UnwindFrame again[FRAMES];
        UnwindWalk cached = unwind_walk(&space, &cache, &regs, &memory, again, FRAMES);
        assert_int_equal(cached.end, w.end);
        assert_int_equal(cached.frame_count, w.frame_count);
        assert_int_equal(cached.end_pc, w.end_pc);
        assert_int_equal(cached.end_sp, w.end_sp);
        assert_int_equal(cached.end_fp, w.end_fp);
        for (uint32_t i = 0; i < w.frame_count; i++) {
            assert_int_equal(again[i].pc, frames[i].pc);
            assert_int_equal(again[i].flags, frames[i].flags);
            assert_int_equal(again[i].sp_words, frames[i].sp_words);
            assert_int_equal(again[i].fp, frames[i].fp);
        }
    }
    return w;
}

static void check(UnwindEnd end, uint32_t count)
{
    UnwindWalk w = walk();
    assert_int_equal(w.end, end);
    assert_int_equal(w.frame_count, count);
}

// The outermost function, at 0xf00.
static void add_end(void)
{
    CFI_FDE(&made, 0xf00, 0x40, 0x07, 16);
}

static const uint64_t in_end = CODE + 0xf10;

static void each_return_address_is_looked_up_one_before(void **state)
{
    (void)state;
    begin(UNWIND_X86_64);
    CFI_FDE(&made, 0, 0x20, 0x0e, 16);
    CFI_FDE(&made, 0x20, 0x20, 0x0e, 32); // a call ends it: the return address is the next one's
    CFI_FDE(&made, 0x40, 0x20, 0x0e, 8);
    add_end();
    ready();
    words[1] = CODE + 0x40;
    words[5] = in_end;
    check(UNWIND_COMPLETE, 3);
    assert_int_equal(frames[0].pc, CODE);
    assert_int_equal(frames[0].flags & UNWIND_FRAME_HOW, UNWIND_FRAME_EXACT);
    assert_int_equal(frames[1].pc, CODE + 0x3f);
    assert_int_equal(frames[1].flags & UNWIND_FRAME_HOW, 0);
    assert_int_equal(frames[2].pc, in_end - 1);
}

static void a_return_address_of_zero_ends_the_stack(void **state)
{
    (void)state;
    begin(UNWIND_X86_64);
    CFI_FDE(&made, 0, 0x20, 0x0e, 16);
    ready();
    check(UNWIND_COMPLETE, 1);
}

static void the_frame_pointer_is_followed_through_its_slots(void **state)
{
    (void)state;
    begin(UNWIND_X86_64);
    CFI_FDE(&made, 0, 0x20, 0x0e, 24, 0x86, 2);                                 // saved at cfa-16
    CFI_FDE(&made, 0x20, 0x20, 0x0c, 6, 16, 0x86, 2);                           // based on it
    CFI_FDE(&made, 0x40, 0x20, 0x0f, 3, 0x76, 0x78, 0x06, 0x10, 6, 2, 0x76, 0); // realigned
    add_end();
    ready();
    words[1] = slot(4);     // rbp of the second
    words[2] = CODE + 0x30; // return into the second
    words[4] = slot(9);     // rbp of the third
    words[5] = CODE + 0x50;
    words[8] = slot(14); // *(rbp - 8): the third's CFA
    words[9] = slot(20); // its saved rbp
    words[13] = in_end;
    regs.reg[FP] = 1;
    check(UNWIND_COMPLETE, 4);
    assert_int_equal(frames[2].pc, CODE + 0x4f);
    assert_int_equal(frames[3].pc, in_end - 1);
}

static void a_realigned_frame_is_left_once_its_frame_pointer_is_popped(void **state)
{
    (void)state;
    // gcc's rules from "pop %r10" on: the CFA is r10, rbp is still said to be at rbp.
    begin(UNWIND_X86_64);
    CFI_FDE(&made, 0, 0x20, 0x0c, 10, 0, 0x10, 6, 2, 0x76, 0);
    CFI_FDE(&made, 0x20, 0x20, 0x0c, 6, 16, 0x86, 2);
    add_end();
    ready();
    words[2] = slot(12); // rbp of the second
    words[3] = CODE + 0x30;
    words[7] = CODE + 0x30;
    words[12] = 1;
    words[13] = in_end;
    regs.reg[10] = slot(8);
    regs.reg[FP] = slot(2); // not popped yet: below is a copy of the return address
    check(UNWIND_COMPLETE, 3);
    regs.reg[FP] = slot(12); // popped
    check(UNWIND_COMPLETE, 3);
    assert_int_equal(frames[1].pc, CODE + 0x2f);
    assert_int_equal(frames[2].pc, in_end - 1);
    // The second is no leaf: it has called, so its rbp is its own.
    begin(UNWIND_X86_64);
    CFI_FDE(&made, 0, 0x20, 0x0e, 16);
    CFI_FDE(&made, 0x20, 0x20, 0x0c, 7, 32, 0x10, 6, 2, 0x76, 0);
    CFI_FDE(&made, 0x40, 0x20, 0x0c, 6, 16, 0x86, 2);
    add_end();
    ready();
    words[1] = CODE + 0x30;
    words[3] = slot(12);
    words[5] = CODE + 0x50;
    words[13] = in_end;
    regs.reg[FP] = slot(3);
    check(UNWIND_COMPLETE, 4);
}

static void a_new_thread_stands_alone_behind_clone(void **state)
{
    (void)state;
    static const uint8_t code[] = {0x0f, 0x05};
    begin(UNWIND_X86_64);
    CFI_FDE(&made, 0, 0x10);
    CFI_FDE(&made, 0x40, 0x20, 0x0e, 16);
    add_end();
    UnwindSections s = cfi_sections(&made);
    s.code = (UnwindCode){bytes_over(code, sizeof(code)), TEXT + 0x10};
    UnwindBuildStats stats;
    Error err;
    assert_true(unwind_table_build(&arena, &s, &table, &stats, &err));
    unwind_space_map(
        &space,
        (UnwindMapping){.start = CODE, .end = CODE + 0x1000, .bias = BIAS, .table = &table});
    words[0] = CODE + 0x50;
    words[2] = in_end;
    regs.pc = regs.reg[UNWIND_X86_64_PC] = CODE + 0x12;
    regs.reg[0] = (uint64_t)-38; // in the caller, as long as the call is under way
    check(UNWIND_COMPLETE, 3);
    assert_int_equal(frames[1].pc, CODE + 0x4f);
    regs.reg[0] = 0; // in the new thread
    check(UNWIND_COMPLETE, 1);
}

static void a_popped_frame_pointer_is_not_taken_from_below_the_stack(void **state)
{
    (void)state;
    // At the "ret" after "leave": the rule still says rbp is at cfa-16.
    begin(UNWIND_X86_64);
    CFI_FDE(&made, 0, 0x20, 0x0c, 7, 8, 0x86, 2);
    CFI_FDE(&made, 0x20, 0x20, 0x0c, 6, 16, 0x86, 2);
    add_end();
    ready();
    words[0] = CODE + 0x30;
    words[6] = in_end;
    regs.reg[FP] = slot(5);
    check(UNWIND_COMPLETE, 3);
}

static void plt_entries_push_in_their_middle(void **state)
{
    (void)state;
    begin(UNWIND_X86_64);
    CFI_FDE(&made, 0, 0x100, 0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22);
    add_end();
    ready();
    for (unsigned byte = 0; byte < 16; byte++) {
        memset(words, 0, sizeof(words));
        words[byte >= 11] = in_end;
        regs.pc = CODE + 0x20 + byte;
        check(UNWIND_COMPLETE, 2);
        assert_int_equal(frames[1].pc, in_end - 1);
    }
}

static void rbx_is_found_where_an_inner_frame_saved_it(void **state)
{
    (void)state;
    begin(UNWIND_X86_64);
    CFI_FDE(&made, 0, 0x20, 0x0e, 24, 0x83, 2); // saves rbx
    CFI_FDE(&made, 0x20, 0x20, 0x0e, 16);       // does not
    CFI_FDE(&made, 0x40, 0x20, 0x0c, 3, 32);    // the lazy binder: CFA in rbx
    add_end();
    ready();
    words[1] = slot(10); // rbx
    words[2] = CODE + 0x30;
    words[4] = CODE + 0x50;
    words[13] = in_end;
    check(UNWIND_COMPLETE, 4);
    // Unknown when registers were not recorded and nobody saved it.
    regs.pc = CODE + 0x20;
    words[1] = CODE + 0x50;
    regs.reg[BX] = slot(10);
    check(UNWIND_COMPLETE, 3);
    regs.known = 1u << SP;
    check(UNWIND_CUT_BAD_FRAME, 2);
}

static void rbx_is_found_behind_frames_that_the_cache_knows(void **state)
{
    (void)state;
    begin(UNWIND_X86_64);
    CFI_FDE(&made, 0, 0x20, 0x0e, 24, 0x83, 3);    // rbx saved at cfa-24
    CFI_FDE(&made, 0x20, 0x20, 0x0e, 16);          // not saved
    CFI_FDE(&made, 0x40, 0x20, 0x0e, 24, 0x83, 2); // saved at cfa-16
    CFI_FDE(&made, 0x60, 0x20, 0x0e, 16);
    CFI_FDE(&made, 0x80, 0x20, 0x0c, 3, 16); // cfa = rbx+16
    add_end();
    ready();
    words[0] = slot(4); // rbx of the first's caller, which the third saves again
    words[2] = CODE + 0x30;
    words[4] = CODE + 0x50;
    words[6] = slot(20); // what the third's caller had
    words[7] = CODE + 0x70;
    words[9] = CODE + 0x90;
    words[21] = in_end;
    check(UNWIND_COMPLETE, 6);
    assert_int_equal(frames[5].pc, in_end - 1);
}

static void frames_of_other_sizes_at_a_known_place_are_walked_by_their_own_rules(void **state)
{
    (void)state;
    begin(UNWIND_X86_64);
    CFI_FDE(&made, 0, 0x20, 0x0e, 16);
    CFI_FDE(&made, 0x20, 0x20, 0x0e, 16);
    CFI_FDE(&made, 0x40, 0x20, 0x0e, 40);
    CFI_FDE(&made, 0x60, 0x20, 0x0c, 6, 16, 0x86, 2);
    add_end();
    ready();
    for (unsigned turn = 0; turn < 3; turn++) {
        memset(words, 0, sizeof(words));
        words[1] = CODE + 0x30;
        words[3] = in_end;
        check(UNWIND_COMPLETE, 3);
        words[1] = CODE + 0x50;
        words[3] = CODE + 0x30; // no longer a return address
        words[6] = in_end;
        check(UNWIND_COMPLETE, 3);
        assert_int_equal(frames[2].sp_words, 7);
        words[1] = CODE + 0x70;
        regs.reg[FP] = slot(10);
        words[10] = slot(12);
        words[11] = in_end;
        check(UNWIND_COMPLETE, 3);
        assert_int_equal(frames[2].fp, slot(12));
        regs.reg[FP] = slot(10) + 4; // not where a word can be
        check(UNWIND_CUT_UNKNOWN_MAP, 2);
        regs.reg[FP] = slot(WORDS + 4); // outside of the window
        check(UNWIND_CUT_BAD_FRAME, 2);
        regs.reg[FP] = 0;
    }
}

static void other_registers_are_known_in_the_innermost_frame_only(void **state)
{
    (void)state;
    begin(UNWIND_X86_64);
    CFI_FDE(&made, 0, 0x20, 0x0c, 11, 8); // CFA in r11, as in libcrypto
    CFI_FDE(&made, 0x20, 0x20, 0x0e, 16);
    add_end();
    ready();
    regs.reg[11] = slot(6);
    words[6] = in_end;
    check(UNWIND_COMPLETE, 2);
    regs.pc = CODE + 0x20;
    words[1] = CODE + 0x10;
    check(UNWIND_CUT_BAD_FRAME, 2);
}

static void a_signal_frame_gives_back_every_register(void **state)
{
    (void)state;
    begin(UNWIND_X86_64);
    CFI_FDE(&made, 0, 0x20, 0x0e, 8);
    CFI_FDE(&made, 0x40, 0x20, 0x0c, 11, 8); // interrupted while its CFA was in r11
    CFI_FDE(&made, 0x80, 0x20, 0x0e, 8);
    add_end();
    cfi_cie(&made, "S");
    CFI_FDE(&made, 0x20, 0x20, 0x0f, 3, 0x77, 0x20, 0x06, // CFA = *(rsp + 32)
            0x10, 16, 2, 0x77, 8, 0x10, 11, 2, 0x77, 16, 0x10, 6, 2, 0x77, 24);
    ready();
    words[0] = CODE + 0x30; // into the trampoline
    words[2] = CODE + 0x40; // the very first byte of the interrupted one: exact
    words[3] = slot(20);    // r11
    words[4] = 0x1234;      // rbp
    words[5] = slot(12);    // its rsp
    words[20] = CODE + 0x90;
    words[21] = in_end;
    check(UNWIND_COMPLETE, 5);
    assert_int_equal(frames[2].pc, CODE + 0x40);
    assert_int_equal(frames[2].flags & UNWIND_FRAME_HOW, UNWIND_FRAME_EXACT);
    assert_int_equal(frames[3].pc, CODE + 0x8f);
}

static void values_by_expression_and_by_register_are_taken(void **state)
{
    (void)state;
    begin(UNWIND_X86_64);
    // rbp = cfa + 16 (val_offset); return address in rcx; CFA by expression
    CFI_FDE(&made, 0, 0x20, 0x15, 6, 0x7e, 0x09, 16, 2, 0x0f, 4, 0x77, 8, 0x38, 0x22);
    CFI_FDE(&made, 0x20, 0x20, 0x0c, 6, 16);
    add_end();
    ready();
    regs.reg[2] = CODE + 0x30;
    words[5] = in_end; // cfa = slot(2), rbp = slot(4)
    check(UNWIND_COMPLETE, 3);
    assert_int_equal(frames[1].pc, CODE + 0x2f);
}

static void code_without_rules_is_left_by_its_frame_pointer_as_a_guess(void **state)
{
    (void)state;
    begin(UNWIND_X86_64);
    CFI_FDE(&made, 0x20, 0x20, 0x0e, 16);
    add_end();
    ready();
    regs.pc = CODE + 0x800;
    regs.reg[FP] = slot(4);
    words[4] = slot(10);
    words[5] = CODE + 0x30;
    words[7] = in_end;
    UnwindWalk w = walk();
    assert_int_equal(w.end, UNWIND_COMPLETE);
    assert_int_equal(w.guessed, 1);
    assert_int_equal(w.frame_count, 3);
    assert_int_equal(frames[1].flags & UNWIND_FRAME_HOW, UNWIND_FRAME_GUESSED);
    assert_int_equal(frames[2].flags & UNWIND_FRAME_HOW, 0);
}

static void a_frame_pointer_that_leads_down_or_out_is_no_guess(void **state)
{
    (void)state;
    begin(UNWIND_X86_64);
    add_end();
    ready();
    regs.pc = CODE + 0x800;
    words[5] = in_end;
    regs.reg[FP] = slot(4);
    words[4] = slot(2); // down
    check(UNWIND_CUT_NO_TABLE, 1);
    words[4] = slot(10);
    words[5] = 0xdead0000; // no code
    check(UNWIND_CUT_NO_TABLE, 1);
    regs.reg[FP] = STACK - 64;
    check(UNWIND_CUT_NO_TABLE, 1);
    regs.reg[FP] = slot(4) + 4;
    check(UNWIND_CUT_NO_TABLE, 1);
    space.at[0].flags |= UNWIND_MAP_JIT;
    check(UNWIND_CUT_JIT, 1);
}

static void a_chain_of_frame_pointers_ends_at_zero(void **state)
{
    (void)state;
    begin(UNWIND_X86_64);
    ready();
    regs.pc = CODE + 0x800;
    regs.reg[FP] = slot(4);
    words[4] = slot(8);
    words[5] = CODE + 0x900;
    words[9] = CODE + 0xa00; // and [slot 8] is 0
    check(UNWIND_COMPLETE, 3);
    assert_int_equal(frames[2].flags & UNWIND_FRAME_HOW, UNWIND_FRAME_GUESSED);
}

static void a_call_of_nothing_leads_back_to_its_caller(void **state)
{
    (void)state;
    begin(UNWIND_X86_64);
    CFI_FDE(&made, 0x20, 0x20, 0x0e, 16);
    add_end();
    ready();
    regs.pc = 0;
    words[0] = CODE + 0x30;
    words[2] = in_end;
    check(UNWIND_COMPLETE, 3);
    assert_int_equal(frames[1].flags & UNWIND_FRAME_HOW, UNWIND_FRAME_GUESSED);
    words[0] = 0x1234;
    check(UNWIND_CUT_UNKNOWN_MAP, 1);
}

static void a_stack_says_why_it_is_cut(void **state)
{
    (void)state;
    begin(UNWIND_X86_64);
    CFI_FDE(&made, 0, 0x20, 0x0e, 16);
    CFI_FDE(&made, 0x20, 0x20, 0x0e, 16, 0x41, 0x0e, 0x80, 0x80, 0x04);
    ready();
    words[1] = 0xdead0000;
    check(UNWIND_CUT_UNKNOWN_MAP, 1);
    words[1] = CODE + 0x30; // a frame of 64 KB, more than the window
    check(UNWIND_CUT_BAD_FRAME, 2);
    memory.window_cut = true;
    check(UNWIND_CUT_DUMP_SHORT, 2);
    memory.window_size = 12;
    check(UNWIND_CUT_DUMP_SHORT, 1);
    memory.window_size = 0;
    check(UNWIND_CUT_DUMP_SHORT, 1);
    memory.window_cut = false;
    check(UNWIND_CUT_BAD_FRAME, 1);
}

static void a_loop_ends(void **state)
{
    (void)state;
    begin(UNWIND_X86_64);
    CFI_FDE(&made, 0, 0x20, 0x0c, 6, 16, 0x86, 2);
    ready();
    regs.reg[FP] = slot(4);
    words[4] = slot(4); // its own frame
    words[5] = CODE + 0x10;
    UnwindWalk w = walk();
    assert_int_equal(w.end, UNWIND_CUT_BAD_FRAME);
    assert_true(w.frame_count < FRAMES);
}

static void more_frames_than_fit_are_too_deep(void **state)
{
    (void)state;
    begin(UNWIND_X86_64);
    CFI_FDE(&made, 0, 0x20, 0x0e, 8);
    ready();
    for (unsigned i = 0; i < WORDS; i++)
        words[i] = CODE + 0x10;
    check(UNWIND_CUT_TOO_DEEP, FRAMES);
}

static bool read_word(void *ctx, uint64_t addr, uint64_t *ret)
{
    unsigned *calls = ctx;
    ++*calls;
    if (addr < STACK || addr > STACK + sizeof(words) - 8)
        return false;
    memcpy(ret, (const char *)words + (addr - STACK), 8);
    return true;
}

static void memory_outside_of_the_window_is_asked_for(void **state)
{
    (void)state;
    unsigned calls = 0;
    begin(UNWIND_X86_64);
    CFI_FDE(&made, 0, 0x20, 0x0e, 16);
    add_end();
    ready();
    words[1] = CODE + 0x10;
    words[3] = in_end;
    memory.window_size = 16;
    memory.read = read_word;
    memory.ctx = &calls;
    check(UNWIND_COMPLETE, 3);
    assert_int_equal(calls, 3); // once for each of the three walks
}

static void aarch64_takes_the_link_register_in_the_innermost_frame_only(void **state)
{
    (void)state;
    begin(UNWIND_AARCH64);
    CFI_FDE(&made, 0, 0x20, 0x00);                          // leaf: x30, nothing pushed
    CFI_FDE(&made, 0x20, 0x20, 0x0e, 32, 0x9d, 4, 0x9e, 3); // pair at cfa-32
    CFI_FDE(&made, 0x40, 0x20, 0x0c, 29, 16, 0x9d, 2, 0x9e, 1);
    CFI_FDE(&made, 0x60, 0x20, 0x0e, 16, 0x9e, 2); // x30 alone
    CFI_FDE(&made, 0xf00, 0x40, 0x07, 30);
    ready();
    regs.reg[UNWIND_AARCH64_LR] = CODE + 0x30;
    words[0] = slot(8); // x29 of the third
    words[1] = CODE + 0x50;
    words[8] = slot(14);
    words[9] = CODE + 0x70;
    words[10] = in_end;
    check(UNWIND_COMPLETE, 5);
    assert_int_equal(frames[1].pc, CODE + 0x2f);
    assert_int_equal(frames[4].pc, in_end - 1);
    words[1] = CODE + 0x10; // a leaf that has called
    check(UNWIND_CUT_BAD_FRAME, 3);
    regs.known &= ~((uint64_t)1 << UNWIND_AARCH64_LR);
    check(UNWIND_CUT_BAD_FRAME, 1);
}

static void aarch64_return_addresses_may_be_in_another_register(void **state)
{
    (void)state;
    begin(UNWIND_AARCH64);
    made.len = 0;
    cfi_cie_begin(&made, "");
    made.bytes[made.len - 3] = 15; // the column, as rawmemchr has it
    CFI(&made, 0x0c, 31, 0);
    cfi_end(&made);
    CFI_FDE(&made, 0, 0x20, 0x00);
    CFI_FDE(&made, 0xf00, 0x40, 0x07, 15);
    ready();
    regs.reg[15] = in_end;
    check(UNWIND_COMPLETE, 2);
    assert_int_equal(frames[1].pc, in_end - 1);
}

static void aarch64_signatures_are_stripped(void **state)
{
    (void)state;
    begin(UNWIND_AARCH64);
    CFI_FDE(&made, 0, 0x20, 0x2d, 0x0e, 32, 0x9d, 4, 0x9e, 3);
    CFI_FDE(&made, 0xf00, 0x40, 0x07, 30);
    ready();
    words[1] = in_end | 0x0035000000000000;
    check(UNWIND_COMPLETE, 2);
    assert_int_equal(frames[1].pc, in_end - 1);
    space.pac_mask = 0xff7f000000000000;
    check(UNWIND_COMPLETE, 2);
    assert_int_equal(frames[1].pc, in_end - 1);
}

static void aarch64_signal_trampolines_need_no_rules_of_their_own(void **state)
{
    (void)state;
    // The kernel's frame: siginfo, ucontext, x0 at 312.
    static uint64_t kernel_stack[512];
    begin(UNWIND_AARCH64);
    CFI_FDE(&made, 0, 0x20, 0x0e, 16, 0x9d, 2, 0x9e, 1); // the handler
    CFI_FDE(&made, 0x40, 0x20, 0x00);                    // interrupted leaf
    CFI_FDE(&made, 0xf00, 0x40, 0x07, 30);
    UnwindSections s = cfi_sections(&made);
    s.sigreturn = (UnwindRange){TEXT + 0x800, TEXT + 0x808};
    assert_true(unwind_table_build(&arena, &s, &table, NULL, NULL));
    unwind_space_map(&space, (UnwindMapping){CODE, CODE + 0x1000, BIAS, &table, 0, 0});
    memset(kernel_stack, 0, sizeof(kernel_stack));
    memory.window = kernel_stack;
    memory.window_size = sizeof(kernel_stack);
    kernel_stack[1] = CODE + 0x800; // the handler returns to its first instruction
    uint64_t *saved = &kernel_stack[2 + 312 / 8];
    saved[30] = in_end;      // x30
    saved[31] = slot(100);   // sp
    saved[32] = CODE + 0x40; // pc
    check(UNWIND_COMPLETE, 4);
    assert_int_equal(frames[1].pc, CODE + 0x7ff);
    assert_int_equal(frames[2].pc, CODE + 0x40);
    assert_int_equal(frames[2].flags & UNWIND_FRAME_HOW, UNWIND_FRAME_EXACT);
    assert_int_equal(frames[3].pc, in_end - 1);
}

static void x86_64_signal_trampolines_need_no_rules_of_their_own(void **state)
{
    (void)state;
    begin(UNWIND_X86_64);
    CFI_FDE(&made, 0, 0x20, 0x0e, 8);
    CFI_FDE(&made, 0x40, 0x20, 0x0e, 8);
    add_end();
    UnwindSections s = cfi_sections(&made);
    s.sigreturn = (UnwindRange){TEXT + 0x800, TEXT + 0x809};
    assert_true(unwind_table_build(&arena, &s, &table, NULL, NULL));
    unwind_space_map(&space, (UnwindMapping){CODE, CODE + 0x1000, BIAS, &table, 0, 0});
    words[0] = CODE + 0x800;
    words[1 + 160 / 8] = slot(40); // rsp
    words[1 + 168 / 8] = CODE + 0x40;
    words[40] = in_end;
    check(UNWIND_COMPLETE, 4);
    assert_int_equal(frames[2].flags & UNWIND_FRAME_HOW, UNWIND_FRAME_EXACT);
}

static void a_changed_map_forgets_cached_rules(void **state)
{
    (void)state;
    begin(UNWIND_X86_64);
    CFI_FDE(&made, 0, 0x20, 0x0e, 16);
    add_end();
    ready();
    words[1] = in_end;
    check(UNWIND_COMPLETE, 2);
    UnwindSpace child;
    unwind_space_init(&child, UNWIND_X86_64);
    unwind_space_copy(&child, &space);
    assert_int_equal(child.generation, space.generation);
    unwind_space_clear(&space);
    check(UNWIND_CUT_UNKNOWN_MAP, 1);
    assert_int_equal(unwind_walk(&child, &cache, &regs, &memory, frames, FRAMES).end,
                     UNWIND_COMPLETE);
    unwind_space_deinit(&child);
}

static const UnwindTable *load_table(void *ctx, const UnwindMapping *m)
{
    unsigned *calls = ctx;
    ++*calls;
    assert_int_equal(m->start, CODE);
    return &table;
}

static void a_lazy_table_is_loaded_once_when_a_stack_leads_there(void **state)
{
    (void)state;
    unsigned calls = 0;
    begin(UNWIND_X86_64);
    add_end();
    ready();
    unwind_space_clear(&space);
    unwind_space_map(
        &space, (UnwindMapping){
                    .start = CODE, .end = CODE + 0x1000, .bias = BIAS, .flags = UNWIND_MAP_LAZY});
    unwind_space_map(&space, (UnwindMapping){.start = 0x1000, .end = 0x2000});
    space.load = load_table;
    space.ctx = &calls;
    assert_non_null(unwind_space_find(&space, CODE));
    assert_int_equal(calls, 0);
    regs.pc = in_end;
    check(UNWIND_COMPLETE, 1);
    check(UNWIND_COMPLETE, 1);
    assert_int_equal(calls, 1);
}

static void check_map(unsigned i, uint64_t start, uint64_t end, uint32_t user)
{
    assert_true(i < space.count);
    assert_int_equal(space.at[i].start, start);
    assert_int_equal(space.at[i].end, end);
    assert_int_equal(space.at[i].user, user);
}

static void map(uint64_t start, uint64_t end, uint32_t user)
{
    unwind_space_map(&space, (UnwindMapping){.start = start, .end = end, .user = user});
}

static void a_new_mapping_cuts_older_ones(void **state)
{
    (void)state;
    begin(UNWIND_X86_64);
    map(100, 200, 1);
    map(300, 400, 2);
    map(200, 300, 3);
    assert_int_equal(space.count, 3);
    check_map(1, 200, 300, 3);
    map(120, 130, 4); // splits
    check_map(0, 100, 120, 1);
    check_map(1, 120, 130, 4);
    check_map(2, 130, 200, 1);
    map(150, 350, 5); // cuts both ends, covers one
    assert_int_equal(space.count, 5);
    check_map(2, 130, 150, 1);
    check_map(3, 150, 350, 5);
    check_map(4, 350, 400, 2);
    map(0, 1000, 6);
    assert_int_equal(space.count, 1);
    map(500, 500, 7); // empty
    assert_int_equal(space.count, 1);
    assert_int_equal(unwind_space_find(&space, 999)->user, 6);
    assert_null(unwind_space_find(&space, 1000));
}

static void perf_registers_land_at_their_dwarf_numbers(void **state)
{
    (void)state;
    uint64_t values[33], mask = unwind_perf_regs_mask(UNWIND_X86_64);
    UnwindRegs r;
    for (unsigned i = 0; i < ARRAY_LEN(values); i++)
        values[i] = 100 + i;
    assert_true(unwind_regs_from_perf(UNWIND_X86_64, mask, values, &r));
    assert_int_equal(r.pc, 108);      // ip is perf's 8th
    assert_int_equal(r.reg[SP], 107); // sp its 7th
    assert_int_equal(r.reg[FP], 106);
    assert_int_equal(r.reg[BX], 101);
    assert_int_equal(r.reg[8], 109); // r8: the 16th of perf, the 9th of the mask
    assert_int_equal(r.reg[15], 116);
    assert_int_equal(r.known, 0x1ffff);
    // ip, sp and bp alone.
    assert_true(unwind_regs_from_perf(UNWIND_X86_64, 0x1c0, values, &r));
    assert_int_equal(r.pc, 102);
    assert_int_equal(r.reg[SP], 101);
    assert_false(unwind_regs_from_perf(UNWIND_X86_64, 0x40, values, &r));
    mask = unwind_perf_regs_mask(UNWIND_AARCH64);
    assert_true(unwind_regs_from_perf(UNWIND_AARCH64, mask, values, &r));
    assert_int_equal(r.pc, 132);
    assert_int_equal(r.reg[UNWIND_AARCH64_SP], 131);
    assert_int_equal(r.reg[UNWIND_AARCH64_LR], 130);
}

static int tear_down(void **state)
{
    (void)state;
    unwind_space_deinit(&space);
    arena_deinit(&arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_return_address_is_looked_up_one_before),
        cmocka_unit_test(a_return_address_of_zero_ends_the_stack),
        cmocka_unit_test(the_frame_pointer_is_followed_through_its_slots),
        cmocka_unit_test(a_realigned_frame_is_left_once_its_frame_pointer_is_popped),
        cmocka_unit_test(a_new_thread_stands_alone_behind_clone),
        cmocka_unit_test(a_popped_frame_pointer_is_not_taken_from_below_the_stack),
        cmocka_unit_test(plt_entries_push_in_their_middle),
        cmocka_unit_test(rbx_is_found_where_an_inner_frame_saved_it),
        cmocka_unit_test(rbx_is_found_behind_frames_that_the_cache_knows),
        cmocka_unit_test(frames_of_other_sizes_at_a_known_place_are_walked_by_their_own_rules),
        cmocka_unit_test(other_registers_are_known_in_the_innermost_frame_only),
        cmocka_unit_test(a_signal_frame_gives_back_every_register),
        cmocka_unit_test(values_by_expression_and_by_register_are_taken),
        cmocka_unit_test(code_without_rules_is_left_by_its_frame_pointer_as_a_guess),
        cmocka_unit_test(a_frame_pointer_that_leads_down_or_out_is_no_guess),
        cmocka_unit_test(a_chain_of_frame_pointers_ends_at_zero),
        cmocka_unit_test(a_call_of_nothing_leads_back_to_its_caller),
        cmocka_unit_test(a_stack_says_why_it_is_cut),
        cmocka_unit_test(a_loop_ends),
        cmocka_unit_test(more_frames_than_fit_are_too_deep),
        cmocka_unit_test(memory_outside_of_the_window_is_asked_for),
        cmocka_unit_test(aarch64_takes_the_link_register_in_the_innermost_frame_only),
        cmocka_unit_test(aarch64_return_addresses_may_be_in_another_register),
        cmocka_unit_test(aarch64_signatures_are_stripped),
        cmocka_unit_test(aarch64_signal_trampolines_need_no_rules_of_their_own),
        cmocka_unit_test(x86_64_signal_trampolines_need_no_rules_of_their_own),
        cmocka_unit_test(a_changed_map_forgets_cached_rules),
        cmocka_unit_test(a_lazy_table_is_loaded_once_when_a_stack_leads_there),
        cmocka_unit_test(a_new_mapping_cuts_older_ones),
        cmocka_unit_test(perf_registers_land_at_their_dwarf_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, tear_down);
}
