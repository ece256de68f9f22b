// SPDX-License-Identifier: Apache-2.0
// The code that a signal handler returns to.

#include "replay/sigreturn.h"

#include <elf.h>
#include <string.h>

// Only so much of a large program is searched: in a static program the C library is near the
// beginning, or the code has a symbol.
#define SEARCH_BYTES_MAX ((size_t)16 << 20)

enum { CODE_BYTES = 16 }; // at most, on either architecture

static bool is_wanted(Str name)
{
    return str_equal(name, STR("__restore_rt")) || str_equal(name, STR("__kernel_rt_sigreturn"));
}

static UnwindRange by_name(Arena *scratch, const Elf *elf, uint32_t table)
{
    ElfSymbols symbols;
    if (!elf_symbols_load(scratch, elf, table, &symbols, NULL))
        return (UnwindRange){0};
    for (size_t i = 0; i < symbols.count; i++) {
        ElfSymbol s = elf_symbol_get(&symbols, i);
        if (s.section != SHN_UNDEF && is_wanted(s.name) && elf_is_code(elf, s.value))
            return (UnwindRange){s.value, s.value + (s.size ? s.size : CODE_BYTES)};
    }
    return (UnwindRange){0};
}

// Only the C library itself and static programs have the code, and these import nothing.
static bool imports_something(Arena *scratch, const Elf *elf)
{
    ElfSymbols symbols;
    if (!elf_symbols_load(scratch, elf, SHT_DYNSYM, &symbols, NULL))
        return false;
    for (size_t i = 1; i < symbols.count; i++) {
        ElfSymbol s = elf_symbol_get(&symbols, i);
        if (s.section == SHN_UNDEF && s.binding == STB_GLOBAL && s.name.len)
            return true;
    }
    return false;
}

static UnwindRange by_code(const Elf *elf, UnwindArch arch)
{
    // mov $__NR_rt_sigreturn, %rax; syscall / mov x8, #__NR_rt_sigreturn; svc #0
    static const uint8_t x86_64[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};
    static const uint8_t aarch64[] = {0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4};
    Bytes code = arch == UNWIND_X86_64 ? bytes_over(x86_64, sizeof(x86_64))
                                       : bytes_over(aarch64, sizeof(aarch64));
    for (size_t i = 0; i < elf->segment_count; i++) {
        const ElfSegment *s = &elf->segments[i];
        if (s->type != PT_LOAD || !(s->flags & PF_X))
            continue;
        Bytes text = elf_bytes_at_svma(elf, s->svma);
        const uint8_t *at =
            text.len ? memmem(text.ptr, MIN(text.len, SEARCH_BYTES_MAX), code.ptr, code.len) : NULL;
        if (at) {
            uint64_t start = s->svma + (uint64_t)(at - text.ptr);
            return (UnwindRange){start, start + code.len};
        }
    }
    return (UnwindRange){0};
}

UnwindRange sigreturn_find(Arena *scratch, const Elf *elf, UnwindArch arch)
{
    if (imports_something(scratch, elf))
        return (UnwindRange){0};
    UnwindRange found = by_name(scratch, elf, SHT_SYMTAB);
    if (found.end == 0)
        found = by_name(scratch, elf, SHT_DYNSYM);
    return found.end ? found : by_code(elf, arch);
}
