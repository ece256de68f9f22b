// SPDX-License-Identifier: Apache-2.0
// Unwind rules of a large module before it has a table.

#include "replay/rule_search.h"

#include "base/table.h"
#include "unwind/unwind_table.h"

enum {
    BYTES_MIN = 64 << 10,   // a smaller .eh_frame becomes a table at once
    BYTES_PER_SEARCH = 256, // a search takes about as long as so many bytes of a table's input
};

void rule_search_init(const Elf *elf, UnwindArch arch, RuleSearch *ret)
{
    *ret = (RuleSearch){0};
    const ElfSection *hdr = elf_section_find(elf, STR(".eh_frame_hdr"));
    const ElfSection *eh = elf_section_find(elf, STR(".eh_frame"));
    const ElfSection *got = elf_section_find(elf, STR(".got"));
    Bytes hdr_bytes, eh_bytes;
    uint64_t stated;
    if (!hdr || !eh || eh->size < BYTES_MIN || !elf_section_raw(elf, hdr, &hdr_bytes, NULL) ||
        !elf_section_raw(elf, eh, &eh_bytes, NULL) || eh_bytes.len < BYTES_MIN)
        return;
    // The search follows addresses that are relative to where they stand: both sections must lie in
    // the file as they do in memory, and the table must be of this .eh_frame.
    uint64_t bias = (uint64_t)(uintptr_t)eh_bytes.ptr - eh->svma;
    if ((uint64_t)(uintptr_t)hdr_bytes.ptr - hdr->svma != bias ||
        !unwind_eh_frame_hdr_parse(hdr_bytes, hdr->svma, got ? got->svma : 0, &stated, NULL) ||
        stated != eh->svma)
        return;
    *ret = (RuleSearch){
        .sections = {.hdr = (const uint8_t *)hdr_bytes.ptr,
                     .hdr_size = hdr_bytes.len,
                     .eh_frame = (const uint8_t *)eh_bytes.ptr,
                     .end = (const uint8_t *)eh_bytes.ptr + eh_bytes.len,
                     .arch = arch},
        .bias = bias,
        .left = (uint32_t)MIN(eh_bytes.len / BYTES_PER_SEARCH, (size_t)UINT32_MAX),
    };
}

bool rule_search_find(RuleSearch *s, RuleCache *cache, uint32_t module, uint64_t svma,
                      UnwindAction *ret)
{
    if (s->left == 0)
        return false;
    uint64_t key = hash_u64(svma ^ (uint64_t)module << 40) | 1;
    size_t slot = key >> 8 & (RULE_CACHE_SIZE - 1);
    if (cache->at[slot].key == key) {
        *ret = cache->at[slot].action;
        return true;
    }
    s->left--;
    FoundFrame found;
    if (!frame_search(&s->sections, svma + s->bias, &found) ||
        found.action[0].kind == UNWIND_FULL || found.action[0].kind == UNWIND_NONE)
        return false;
    *ret = cache->at[slot].action = found.action[0];
    cache->at[slot].key = key;
    return true;
}
