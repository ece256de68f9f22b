// SPDX-License-Identifier: Apache-2.0
// Decompressed debug sections in the symbol cache: found again, and nothing damaged is believed.

#include "symbolise/section_cache.h"

#include "harness.h"

static const char packed_a[] = "packed a", packed_b[] = "packed b", packed_c[] = "packed c";
static const char plain_a[] = "the content of a", plain_b[] = "b";

static Bytes over(const char *text)
{
    return bytes_from_str(str_from_c(text));
}

static void make(StrBuf *file)
{
    const UnpackedSection sections[] = {{over(packed_a), over(plain_a)},
                                        {over(packed_b), over(plain_b)}};
    assert_true(section_set_encode(sections, ARRAY_LEN(sections), file));
}

static Bytes bytes_of(const StrBuf *file)
{
    return bytes_from_str(strbuf_str(file));
}

static void a_section_is_found_by_its_compressed_bytes(void **state)
{
    (void)state;
    StrBuf file = {0};
    SectionSet set;
    Bytes got;
    make(&file);
    assert_true(section_set_open(bytes_of(&file), &set, NULL));
    assert_true(section_set_find(&set, over(packed_a), &got));
    assert_str(str_from_bytes(got), plain_a);
    assert_true(section_set_find(&set, over(packed_b), &got));
    assert_str(str_from_bytes(got), plain_b);
    assert_false(section_set_find(&set, over(packed_c), &got));
    strbuf_deinit(&file);
}

static void a_damaged_content_is_not_used_and_the_others_are(void **state)
{
    (void)state;
    StrBuf file = {0};
    SectionSet set;
    Bytes got;
    make(&file);
    file.ptr[file.len - 1] ^= 1; // of b
    assert_true(section_set_open(bytes_of(&file), &set, NULL));
    assert_false(section_set_find(&set, over(packed_b), &got));
    assert_true(section_set_find(&set, over(packed_a), &got));
    strbuf_deinit(&file);
}

static void a_file_that_is_cut_or_changed_gives_no_false_content(void **state)
{
    (void)state;
    StrBuf file = {0};
    SectionSet set;
    Bytes got;
    make(&file);
    for (size_t i = 0; i < file.len; i++) {
        if (section_set_open(bytes_slice(bytes_of(&file), 0, i), &set, NULL))
            fail_msg("a file of %zu bytes was taken", i);
        file.ptr[i] ^= 0x55;
        if (section_set_open(bytes_of(&file), &set, NULL) &&
            section_set_find(&set, over(packed_a), &got))
            assert_str(str_from_bytes(got), plain_a);
        file.ptr[i] ^= 0x55;
    }
    strbuf_deinit(&file);
}

static void what_does_not_fit_is_not_written(void **state)
{
    (void)state;
    StrBuf file = {0};
    Arena arena = {0};
    UnpackedSection many[SECTION_CACHE_ROWS_MAX + 1] = {{{0}, {0}}};
    assert_false(section_set_encode(many, 0, &file));
    assert_false(section_set_encode(many, ARRAY_LEN(many), &file));
    many[0].content = (Bytes){(const uint8_t *)packed_a, SYMBOL_CACHE_FILE_MAX_BYTES};
    assert_false(section_set_encode(many, 1, &file));
    assert_int_equal(file.len, 0);
    assert_str(section_cache_name(&arena, &(BuildId){.len = 2}), "");
    assert_str(section_cache_name(&arena, &(BuildId){.bytes = {1, 2, 3, 4}, .len = 4}),
               "debug-01020304.sym");
    arena_deinit(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_section_is_found_by_its_compressed_bytes),
        cmocka_unit_test(a_damaged_content_is_not_used_and_the_others_are),
        cmocka_unit_test(a_file_that_is_cut_or_changed_gives_no_false_content),
        cmocka_unit_test(what_does_not_fit_is_not_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
