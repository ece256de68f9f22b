// SPDX-License-Identifier: Apache-2.0
// Which crate a Rust name is of, and what is kept of programs that are not programs.

#include "harness.h"

#include "collect/cover/doctest.h"

static void crate_is(const char *name, const char *crate)
{
    assert_str(cover_rust_crate_of(str_from_c(name)), crate);
}

static void the_crate_is_that_of_the_path(void **state)
{
    (void)state;
    crate_is("_RNvCsdqsnfIJc26X_8rust_out4main", "rust_out");
    crate_is("_RNCNvCs1_8rust_out4main0", "rust_out");
    crate_is("_RINvMs_NtCsyvqjo2XFmN_8arrayvec8arrayvecINtB5_8ArrayVeclKj3_E5drainINtCs2_8rust_"
             "out5RangejEECs2_8rust_out",
             "arrayvec");
    crate_is("_RNvXs0_NtCs1_6either2itE4nextCs2_8rust_out", "either");
    crate_is("_RNvMNtC8rust_out1aS", "rust_out");
    crate_is("_RNvCu5_caf_24main", "caf_2"); // punycode
}

static void other_names_have_no_crate(void **state)
{
    (void)state;
    const char *const names[] = {
        "",        "_R",           "_RN",      "_RNv",   "_RNvC",
        "_RNvCs_", "main",         "_ZN1a1bE", "_RNvC9", "_RNvC99999999999999999x",
        "_RNvYjC", "_RNvC8rust_ou"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        crate_is(names[i], "");
}

static void what_is_no_program_is_refused(void **state)
{
    (void)state;
    Arena arena = {0};
    StrBuf out = {0};
    BuildId id = {0};
    Error err = {0};
    assert_false(cover_doctest_mapping(&arena, bytes_over("\177ELF", 4), &id, &out, &err));
    assert_true(err.text[0]);
    assert_int_equal(id.len, 0);
    strbuf_deinit(&out);
    arena_deinit(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_crate_is_that_of_the_path),
        cmocka_unit_test(other_names_have_no_crate),
        cmocka_unit_test(what_is_no_program_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
