// SPDX-License-Identifier: Apache-2.0
// Header, sections, segments and symbols of ELF objects.

#include "elf/elf.h"

#include "elf_image.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static Arena arena;
static Error err;

static int clean_up(void **state)
{
    (void)state;
    arena_deinit(&arena);
    err = (Error){0};
    return 0;
}

static const char names[] = "\0main\0local_one\0broken";

static ElfImage image_with_symbols(void)
{
    ElfImage m = image_begin();
    Elf64_Sym symbols[] = {
        {0},
        {.st_name = 1,
         .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
         .st_shndx = 1,
         .st_value = 0x11210,
         .st_size = 0x20},
        {.st_name = 6,
         .st_info = ELF64_ST_INFO(STB_LOCAL, STT_FUNC),
         .st_shndx = 1,
         .st_value = 0x11240},
        {.st_name = 0x7fffffff, .st_info = ELF64_ST_INFO(STB_WEAK, STT_NOTYPE)},
    };
    unsigned strings = image_add(&m, ".strtab", SHT_STRTAB, 0, bytes_over(names, sizeof(names)));
    unsigned table = image_add(&m, ".symtab", SHT_SYMTAB, 0, bytes_over(symbols, sizeof(symbols)));
    m.sections[table].sh_link = strings;
    image_add(&m, ".comment", SHT_PROGBITS, 0, bytes_over("hello", 5));
    return m;
}

static void sections_are_found_by_name_and_type(void **state)
{
    (void)state;
    ElfImage m = image_with_symbols();
    Elf elf;
    assert_true(elf_parse(&arena, image_finish(&m), &elf, &err));
    assert_int_equal(elf.machine, EM_X86_64);
    assert_int_equal(elf.section_count, 5);
    const ElfSection *s = elf_section_find(&elf, STR(".comment"));
    Bytes content;
    assert_non_null(s);
    assert_true(elf_section_raw(&elf, s, &content, &err));
    assert_true(bytes_equal(content, "hello", 5));
    assert_string_equal(elf_section_find_type(&elf, SHT_SYMTAB)->name.ptr, ".symtab");
    assert_null(elf_section_find(&elf, STR(".debug_info")));
    assert_true(elf_section_load(&arena, &elf, STR(".debug_info"), &content, &err));
    assert_int_equal(content.len, 0);
    strbuf_deinit(&m.file);
}

static void symbols_carry_name_value_and_kind(void **state)
{
    (void)state;
    ElfImage m = image_with_symbols();
    Elf elf;
    ElfSymbols symbols;
    assert_true(elf_parse(&arena, image_finish(&m), &elf, &err));
    assert_true(elf_symbols_load(&arena, &elf, SHT_SYMTAB, &symbols, &err));
    assert_int_equal(symbols.count, 4);
    ElfSymbol s = elf_symbol_get(&symbols, 1);
    assert_true(str_equal(s.name, STR("main")));
    assert_int_equal(s.value, 0x11210);
    assert_int_equal(s.size, 0x20);
    assert_int_equal(s.binding, STB_GLOBAL);
    assert_int_equal(s.type, STT_FUNC);
    assert_int_equal(elf_symbol_get(&symbols, 3).name.len, 0); // offset outside the strings
    assert_true(elf_symbols_load(&arena, &elf, SHT_DYNSYM, &symbols, &err));
    assert_int_equal(symbols.count, 0);
    strbuf_deinit(&m.file);
}

static void a_mapping_belongs_to_the_code_that_shares_most_of_it(void **state)
{
    (void)state;
    // As lld lays a Rust program out: the text's page begins within the segment before.
    ElfSegment lld[] = {
        {.type = PT_LOAD, .flags = PF_R, .offset = 0, .svma = 0, .file_size = 0x13040},
        {.type = PT_LOAD,
         .flags = PF_R | PF_X,
         .offset = 0x13040,
         .svma = 0x14040,
         .file_size = 0x3dd90},
        {.type = PT_LOAD,
         .flags = PF_R | PF_W,
         .offset = 0x50dd0,
         .svma = 0x52dd0,
         .file_size = 0x2798},
    };
    Elf elf = {.segments = lld, .segment_count = ARRAY_LEN(lld)};
    uint64_t v = 1;
    assert_true(elf_svma_of_mapping(&elf, 0x13000, 0x3e000, &v));
    assert_int_equal(v, 0x14000);
    // Also when the mapping shows only a part of the text, or more than it.
    assert_true(elf_svma_of_mapping(&elf, 0x20000, 0x1000, &v));
    assert_int_equal(v, 0x21000);
    assert_true(elf_svma_of_mapping(&elf, 0, 0x60000, &v));
    assert_int_equal(v, 0x1000);
    assert_false(elf_svma_of_mapping(&elf, 0x60000, 0x1000, &v));
    assert_false(elf_svma_of_mapping(&elf, UINT64_MAX - 10, 0x1000, &v));
    assert_int_equal(v, 0x1000);
}

static void offsets_map_to_stated_addresses_through_the_segments(void **state)
{
    (void)state;
    ElfImage m = image_begin();
    Elf elf;
    uint64_t v;
    assert_true(elf_parse(&arena, image_finish(&m), &elf, &err));
    assert_true(elf_svma_of_mapping(&elf, 0x210, 1, &v));
    assert_int_equal(v, 0x11210);
    assert_true(elf_svma_of_mapping(&elf, 0x300, 1, &v));
    assert_int_equal(v, 0x22300);
    assert_false(elf_svma_of_mapping(&elf, 0x380, 1, &v));
    assert_int_equal(elf_bytes_at_svma(&elf, 0x112ff).len, 1);
    assert_int_equal(elf_bytes_at_svma(&elf, 0x11300).len, 0);
    assert_int_equal(elf_bytes_at_svma(&elf, 0x22390).len, 0); // .bss
    assert_int_equal(elf_bytes_at_svma(&elf, 0x112f0).len, 0x10);
    assert_int_equal(elf_bytes_at_svma(&elf, 0x99999).len, 0);
    assert_true(elf_is_code(&elf, 0x11200));
    assert_false(elf_is_code(&elf, 0x22300));
    strbuf_deinit(&m.file);
}

static void other_classes_and_encodings_are_refused_by_name(void **state)
{
    (void)state;
    ElfImage m = image_begin();
    Elf elf;
    Bytes file = image_finish(&m);
    m.file.ptr[EI_CLASS] = ELFCLASS32;
    assert_false(elf_parse(&arena, file, &elf, &err));
    assert_int_equal(err.kind, ERROR_UNSUPPORTED);
    assert_non_null(strstr(err.text, "64-bit"));
    m.file.ptr[EI_CLASS] = ELFCLASS64;
    m.file.ptr[EI_DATA] = ELFDATA2MSB;
    assert_false(elf_parse(&arena, file, &elf, &err));
    assert_non_null(strstr(err.text, "little-endian"));
    assert_false(elf_parse(&arena, bytes_over("#!/bin/sh", 9), &elf, &err));
    assert_int_equal(err.kind, ERROR_FORMAT);
    strbuf_deinit(&m.file);
}

static void a_section_outside_the_file_is_an_error_only_when_it_is_read(void **state)
{
    (void)state;
    ElfImage m = image_with_symbols();
    m.sections[3].sh_size = 1 << 20;
    Elf elf;
    Bytes content;
    assert_true(elf_parse(&arena, image_finish(&m), &elf, &err));
    assert_false(elf_section_load(&arena, &elf, STR(".comment"), &content, &err));
    assert_non_null(strstr(err.text, "'.comment'"));
    strbuf_deinit(&m.file);
}

static void a_section_count_of_zero_stands_in_section_0(void **state)
{
    (void)state;
    ElfImage m = image_with_symbols();
    m.sections[0].sh_size = 5;
    m.sections[0].sh_link = 4;
    Elf elf;
    Bytes file = image_finish(&m);
    Elf64_Ehdr *h = (Elf64_Ehdr *)(void *)m.file.ptr;
    h->e_shnum = 0;
    h->e_shstrndx = SHN_XINDEX;
    assert_true(elf_parse(&arena, file, &elf, &err));
    assert_int_equal(elf.section_count, 5);
    assert_non_null(elf_section_find(&elf, STR(".comment")));
    strbuf_deinit(&m.file);
}

static void a_table_that_claims_more_than_the_file_is_refused(void **state)
{
    (void)state;
    ElfImage m = image_with_symbols();
    m.sections[0].sh_size = 1ull << 60;
    Elf elf;
    Bytes file = image_finish(&m);
    ((Elf64_Ehdr *)(void *)m.file.ptr)->e_shnum = 0;
    assert_false(elf_parse(&arena, file, &elf, &err));
    assert_non_null(strstr(err.text, "section table"));
    strbuf_deinit(&m.file);
}

static void no_cut_crashes_or_reads_past_the_end(void **state)
{
    (void)state;
    ElfImage m = image_with_symbols();
    Bytes file = image_finish(&m);
    size_t refused = 0;
    for (size_t n = 0; n < file.len; n++) {
        uint8_t *copy = heap_alloc(n + 1); // its own block, so that ASan sees the end
        memcpy(copy, file.ptr, n);
        Elf elf;
        ElfSymbols symbols;
        if (!elf_parse(&arena, bytes_over(copy, n), &elf, &err) ||
            !elf_symbols_load(&arena, &elf, SHT_SYMTAB, &symbols, &err))
            refused++;
        heap_free(copy);
    }
    assert_int_equal(refused, file.len); // the section table ends the file
    strbuf_deinit(&m.file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(sections_are_found_by_name_and_type, clean_up),
        cmocka_unit_test_teardown(symbols_carry_name_value_and_kind, clean_up),
        cmocka_unit_test_teardown(a_mapping_belongs_to_the_code_that_shares_most_of_it, clean_up),
        cmocka_unit_test_teardown(offsets_map_to_stated_addresses_through_the_segments, clean_up),
        cmocka_unit_test_teardown(other_classes_and_encodings_are_refused_by_name, clean_up),
        cmocka_unit_test_teardown(a_section_outside_the_file_is_an_error_only_when_it_is_read,
                                  clean_up),
        cmocka_unit_test_teardown(a_section_count_of_zero_stands_in_section_0, clean_up),
        cmocka_unit_test_teardown(a_table_that_claims_more_than_the_file_is_refused, clean_up),
        cmocka_unit_test_teardown(no_cut_crashes_or_reads_past_the_end, clean_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
