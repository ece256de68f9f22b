// SPDX-License-Identifier: Apache-2.0
// Fuzzes the search of single unwind rules in the file of a module. Modules with little call frame
// information are not searched: 64 KiB of zeros are put behind the input.

#include "base/arena.h"
#include "replay/rule_search.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { BEHIND = 64 << 10, ENTRIES_AT = 12, ENTRY = 8, ENTRIES_MAX = 64 };

// Looks where the entries of the search table say that functions begin, and a little behind.
static void search_all(RuleSearch *search, RuleCache *cache)
{
    static const uint64_t behind[] = {0, 1, 16, 1 << 20};
    const FrameSections *s = &search->sections;
    UnwindAction action;
    for (size_t i = 0; i < ENTRIES_MAX && ENTRIES_AT + (i + 1) * ENTRY <= s->hdr_size; i++) {
        int32_t start;
        memcpy(&start, s->hdr + ENTRIES_AT + i * ENTRY, sizeof(start));
        uint64_t svma = (uint64_t)(uintptr_t)s->hdr + (uint64_t)(int64_t)start - search->bias;
        for (size_t k = 0; k < ARRAY_LEN(behind); k++)
            if (rule_search_find(search, cache, 1, svma + behind[k], &action))
                assert(action.kind != UNWIND_FULL && action.kind != UNWIND_NONE);
    }
    (void)frame_search_function(s, (uint64_t)(uintptr_t)s->hdr);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Arena arena = {0};
    Elf elf;
    uint8_t *file = heap_alloc(size + BEHIND);
    memset(file, 0, size + BEHIND);
    memcpy(file, data, size);
    if (elf_parse(&arena, bytes_over(file, size + BEHIND), &elf, NULL)) {
        RuleCache *cache = arena_new(&arena, RuleCache);
        RuleSearch search;
        rule_search_init(&elf, size & 1 ? UNWIND_AARCH64 : UNWIND_X86_64, &search);
        if (search.left)
            search_all(&search, cache);
    }
    heap_free(file);
    arena_deinit(&arena);
    return 0;
}
