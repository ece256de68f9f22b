// SPDX-License-Identifier: Apache-2.0
// base/error and base/log: what the user is told.

#include "harness.h"

#include "base/log.h"
#include "base/strbuf.h"

#include <errno.h>

static Error err;

static void setting_an_error_fails_and_clears_the_old_one(void **state)
{
    (void)state;
    err.os_errno = 5;
    strcpy(err.hint, "old");
    assert_false(error_set(&err, ERROR_FORMAT, "block %d", 7));
    assert_int_equal(err.kind, ERROR_FORMAT);
    assert_string_equal(err.text, "block 7");
    assert_string_equal(err.hint, "");
    assert_int_equal(err.os_errno, 0);
    assert_false(error_set(NULL, ERROR_FORMAT, "nobody asks"));
    assert_false(error_os(NULL, "nobody asks"));
    assert_false(error_context(NULL, "nobody asks"));
    assert_false(error_hint(NULL, "nobody asks"));
}

static void a_system_error_keeps_its_number_and_says_its_kind(void **state)
{
    (void)state;
    static const struct {
        int os_errno;
        ErrorKind kind;
    } rows[] = {{EACCES, ERROR_PERMISSION}, {EPERM, ERROR_PERMISSION}, {ENOENT, ERROR_NOT_FOUND},
                {ESRCH, ERROR_NOT_FOUND},   {EIO, ERROR_OS},           {ENOSPC, ERROR_OS}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        errno = rows[i].os_errno;
        assert_false(error_os(&err, "cannot open '%s'", "a"));
        assert_int_equal(err.kind, rows[i].kind);
        assert_int_equal(err.os_errno, rows[i].os_errno);
        assert_int_equal(errno, rows[i].os_errno);
    }
    errno = ENOENT;
    assert_false(error_os(&err, "cannot open '%s'", "a"));
    assert_string_equal(err.text, "cannot open 'a': No such file or directory");
}

static void context_goes_before_and_keeps_the_rest(void **state)
{
    (void)state;
    error_set(&err, ERROR_LIMIT, "inner");
    error_hint(&err, "do %s", "this");
    assert_false(error_context(&err, "cannot read '%s'", "x"));
    assert_string_equal(err.text, "cannot read 'x': inner");
    assert_string_equal(err.hint, "do this");
    assert_int_equal(err.kind, ERROR_LIMIT);
    error_set(&err, ERROR_FORMAT, "again: %s", err.text);
    assert_string_equal(err.text, "again: cannot read 'x': inner");
}

static void text_over_the_limit_is_cut_and_ends(void **state)
{
    (void)state;
    char text[3000];
    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    errno = EIO;
    error_os(&err, "%s", text);
    assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
    error_context(&err, "%s", text);
    assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
    error_hint(&err, "%s", text);
    assert_int_equal(strlen(err.hint), sizeof(err.hint) - 1);
}

static void keep_line(void *ctx, Str line)
{
    StrBuf *lines = ctx;
    strbuf_add(lines, line);
    strbuf_add_char(lines, '|');
}

static void debug_messages_come_from_the_asked_domains_only(void **state)
{
    (void)state;
    StrBuf lines = {0};
    log_init(STR("elf,unwind:2,nonsense"), keep_line, &lines);
    log_debug(LOG_ELF, 1, "one %d", 1);
    log_debug(LOG_ELF, 2, "two");
    log_debug(LOG_UNWIND, 2, "three");
    log_debug(LOG_STORE, 1, "four");
    assert_str(strbuf_str(&lines), "debug: no domain 'nonsense'|elf: one 1|unwind: three|");
    strbuf_clear(&lines);
    log_init(STR("all:3"), keep_line, &lines);
    log_debug(LOG_STORE, 3, "five");
    assert_str(strbuf_str(&lines), "store: five|");
    log_init(STR(""), NULL, NULL);
    strbuf_deinit(&lines);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(setting_an_error_fails_and_clears_the_old_one),
        cmocka_unit_test(a_system_error_keeps_its_number_and_says_its_kind),
        cmocka_unit_test(context_goes_before_and_keeps_the_rest),
        cmocka_unit_test(text_over_the_limit_is_cut_and_ends),
        cmocka_unit_test(debug_messages_come_from_the_asked_domains_only),
    };
    return RUN_TESTS(tests);
}
