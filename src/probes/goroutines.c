// SPDX-License-Identifier: Apache-2.0
// Format: the section .go.buildinfo as Go 1.18 and later write it: 16 bytes that begin with a magic
// and end with flags, 16 unused ones, then the version as a length and its text.

#include "probes/goroutines.h"

#include "base/str.h"

#define MAGIC "\xff Go buildinf:"

// Go's versions 1.N from `first` to `last`, whose structures were looked at.
static const struct GoidOffset {
    uint8_t first, last;
    uint16_t offset;
} offsets[] = {
    {18, 22, 152},
    {23, 24, 160}, // one field more in front of it
    {25, 26, 152}, // and one less
};

uint16_t go_goid_offset_by_info(Bytes info)
{
    enum { FLAGS_AT = 15, LENGTH_AT = 32, TEXT_IS_INLINE = 2 };
    const Str magic = STR(MAGIC), prefix = STR("go1.");
    if (info.len <= LENGTH_AT || !str_starts_with(str_from_bytes(info), magic) ||
        !(info.ptr[FLAGS_AT] & TEXT_IS_INLINE))
        return 0;
    size_t length = MIN((size_t)info.ptr[LENGTH_AT], info.len - LENGTH_AT - 1);
    Str version = {(const char *)info.ptr + LENGTH_AT + 1, length};
    if (!str_starts_with(version, prefix))
        return 0;
    size_t end = prefix.len;
    while (end < version.len && version.ptr[end] >= '0' && version.ptr[end] <= '9')
        end++;
    uint64_t minor;
    if (!str_parse_u64(str_slice(version, prefix.len, end), 10, &minor))
        return 0;
    for (size_t i = 0; i < ARRAY_LEN(offsets); i++)
        if (minor >= offsets[i].first && minor <= offsets[i].last)
            return offsets[i].offset;
    return 0;
}

uint16_t go_goid_offset(const Elf *elf)
{
    Arena scratch = {0};
    Bytes info;
    const ElfSection *s = elf_section_find(elf, STR(".go.buildinfo"));
    uint16_t offset =
        s && elf_section_bytes(&scratch, elf, s, &info, NULL) ? go_goid_offset_by_info(info) : 0;
    arena_deinit(&scratch);
    return offset;
}
