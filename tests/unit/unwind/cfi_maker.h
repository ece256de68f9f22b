// SPDX-License-Identifier: Apache-2.0
// Writes call frame information by hand, for tests.

#ifndef TEST_CFI_MAKER_H
#define TEST_CFI_MAKER_H

#include "base/defs.h"
#include "unwind/unwind_table.h"

#include <string.h>

// Where made .eh_frame sections lie; functions are stated as offsets from TEXT.
#define EH_FRAME_SVMA ((uint64_t)0x2000)
#define TEXT          ((uint64_t)0x10000)

typedef struct CfiMaker {
    uint8_t bytes[4096];
    size_t len;
    size_t entry; // of the entry under way
    size_t cie;   // of the last CIE
    UnwindArch arch;
    bool is_debug_frame;
} CfiMaker;

static inline void cfi_u8(CfiMaker *m, unsigned v)
{
    m->bytes[m->len++] = (uint8_t)v;
}

static inline void cfi_u32(CfiMaker *m, uint64_t v)
{
    uint32_t v32 = (uint32_t)v;
    memcpy(m->bytes + m->len, &v32, 4);
    m->len += 4;
}

static inline void cfi_u64(CfiMaker *m, uint64_t v)
{
    memcpy(m->bytes + m->len, &v, 8);
    m->len += 8;
}

static inline void cfi_put(CfiMaker *m, const void *bytes, size_t len)
{
    memcpy(m->bytes + m->len, bytes, len);
    m->len += len;
}

// Instructions or expressions as numbers: CFI(m, 0x0e, 16).
#define CFI(m, ...) cfi_put((m), (const uint8_t[]){__VA_ARGS__}, sizeof((uint8_t[]){__VA_ARGS__}))

// What compilers start with: CFA is the stack pointer, x86-64's with the return
// address pushed. `letters` follow the 'z' of the augmentation.
static inline void cfi_cie_begin(CfiMaker *m, const char *letters)
{
    m->entry = m->cie = m->len;
    cfi_u32(m, 0);
    cfi_u32(m, m->is_debug_frame ? 0xffffffff : 0);
    cfi_u8(m, 1);
    if (!m->is_debug_frame) {
        cfi_u8(m, 'z');
        cfi_u8(m, 'R');
        cfi_put(m, letters, strlen(letters));
    }
    cfi_u8(m, 0);
    cfi_u8(m, m->arch == UNWIND_AARCH64 ? 4 : 1);
    cfi_u8(m, 0x78); // data alignment -8
    cfi_u8(m, m->arch == UNWIND_AARCH64 ? 30 : 16);
    if (!m->is_debug_frame)
        CFI(m, 1, 0x1b); // pcrel | sdata4
}

static inline void cfi_end(CfiMaker *m)
{
    while ((m->len - m->entry) % 8 != 4)
        cfi_u8(m, 0);
    uint32_t len = (uint32_t)(m->len - m->entry - 4);
    memcpy(m->bytes + m->entry, &len, 4);
}

static inline void cfi_cie(CfiMaker *m, const char *letters)
{
    cfi_cie_begin(m, letters);
    if (m->arch == UNWIND_AARCH64)
        CFI(m, 0x0c, 31, 0);
    else
        CFI(m, 0x0c, 7, 8, 0x90, 1);
    cfi_end(m);
}

static inline void cfi_fde_begin(CfiMaker *m, uint64_t start, uint64_t size)
{
    m->entry = m->len;
    cfi_u32(m, 0);
    if (m->is_debug_frame) {
        cfi_u32(m, m->cie);
        cfi_u64(m, TEXT + start);
        cfi_u64(m, size);
        return;
    }
    cfi_u32(m, m->len - m->cie);
    cfi_u32(m, TEXT + start - (EH_FRAME_SVMA + m->len));
    cfi_u32(m, size);
    cfi_u8(m, 0);
}

#define CFI_FDE(m, start, size, ...)                                                               \
    do {                                                                                           \
        cfi_fde_begin((m), (start), (size));                                                       \
        CFI((m), __VA_ARGS__);                                                                     \
        cfi_end(m);                                                                                \
    } while (0)

static inline UnwindSections cfi_sections(const CfiMaker *m)
{
    UnwindSections s = {.arch = m->arch, .eh_frame_svma = EH_FRAME_SVMA};
    if (m->is_debug_frame)
        s.debug_frame = bytes_over(m->bytes, m->len);
    else
        s.eh_frame = bytes_over(m->bytes, m->len);
    return s;
}

#endif // TEST_CFI_MAKER_H
