// SPDX-License-Identifier: Apache-2.0
// Compressed sections and .gnu_debugdata.

#include "elf/compress.h"

#include "elf/elf.h"
#include "elf_image.h"

#include <libdeflate.h>
#include <lzma.h>
#include <setjmp.h>
#include <stdarg.h>
#include <zstd.h>

#include <cmocka.h>

static Arena arena;
static Error err;
static char text[5000];

static int clean_up(void **state)
{
    (void)state;
    arena_deinit(&arena);
    err = (Error){0};
    return 0;
}

static int fill_text(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(text); i++)
        text[i] = (char)('a' + (i * i / 7) % 26);
    return 0;
}

static Bytes zlib_pack(void)
{
    struct libdeflate_compressor *c = libdeflate_alloc_compressor(6);
    uint8_t *out = arena_alloc(&arena, sizeof(text), 1);
    size_t n = libdeflate_zlib_compress(c, text, sizeof(text), out, sizeof(text));
    libdeflate_free_compressor(c);
    assert_int_not_equal(n, 0);
    return bytes_over(out, n);
}

static Bytes zstd_pack(void)
{
    uint8_t *out = arena_alloc(&arena, sizeof(text), 1);
    return bytes_over(out, ZSTD_compress(out, sizeof(text), text, sizeof(text), 3));
}

static Bytes xz_pack(void)
{
    uint8_t *out = arena_alloc(&arena, 2 * sizeof(text), 1);
    size_t n = 0;
    assert_int_equal(lzma_easy_buffer_encode(1, LZMA_CHECK_CRC64, NULL, (const uint8_t *)text,
                                             sizeof(text), out, &n, 2 * sizeof(text)),
                     LZMA_OK);
    return bytes_over(out, n);
}

static Bytes with_chdr(uint32_t method, uint64_t size, Bytes packed)
{
    Elf64_Chdr h = {.ch_type = method, .ch_size = size, .ch_addralign = 1};
    uint8_t *out = arena_alloc(&arena, sizeof(h) + packed.len, 1);
    memcpy(out, &h, sizeof(h));
    bytes_copy(out + sizeof(h), packed);
    return bytes_over(out, sizeof(h) + packed.len);
}

static Bytes with_zdebug_head(uint64_t size, Bytes packed)
{
    uint8_t *out = arena_alloc(&arena, 12 + packed.len, 1);
    size = __builtin_bswap64(size);
    memcpy(out, "ZLIB", 4);
    memcpy(out + 4, &size, 8);
    bytes_copy(out + 12, packed);
    return bytes_over(out, 12 + packed.len);
}

static void zlib_and_zstd_sections_are_unpacked(void **state)
{
    (void)state;
    Bytes got;
    assert_true(
        elf_decompress_section(&arena, with_chdr(1, sizeof(text), zlib_pack()), &got, &err));
    assert_true(bytes_equal(got, text, sizeof(text)));
    assert_true(
        elf_decompress_section(&arena, with_chdr(2, sizeof(text), zstd_pack()), &got, &err));
    assert_true(bytes_equal(got, text, sizeof(text)));
}

static void an_old_zdebug_section_is_found_under_its_new_name(void **state)
{
    (void)state;
    ElfImage m = image_begin();
    image_add(&m, ".zdebug_info", SHT_PROGBITS, 0, with_zdebug_head(sizeof(text), zlib_pack()));
    Elf elf;
    Bytes got;
    assert_true(elf_parse(&arena, image_finish(&m), &elf, &err));
    assert_true(elf_section_load(&arena, &elf, STR(".debug_info"), &got, &err));
    assert_true(bytes_equal(got, text, sizeof(text)));
    strbuf_deinit(&m.file);
}

static void a_broken_section_is_named_in_the_error(void **state)
{
    (void)state;
    ElfImage m = image_begin();
    image_add(&m, ".debug_info", SHT_PROGBITS, SHF_COMPRESSED, with_chdr(7, 10, zlib_pack()));
    Elf elf;
    Bytes got;
    assert_true(elf_parse(&arena, image_finish(&m), &elf, &err));
    assert_false(elf_section_load(&arena, &elf, STR(".debug_info"), &got, &err));
    assert_int_equal(err.kind, ERROR_UNSUPPORTED);
    assert_non_null(strstr(err.text, "section '.debug_info'"));
    strbuf_deinit(&m.file);
}

static void a_stated_size_that_is_not_the_real_one_is_refused(void **state)
{
    (void)state;
    Bytes got;
    uint64_t sizes[] = {0, 1, sizeof(text) - 1, sizeof(text) + 1, 1ull << 40, UINT64_MAX};
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        assert_false(
            elf_decompress_section(&arena, with_chdr(1, sizes[i], zlib_pack()), &got, &err));
        assert_false(
            elf_decompress_section(&arena, with_chdr(2, sizes[i], zstd_pack()), &got, &err));
        assert_false(
            elf_decompress_zdebug(&arena, with_zdebug_head(sizes[i], zlib_pack()), &got, &err));
    }
}

static void a_bomb_is_refused_before_memory_is_taken(void **state)
{
    (void)state;
    Bytes got;
    size_t before = arena.taken_bytes;
    assert_false(elf_decompress_section(&arena, with_chdr(1, 1ull << 32, zlib_pack()), &got, &err));
    assert_non_null(strstr(err.text, "claims"));
    assert_true(arena.taken_bytes < before + (1 << 20));
}

static void no_cut_of_a_compressed_section_is_accepted(void **state)
{
    (void)state;
    Bytes packed[] = {with_chdr(1, sizeof(text), zlib_pack()),
                      with_chdr(2, sizeof(text), zstd_pack())};
    Bytes got;
    for (size_t k = 0; k < ARRAY_LEN(packed); k++) {
        for (size_t n = 0; n < packed[k].len; n++) {
            Arena scratch = {0};
            assert_false(
                elf_decompress_section(&scratch, bytes_slice(packed[k], 0, n), &got, &err));
            arena_deinit(&scratch);
        }
    }
}

static void xz_is_unpacked_and_its_cuts_are_refused(void **state)
{
    (void)state;
    Bytes packed = xz_pack();
    Bytes got;
    assert_true(elf_decompress_xz(&arena, packed, &got, &err));
    assert_true(bytes_equal(got, text, sizeof(text)));
    for (size_t n = 0; n < packed.len; n++)
        assert_false(elf_decompress_xz(&arena, bytes_slice(packed, 0, n), &got, &err));
}

static void flipped_bytes_of_xz_are_noticed(void **state)
{
    (void)state;
    Bytes packed = xz_pack();
    uint8_t *copy = arena_alloc(&arena, packed.len, 1);
    memcpy(copy, packed.ptr, packed.len);
    Bytes got;
    for (size_t i = 0; i < packed.len; i += 3) {
        copy[i] ^= 0x40;
        assert_false(elf_decompress_xz(&arena, bytes_over(copy, packed.len), &got, &err));
        copy[i] ^= 0x40;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(zlib_and_zstd_sections_are_unpacked, clean_up),
        cmocka_unit_test_teardown(an_old_zdebug_section_is_found_under_its_new_name, clean_up),
        cmocka_unit_test_teardown(a_broken_section_is_named_in_the_error, clean_up),
        cmocka_unit_test_teardown(a_stated_size_that_is_not_the_real_one_is_refused, clean_up),
        cmocka_unit_test_teardown(a_bomb_is_refused_before_memory_is_taken, clean_up),
        cmocka_unit_test_teardown(no_cut_of_a_compressed_section_is_accepted, clean_up),
        cmocka_unit_test_teardown(xz_is_unpacked_and_its_cuts_are_refused, clean_up),
        cmocka_unit_test_teardown(flipped_bytes_of_xz_are_noticed, clean_up),
    };
    return cmocka_run_group_tests(tests, fill_text, NULL);
}
