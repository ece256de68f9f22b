// SPDX-License-Identifier: Apache-2.0
// MD5 references and blobs of names.

#include "harness.h"

#include "base/md5.h"
#include "llvmcov/names.h"

static void md5_gives_the_low_half_of_the_digest(void **state)
{
    (void)state;
    // RFC 1321, A.5: d41d8cd98f00b204…, 900150983cd24fb0…, 57edf4a22be3c955…
    assert_int_equal(md5_low64(bytes_from_str(STR(""))), 0x04b2008fd98c1dd4);
    assert_int_equal(md5_low64(bytes_from_str(STR("abc"))), 0xb04fd23c98500190);
    Str eighty =
        STR("12345678901234567890123456789012345678901234567890123456789012345678901234567890");
    assert_int_equal(md5_low64(bytes_from_str(eighty)), 0x55c9e32ba2f4ed57);
}

static void many_at_once_give_what_each_gives_alone(void **state)
{
    (void)state;
    enum { N = 203 };
    char text[N + 1];
    Str texts[N];
    uint64_t refs[N];
    for (size_t i = 0; i < N; i++)
        text[i] = (char)('a' + i * 7 % 26);
    for (size_t i = 0; i < N; i++)
        texts[i] = str_over(text, i * 89 % N); // long ones beside short ones
    for (size_t n = 0; n < N; n += 5) {
        md5_low64_many(texts, n, refs);
        for (size_t i = 0; i < n; i++)
            assert_int_equal(refs[i], md5_low64(bytes_from_str(texts[i])));
    }
}

static void a_stored_blob_gives_its_names(void **state)
{
    (void)state;
    Arena arena = {0};
    ProfNames names = {0};
    Error err;
    assert_ok(prof_names_add_blob(&arena, &names,
                                  bytes_over("\x08\x00main\x01"
                                             "fib\x00\x00",
                                             12),
                                  &err),
              &err);
    assert_int_equal(names.names.len, 2);
    assert_str(prof_names_find(&names, md5_low64(bytes_from_str(STR("fib")))), "fib");
    assert_str(prof_names_find(&names, 7), "");
    prof_names_deinit(&names);
    arena_deinit(&arena);
}

static void a_blob_cut_short_is_refused_with_its_offset(void **state)
{
    (void)state;
    Arena arena = {0};
    ProfNames names = {0};
    Error err;
    assert_error(prof_names_add_blob(&arena, &names, bytes_over("\x08\x00main", 6), &err), &err,
                 ERROR_FORMAT, "0x2");
    prof_names_deinit(&names);
    arena_deinit(&arena);
}

static void a_zlib_size_that_cannot_be_is_refused_before_memory_is_taken(void **state)
{
    (void)state;
    Arena arena = {0};
    Bytes out;
    ProfInflater in = {0};
    Error err;
    assert_error(prof_inflate(&in, &arena, bytes_over("xy", 2), 1ull << 40, &out, &err), &err,
                 ERROR_FORMAT, "cannot hold");
    prof_inflater_deinit(&in);
    arena_deinit(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(md5_gives_the_low_half_of_the_digest),
        cmocka_unit_test(many_at_once_give_what_each_gives_alone),
        cmocka_unit_test(a_stored_blob_gives_its_names),
        cmocka_unit_test(a_blob_cut_short_is_refused_with_its_offset),
        cmocka_unit_test(a_zlib_size_that_cannot_be_is_refused_before_memory_is_taken),
    };
    return RUN_TESTS(tests);
}
