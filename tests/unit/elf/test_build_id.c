// SPDX-License-Identifier: Apache-2.0
// Build-id notes and the links to separate debug files.

#include "elf/build_id.h"

#include "elf_image.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static Arena arena;
static Error err;
static const uint8_t id_bytes[20] = {0xab, 0xcd, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};

static int clean_up(void **state)
{
    (void)state;
    arena_deinit(&arena);
    err = (Error){0};
    return 0;
}

static void a_build_id_is_found_behind_other_notes(void **state)
{
    (void)state;
    StrBuf notes = {0};
    uint32_t abi_tag[] = {4, 16, NT_GNU_ABI_TAG};
    strbuf_add_bytes(&notes, bytes_over(abi_tag, sizeof(abi_tag)));
    strbuf_add(&notes, STR("GNU\0aaaabbbbccccdddd"));
    image_build_id_note(&notes, id_bytes, 20);
    BuildId id;
    assert_true(elf_build_id_find(bytes_from_str(strbuf_str(&notes)), 4, &id, &err));
    assert_true(bytes_equal(build_id_bytes(&id), id_bytes, 20));
    Str hex = build_id_hex(&arena, &id);
    assert_true(str_starts_with(hex, STR("abcd0102")));
    assert_int_equal(hex.len, 40);
    BuildId back;
    assert_true(build_id_from_hex(hex, &back));
    assert_true(build_id_same(&id, &back));
    strbuf_deinit(&notes);
}

static void notes_without_a_build_id_give_none(void **state)
{
    (void)state;
    BuildId id;
    assert_true(elf_build_id_find((Bytes){0}, 4, &id, &err));
    assert_int_equal(id.len, 0);
    BuildId none = {0};
    assert_false(build_id_same(&id, &none)); // two without are not the same
}

static void notes_cut_at_each_byte_never_give_a_wrong_id(void **state)
{
    (void)state;
    StrBuf notes = {0};
    image_build_id_note(&notes, id_bytes, 20);
    for (size_t n = 1; n < notes.len; n++) {
        uint8_t *copy = heap_alloc(n);
        memcpy(copy, notes.ptr, n);
        BuildId id = {.len = 99};
        assert_false(elf_build_id_find(bytes_over(copy, n), 4, &id, &err));
        assert_int_equal(id.len, 99);
        assert_int_not_equal(err.text[0], 0);
        heap_free(copy);
    }
    strbuf_deinit(&notes);
}

static void a_build_id_longer_than_the_cap_is_refused(void **state)
{
    (void)state;
    uint8_t big[ELF_BUILD_ID_MAX + 1] = {0};
    StrBuf notes = {0};
    image_build_id_note(&notes, big, sizeof(big));
    strbuf_add_repeated(&notes, 0, 3);
    BuildId id;
    assert_false(elf_build_id_find(bytes_from_str(strbuf_str(&notes)), 4, &id, &err));
    assert_non_null(strstr(err.text, "build-id of 65 bytes"));
    strbuf_deinit(&notes);
}

static void hex_that_is_no_build_id_is_refused(void **state)
{
    (void)state;
    BuildId id;
    assert_false(build_id_from_hex(STR(""), &id));
    assert_false(build_id_from_hex(STR("abc"), &id));
    assert_false(build_id_from_hex(STR("zz"), &id));
}

static void an_object_gives_its_links(void **state)
{
    (void)state;
    ElfImage m = image_begin();
    StrBuf notes = {0};
    image_build_id_note(&notes, id_bytes, 20);
    image_add(&m, ".note.gnu.build-id", SHT_NOTE, SHF_ALLOC, bytes_from_str(strbuf_str(&notes)));
    image_add(&m, ".gnu_debuglink", SHT_PROGBITS, 0, bytes_over("x.debug\0\x78\x56\x34\x12", 12));
    image_add(&m, ".gnu_debugaltlink", SHT_PROGBITS, 0, bytes_over("/a/b\0\x01\x02", 7));
    Elf elf;
    ElfDebugLink link;
    ElfAltLink alt;
    assert_true(elf_parse(&arena, image_finish(&m), &elf, &err));
    BuildId id = elf_build_id(&elf);
    assert_true(bytes_equal(build_id_bytes(&id), id_bytes, 20));
    assert_true(elf_debug_link_find(&elf, &link));
    assert_true(str_equal(link.name, STR("x.debug")));
    assert_int_equal(link.crc, 0x12345678);
    assert_true(elf_alt_link_find(&elf, &alt));
    assert_true(str_equal(alt.path, STR("/a/b")));
    assert_true(bytes_equal(alt.build_id, "\x01\x02", 2));
    strbuf_deinit(&notes);
    strbuf_deinit(&m.file);
}

static void a_debug_link_with_directories_is_none(void **state)
{
    (void)state;
    ElfImage m = image_begin();
    image_add(&m, ".gnu_debuglink", SHT_PROGBITS, 0, bytes_over("../../x\0\x78\x56\x34\x12", 12));
    Elf elf;
    ElfDebugLink link;
    assert_true(elf_parse(&arena, image_finish(&m), &elf, &err));
    assert_false(elf_debug_link_find(&elf, &link));
    strbuf_deinit(&m.file);
}

static void the_checksum_is_the_one_of_debug_links(void **state)
{
    (void)state;
    assert_int_equal(elf_crc32(bytes_over("123456789", 9)), 0xcbf43926);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_build_id_is_found_behind_other_notes, clean_up),
        cmocka_unit_test_teardown(notes_without_a_build_id_give_none, clean_up),
        cmocka_unit_test_teardown(notes_cut_at_each_byte_never_give_a_wrong_id, clean_up),
        cmocka_unit_test_teardown(a_build_id_longer_than_the_cap_is_refused, clean_up),
        cmocka_unit_test_teardown(hex_that_is_no_build_id_is_refused, clean_up),
        cmocka_unit_test_teardown(an_object_gives_its_links, clean_up),
        cmocka_unit_test_teardown(a_debug_link_with_directories_is_none, clean_up),
        cmocka_unit_test(the_checksum_is_the_one_of_debug_links),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
