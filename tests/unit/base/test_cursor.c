// SPDX-License-Identifier: Apache-2.0
// base/cursor: reading untrusted bytes.

#include "harness.h"

#include "base/cursor.h"

static Error err;

// One of each: the same reads must succeed on the whole and fail on every cut.
static const uint8_t mixed[] = {
    0x01,                                           // u8
    0x02, 0x01,                                     // u16
    0x04, 0x03, 0x02, 0x01,                         // u32
    0x08, 0x07, 0x06, 0x05, 0x04, 0x03, 0x02, 0x01, // u64
    0x03, 0x02, 0x01,                               // 3 byte integer
    0xe5, 0x8e, 0x26,                               // ULEB 624485
    0xc0, 0xbb, 0x78,                               // SLEB -123456
    'h',  'i',  0,                                  // text
    0xaa, 0xbb,                                     // bytes
};

static bool read_mixed(Bytes data, Error *e)
{
    Cursor c = cursor_over(data, "mixed");
    bool right = cursor_u8(&c) == 1;
    right &= cursor_u16(&c) == 0x0102;
    right &= cursor_u32(&c) == 0x01020304;
    right &= cursor_u64(&c) == 0x0102030405060708ull;
    right &= cursor_uint(&c, 3) == 0x010203;
    right &= cursor_uleb(&c) == 624485;
    right &= cursor_sleb(&c) == -123456;
    right &= str_equal(cursor_c_str(&c), STR("hi"));
    right &= bytes_equal(cursor_bytes(&c, 2), "\xaa\xbb", 2);
    if (!cursor_check(&c, e))
        return false;
    assert_true(right);
    assert_false(cursor_more(&c));
    return true;
}

static void every_kind_of_value_is_read(void **state)
{
    (void)state;
    assert_ok(read_mixed(bytes_over(mixed, sizeof(mixed)), &err), &err);
}

static void a_cut_at_each_byte_fails_and_stays_failed(void **state)
{
    (void)state;
    for (size_t len = 0; len < sizeof(mixed); len++)
        assert_error(read_mixed(bytes_over(mixed, len), &err), &err, ERROR_FORMAT, "mixed: ");
}

static void after_a_failure_every_read_gives_zero(void **state)
{
    (void)state;
    Cursor c = cursor_over(bytes_over(mixed, 3), "x");
    assert_int_equal(cursor_u32(&c), 0);
    assert_false(cursor_ok(&c));
    assert_int_equal(cursor_u8(&c), 0);
    assert_int_equal(cursor_uleb(&c), 0);
    assert_int_equal(cursor_sleb(&c), 0);
    assert_int_equal(cursor_bytes(&c, 1).len, 0);
    assert_int_equal(cursor_c_str(&c).len, 0);
    cursor_seek(&c, 0);
    assert_false(cursor_more(&c));
    assert_error(cursor_check(&c, &err), &err, ERROR_FORMAT, "x: cut short at offset 0x0");
}

static void bytes_that_are_absent_end_at_once(void **state)
{
    (void)state;
    Cursor c = cursor_over((Bytes){0}, "nothing");
    assert_int_equal(cursor_uleb(&c), 0);
    assert_false(cursor_check(&c, &err));
    c = cursor_over((Bytes){0}, "nothing");
    assert_non_null(cursor_take(&c, 0));
    assert_true(cursor_check(&c, &err));
}

static void big_endian_turns_the_bytes(void **state)
{
    (void)state;
    Cursor c = cursor_over(bytes_over(mixed + 1, 14), "x");
    c.big_endian = true;
    assert_int_equal(cursor_u16(&c), 0x0201);
    assert_int_equal(cursor_u32(&c), 0x04030201);
    assert_true(cursor_u64(&c) == 0x0807060504030201ull);
    Cursor odd = cursor_over(bytes_over(mixed + 15, 3), "x");
    odd.big_endian = true;
    assert_int_equal(cursor_uint(&odd, 3), 0x030201);
}

static void leb128_reaches_64_bits_and_no_further(void **state)
{
    (void)state;
    static const uint8_t most[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01};
    Cursor c = cursor_over(bytes_over(most, sizeof(most)), "x");
    assert_true(cursor_uleb(&c) == UINT64_MAX);
    static const uint8_t over[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02};
    c = cursor_over(bytes_over(over, sizeof(over)), "x");
    assert_int_equal(cursor_uleb(&c), 0);
    assert_error(cursor_check(&c, &err), &err, ERROR_FORMAT, "over 64 bits");
    static const uint8_t padded[] = {0x85, 0x80, 0x80, 0x80, 0x80, 0x80,
                                     0x80, 0x80, 0x80, 0x80, 0x80, 0x00};
    c = cursor_over(bytes_over(padded, sizeof(padded)), "x");
    assert_int_equal(cursor_uleb(&c), 5);
    static const uint8_t least[] = {0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x7f};
    c = cursor_over(bytes_over(least, sizeof(least)), "x");
    assert_true(cursor_sleb(&c) == INT64_MIN);
    static const uint8_t minus_one[] = {0x7f};
    c = cursor_over(bytes_over(minus_one, 1), "x");
    assert_int_equal(cursor_sleb(&c), -1);
}

static void padding_may_be_cut_off_by_the_end(void **state)
{
    (void)state;
    Cursor c = cursor_over(bytes_over(mixed, 6), "x");
    assert_int_equal(cursor_padded(&c, 3, 4).len, 3);
    assert_int_equal(c.at, 4);
    assert_int_equal(cursor_padded(&c, 1, 4).len, 1);
    assert_int_equal(c.at, 6);
    assert_true(cursor_ok(&c));
    assert_int_equal(cursor_padded(&c, 1, 4).len, 0);
    assert_false(cursor_ok(&c));
}

static void text_without_a_nul_fails(void **state)
{
    (void)state;
    Cursor c = cursor_over(bytes_over("abc", 3), "x");
    assert_int_equal(cursor_c_str(&c).len, 0);
    assert_error(cursor_check(&c, &err), &err, ERROR_FORMAT, "without an end");
    c = cursor_over((Bytes){0}, "x");
    assert_int_equal(cursor_c_str(&c).len, 0);
    assert_false(cursor_ok(&c));
}

static void a_length_near_the_limit_does_not_wrap(void **state)
{
    (void)state;
    Cursor c = cursor_over(bytes_over(mixed, sizeof(mixed)), "x");
    cursor_u32(&c);
    cursor_skip(&c, UINT64_MAX - 2);
    assert_false(cursor_ok(&c));
    c = cursor_over(bytes_over(mixed, sizeof(mixed)), "x");
    cursor_seek(&c, sizeof(mixed));
    assert_true(cursor_ok(&c));
    cursor_seek(&c, sizeof(mixed) + 1);
    assert_error(cursor_check(&c, &err), &err, ERROR_FORMAT, "past the end");
}

static void a_part_counts_offsets_in_its_file(void **state)
{
    (void)state;
    Cursor c = cursor_over(bytes_over(mixed, sizeof(mixed)), "whole");
    c.base = 0x100;
    cursor_skip(&c, 2);
    Cursor part = cursor_sub(&c, 3, "part");
    assert_int_equal(c.at, 5);
    cursor_u16(&part);
    cursor_u16(&part);
    assert_error(cursor_check(&part, &err), &err, ERROR_FORMAT, "part: cut short at offset 0x104");
    assert_true(cursor_ok(&c));
    Cursor past = cursor_sub(&c, 1000, "past");
    assert_false(cursor_ok(&past));
    assert_false(cursor_ok(&c));
}

static void a_number_without_a_meaning_is_in_the_error(void **state)
{
    (void)state;
    Cursor c = cursor_over(bytes_over(mixed, sizeof(mixed)), "x");
    cursor_skip(&c, 3);
    cursor_fail_hex(&c, "unknown form", 0x7f);
    cursor_fail_decimal(&c, "a later reason", 5);
    assert_error(cursor_check(&c, &err), &err, ERROR_FORMAT, "x: unknown form 0x7f at offset 0x3");
    Cursor other = cursor_over(bytes_over(mixed, sizeof(mixed)), "y");
    cursor_fail_as(&other, &c);
    assert_error(cursor_check(&other, &err), &err, ERROR_FORMAT,
                 "y: unknown form 0x7f at offset 0x0");
    c = cursor_over(bytes_over(mixed, sizeof(mixed)), "x");
    cursor_fail_decimal(&c, "unknown kind", 12);
    assert_error(cursor_check(&c, &err), &err, ERROR_FORMAT, "x: unknown kind 12 at offset 0x0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_of_value_is_read),
        cmocka_unit_test(a_cut_at_each_byte_fails_and_stays_failed),
        cmocka_unit_test(after_a_failure_every_read_gives_zero),
        cmocka_unit_test(bytes_that_are_absent_end_at_once),
        cmocka_unit_test(big_endian_turns_the_bytes),
        cmocka_unit_test(leb128_reaches_64_bits_and_no_further),
        cmocka_unit_test(padding_may_be_cut_off_by_the_end),
        cmocka_unit_test(text_without_a_nul_fails),
        cmocka_unit_test(a_length_near_the_limit_does_not_wrap),
        cmocka_unit_test(a_part_counts_offsets_in_its_file),
        cmocka_unit_test(a_number_without_a_meaning_is_in_the_error),
    };
    return RUN_TESTS(tests);
}
