// SPDX-License-Identifier: Apache-2.0
// Which return ends which entry.

#include "collect/calls/pairing_internal.h"
#include "harness.h"

typedef struct Fixture {
    Profile profile;
    Pairing pairing;
    int64_t now;
} Fixture;

static void begin(Fixture *f)
{
    *f = (Fixture){0};
    profile_init(&f->profile);
    f->pairing.profile = &f->profile;
    ProcessId process =
        profile_add_process(&f->profile, 7, 1, profile_str(&f->profile, STR("p")), 0);
    profile_add_thread(&f->profile, process, 7, profile_str(&f->profile, STR("p")), 0);
    for (uint32_t i = 0; i < 3; i++)
        profile_frame(&f->profile, (ModuleId){0}, 0x100 * (i + 1), FRAME_EXACT);
}

static void end(Fixture *f)
{
    pairing_deinit(&f->pairing);
    profile_deinit(&f->profile);
}

static PairingHit hit(Fixture *f, uint32_t function, uint64_t sp)
{
    return (PairingHit){.function = function,
                        .flow = 7,
                        .sp = sp,
                        .time_ns = f->now += 10,
                        .frame = {function + 1}};
}

static void enter(Fixture *f, uint32_t function, uint64_t sp)
{
    PairingHit h = hit(f, function, sp);
    pairing_enter(&f->pairing, &h);
}

// Behind the return, as the kernel's trampoline sees it.
static void leave(Fixture *f, uint32_t function, uint64_t sp)
{
    PairingHit h = hit(f, function, sp + 8);
    pairing_return(&f->pairing, &h);
}

static void expect(const Fixture *f, size_t row, uint32_t function, int64_t from, int64_t to,
                   uint32_t depth, uint8_t flags)
{
    const Calls *c = &f->profile.calls;
    assert_true(row < c->frame.len);
    assert_int_equal(c->frame.at[row].v, function + 1);
    assert_int_equal(c->begin_ns.at[row], from);
    assert_int_equal(c->end_ns.at[row], to);
    assert_int_equal(c->depth.at[row], depth);
    assert_int_equal(c->flags.at[row], flags);
}

static void expect_named(const Fixture *f, size_t i, uint32_t call, Str name, int64_t value)
{
    const CallValues *v = &f->profile.call_values;
    assert_true(i < v->call.len);
    assert_int_equal(v->call.at[i], call);
    assert_true(str_equal(profile_text(&f->profile, v->name.at[i]), name));
    assert_int_equal(v->value.at[i], value);
}

static void a_goroutine_may_end_a_call_on_another_thread(void **state)
{
    (void)state;
    Fixture f;
    begin(&f);
    f.pairing.goroutine = profile_str(&f.profile, STR("goroutine"));
    f.pairing.end_thread = profile_str(&f.profile, STR("end_thread"));
    ThreadId other = profile_add_thread(&f.profile, (ProcessId){0}, 9, f.pairing.goroutine, 0);
    for (int moves = 0; moves < 2; moves++) {
        PairingHit h = hit(&f, 0, 0x1000);
        h.is_go = true;
        h.goroutine = 21;
        pairing_enter(&f.pairing, &h);
        h.time_ns = f.now += 10;
        if (moves)
            h.thread = other;
        pairing_return(&f.pairing, &h);
    }
    assert_int_equal(f.profile.calls.thread.at[1].v, 0); // where it began
    expect_named(&f, 0, 0, STR("goroutine"), 21);
    expect_named(&f, 1, 1, STR("goroutine"), 21);
    expect_named(&f, 2, 1, STR("end_thread"), 9);
    assert_int_equal(f.profile.call_values.call.len, 3);
    end(&f);
}

static void nested_and_recursive_calls_end_in_order(void **state)
{
    (void)state;
    Fixture f;
    begin(&f);
    enter(&f, 0, 0x1000);
    enter(&f, 1, 0xf00);
    enter(&f, 1, 0xe00);
    leave(&f, 1, 0xe00);
    leave(&f, 1, 0xf00);
    leave(&f, 0, 0x1000);
    expect(&f, 0, 1, 30, 40, 2, 0);
    expect(&f, 1, 1, 20, 50, 1, 0);
    expect(&f, 2, 0, 10, 60, 0, 0);
    assert_int_equal(f.pairing.left, 0);
    end(&f);
}

static void enter_from(Fixture *f, uint32_t function, uint64_t sp, uint64_t return_address)
{
    PairingHit h = hit(f, function, sp);
    h.return_address = return_address;
    pairing_enter(&f->pairing, &h);
}

static void a_tail_call_ends_with_its_caller(void **state)
{
    (void)state;
    Fixture f;
    begin(&f);
    enter_from(&f, 0, 0x1000, 0x401234);
    enter_from(&f, 1, 0x1000, 0x7fffffffe000); // by a jump: the same place, and no new address
    leave(&f, 1, 0x1000);
    leave(&f, 0, 0x1000);
    expect(&f, 0, 1, 20, 30, 1, 0);
    expect(&f, 1, 0, 10, 40, 0, 0);
    assert_int_equal(f.pairing.left + f.pairing.unmatched, 0);
    end(&f);
}

static void calls_that_an_exception_leaves_end_with_the_next_that_is_seen(void **state)
{
    (void)state;
    Fixture f;
    begin(&f);
    enter(&f, 0, 0x1000);
    enter(&f, 1, 0xf00);
    enter(&f, 2, 0xe00); // thrown out of both
    enter(&f, 2, 0xf80);
    leave(&f, 2, 0xf80);
    leave(&f, 0, 0x1000);
    expect(&f, 0, 2, 30, 40, 2, CALL_ENDS_LATE);
    expect(&f, 1, 1, 20, 40, 1, CALL_ENDS_LATE);
    expect(&f, 2, 2, 40, 50, 1, 0);
    expect(&f, 3, 0, 10, 60, 0, 0);
    assert_int_equal(f.pairing.left, 2);
    end(&f);
}

static void a_recursion_with_lost_returns_is_one_call(void **state)
{
    (void)state;
    Fixture f;
    begin(&f);
    for (uint64_t i = 0; i < 4; i++)
        enter(&f, 0, 0x1000 - 0x100 * i);
    leave(&f, 0, 0x1000);
    assert_int_equal(f.profile.calls.frame.len, 4);
    expect(&f, 3, 0, 10, 50, 0, 0);
    assert_int_equal(f.pairing.left, 3);
    leave(&f, 0, 0x1000);
    assert_int_equal(f.pairing.unmatched, 1);
    end(&f);
}

static void calls_that_jump_to_each_other_all_return(void **state)
{
    (void)state;
    const uint64_t caller = 0x401234, trampoline = 0x7fffffffe000;
    Fixture f;
    begin(&f);
    enter_from(&f, 0, 0x1000, caller);
    enter_from(&f, 1, 0x1000, trampoline);
    enter_from(&f, 0, 0x1000, trampoline);
    leave(&f, 0, 0x1000); // the kernel tells the newest first
    leave(&f, 1, 0x1000);
    leave(&f, 0, 0x1000);
    expect(&f, 0, 0, 30, 40, 2, 0);
    expect(&f, 1, 1, 20, 50, 1, 0);
    expect(&f, 2, 0, 10, 60, 0, 0);
    assert_int_equal(f.pairing.left, 0);
    end(&f);
}

static void a_call_that_a_jump_has_left_ends_when_another_takes_its_place(void **state)
{
    (void)state;
    const uint64_t callers[] = {0x401234, 0}; // with the kernel's trampoline, and without
    for (size_t i = 0; i < ARRAY_LEN(callers); i++) {
        Fixture f;
        begin(&f);
        enter_from(&f, 0, 0x1000, callers[i]); // longjmp out of it, and again into it
        enter_from(&f, 0, 0x1000, callers[i]);
        leave(&f, 0, 0x1000);
        expect(&f, 0, 0, 10, 20, 0, CALL_ENDS_LATE);
        expect(&f, 1, 0, 20, 30, 0, 0);
        assert_int_equal(f.pairing.left, 1);
        end(&f);
    }
}

static void goroutines_move_their_stacks(void **state)
{
    (void)state;
    Fixture f;
    begin(&f);
    PairingHit h = hit(&f, 0, 0x1000);
    h.is_go = true;
    pairing_enter(&f.pairing, &h);
    h = hit(&f, 1, 0x90000);
    h.is_go = true;
    pairing_enter(&f.pairing, &h);
    h = hit(&f, 1, 0x500);
    h.is_go = true;
    pairing_return(&f.pairing, &h);
    h = hit(&f, 0, 0x600);
    h.is_go = true;
    pairing_return(&f.pairing, &h);
    expect(&f, 0, 1, 20, 30, 1, 0);
    expect(&f, 1, 0, 10, 40, 0, 0);
    end(&f);
}

static void work_is_joined_by_its_key(void **state)
{
    (void)state;
    Fixture f;
    begin(&f);
    for (uint64_t key = 0; key < 5000; key++) {
        PairingHit b = hit(&f, 0, 0), e = hit(&f, 1, 0);
        pairing_begin(&f.pairing, key, &b);
        if (key)
            pairing_end(&f.pairing, key - 1, &e);
    }
    assert_int_equal(f.profile.calls.frame.len, 4999);
    expect(&f, 0, 0, 10, 40, 0, CALL_IS_WORK);
    assert_true(f.pairing.work.len <= 3); // places are used anew
    pairing_finish(&f.pairing, 1000000);
    expect(&f, 4999, 0, 99990, 1000000, 0, CALL_IS_WORK | CALL_IS_OPEN);
    end(&f);
}

static void copies_of_stacks_get_their_return_addresses_back(void **state)
{
    (void)state;
    Fixture f;
    begin(&f);
    PairingHit h = hit(&f, 0, 0x1010);
    h.return_address = 0x401234;
    pairing_enter(&f.pairing, &h);
    uint64_t stack[] = {1, 0x7ffffffe1000, 0x7fffffffe000, 2};
    pairing_mend(&f.pairing, 7, 0x1000, (uint8_t *)stack, sizeof(stack));
    assert_int_equal(stack[2], 0x401234);
    assert_int_equal(stack[1], 0x7ffffffe1000); // no slot of a call
    uint64_t ip = 0x7fffffffe003, sp = 0x1000;  // the trampoline has pushed registers
    assert_true(pairing_step_out(&f.pairing, 7, &ip, &sp));
    assert_int_equal(ip, 0x401234);
    assert_int_equal(sp, 0x1018);
    for (size_t len = 0; len < sizeof(stack); len++) { // cut at each byte
        uint64_t copy[4] = {1, 2, 0x7fffffffe000, 3};
        pairing_mend(&f.pairing, 7, 0x1000, (uint8_t *)copy, len);
        assert_int_equal(copy[2], len < 24 ? 0x7fffffffe000 : 0x401234);
    }
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nested_and_recursive_calls_end_in_order),
        cmocka_unit_test(a_tail_call_ends_with_its_caller),
        cmocka_unit_test(calls_that_an_exception_leaves_end_with_the_next_that_is_seen),
        cmocka_unit_test(a_recursion_with_lost_returns_is_one_call),
        cmocka_unit_test(calls_that_jump_to_each_other_all_return),
        cmocka_unit_test(a_call_that_a_jump_has_left_ends_when_another_takes_its_place),
        cmocka_unit_test(goroutines_move_their_stacks),
        cmocka_unit_test(a_goroutine_may_end_a_call_on_another_thread),
        cmocka_unit_test(work_is_joined_by_its_key),
        cmocka_unit_test(copies_of_stacks_get_their_return_addresses_back),
    };
    return RUN_TESTS(tests);
}
