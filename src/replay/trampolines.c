// SPDX-License-Identifier: Apache-2.0
// The trampolines of CPython: Python/asm_trampoline.S. Those of 3.12 and 3.13 keep no frame
// pointer; later ones do, and need no rules. Written as .debug_frame (DWARF 5 §6.4).

#include "replay/trampolines.h"

#include "base/strbuf.h"

enum {
    CFA_ADVANCE = 0x40, // DW_CFA_advance_loc, the distance in the low bits
    CFA_DEF_OFFSET = 0x0e,
    CALL_AT = 4, // behind `sub $8, %rsp`
    RET_AT = 10, // behind `call *%rcx; add $8, %rsp`
};

static const uint8_t trampoline[] = {0x48, 0x83, 0xec, 0x08, 0xff, 0xd1,
                                     0x48, 0x83, 0xc4, 0x08, 0xc3};
enum { ALIGNED = 16 };

static void put(StrBuf *b, uint64_t value, size_t size)
{
    memcpy(strbuf_reserve(b, size), &value, size);
    b->len += size;
}

static void put_cie(StrBuf *b)
{
    // def_cfa rsp 8; the return address is saved at CFA - 8.
    static const uint8_t cie[] = {20, 0,    0, 0, 0xff, 0xff, 0xff, 0xff, 1, 0, 1, 0x78,
                                  16, 0x0c, 7, 8, 0x90, 1,    0,    0,    0, 0, 0, 0};
    strbuf_add_bytes(b, bytes_over(cie, sizeof(cie)));
}

static void put_offset(StrBuf *b, unsigned advance, unsigned cfa_offset)
{
    put(b, CFA_ADVANCE | advance, 1);
    put(b, CFA_DEF_OFFSET, 1);
    put(b, cfa_offset, 1);
}

static bool is_trampoline(Bytes code, size_t at)
{
    return at <= code.len && code.len - at >= sizeof(trampoline) &&
           memcmp(code.ptr + at, trampoline, sizeof(trampoline)) == 0;
}

bool trampolines_table(Arena *arena, Bytes code, uint64_t start, UnwindTable *ret)
{
    if (!is_trampoline(code, 0))
        return false;
    // 3.12 puts one behind the other, later versions at multiples of 16.
    size_t step = is_trampoline(code, sizeof(trampoline)) ? sizeof(trampoline) : ALIGNED;
    StrBuf rules = {0};
    put_cie(&rules);
    size_t length_at = rules.len, end = 0;
    put(&rules, 0, 4);
    put(&rules, 0, 4);
    put(&rules, start, 8);
    put(&rules, 0, 8);
    for (; is_trampoline(code, end); end += step) {
        put_offset(&rules, CALL_AT, 16);
        put_offset(&rules, RET_AT - CALL_AT, 8);
        put(&rules, CFA_ADVANCE | (step - RET_AT), 1);
    }
    while (rules.len % 8)
        put(&rules, 0, 1);
    uint32_t length = (uint32_t)(rules.len - length_at - 4);
    uint64_t size = MIN(end, code.len);
    memcpy(rules.ptr + length_at, &length, sizeof(length));
    memcpy(rules.ptr + length_at + 16, &size, sizeof(size));
    UnwindSections s = {.arch = UNWIND_X86_64,
                        .text = {start, start + size},
                        .debug_frame = bytes_from_str(strbuf_str(&rules))};
    UnwindBuildStats stats = {0};
    Error err;
    bool ok = unwind_table_build(arena, &s, ret, &stats, &err);
    strbuf_deinit(&rules);
    return ok;
}
