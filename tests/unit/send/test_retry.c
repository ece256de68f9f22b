// SPDX-License-Identifier: Apache-2.0
// When a request is tried again, and what a collector's reply says.

#include "send/retry.h"

#include "harness.h"

#define S INT64_C(1000000000)

static void servers_that_are_busy_are_asked_again_and_others_are_not(void **state)
{
    (void)state;
    static const unsigned again[] = {429, 502, 503, 504}, never[] = {200, 301, 400, 404, 500, 505};
    for (size_t i = 0; i < ARRAY_LEN(again); i++)
        assert_true(retry_status(again[i]));
    for (size_t i = 0; i < ARRAY_LEN(never); i++)
        assert_false(retry_status(never[i]));
}

static void delays_double_up_to_half_a_minute_within_a_quarter(void **state)
{
    (void)state;
    int64_t middle = S / 2;
    for (unsigned attempt = 1; attempt < 100; attempt++) {
        int64_t least = INT64_MAX, most = 0;
        for (uint64_t random = 0; random < 100; random++) {
            int64_t delay = retry_delay_ns(attempt, random * UINT64_C(0x9e3779b97f4a7c15));
            least = MIN(least, delay);
            most = MAX(most, delay);
        }
        assert_true(least >= middle - middle / 4 && most <= middle + middle / 4);
        assert_true(least < most);
        middle = MIN(middle * 2, 30 * S);
    }
}

static void retry_after_is_seconds_or_a_date(void **state)
{
    (void)state;
    int64_t ns = -1;
    assert_true(retry_after_parse(STR(" 120\r\n"), 0, &ns));
    assert_int_equal(ns, 120 * S);
    assert_true(retry_after_parse(STR("99999999999"), 0, &ns));
    assert_int_equal(ns, 86400 * S);
    // 1994-11-06 08:49:37 is 784111777.
    assert_true(
        retry_after_parse(STR("Sun, 06 Nov 1994 08:49:37 GMT"), INT64_C(784111767) * S, &ns));
    assert_int_equal(ns, 10 * S);
    assert_true(
        retry_after_parse(STR("Sun, 06 Nov 1994 08:49:37 GMT"), INT64_C(784111777) * S + 1, &ns));
    assert_int_equal(ns, 0);
    static const char *const wrong[] = {"",
                                        "-1",
                                        "soon",
                                        "1.5",
                                        "Sun, 06 Nov 1994 08:49:37",
                                        "Sun, 06 Nov 1994 08:49:37 GMT and a good deal more"};
    ns = 7;
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
        assert_false(retry_after_parse(str_from_c(wrong[i]), 0, &ns));
    assert_int_equal(ns, 7);
}

static void a_reply_that_rejects_profiles_says_how_many_and_why(void **state)
{
    (void)state;
    static const uint8_t reply[] = "\x0a\x0a\x08\x96\x01\x12\x05"
                                   "quota"
                                   "\x11........";
    int64_t count = 0;
    Str why = {0};
    Bytes whole = {reply, sizeof(reply) - 1};
    assert_true(otlp_reply_rejects(whole, &count, &why));
    assert_int_equal(count, 150);
    assert_str(why, "quota");
    // The message ends at its twelfth byte; a part of it says nothing.
    for (size_t len = 0; len < 12; len++) {
        uint8_t *part = test_malloc(len + 1); // checked by the sanitizers
        memcpy(part, reply, len);
        assert_false(otlp_reply_rejects((Bytes){part, len}, &count, &why));
        test_free(part);
    }
    static const uint8_t warned[] = "\x0a\x03\x12\x01x", odd[] = "\x0f";
    assert_false(otlp_reply_rejects((Bytes){warned, 5}, &count, &why));
    assert_false(otlp_reply_rejects((Bytes){odd, 1}, &count, &why));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(servers_that_are_busy_are_asked_again_and_others_are_not),
        cmocka_unit_test(delays_double_up_to_half_a_minute_within_a_quarter),
        cmocka_unit_test(retry_after_is_seconds_or_a_date),
        cmocka_unit_test(a_reply_that_rejects_profiles_says_how_many_and_why),
    };
    return RUN_TESTS(tests);
}
