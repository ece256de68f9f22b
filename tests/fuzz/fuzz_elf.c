// SPDX-License-Identifier: Apache-2.0
// Fuzzes the ELF reader: every accessor over every section and symbol.

#include "elf/build_id.h"
#include "elf/elf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void symbols_walk(Arena *arena, const Elf *elf, uint32_t type)
{
    ElfSymbols symbols;
    if (!elf_symbols_load(arena, elf, type, &symbols, NULL))
        return;
    for (size_t i = 0; i < symbols.count; i++)
        (void)elf_symbol_get(&symbols, i);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Arena arena = {0};
    Elf elf;
    Error err;
    if (elf_parse(&arena, bytes_over(data, size), &elf, &err)) {
        Bytes content;
        ElfDebugLink link;
        ElfAltLink alt;
        uint64_t address;
        size_t read = 0;
        // Not all of many: each may unpack to a thousand times its size.
        for (size_t i = 0; i < MIN(elf.section_count, (size_t)32); i++)
            read += elf_section_bytes(&arena, &elf, &elf.sections[i], &content, &err);
        symbols_walk(&arena, &elf, SHT_SYMTAB);
        symbols_walk(&arena, &elf, SHT_DYNSYM);
        read += elf_debugdata_load(&arena, &elf, &content, &err);
        assert(read <= 33);
        (void)elf_debug_link_find(&elf, &link);
        (void)elf_alt_link_find(&elf, &alt);
        (void)elf_build_id(&elf);
        if (elf_svma_of_mapping(&elf, elf.entry, 1, &address))
            (void)elf_bytes_at_svma(&elf, address);
        (void)elf_is_code(&elf, elf.entry);
    }
    arena_deinit(&arena);
    return 0;
}
