// SPDX-License-Identifier: Apache-2.0
// Fuzzes kallsyms and perf-PID.map: stretches ascend and do not overlap.

#include "symbolise/text_maps.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void index_check(const SymbolIndex *index)
{
    uint64_t last = 0;
    for (size_t i = 0; i < index->symbols.len; i++) {
        const Symbol *s = &index->symbols.at[i];
        assert(s->start >= last && s->start < s->end);
        assert(symbol_index_find(index, s->start) == s);
        last = s->end;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Arena arena = {0};
    SymbolIndex index;
    Error err;
    Str text = str_from_bytes(bytes_over(data, size));
    if (kallsyms_parse(&arena, text, &index, NULL, &err))
        index_check(&index);
    jit_map_parse(&arena, text, &index, NULL);
    index_check(&index);
    arena_deinit(&arena);
    return 0;
}
