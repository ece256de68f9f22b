// SPDX-License-Identifier: Apache-2.0
// Stacks that are recognised by a hash: what the hash covers, and what the tables say.

#include "harness.h"

#include "replay/known_stacks.h"

#define CODE  ((uint64_t)0x555555550000)
#define STACK ((uint64_t)0x7ffd00000000)
enum { WORDS = 16, LEAF = 0x20, CALLER = 0x60, OUTERMOST = 0x110 };

static KnownShared *shared;
static KnownStacks *known;
static KnownSpace in;
static UnwindSpace space;
static uint64_t words[WORDS];
static UnwindFrame frames[3];
static UnwindRegs regs;
static UnwindMemory memory;

// Callers lie 16 bytes above the stack pointer up to 0x100; from there on nothing calls.
static const UnwindAction actions[2] = {
    {.kind = UNWIND_FP_KEPT, .cfa = UNWIND_X86_64_SP, .cfa_off = 16}, {.kind = UNWIND_END}};
static const uint32_t rows[2] = {0, 0x100 | 1 << 16}, buckets[6] = {0, 1, 1, 2, 2, 2};
static const UnwindTable table = {.size = 0x200,
                                  .bucket = buckets,
                                  .row = rows,
                                  .action = actions,
                                  .bucket_shift = 7,
                                  .arch = UNWIND_X86_64,
                                  .bucket_count = 6,
                                  .row_count = 2,
                                  .action_count = 2};

static UnwindMapping mapping;

static int set_up(void **state)
{
    (void)state;
    shared = heap_alloc(sizeof(*shared));
    known = known_stacks_open(shared, false);
    in = (KnownSpace){0};
    mapping = (UnwindMapping){.start = CODE, .end = CODE + 0x200, .bias = CODE, .table = &table};
    space = (UnwindSpace){.at = &mapping, .count = 1, .arch = UNWIND_X86_64, .generation = 1};
    memset(words, 0, sizeof(words));
    words[1] = CODE + CALLER;
    words[3] = CODE + OUTERMOST;
    words[4] = 42;
    regs = (UnwindRegs){.pc = CODE + LEAF, .known = UINT64_MAX};
    regs.reg[UNWIND_X86_64_SP] = STACK;
    memory = (UnwindMemory){.window = words, .window_addr = STACK, .window_size = sizeof(words)};
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    known_stacks_close(known);
    heap_free(shared);
    return 0;
}

static WalkedStack walked(void)
{
    UnwindWalk w = unwind_walk(&space, NULL, &regs, &memory, frames, ARRAY_LEN(frames));
    assert_int_equal(w.end, UNWIND_COMPLETE);
    assert_int_equal(w.frame_count, 3);
    return (WalkedStack){.pid = 7,
                         .tid = 8,
                         .space = &space,
                         .regs = &regs,
                         .memory = &memory,
                         .frames = frames,
                         .count = w.frame_count};
}

static void add(StackId outer)
{
    WalkedStack w = walked();
    assert_true(known_stacks_can_take(&w));
    if (known_stacks_wants_ranges(&in, &space))
        known_stacks_set_ranges(&in, &space, CODE, 0x200, 0, 0);
    assert_true(known_stacks_meet(known, &in, &w));
    known_stacks_add(known, &in, &w, outer);
}

static uint32_t entries(uint64_t *last)
{
    uint32_t n = 0;
    for (size_t i = 0; i < KNOWN_STACKS; i++)
        if (shared->stacks[i]) {
            n++;
            *last = shared->stacks[i];
        }
    return n;
}

static void a_stack_that_comes_again_has_one_entry(void **state)
{
    (void)state;
    uint64_t hash = 0;
    StackId outer;
    add((StackId){5});
    words[0] = 99;             // a local
    regs.pc = CODE + LEAF + 4; // another instruction under the same rule
    regs.reg[UNWIND_X86_64_BX] = 1;
    add((StackId){5});
    assert_int_equal(entries(&hash), 1);
    assert_true(known_stacks_find(known, &in, hash, &outer));
    assert_int_equal(outer.v, 5);
    assert_false(known_stacks_find(known, &in, hash ^ 2, &outer));
}

static void another_caller_or_place_is_another_stack(void **state)
{
    (void)state;
    uint64_t hash;
    add((StackId){5});
    words[1] += 8;
    add((StackId){6});
    assert_int_equal(entries(&hash), 2);
    // A dead word that looks like an address makes the stack another one, too.
    words[0] = CODE + CALLER;
    add((StackId){7});
    assert_int_equal(entries(&hash), 3);
}

static void the_program_is_told_process_thread_and_code(void **state)
{
    (void)state;
    add((StackId){5});
    const KnownProcess *p = &shared->processes[7];
    assert_int_equal(p->tgid, 7);
    assert_int_equal(p->low, CODE);
    assert_int_equal(p->how, KNOWN_HOW_USUAL);
    assert_int_equal(shared->threads[8].tid, 8);
    assert_int_equal(shared->threads[8].base, STACK + 32); // above the last return address
    uint32_t lines = 0;
    for (size_t i = 0; i < KNOWN_LINES; i++)
        lines += shared->lines[i] != 0;
    assert_int_equal(lines, 8); // all of the mapping
    known_stacks_forget_thread(known, 8);
    assert_int_equal(shared->threads[8].tid, 0);
}

static void replaced_code_ends_it(void **state)
{
    (void)state;
    uint64_t hash = 0;
    StackId outer;
    add((StackId){5});
    assert_int_equal(entries(&hash), 1);
    known_stacks_give_up(known, &in, 7);
    assert_int_equal(shared->processes[7].tgid, 0);
    assert_false(known_stacks_find(known, &in, hash, &outer));
    // From then on stacks are only copied.
    WalkedStack w = walked();
    known_stacks_set_ranges(&in, &space, CODE, 0x200, 0, 0);
    assert_false(known_stacks_meet(known, &in, &w));
    assert_int_equal(shared->processes[7].how, KNOWN_HOW_COPY);
}

static void stacks_that_do_not_come_again_are_not_looked_for(void **state)
{
    (void)state;
    add((StackId){1});
    bool wanted = true;
    for (uint32_t i = 0; i < 2000 && wanted; i++) {
        words[0] = CODE + (i & 0x1ff);
        words[2] = CODE + (i >> 9);
        WalkedStack w = walked();
        wanted = known_stacks_meet(known, &in, &w);
        if (wanted)
            known_stacks_add(known, &in, &w, (StackId){i});
    }
    assert_false(wanted);
    assert_int_equal(shared->processes[7].how, KNOWN_HOW_COPY);
}

static void what_cannot_be_hashed_is_not_taken(void **state)
{
    (void)state;
    WalkedStack w = walked();
    frames[1].flags |= UNWIND_FRAME_GUESSED;
    assert_false(known_stacks_can_take(&w));
    w = walked();
    frames[1].flags |= UNWIND_FRAME_EXACT; // a signal came there
    assert_false(known_stacks_can_take(&w));
    w = walked();
    memory.window_size = 24; // the outermost return address lies above
    assert_false(known_stacks_can_take(&w));
    memory.window_size = sizeof(words);
    assert_true(known_stacks_can_take(&w));
    frames[2].sp_words = UNWIND_SP_FAR;
    assert_false(known_stacks_can_take(&w));
}

// Frame pointers count in the second hash only.
static void the_second_hash_covers_frame_pointers(void **state)
{
    (void)state;
    const KnownProcess p = {.low = CODE, .low_size = 0x200};
    KnownRegs r = {.ip = CODE, .sp = STACK, .bp = STACK + 16, .size = sizeof(words)};
    KnownHash h[3];
    for (int i = 0; i < 3; i++) {
        KnownHash sum = {0, 0};
        words[5] = STACK + 8u * (6 + (i == 1));
        r.bp = STACK + 16 + 8u * (i == 2);
        for (uint64_t k = 0; k < WORDS; k++)
            known_add(&sum, words[k], k, &p, STACK, sizeof(words));
        h[i] = known_finish(sum, 1, KNOWN_CLASS_EXACT, &r);
    }
    assert_true(h[0].code == h[1].code && h[0].code == h[2].code);
    assert_true(h[0].all != h[1].all && h[0].all != h[2].all && h[1].all != h[2].all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_stack_that_comes_again_has_one_entry, set_up, tear_down),
        cmocka_unit_test_setup_teardown(another_caller_or_place_is_another_stack, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(the_program_is_told_process_thread_and_code, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(replaced_code_ends_it, set_up, tear_down),
        cmocka_unit_test_setup_teardown(stacks_that_do_not_come_again_are_not_looked_for, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(what_cannot_be_hashed_is_not_taken, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_second_hash_covers_frame_pointers, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
