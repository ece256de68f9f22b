// SPDX-License-Identifier: Apache-2.0
// Reads symbols from text files.

#include "symbolise/text_maps.h"

#include <stdlib.h>

// Reads hexadecimal digits, with or without 0x, from the front. Faster than str_parse_u64 on a
// slice, because the kernel has 200,000 lines.
static bool take_hex(Str *s, uint64_t *ret)
{
    if (str_starts_with(*s, STR("0x")) || str_starts_with(*s, STR("0X")))
        *s = str_slice(*s, 2, s->len);
    uint64_t value = 0;
    size_t i = 0;
    for (; i < s->len; i++) {
        char c = s->ptr[i];
        unsigned digit;
        if (c >= '0' && c <= '9')
            digit = (unsigned)(c - '0');
        else if ((c | 32) >= 'a' && (c | 32) <= 'f')
            digit = (unsigned)((c | 32) - 'a') + 10;
        else
            break;
        if (value >> 60)
            return false;
        value = value << 4 | digit;
    }
    if (i == 0)
        return false;
    *s = str_slice(*s, i, s->len);
    *ret = value;
    return true;
}

static bool take_space(Str *s)
{
    if (s->len == 0 || s->ptr[0] != ' ')
        return false;
    while (s->len && s->ptr[0] == ' ')
        *s = str_slice(*s, 1, s->len);
    return true;
}

// ---- kallsyms ------------------------------------------------------------------

// No kernel function is longer: the size of the last symbol before a gap.
enum { KERNEL_FUNCTION_MAX = 1 << 18 };

static bool kallsyms_line(Str line, SymbolClaim *ret, bool *is_core)
{
    uint64_t address;
    if (!take_hex(&line, &address) || !take_space(&line) || line.len < 3)
        return false;
    char type = line.ptr[0];
    line = str_slice(line, 1, line.len);
    if (!take_space(&line))
        return false;
    Str name = line, module;
    *is_core = !str_split(line, '\t', &name, &module);
    bool exported = type == 'T' || type == 'W' || type == 'V';
    *ret = (SymbolClaim){.start = address,
                         .limit = address > UINT64_MAX - KERNEL_FUNCTION_MAX
                                      ? UINT64_MAX
                                      : address + KERNEL_FUNCTION_MAX,
                         .name = name,
                         .rank = exported ? 0 : 1};
    char lower = (char)(type | 32);
    return name.len > 0 && (lower == 't' || lower == 'w');
}

bool kallsyms_parse(Arena *arena, Str text, SymbolIndex *ret, AddressRange *core, Error *err)
{
    SymbolClaimVec claims = {0};
    AddressRange range = {UINT64_MAX, 0};
    Str line;
    bool any_address = false, is_core;
    while (str_next_line(&text, &line)) {
        SymbolClaim claim;
        if (!kallsyms_line(line, &claim, &is_core))
            continue;
        any_address |= claim.start != 0;
        if (is_core && claim.start) {
            range.start = MIN(range.start, claim.start);
            range.end = MAX(range.end, claim.start);
        }
        vec_push(NULL, &claims, claim);
    }
    bool hidden = claims.len > 0 && !any_address;
    if (!hidden)
        symbol_index_build(arena, &claims, ret);
    vec_free(&claims);
    if (core)
        *core = range;
    if (!hidden)
        return true;
    error_set(err, ERROR_PERMISSION, "the kernel hides its addresses (kptr_restrict)");
    return error_hint(err, "run: sysctl kernel.kptr_restrict=0 kernel.perf_event_paranoid=1");
}

// ---- perf-PID.map ----------------------------------------------------------------

typedef struct JitEntry {
    uint64_t start, end;
    uint32_t order; // number of the line; later ones win
    Str name;
} JitEntry;

typedef Vec(JitEntry) JitEntryVec;

static bool jit_line(Str line, uint32_t order, JitEntry *ret)
{
    uint64_t start, size;
    if (!take_hex(&line, &start) || !take_space(&line) || !take_hex(&line, &size) ||
        !take_space(&line) || line.len == 0 || size == 0 || size > UINT64_MAX - start)
        return false;
    *ret = (JitEntry){start, start + size, order, line};
    return true;
}

static int jit_compare(const void *a, const void *b)
{
    const JitEntry *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

// A binary heap of open entries, the one with the latest line on top. An entry that has ended is
// removed only when it comes to the top.
static void heap_push(U32Vec *heap, const JitEntry *entries, uint32_t entry)
{
    vec_push(NULL, heap, entry);
    size_t i = heap->len - 1;
    while (i && entries[heap->at[(i - 1) / 2]].order < entries[heap->at[i]].order) {
        uint32_t up = heap->at[(i - 1) / 2];
        heap->at[(i - 1) / 2] = heap->at[i];
        heap->at[i] = up;
        i = (i - 1) / 2;
    }
}

static void heap_pop(U32Vec *heap, const JitEntry *entries)
{
    heap->at[0] = vec_pop(heap);
    size_t i = 0;
    for (;;) {
        size_t top = i;
        for (size_t child = 2 * i + 1; child <= 2 * i + 2 && child < heap->len; child++)
            if (entries[heap->at[child]].order > entries[heap->at[top]].order)
                top = child;
        if (top == i)
            return;
        uint32_t moved = heap->at[top];
        heap->at[top] = heap->at[i];
        heap->at[i] = moved;
        i = top;
    }
}

// Adds the range from `from` to `to`, where the next entry starts, for the entry on top.
static void jit_advance(Arena *arena, U32Vec *heap, const JitEntry *entries, uint64_t from,
                        uint64_t to, SymbolIndex *ret)
{
    while (heap->len && from < to) {
        const JitEntry *e = &entries[heap->at[0]];
        if (e->end <= from) {
            heap_pop(heap, entries);
            continue;
        }
        uint64_t end = MIN(e->end, to);
        vec_push(arena, &ret->symbols,
                 (Symbol){.start = from, .end = end, .name = e->name, .function_start = e->start});
        from = end;
    }
}

void jit_map_parse(Arena *arena, Str text, SymbolIndex *ret, size_t *bad_lines)
{
    JitEntryVec entries = {0};
    Str line;
    size_t bad = 0;
    while (str_next_line(&text, &line) && entries.len < UINT32_MAX - 1) {
        JitEntry e;
        if (jit_line(line, (uint32_t)entries.len, &e))
            vec_push(NULL, &entries, e);
        else
            bad += str_trim(line).len > 0;
    }
    if (entries.len)
        qsort(entries.at, entries.len, sizeof(entries.at[0]), jit_compare);
    *ret = (SymbolIndex){0};
    U32Vec heap = {0};
    for (size_t i = 0; i < entries.len; i++) {
        heap_push(&heap, entries.at, (uint32_t)i);
        uint64_t next = i + 1 < entries.len ? entries.at[i + 1].start : UINT64_MAX;
        jit_advance(arena, &heap, entries.at, entries.at[i].start, next, ret);
    }
    vec_free(&heap);
    vec_free(&entries);
    if (bad_lines)
        *bad_lines = bad;
}
