// SPDX-License-Identifier: Apache-2.0
// Sorts claims and sweeps over them once to get disjoint ranges.

#include "symbolise/symbol_index.h"

#include "base/cursor.h"

#include <stdlib.h>

#define RANK_LOCAL (1u << 30)

// The rank of a symbol among several at one address; the smallest wins: functions before labels,
// exported names before local ones, then fewer leading underscores ("puts" before "_IO_puts"), then
// shorter names.
static uint32_t alias_rank(const ElfSymbol *s)
{
    bool is_function = s->type == STT_FUNC || s->type == STT_GNU_IFUNC;
    size_t underscores = 0;
    bool mangled = str_starts_with(s->name, STR("_Z")) || str_starts_with(s->name, STR("_R"));
    while (!mangled && underscores < s->name.len && s->name.ptr[underscores] == '_')
        underscores++;
    uint32_t rank = is_function ? 0 : 1u << 31;
    rank |= s->binding == STB_LOCAL ? RANK_LOCAL : 0;
    rank |= (uint32_t)MIN(underscores, (size_t)15) << 26;
    rank |= s->binding == STB_WEAK ? 1u << 25 : 0;
    return rank | (uint32_t)MIN(s->name.len, (size_t)0xffffff);
}

static int claim_compare(const void *a, const void *b)
{
    const SymbolClaim *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    if (x->size != y->size)
        return x->size > y->size ? -1 : 1;
    return str_compare(x->name, y->name);
}

static uint64_t end_of(uint64_t start, uint64_t size)
{
    return size > UINT64_MAX - start ? UINT64_MAX : start + size;
}

// Adds the range [from, to) of a claim; joins it to the last range when that one continues.
static void stretch_add(Arena *arena, SymbolVec *out, const SymbolClaim *c, uint64_t from,
                        uint64_t to)
{
    if (from >= to)
        return;
    if (out->len && vec_last(out).end == from && vec_last(out).function_start == c->start) {
        vec_last(out).end = to;
        return;
    }
    vec_push(arena, out,
             (Symbol){.start = from,
                      .end = to,
                      .name = c->name,
                      .function_start = c->start,
                      .is_local = (c->rank & RANK_LOCAL) != 0});
}

// The end of an open claim; `next` is the first claim that starts after it.
static uint64_t claim_end(const SymbolClaim *c, const SymbolClaim *next)
{
    if (c->size)
        return end_of(c->start, c->size);
    uint64_t end = c->limit ? c->limit : end_of(c->start, 4096);
    return next ? MIN(end, next->start) : end;
}

typedef struct Open {
    const SymbolClaim *claim;
    uint64_t end;
} Open;

typedef Vec(Open) OpenVec;

// Closes the open claims that end at or before `at`. Returns how far the ranges reach.
static uint64_t close_until(Arena *arena, OpenVec *open, SymbolVec *out, uint64_t from, uint64_t at)
{
    while (open->len && vec_last(open).end <= at) {
        Open o = vec_pop(open);
        if (o.end > from) {
            stretch_add(arena, out, o.claim, from, o.end);
            from = o.end;
        }
    }
    if (open->len && from < at)
        stretch_add(arena, out, vec_last(open).claim, from, at);
    return MAX(from, at);
}

void symbol_index_build(Arena *arena, SymbolClaimVec *claims, SymbolIndex *ret)
{
    if (claims->len)
        qsort(claims->at, claims->len, sizeof(claims->at[0]), claim_compare);
    SymbolVec out = {0};
    OpenVec open = {0};
    uint64_t from = 0;
    for (size_t i = 0; i < claims->len; i++) {
        const SymbolClaim *c = &claims->at[i];
        if (i > 0 && claims->at[i - 1].start == c->start)
            continue; // an alias of lower rank
        const SymbolClaim *next = NULL;
        for (size_t k = i + 1; k < claims->len && !next; k++)
            if (claims->at[k].start != c->start)
                next = &claims->at[k];
        from = close_until(arena, &open, &out, from, c->start);
        // A label inside a function is no function of its own.
        if (c->size == 0 && open.len)
            continue;
        vec_push(NULL, &open, (Open){c, claim_end(c, next)});
    }
    close_until(arena, &open, &out, from, UINT64_MAX);
    vec_free(&open);
    ret->symbols = out;
}

const Symbol *symbol_index_find(const SymbolIndex *index, uint64_t address)
{
    size_t low = PARTITION_POINT(i, index->symbols.len, index->symbols.at[i].start <= address);
    if (low == 0 || address >= index->symbols.at[low - 1].end)
        return NULL;
    return &index->symbols.at[low - 1];
}

// ---- ELF symbol tables -------------------------------------------------------

// The end of the executable section that contains a symbol; false when the symbol is no code.
static bool code_limit(const Elf *elf, const ElfSymbol *s, uint64_t *ret)
{
    if (s->section == SHN_XINDEX) { // more sections than the field can number: the segments decide
        *ret = end_of(s->value, 4096);
        return elf_is_code(elf, s->value);
    }
    if (s->section == SHN_UNDEF || s->section >= elf->section_count)
        return false;
    const ElfSection *section = &elf->sections[s->section];
    if (!(section->flags & SHF_EXECINSTR) || s->value < section->svma ||
        s->value - section->svma >= section->size)
        return false;
    *ret = end_of(section->svma, section->size);
    return true;
}

static bool is_function_like(const ElfSymbol *s)
{
    if (s->type == STT_FUNC || s->type == STT_GNU_IFUNC)
        return true;
    // Labels of hand-written assembly; not the mapping symbols of arm64 ($x, $d).
    return s->type == STT_NOTYPE && s->name.ptr[0] != '$' && !str_starts_with(s->name, STR(".L"));
}

bool symbol_index_from_elf(Arena *arena, const Elf *elf, uint32_t section_type, SymbolIndex *ret,
                           Error *err)
{
    ElfSymbols symbols;
    if (!elf_symbols_load(arena, elf, section_type, &symbols, err))
        return false;
    SymbolClaimVec claims = {0};
    for (size_t i = 0; i < symbols.count; i++) {
        ElfSymbol s = elf_symbol_get(&symbols, i);
        uint64_t limit;
        if (s.name.len && is_function_like(&s) && code_limit(elf, &s, &limit))
            vec_push(NULL, &claims, (SymbolClaim){s.value, s.size, limit, s.name, alias_rank(&s)});
    }
    symbol_index_build(arena, &claims, ret);
    vec_free(&claims);
    return true;
}

// ---- .eh_frame -----------------------------------------------------------------
// Reads only what the bounds need: the pointer encoding of each CIE, and start and length of each
// FDE. LSB Core 5.0, "Exception Frames"; unwind/ reads the rest.

enum {
    PE_ABSPTR = 0x00,
    PE_UDATA4 = 0x03,
    PE_UDATA8 = 0x04,
    PE_SDATA4 = 0x0b,
    PE_SDATA8 = 0x0c,
    PE_FORMAT = 0x0f,
    PE_PCREL = 0x10,
    PE_APPLICATION = 0x70,
    PE_OMIT = 0xff
};

// The pointer encoding ('R') of a CIE; PE_OMIT when it is not known.
static uint8_t cie_encoding(Cursor c)
{
    uint8_t version = cursor_u8(&c);
    Str augmentation = cursor_c_str(&c);
    if (!cursor_ok(&c) || (version != 1 && version != 3))
        return PE_OMIT;
    if (augmentation.len == 0)
        return PE_ABSPTR;
    if (augmentation.ptr[0] != 'z')
        return PE_OMIT;
    (void)cursor_uleb(&c); // code alignment
    (void)cursor_sleb(&c); // data alignment
    (void)cursor_uleb(&c); // return address register
    (void)cursor_uleb(&c); // augmentation length
    for (size_t i = 1; i < augmentation.len && cursor_ok(&c); i++) {
        char letter = augmentation.ptr[i];
        if (letter == 'R')
            return cursor_u8(&c);
        if (letter == 'L') {
            (void)cursor_u8(&c);
        } else if (letter == 'P') {
            uint8_t format = cursor_u8(&c) & PE_FORMAT;
            cursor_skip(&c, format == PE_UDATA4 || format == PE_SDATA4 ? 4 : 8);
        } else if (letter != 'S' && letter != 'B' && letter != 'G') {
            return PE_OMIT;
        }
    }
    return cursor_ok(&c) ? PE_ABSPTR : PE_OMIT;
}

static uint64_t encoded_value(Cursor *c, uint8_t format)
{
    switch (format) {
    case PE_UDATA4:
        return cursor_u32(c);
    case PE_SDATA4:
        return (uint64_t)(int64_t)(int32_t)cursor_u32(c);
    case PE_ABSPTR:
    case PE_UDATA8:
    case PE_SDATA8:
        return cursor_u64(c);
    default:
        cursor_fail(c, "unknown pointer encoding");
        return 0;
    }
}

// Reads the bounds of an FDE; `c` is at its body, after the CIE pointer.
static bool fde_bounds(Cursor *c, uint8_t encoding, uint64_t section_svma, SymbolClaim *ret)
{
    uint8_t application = encoding & PE_APPLICATION;
    if (encoding == PE_OMIT || (application != 0 && application != PE_PCREL))
        return false;
    uint64_t field_svma = section_svma + c->at;
    uint64_t start = encoded_value(c, encoding & PE_FORMAT);
    if (application == PE_PCREL)
        start += field_svma;
    uint64_t size = encoded_value(c, encoding & PE_FORMAT & 0x07);
    if (!cursor_ok(c) || size == 0)
        return false;
    *ret = (SymbolClaim){.start = start, .size = size, .name = STR("")};
    return true;
}

void symbol_index_from_eh_frame(Arena *arena, const Elf *elf, SymbolIndex *ret)
{
    *ret = (SymbolIndex){0};
    const ElfSection *s = elf_section_find(elf, STR(".eh_frame"));
    Bytes data;
    if (!s || !elf_section_bytes(arena, elf, s, &data, NULL))
        return;
    SymbolClaimVec claims = {0};
    Cursor c = cursor_over(data, ".eh_frame");
    uint64_t last_cie = UINT64_MAX; // FDEs of one CIE mostly come one after the other
    uint8_t encoding = PE_OMIT;
    while (cursor_more(&c)) {
        uint64_t length = cursor_u32(&c);
        if (length == 0)
            continue; // the end mark of the part that came from one linked file
        if (length == UINT32_MAX)
            length = cursor_u64(&c);
        size_t body = c.at;
        uint32_t cie_pointer = cursor_u32(&c);
        cursor_seek(&c, body);
        cursor_skip(&c, length);
        if (!cursor_ok(&c) || cie_pointer == 0 || cie_pointer > body || length < 4)
            continue;
        uint64_t cie = body - cie_pointer;
        if (cie != last_cie) {
            Cursor head = cursor_over(data, ".eh_frame");
            cursor_seek(&head, cie);
            bool long_form = cursor_u32(&head) == UINT32_MAX;
            cursor_skip(&head, long_form ? 12 : 4);
            encoding = cie_encoding(head);
            last_cie = cie;
        }
        Cursor fde = cursor_over(bytes_slice(data, 0, c.at), ".eh_frame");
        cursor_seek(&fde, body + 4);
        SymbolClaim claim;
        if (fde_bounds(&fde, encoding, s->svma, &claim) && elf_is_code(elf, claim.start))
            vec_push(NULL, &claims, claim);
    }
    symbol_index_build(arena, &claims, ret);
    vec_free(&claims);
}
