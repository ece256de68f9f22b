// SPDX-License-Identifier: Apache-2.0
// Archives of three forms and universal binaries: names and bytes of members, and what is broken.

#include "harness.h"

#include "base/strbuf.h"
#include "llvmcov/containers.h"

typedef struct Seen {
    StrBuf text; // "name=bytes;" for each member
    bool stops;  // at the first one
} Seen;

static bool see(void *ctx, const CovMember *member, Error *err)
{
    Seen *seen = ctx;
    strbuf_printf(&seen->text, "%" STR_FMT "=%" STR_FMT ";", STR_ARG(member->name),
                  STR_ARG(str_from_bytes(member->bytes)));
    return !seen->stops || error_set(err, ERROR_FORMAT, "stopped");
}

static void add_member(StrBuf *b, const char *name, Str bytes)
{
    strbuf_printf(b, "%-16s%-32s%-10zu`\n", name, "0", bytes.len);
    strbuf_add(b, bytes);
    if (bytes.len % 2)
        strbuf_add_char(b, '\n');
}

static void add_archive(StrBuf *b)
{
    strbuf_add(b, STR("!<arch>\n"));
    add_member(b, "/", STR("symbols"));
    add_member(b, "//", STR("a_name_of_more_than_16_bytes.o/\nb.o/\n"));
    add_member(b, "short.o/", STR("one"));
    add_member(b, "/0", STR("two!"));
    add_member(b, "/32", STR("3"));
    add_member(b, "#1/12", STR("of_bsd.o\0\0\0\0four"));
    add_member(b, "#1/20", STR("__.SYMDEF SORTED\0\0\0\0no"));
    add_member(b, "bare", STR(""));
}

static void add_u32(StrBuf *b, uint32_t v)
{
    for (int shift = 24; shift >= 0; shift -= 8)
        strbuf_add_char(b, (char)(v >> shift));
}

static void members_of_every_form_have_their_names(void **state)
{
    (void)state;
    StrBuf b = {0};
    Seen seen = {0};
    Error err;
    add_archive(&b);
    Bytes file = bytes_from_str(strbuf_str(&b));
    assert_true(cov_archive_is(file) && !cov_universal_is(file));
    assert_ok(cov_container_each(file, see, &seen, &err), &err);
    assert_str(strbuf_str(&seen.text), "short.o=one;a_name_of_more_than_16_bytes.o=two!;b.o=3;"
                                       "of_bsd.o=four;bare=;");
    strbuf_deinit(&b);
    strbuf_deinit(&seen.text);
}

static void parts_of_universal_binaries_have_processors(void **state)
{
    (void)state;
    StrBuf b = {0};
    Seen seen = {0};
    Error err;
    add_u32(&b, 0xcafebabe);
    add_u32(&b, 2);
    static const uint32_t parts[2][5] = {{0x01000007, 3, 48, 2, 0}, {0x0100000c, 0, 50, 3, 0}};
    for (size_t i = 0; i < 2; i++)
        for (size_t k = 0; k < 5; k++)
            add_u32(&b, parts[i][k]);
    strbuf_add(&b, STR("abcde"));
    Bytes file = bytes_from_str(strbuf_str(&b));
    assert_true(cov_universal_is(file) && !cov_archive_is(file));
    assert_ok(cov_container_each(file, see, &seen, &err), &err);
    assert_str(strbuf_str(&seen.text), "x86_64=ab;arm64=cde;");
    // Cut anywhere in the table or the parts it is refused.
    for (size_t cut = 8; cut < file.len; cut++) {
        strbuf_clear(&seen.text);
        assert_false(cov_container_each(bytes_slice(file, 0, cut), see, &seen, &err));
        assert_non_null(strstr(err.text, "universal binary"));
    }
    seen.stops = true;
    assert_false(cov_container_each(file, see, &seen, &err));
    assert_string_equal(err.text, "stopped");
    strbuf_deinit(&b);
    strbuf_deinit(&seen.text);
}

static void classes_of_java_are_no_universal_binaries(void **state)
{
    (void)state;
    StrBuf b = {0};
    add_u32(&b, 0xcafebabe);
    add_u32(&b, 52);
    add_u32(&b, 0);
    assert_false(cov_universal_is(bytes_from_str(strbuf_str(&b))));
    assert_false(cov_universal_is((Bytes){0}));
    assert_false(cov_archive_is((Bytes){0}));
    strbuf_deinit(&b);
}

static void an_archive_cut_anywhere_has_whole_members_or_is_refused(void **state)
{
    (void)state;
    StrBuf b = {0};
    Error err;
    add_archive(&b);
    Bytes file = bytes_from_str(strbuf_str(&b));
    size_t refused = 0;
    for (size_t cut = 8; cut < file.len; cut++) {
        Seen seen = {0};
        bool ok = cov_container_each(bytes_slice(file, 0, cut), see, &seen, &err);
        refused += !ok;
        if (!ok)
            assert_non_null(strstr(err.text, "archive"));
        strbuf_deinit(&seen.text);
    }
    // All but the ends of the seven members before the last, with and without their padding.
    assert_in_range(refused, file.len - 8 - 14, file.len - 8 - 7);
    strbuf_deinit(&b);
}

static void broken_headers_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *error;
    } cases[] = {
        {"!<arch>\nx               0                               1a        `\n", "not a number"},
        {"!<arch>\nx               0                               0         ..", "does not end"},
        {"!<arch>\nx               0                               9         `\nab", "cut short"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        Seen seen = {0};
        Error err;
        assert_false(
            cov_container_each(bytes_from_str(str_from_c(cases[i].text)), see, &seen, &err));
        assert_non_null(strstr(err.text, cases[i].error));
        strbuf_deinit(&seen.text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_of_every_form_have_their_names),
        cmocka_unit_test(parts_of_universal_binaries_have_processors),
        cmocka_unit_test(classes_of_java_are_no_universal_binaries),
        cmocka_unit_test(an_archive_cut_anywhere_has_whole_members_or_is_refused),
        cmocka_unit_test(broken_headers_are_refused),
    };
    return RUN_TESTS(tests);
}
