// SPDX-License-Identifier: Apache-2.0
// Looks for the functions of known allocators among a program's symbols.

#include "cli/heap/own_allocator.h"

#include "elf/elf.h"
#include "os/file.h"

#include <elf.h>

static const struct {
    const char *symbol, *name;
} allocators[] = {
    {"_rjem_malloc", "jemalloc"},     {"je_malloc", "jemalloc"},         {"mi_malloc", "mimalloc"},
    {"tc_malloc", "tcmalloc"},        {"rpmalloc", "rpmalloc"},          {"sn_malloc", "snmalloc"},
    {"scalable_malloc", "tbbmalloc"}, {"malloc", "a malloc of its own"}, // last: each of the others
                                                                         // may have it, too
};

// The first of `allocators` that the table defines, or `best`.
static size_t find_in(Arena *arena, const Elf *elf, uint32_t type, size_t best)
{
    ElfSymbols symbols;
    if (!elf_symbols_load(arena, elf, type, &symbols, NULL))
        return best;
    for (size_t i = 0; i < symbols.count; i++) {
        ElfSymbol s = elf_symbol_get(&symbols, i);
        if (s.section == SHN_UNDEF || s.type != STT_FUNC)
            continue;
        for (size_t k = 0; k < best; k++)
            if (str_equal(s.name, str_from_c(allocators[k].symbol)))
                best = k;
    }
    return best;
}

void own_allocator_note(Arena *arena, Str path, Profile *p)
{
    MappedFile file;
    Elf elf;
    Error unread;
    if (!os_map_file(path, &file, &unread))
        return;
    size_t best = ARRAY_LEN(allocators);
    if (elf_parse(arena, file.bytes, &elf, &unread)) {
        best = find_in(arena, &elf, SHT_SYMTAB, best);
        best = find_in(arena, &elf, SHT_DYNSYM, best);
    }
    os_unmap_file(&file);
    if (best < ARRAY_LEN(allocators))
        profile_note(p, NOTE_WARNING, STR("own-allocator"),
                     "'%" STR_FMT "' has %s linked in (%s): what it gives out is not in this "
                     "recording, which has only what libc gave out; link the program without it",
                     STR_ARG(path), allocators[best].name, allocators[best].symbol);
}
