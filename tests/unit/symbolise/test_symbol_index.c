// SPDX-License-Identifier: Apache-2.0
// Address -> symbol.

#include "symbolise/symbol_index.h"

#include "elf/elf_image.h"
#include "harness.h"

static Arena arena;
static Error err;

static int clean_up(void **state)
{
    (void)state;
    arena_deinit(&arena);
    err = (Error){0};
    return 0;
}

static const char *name_at(const SymbolIndex *index, uint64_t address)
{
    const Symbol *s = symbol_index_find(index, address);
    return s ? arena_c_str(&arena, s->name) : "-";
}

static SymbolIndex build(const SymbolClaim *claims, size_t n)
{
    SymbolClaimVec v = {0};
    for (size_t i = 0; i < n; i++)
        vec_push(NULL, &v, claims[i]);
    SymbolIndex index;
    symbol_index_build(&arena, &v, &index);
    vec_free(&v);
    return index;
}

static void an_empty_index_finds_nothing(void **state)
{
    (void)state;
    SymbolIndex index = build(NULL, 0);
    assert_null(symbol_index_find(&index, 0));
    assert_null(symbol_index_find(&index, UINT64_MAX));
}

static void sizes_bound_a_symbol_and_gaps_stay_unnamed(void **state)
{
    (void)state;
    SymbolClaim claims[] = {{.start = 0x100, .size = 0x10, .name = STR_INIT("a")},
                            {.start = 0x200, .size = 0x10, .name = STR_INIT("b")}};
    SymbolIndex index = build(claims, 2);
    assert_string_equal(name_at(&index, 0xff), "-");
    assert_string_equal(name_at(&index, 0x100), "a");
    assert_string_equal(name_at(&index, 0x10f), "a");
    assert_string_equal(name_at(&index, 0x110), "-");
    assert_string_equal(name_at(&index, 0x20f), "b");
}

static void without_a_size_a_symbol_reaches_to_the_next_or_its_limit(void **state)
{
    (void)state;
    SymbolClaim claims[] = {{.start = 0x200, .limit = 0x300, .name = STR_INIT("b")},
                            {.start = 0x100, .limit = 0x300, .name = STR_INIT("a")}};
    SymbolIndex index = build(claims, 2);
    assert_string_equal(name_at(&index, 0x1ff), "a");
    assert_string_equal(name_at(&index, 0x2ff), "b");
    assert_string_equal(name_at(&index, 0x300), "-");
}

static void the_inner_of_nested_symbols_wins_and_the_outer_goes_on_behind_it(void **state)
{
    (void)state;
    SymbolClaim claims[] = {{.start = 0x100, .size = 0x100, .name = STR_INIT("outer")},
                            {.start = 0x140, .size = 0x10, .name = STR_INIT("inner")},
                            {.start = 0x180, .limit = 0x200, .name = STR_INIT("label")}};
    SymbolIndex index = build(claims, 3);
    assert_string_equal(name_at(&index, 0x13f), "outer");
    assert_string_equal(name_at(&index, 0x140), "inner");
    assert_string_equal(name_at(&index, 0x150), "outer");
    assert_string_equal(name_at(&index, 0x190), "outer"); // a label within is not a function
    assert_int_equal(symbol_index_find(&index, 0x150)->function_start, 0x100);
}

static void a_size_that_wraps_around_is_cut(void **state)
{
    (void)state;
    SymbolClaim claims[] = {{.start = UINT64_MAX - 4, .size = UINT64_MAX, .name = STR_INIT("top")}};
    SymbolIndex index = build(claims, 1);
    assert_string_equal(name_at(&index, UINT64_MAX - 1), "top");
    assert_string_equal(name_at(&index, 0), "-");
}

typedef struct Named {
    const char *name;
    uint8_t binding, type;
    uint64_t value, size;
} Named;

static SymbolIndex from_elf(const Named *symbols, size_t n, ElfImage *m)
{
    *m = image_begin();
    StrBuf names = {0}, table = {0};
    strbuf_add_char(&names, 0);
    strbuf_add_repeated(&table, 0, sizeof(Elf64_Sym));
    for (size_t i = 0; i < n; i++) {
        Elf64_Sym s = {.st_name = (uint32_t)names.len,
                       .st_info = (uint8_t)ELF64_ST_INFO(symbols[i].binding, symbols[i].type),
                       .st_shndx = 1,
                       .st_value = symbols[i].value,
                       .st_size = symbols[i].size};
        strbuf_add(&names, str_from_c(symbols[i].name));
        strbuf_add_char(&names, 0);
        strbuf_add_bytes(&table, bytes_over(&s, sizeof(s)));
    }
    unsigned text = image_add(m, ".text", SHT_NOBITS, SHF_ALLOC | SHF_EXECINSTR, (Bytes){0});
    m->sections[text].sh_addr = 0x11200;
    m->sections[text].sh_size = 0x100;
    unsigned strings = image_add(m, ".strtab", SHT_STRTAB, 0, bytes_from_str(strbuf_str(&names)));
    unsigned symtab = image_add(m, ".symtab", SHT_SYMTAB, 0, bytes_from_str(strbuf_str(&table)));
    m->sections[symtab].sh_link = strings;
    strbuf_deinit(&names);
    strbuf_deinit(&table);
    Elf elf;
    SymbolIndex index;
    assert_ok(elf_parse(&arena, image_finish(m), &elf, &err), &err);
    assert_ok(symbol_index_from_elf(&arena, &elf, SHT_SYMTAB, &index, &err), &err);
    return index;
}

static void the_best_of_several_names_is_chosen(void **state)
{
    (void)state;
    static const Named symbols[] = {
        {"_IO_puts", STB_GLOBAL, STT_FUNC, 0x11200, 0x10},
        {"puts", STB_WEAK, STT_FUNC, 0x11200, 0x10},
        {"short", STB_LOCAL, STT_FUNC, 0x11200, 0x10},
        {"exported_long", STB_GLOBAL, STT_FUNC, 0x11220, 0x10},
        {"local", STB_LOCAL, STT_FUNC, 0x11220, 0x10},
        {"a_label", STB_GLOBAL, STT_NOTYPE, 0x11240, 0x10},
        {"a_function", STB_LOCAL, STT_FUNC, 0x11240, 0x10},
    };
    ElfImage m;
    SymbolIndex index = from_elf(symbols, ARRAY_LEN(symbols), &m);
    assert_string_equal(name_at(&index, 0x11204), "puts");
    assert_string_equal(name_at(&index, 0x11224), "exported_long");
    assert_string_equal(name_at(&index, 0x11244), "a_function");
    strbuf_deinit(&m.file);
}

static void what_is_no_code_is_left_out(void **state)
{
    (void)state;
    static const Named symbols[] = {
        {"data", STB_GLOBAL, STT_OBJECT, 0x11200, 0x10},
        {"$x", STB_LOCAL, STT_NOTYPE, 0x11210, 0},
        {".L3", STB_LOCAL, STT_NOTYPE, 0x11220, 0},
        {"outside", STB_GLOBAL, STT_FUNC, 0x99999, 0x10},
        {"asm_entry", STB_GLOBAL, STT_NOTYPE, 0x11230, 0},
    };
    ElfImage m;
    SymbolIndex index = from_elf(symbols, ARRAY_LEN(symbols), &m);
    assert_string_equal(name_at(&index, 0x11204), "-");
    assert_string_equal(name_at(&index, 0x11210), "-");
    assert_string_equal(name_at(&index, 0x11220), "-");
    assert_string_equal(name_at(&index, 0x99999), "-");
    assert_string_equal(name_at(&index, 0x112ff), "asm_entry"); // up to the section's end
    strbuf_deinit(&m.file);
}

// A CIE with augmentation "zR" (pc-relative, 4 bytes) and FDEs for two functions.
static void frame_table(StrBuf *out, uint64_t svma)
{
    static const uint8_t cie[] = {1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b, 0, 0, 0};
    uint32_t head[2] = {4 + sizeof(cie), 0};
    strbuf_add_bytes(out, bytes_over(head, sizeof(head)));
    strbuf_add_bytes(out, bytes_over(cie, sizeof(cie)));
    uint64_t starts[2] = {0x11200, 0x11280};
    for (size_t i = 0; i < 2; i++) {
        uint32_t at = (uint32_t)out->len;
        uint32_t fde[5] = {16, at + 4, (uint32_t)(starts[i] - (svma + at + 8)), 0x40, 0};
        strbuf_add_bytes(out, bytes_over(fde, sizeof(fde)));
    }
    strbuf_add_repeated(out, 0, 4);
}

static SymbolIndex from_frames(Bytes content, ElfImage *m)
{
    *m = image_begin();
    unsigned s = image_add(m, ".eh_frame", SHT_PROGBITS, SHF_ALLOC, content);
    m->sections[s].sh_addr = 0x22300;
    Elf elf;
    SymbolIndex index;
    assert_ok(elf_parse(&arena, image_finish(m), &elf, &err), &err);
    symbol_index_from_eh_frame(&arena, &elf, &index);
    return index;
}

static void stripped_objects_still_have_function_bounds(void **state)
{
    (void)state;
    StrBuf table = {0};
    frame_table(&table, 0x22300);
    ElfImage m;
    SymbolIndex index = from_frames(bytes_from_str(strbuf_str(&table)), &m);
    assert_int_equal(index.symbols.len, 2);
    const Symbol *s = symbol_index_find(&index, 0x11290);
    assert_non_null(s);
    assert_int_equal(s->start, 0x11280);
    assert_int_equal(s->end, 0x112c0);
    assert_int_equal(s->name.len, 0);
    assert_null(symbol_index_find(&index, 0x11250));
    strbuf_deinit(&m.file);
    strbuf_deinit(&table);
}

static void frame_tables_cut_at_each_byte_give_what_came_before(void **state)
{
    (void)state;
    StrBuf table = {0};
    frame_table(&table, 0x22300);
    size_t most = 0;
    for (size_t n = 0; n < table.len; n++) {
        ElfImage m;
        SymbolIndex index = from_frames(bytes_over(table.ptr, n), &m);
        assert_true(index.symbols.len >= most);
        most = index.symbols.len;
        strbuf_deinit(&m.file);
    }
    assert_int_equal(most, 2);
    strbuf_deinit(&table);
}

// A stub in .plt that jumps through the slot at 0x22320, which "callee" fills.
static void stubs_are_named_after_what_they_call(void **state)
{
    (void)state;
    static const char names[] = "\0callee";
    Elf64_Sym symbols[2] = {{0}, {.st_name = 1, .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC)}};
    Elf64_Rela slot = {.r_offset = 0x22320, .r_info = ELF64_R_INFO(1, R_X86_64_JUMP_SLOT)};
    uint8_t code[48] = {0};
    int32_t displacement = 0x22320 - (0x11210 + 11);
    memcpy(code + 0x10, "\xf3\x0f\x1e\xfa\xf2\xff\x25", 7); // endbr64; bnd jmp
    memcpy(code + 0x17, &displacement, 4);
    ElfImage m = image_begin();
    unsigned strings =
        image_add(&m, ".dynstr", SHT_STRTAB, SHF_ALLOC, bytes_over(names, sizeof(names)));
    unsigned table =
        image_add(&m, ".dynsym", SHT_DYNSYM, SHF_ALLOC, bytes_over(symbols, sizeof(symbols)));
    m.sections[table].sh_link = strings;
    image_add(&m, ".rela.plt", SHT_RELA, SHF_ALLOC, bytes_over(&slot, sizeof(slot)));
    unsigned plt = image_add(&m, ".plt.sec", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR,
                             bytes_over(code, sizeof(code)));
    m.sections[plt].sh_addr = 0x11200;
    m.sections[plt].sh_entsize = 16;
    Elf elf;
    SymbolIndex index;
    assert_ok(elf_parse(&arena, image_finish(&m), &elf, &err), &err);
    symbol_index_from_plt(&arena, &elf, &index);
    assert_string_equal(name_at(&index, 0x11200), "-");
    assert_string_equal(name_at(&index, 0x11210), "callee@plt");
    assert_string_equal(name_at(&index, 0x1121f), "callee@plt");
    assert_string_equal(name_at(&index, 0x11220), "-");
    strbuf_deinit(&m.file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(an_empty_index_finds_nothing, clean_up),
        cmocka_unit_test_teardown(sizes_bound_a_symbol_and_gaps_stay_unnamed, clean_up),
        cmocka_unit_test_teardown(without_a_size_a_symbol_reaches_to_the_next_or_its_limit,
                                  clean_up),
        cmocka_unit_test_teardown(the_inner_of_nested_symbols_wins_and_the_outer_goes_on_behind_it,
                                  clean_up),
        cmocka_unit_test_teardown(a_size_that_wraps_around_is_cut, clean_up),
        cmocka_unit_test_teardown(the_best_of_several_names_is_chosen, clean_up),
        cmocka_unit_test_teardown(what_is_no_code_is_left_out, clean_up),
        cmocka_unit_test_teardown(stubs_are_named_after_what_they_call, clean_up),
        cmocka_unit_test_teardown(stripped_objects_still_have_function_bounds, clean_up),
        cmocka_unit_test_teardown(frame_tables_cut_at_each_byte_give_what_came_before, clean_up),
    };
    return RUN_TESTS(tests);
}
