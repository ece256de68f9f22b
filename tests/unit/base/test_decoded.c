// SPDX-License-Identifier: Apache-2.0
// base/decoded: how much a reader may make out of an input.

#include "harness.h"

#include "base/decoded.h"

static void what_is_available_is_in_bytes(void **state)
{
    (void)state;
    assert_int_equal(decoded_available_bytes("MemTotal:  16 kB\nMemAvailable:      12 kB\n"),
                     12288);
    assert_true(decoded_available_bytes("") == UINT64_MAX);
    assert_true(decoded_available_bytes("MemTotal: 16 kB\n") == UINT64_MAX);
}

static void a_group_may_take_what_is_left_of_its_limit(void **state)
{
    (void)state;
    assert_int_equal(decoded_left_of_limit("1000\n", "400\n"), 600);
    assert_int_equal(decoded_left_of_limit("1000\n", "1400\n"), 0);
    assert_true(decoded_left_of_limit("max\n", "400\n") == UINT64_MAX);
    assert_true(decoded_left_of_limit("", "") == UINT64_MAX);
    assert_true(decoded_left_of_limit("1000\n", "") == UINT64_MAX);
}

static void an_input_may_always_become_the_floor(void **state)
{
    (void)state;
    Error err;
    assert_int_equal(decoded_limit(0), DECODED_FLOOR_BYTES);
    assert_int_equal(decoded_limit(1 << 20), DECODED_FLOOR_BYTES);
    assert_true(decoded_check(DECODED_FLOOR_BYTES, 0, &err));
    assert_false(decoded_check(DECODED_FLOOR_BYTES + 1, 0, &err));
    assert_int_equal(err.kind, ERROR_LIMIT);
}

static void no_input_may_become_more_than_half_of_the_memory(void **state)
{
    (void)state;
    // The machine of a test has less than 2^62 bytes.
    assert_true(decoded_limit(UINT64_MAX) < UINT64_MAX / 4);
    assert_true(decoded_memory_limit(UINT64_MAX) < UINT64_MAX / 4);
    decoded_limit_set(7);
    assert_int_equal(decoded_limit(UINT64_MAX), 7);
    decoded_limit_set(0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_available_is_in_bytes),
        cmocka_unit_test(a_group_may_take_what_is_left_of_its_limit),
        cmocka_unit_test(an_input_may_always_become_the_floor),
        cmocka_unit_test(no_input_may_become_more_than_half_of_the_memory),
    };
    return RUN_TESTS(tests);
}
