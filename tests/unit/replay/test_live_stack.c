// SPDX-License-Identifier: Apache-2.0
// Reading on above a copied stack, here in this process itself.

#include "harness.h"

#include <sys/mman.h>
#include <unistd.h>

#include "replay/live_stack.h"

enum { WINDOW = 4096, ALL = 64 << 10 };

static uint64_t stack[ALL / 8];
static uint8_t copy[WINDOW];
static LiveStack live;

static bool open_stack(UnwindMemory *memory)
{
    UnwindMemory window = {.window = copy,
                           .window_addr = (uint64_t)(uintptr_t)stack,
                           .window_size = WINDOW,
                           .window_cut = true};
    return live_stack_open(&live, (uint32_t)getpid(), &window, memory);
}

static int set_up(void **state)
{
    (void)state;
    for (size_t i = 0; i < ALL / 8; i++)
        stack[i] = i;
    memcpy(copy, stack, WINDOW);
    return 0;
}

static void words_above_the_copy_are_read_in_any_order(void **state)
{
    (void)state;
    UnwindMemory m;
    assert_true(open_stack(&m));
    const size_t at[] = {WINDOW / 8, ALL / 8 - 1, WINDOW / 8 + 1, ALL / 16};
    for (size_t i = 0; i < ARRAY_LEN(at); i++) {
        uint64_t word = 0;
        assert_true(m.read(m.ctx, (uint64_t)(uintptr_t)&stack[at[i]], &word));
        assert_int_equal(word, at[i]);
    }
}

static void words_are_read_from_the_outer_end_inwards(void **state)
{
    (void)state;
    uint64_t word = 0;
    live_stack_open_inwards(&live, (uint32_t)getpid(), (uint64_t)(uintptr_t)&stack[8]);
    for (size_t i = ALL / 8; i-- > 8; word++) {
        assert_true(live_stack_read(&live, (uint64_t)(uintptr_t)&stack[i], &word));
        assert_int_equal(word, i);
    }
    assert_false(live_stack_read(&live, (uint64_t)(uintptr_t)&stack[7], &word));
    assert_in_range(live.bytes_read, ALL - 64, ALL); // each word once
}

// A page that is not there, as below the outer end of a stack that has not grown so far.
static void a_word_behind_a_missing_page_is_read(void **state)
{
    (void)state;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uint8_t *pages =
        mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(pages, MAP_FAILED);
    assert_int_equal(munmap(pages, page), 0);
    uint64_t word = 77, got = 0;
    memcpy(pages + page + 16, &word, sizeof(word));
    live_stack_open_inwards(&live, (uint32_t)getpid(), (uint64_t)(uintptr_t)pages);
    assert_true(live_stack_read(&live, (uint64_t)(uintptr_t)pages + page + 16, &got));
    assert_int_equal(got, 77);
    assert_false(live_stack_read(&live, (uint64_t)(uintptr_t)pages + page - 8, &got));
    munmap(pages + page, page);
}

static void what_lies_below_or_far_above_is_not_read(void **state)
{
    (void)state;
    UnwindMemory m;
    uint64_t word;
    assert_true(open_stack(&m));
    assert_false(m.read(m.ctx, (uint64_t)(uintptr_t)stack, &word));
    assert_false(m.read(m.ctx, (uint64_t)(uintptr_t)stack + ((uint64_t)1 << 40), &word));
}

static void a_stack_that_changed_at_the_end_of_the_copy_is_not_read(void **state)
{
    (void)state;
    UnwindMemory m;
    stack[0]++; // long ago left and entered again
    assert_true(open_stack(&m));
    stack[WINDOW / 8 - 1]++;
    assert_false(open_stack(&m));
}

static void a_process_that_is_gone_is_not_read(void **state)
{
    (void)state;
    UnwindMemory m, window = {.window = copy, .window_addr = 4096, .window_size = WINDOW};
    assert_false(live_stack_open(&live, (uint32_t)getpid(), &window, &m)); // nothing is there
    window.window_size = 4;
    window.window_addr = (uint64_t)(uintptr_t)stack;
    assert_false(live_stack_open(&live, (uint32_t)getpid(), &window, &m)); // too short to compare
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(words_above_the_copy_are_read_in_any_order, set_up),
        cmocka_unit_test_setup(words_are_read_from_the_outer_end_inwards, set_up),
        cmocka_unit_test_setup(a_word_behind_a_missing_page_is_read, set_up),
        cmocka_unit_test_setup(what_lies_below_or_far_above_is_not_read, set_up),
        cmocka_unit_test_setup(a_stack_that_changed_at_the_end_of_the_copy_is_not_read, set_up),
        cmocka_unit_test_setup(a_process_that_is_gone_is_not_read, set_up),
    };
    return RUN_TESTS(tests);
}
