// SPDX-License-Identifier: Apache-2.0
// Reads links to separate debug files: .gnu_debuglink and .gnu_debugdata (GDB manual, "Separate
// Debug Files" and "MiniDebugInfo"), .gnu_debugaltlink (dwz(1)).

#include "elf/elf.h"

#include "base/cursor.h"
#include "elf/compress.h"

#include <libdeflate.h>

static bool section_cursor(const Elf *elf, Str name, Cursor *ret)
{
    const ElfSection *s = elf_section_find(elf, name);
    Bytes raw;
    if (!s || !elf_section_raw(elf, s, &raw, NULL))
        return false;
    *ret = cursor_over(raw, "debug link");
    return true;
}

bool elf_debug_link_find(const Elf *elf, ElfDebugLink *ret)
{
    Cursor c;
    if (!section_cursor(elf, STR(".gnu_debuglink"), &c))
        return false;
    Str name = cursor_c_str(&c);
    cursor_seek(&c, align_up(c.at, 4));
    uint32_t crc = cursor_u32(&c);
    // A name with folders could lead to any file; objcopy writes none.
    if (!cursor_ok(&c) || name.len == 0 || str_find_char(name, '/') != SIZE_MAX)
        return false;
    *ret = (ElfDebugLink){name, crc};
    return true;
}

bool elf_alt_link_find(const Elf *elf, ElfAltLink *ret)
{
    Cursor c;
    if (!section_cursor(elf, STR(".gnu_debugaltlink"), &c))
        return false;
    Str path = cursor_c_str(&c);
    if (!cursor_ok(&c) || path.len == 0)
        return false;
    *ret = (ElfAltLink){path, cursor_bytes(&c, cursor_left(&c))};
    return true;
}

uint32_t elf_crc32(Bytes file)
{
    return libdeflate_crc32(0, file.ptr, file.len);
}

bool elf_debugdata_load(Arena *arena, const Elf *elf, Bytes *ret, Error *err)
{
    *ret = (Bytes){0};
    const ElfSection *s = elf_section_find(elf, STR(".gnu_debugdata"));
    Bytes raw;
    if (!s)
        return true;
    if (!elf_section_raw(elf, s, &raw, err) || !elf_decompress_xz(arena, raw, ret, err))
        return error_context(err, "section '.gnu_debugdata' at offset 0x%llx",
                             (unsigned long long)s->offset);
    return true;
}
