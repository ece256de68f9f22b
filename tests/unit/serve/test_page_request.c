// SPDX-License-Identifier: Apache-2.0
// Who gets the page: the right path, for the right host, from no other site.

#include "serve/page_request.h"

#include "harness.h"

#define TOKEN "0123456789abcdef0123456789abcdef"
#define HOST  "Host: 127.0.0.1:8000\r\n"

static PageStatus judge(const char *head)
{
    bool body;
    return page_request_judge(str_from_c(head), 8000, STR(TOKEN), &body);
}

static void the_page_is_for_its_token(void **state)
{
    (void)state;
    assert_int_equal(judge("GET /" TOKEN "/ HTTP/1.1\r\n" HOST "\r\n"), PAGE_OK);
    assert_int_equal(judge("GET / HTTP/1.1\r\n" HOST "\r\n"), PAGE_UNKNOWN);
    assert_int_equal(judge("GET /" TOKEN " HTTP/1.1\r\n" HOST "\r\n"), PAGE_UNKNOWN);
    assert_int_equal(judge("GET /" TOKEN "/? HTTP/1.1\r\n" HOST "\r\n"), PAGE_UNKNOWN);
    assert_int_equal(judge("GET /1123456789abcdef0123456789abcdef/ HTTP/1.1\r\n" HOST "\r\n"),
                     PAGE_UNKNOWN);
    assert_int_equal(judge("GET http://127.0.0.1:8000/" TOKEN "/ HTTP/1.1\r\n" HOST "\r\n"),
                     PAGE_UNKNOWN);
}

static void other_hosts_are_refused(void **state)
{
    (void)state;
    static const char *const hosts[] = {"evil.example:8000", "127.0.0.1", "127.0.0.1:80",
                                        "localhost:8000.evil.example", ""};
    char head[300];
    for (size_t i = 0; i < ARRAY_LEN(hosts); i++) {
        snprintf(head, sizeof(head), "GET /" TOKEN "/ HTTP/1.1\r\nHost: %s\r\n\r\n", hosts[i]);
        assert_int_equal(judge(head), PAGE_FORBIDDEN);
    }
    assert_int_equal(judge("GET /" TOKEN "/ HTTP/1.1\r\nhOST:localhost:8000\r\n\r\n"), PAGE_OK);
    assert_int_equal(judge("GET /" TOKEN "/ HTTP/1.1\r\n\r\n"), PAGE_BAD);
    assert_int_equal(judge("GET /" TOKEN "/ HTTP/1.1\r\n" HOST HOST "\r\n"), PAGE_BAD);
}

static void pages_of_other_sites_are_refused(void **state)
{
    (void)state;
    static const char *const origins[] = {"http://evil.example", "null", "https://127.0.0.1:8000",
                                          "http://127.0.0.1:8001", ""};
    char head[300];
    for (size_t i = 0; i < ARRAY_LEN(origins); i++) {
        snprintf(head, sizeof(head), "GET /" TOKEN "/ HTTP/1.1\r\n" HOST "Origin: %s\r\n\r\n",
                 origins[i]);
        assert_int_equal(judge(head), PAGE_FORBIDDEN);
    }
    // The first says it, whatever the second says.
    assert_int_equal(judge("GET /" TOKEN "/ HTTP/1.1\r\n" HOST "Origin: null\r\n"
                           "Origin: http://127.0.0.1:8000\r\n\r\n"),
                     PAGE_FORBIDDEN);
    assert_int_equal(
        judge("GET /" TOKEN "/ HTTP/1.1\r\n" HOST "Origin: http://127.0.0.1:8000\r\n\r\n"),
        PAGE_OK);
}

static void only_reading_is_allowed(void **state)
{
    (void)state;
    bool body;
    assert_int_equal(judge("POST /" TOKEN "/ HTTP/1.1\r\n" HOST "\r\n"), PAGE_METHOD);
    assert_int_equal(judge("OPTIONS /" TOKEN "/ HTTP/1.1\r\n" HOST "\r\n"), PAGE_METHOD);
    assert_int_equal(page_request_judge(STR("HEAD /" TOKEN "/ HTTP/1.0\r\n" HOST "\r\n"), 8000,
                                        STR(TOKEN), &body),
                     PAGE_OK);
    assert_false(body);
}

static void what_is_no_request_is_bad(void **state)
{
    (void)state;
    static const char *const heads[] = {"",
                                        "\r\n\r\n",
                                        "GET\r\n\r\n",
                                        "GET /" TOKEN "/\r\n" HOST "\r\n",
                                        "GET /" TOKEN "/ HTTP/2\r\n" HOST "\r\n",
                                        "GET /" TOKEN "/ HTTP/1.1\r\n Host: 127.0.0.1:8000\r\n\r\n",
                                        "GET /" TOKEN "/ HTTP/1.1\r\nHost : 127.0.0.1:8000\r\n\r\n",
                                        "GET /" TOKEN "/ HTTP/1.1\r\nHost\r\n\r\n"};
    for (size_t i = 0; i < ARRAY_LEN(heads); i++)
        assert_int_equal(judge(heads[i]), PAGE_BAD);
}

static void a_head_cut_at_each_byte_is_not_complete(void **state)
{
    (void)state;
    static const char whole[] = "GET /" TOKEN "/ HTTP/1.1\r\n" HOST "\r\n";
    for (size_t i = 0; i < sizeof(whole) - 1; i++) {
        bool body;
        assert_int_equal(page_head_len(str_over(whole, i)), 0);
        assert_int_not_equal(page_request_judge(str_over(whole, i), 1, STR(TOKEN), &body), PAGE_OK);
    }
    assert_int_equal(page_head_len(str_from_c(whole)), sizeof(whole) - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_page_is_for_its_token),
        cmocka_unit_test(other_hosts_are_refused),
        cmocka_unit_test(pages_of_other_sites_are_refused),
        cmocka_unit_test(only_reading_is_allowed),
        cmocka_unit_test(what_is_no_request_is_bad),
        cmocka_unit_test(a_head_cut_at_each_byte_is_not_complete),
    };
    return cmocka_run_group_tests_name("serve/page_request", tests, NULL, NULL);
}
