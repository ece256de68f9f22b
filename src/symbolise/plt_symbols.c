// SPDX-License-Identifier: Apache-2.0
// Finds names for PLT entries, through which calls into other objects go: "memcpy@plt". No symbol
// table has them. Linkers lay the entries out differently (.plt, .plt.sec, .plt.got; lld, mold). In
// all of them an entry jumps to an address that it reads from a slot, and a dynamic relocation
// names the symbol whose address the slot gets. x86-64 psABI, "Procedure Linkage Table".

#include "symbolise/symbol_index.h"

#include "base/cursor.h"

#include <stdlib.h>

typedef struct Slot {
    uint64_t svma; // of the pointer in the .got
    uint32_t symbol;
} Slot;

typedef Vec(Slot) SlotVec;

static int slot_compare(const void *a, const void *b)
{
    uint64_t x = ((const Slot *)a)->svma, y = ((const Slot *)b)->svma;
    return x < y ? -1 : x > y;
}

static void slots_collect(const Elf *elf, SlotVec *slots)
{
    for (size_t i = 1; i < elf->section_count; i++) {
        const ElfSection *s = &elf->sections[i];
        Bytes raw;
        if (s->type != SHT_RELA || !(s->flags & SHF_ALLOC) || !elf_section_raw(elf, s, &raw, NULL))
            continue;
        Cursor c = cursor_over(raw, "relocations");
        while (cursor_left(&c) >= sizeof(Elf64_Rela)) {
            uint64_t svma = cursor_u64(&c);
            uint64_t info = cursor_u64(&c);
            cursor_skip(&c, 8); // addend
            uint32_t type = (uint32_t)ELF64_R_TYPE(info);
            if (type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT)
                vec_push(NULL, slots, (Slot){svma, (uint32_t)ELF64_R_SYM(info)});
        }
    }
    if (slots->len)
        qsort(slots->at, slots->len, sizeof(slots->at[0]), slot_compare);
}

static void section_stubs(Arena *arena, const ElfSection *s, Bytes code, const SlotVec *slots,
                          const ElfSymbols *symbols, SymbolClaimVec *claims)
{
    uint64_t entry = s->entry_size == 8 || s->entry_size == 16 ? s->entry_size : 16;
    for (size_t i = 0; i + 6 <= code.len; i++) {
        if (code.ptr[i] != 0xff || code.ptr[i + 1] != 0x25) // jmp *disp32(%rip)
            continue;
        int32_t displacement;
        memcpy(&displacement, code.ptr + i + 2, 4);
        Slot key = {.svma = s->svma + i + 6 + (uint64_t)(int64_t)displacement};
        const Slot *slot =
            slots->len ? bsearch(&key, slots->at, slots->len, sizeof(key), slot_compare) : NULL;
        if (!slot || slot->symbol >= symbols->count)
            continue;
        Str name = elf_symbol_get(symbols, slot->symbol).name;
        if (name.len)
            vec_push(NULL, claims,
                     (SymbolClaim){.start = s->svma + align_down(i, entry),
                                   .size = entry,
                                   .name = arena_printf(arena, "%" STR_FMT "@plt", STR_ARG(name))});
        i += 5;
    }
}

void symbol_index_from_plt(Arena *arena, const Elf *elf, SymbolIndex *ret)
{
    *ret = (SymbolIndex){0};
    ElfSymbols symbols;
    if (elf->machine != EM_X86_64 || !elf_symbols_load(arena, elf, SHT_DYNSYM, &symbols, NULL))
        return;
    SlotVec slots = {0};
    SymbolClaimVec claims = {0};
    slots_collect(elf, &slots);
    for (size_t i = 1; i < elf->section_count; i++) {
        const ElfSection *s = &elf->sections[i];
        Bytes code;
        if (str_starts_with(s->name, STR(".plt")) && (s->flags & SHF_EXECINSTR) &&
            elf_section_raw(elf, s, &code, NULL))
            section_stubs(arena, s, code, &slots, &symbols, &claims);
    }
    symbol_index_build(arena, &claims, ret);
    vec_free(&slots);
    vec_free(&claims);
}
