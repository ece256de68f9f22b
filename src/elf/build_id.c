// SPDX-License-Identifier: Apache-2.0
// Build-ids.

#include "elf/build_id.h"

#include "base/cursor.h"

Str build_id_hex(Arena *arena, const BuildId *id)
{
    static const char digits[] = "0123456789abcdef";
    char *text = arena_alloc(arena, id->len * 2 + 1, 1);
    for (uint32_t i = 0; i < id->len; i++) {
        text[2 * i] = digits[id->bytes[i] >> 4];
        text[2 * i + 1] = digits[id->bytes[i] & 15];
    }
    return str_over(text, id->len * 2);
}

bool build_id_from_hex(Str hex, BuildId *ret)
{
    BuildId id = {0};
    if (hex.len == 0 || hex.len % 2 || hex.len / 2 > sizeof(id.bytes))
        return false;
    for (size_t i = 0; i < hex.len; i += 2) {
        uint64_t byte;
        if (!str_parse_u64(str_slice(hex, i, i + 2), 16, &byte))
            return false;
        id.bytes[id.len++] = (uint8_t)byte;
    }
    *ret = id;
    return true;
}

bool elf_build_id_find(Bytes notes, uint64_t align, BuildId *ret, Error *err)
{
    // gABI asks for 8 in 64-bit objects, but Linux tools pad to 4 unless the
    // section itself says 8, as .note.gnu.property does.
    size_t pad = align == 8 ? 8 : 4;
    Cursor c = cursor_over(notes, "ELF notes");
    BuildId id = {0};

    while (cursor_more(&c) && id.len == 0) {
        uint32_t name_len = cursor_u32(&c);
        uint32_t desc_len = cursor_u32(&c);
        uint32_t type = cursor_u32(&c);
        Bytes name = cursor_padded(&c, name_len, pad);
        Bytes desc = cursor_padded(&c, desc_len, pad);

        if (type != NT_GNU_BUILD_ID || !bytes_equal(name, "GNU", sizeof("GNU")))
            continue;
        if (desc.len > sizeof(id.bytes))
            return error_set(err, ERROR_FORMAT, "build-id of %zu bytes, more than %zu", desc.len,
                             sizeof(id.bytes));
        bytes_copy(id.bytes, desc);
        id.len = (uint32_t)desc.len;
    }
    if (!cursor_check(&c, err))
        return false;
    *ret = id;
    return true;
}

BuildId elf_build_id(const Elf *elf)
{
    BuildId id = {0};
    for (size_t i = 0; i < elf->segment_count && id.len == 0; i++) {
        const ElfSegment *s = &elf->segments[i];
        if (s->type != PT_NOTE || s->offset > elf->file.len ||
            s->file_size > elf->file.len - s->offset)
            continue;
        if (!elf_build_id_find(bytes_over(elf->file.ptr + s->offset, s->file_size), s->align, &id,
                               NULL))
            id = (BuildId){0};
    }
    for (size_t i = 1; i < elf->section_count && id.len == 0; i++) {
        const ElfSection *s = &elf->sections[i];
        Bytes notes;
        if (s->type != SHT_NOTE || !elf_section_raw(elf, s, &notes, NULL) ||
            !elf_build_id_find(notes, s->align, &id, NULL))
            id = (BuildId){0};
    }
    return id;
}
