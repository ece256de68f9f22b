// SPDX-License-Identifier: Apache-2.0
// Fuzzes what symbols are made of: symbol tables, .eh_frame bounds, call stubs.

#include "symbolise/symbol_index.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void index_check(const SymbolIndex *index)
{
    uint64_t last = 0;
    for (size_t i = 0; i < index->symbols.len; i++) {
        const Symbol *s = &index->symbols.at[i];
        assert(s->start >= last && s->start < s->end);
        assert(symbol_index_find(index, s->end - 1) == s);
        last = s->end;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Arena arena = {0};
    Elf elf;
    Error err;
    if (elf_parse(&arena, bytes_over(data, size), &elf, &err)) {
        SymbolIndex index;
        const uint32_t types[] = {SHT_SYMTAB, SHT_DYNSYM};
        for (size_t i = 0; i < ARRAY_LEN(types); i++)
            if (symbol_index_from_elf(&arena, &elf, types[i], &index, &err))
                index_check(&index);
        symbol_index_from_eh_frame(&arena, &elf, &index);
        index_check(&index);
        symbol_index_from_plt(&arena, &elf, &index);
        index_check(&index);
    }
    arena_deinit(&arena);
    return 0;
}
