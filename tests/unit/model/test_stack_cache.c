// SPDX-License-Identifier: Apache-2.0
// Whole stacks get the number that interning them frame by frame gives.

#include "model/stack_cache.h"

#include "harness.h"

enum { FRAMES_MAX = 64 };

static StackId one_by_one(Profile *p, const FrameId *frames, size_t n)
{
    StackId stack = {0};
    while (n > 0)
        stack = profile_stack(p, stack, frames[--n]);
    return stack;
}

static void every_stack_has_the_number_of_its_frames(void **state)
{
    (void)state;
    Profile p;
    profile_init(&p);
    ModuleId module = profile_module(&p, MODULE_FILE, STR("/m"), STR(""));
    FrameId known[8];
    for (uint64_t i = 0; i < ARRAY_LEN(known); i++)
        known[i] = profile_frame(&p, module, 0x1000 + i, 0);
    StackCache *cache = arena_new(&p.arena, StackCache);
    uint32_t random = 1;
    for (unsigned round = 0; round < 20000; round++) {
        FrameId frames[FRAMES_MAX];
        random = random * 1664525u + 1013904223u;
        size_t n = random >> 16 & (FRAMES_MAX - 1);
        for (size_t i = 0; i < n; i++) {
            random = random * 1664525u + 1013904223u;
            // Few choices, so that stacks share parts and meet again.
            frames[i] = known[random >> 16 & (i < 4 ? 7 : 1)];
        }
        StackId got = stack_cache_intern(cache, &p, frames, n);
        assert_int_equal(got.v, one_by_one(&p, frames, n).v);
    }
    profile_deinit(&p);
}

static void the_empty_stack_is_none_and_a_shorter_one_is_another(void **state)
{
    (void)state;
    Profile p;
    profile_init(&p);
    ModuleId module = profile_module(&p, MODULE_FILE, STR("/m"), STR(""));
    StackCache *cache = arena_new(&p.arena, StackCache);
    FrameId frames[STACK_BLOCK_FRAMES + 1];
    for (uint64_t i = 0; i < ARRAY_LEN(frames); i++)
        frames[i] = profile_frame(&p, module, i, 0);
    assert_int_equal(stack_cache_intern(cache, &p, frames, 0).v, 0);
    StackId all = stack_cache_intern(cache, &p, frames, ARRAY_LEN(frames));
    StackId outer = stack_cache_intern(cache, &p, frames + 1, ARRAY_LEN(frames) - 1);
    assert_int_equal(p.stacks.parent.at[all.v].v, outer.v);
    assert_int_equal(stack_cache_intern(cache, &p, frames, ARRAY_LEN(frames)).v, all.v);
    profile_deinit(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_stack_has_the_number_of_its_frames),
        cmocka_unit_test(the_empty_stack_is_none_and_a_shorter_one_is_another),
    };
    return RUN_TESTS(tests);
}
