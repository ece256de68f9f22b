// SPDX-License-Identifier: Apache-2.0
// Numbers and texts in the memory of another process.

#include "runtimes/process_memory.h"

enum { TEXT_AT_ONCE = 512 };

bool memory_u64(const ProcessMemory *m, uint64_t addr, uint64_t *ret)
{
    return m->read(m->ctx, addr, ret, sizeof(*ret));
}

bool memory_u32(const ProcessMemory *m, uint64_t addr, uint32_t *ret)
{
    return m->read(m->ctx, addr, ret, sizeof(*ret));
}

bool memory_u16(const ProcessMemory *m, uint64_t addr, uint16_t *ret)
{
    return m->read(m->ctx, addr, ret, sizeof(*ret));
}

bool memory_u8(const ProcessMemory *m, uint64_t addr, uint8_t *ret)
{
    return m->read(m->ctx, addr, ret, sizeof(*ret));
}

Str memory_text(const ProcessMemory *m, uint64_t addr, char *to, size_t size)
{
    enum { PIECE = 64 };
    size_t len = 0;
    while (len + 1 < size) {
        // No piece goes over the end of a page: the next one may not be there.
        size_t piece = MIN(size - 1 - len, PIECE - (size_t)((addr + len) % PIECE));
        if (!m->read(m->ctx, addr + len, to + len, piece))
            break;
        const char *end = memchr(to + len, 0, piece);
        if (end)
            return str_over(to, (size_t)(end - to));
        len += piece;
    }
    return str_over(to, len);
}

static void add_utf8(StrBuf *out, uint32_t c)
{
    if (c < 0x80) {
        strbuf_add_char(out, (char)c);
    } else if (c < 0x800) {
        strbuf_add_char(out, (char)(0xc0 | c >> 6));
        strbuf_add_char(out, (char)(0x80 | (c & 0x3f)));
    } else {
        strbuf_add_char(out, (char)(0xe0 | c >> 12));
        strbuf_add_char(out, (char)(0x80 | (c >> 6 & 0x3f)));
        strbuf_add_char(out, (char)(0x80 | (c & 0x3f)));
    }
}

bool memory_add_bytes(const ProcessMemory *m, uint64_t addr, size_t count, StrBuf *out)
{
    char text[TEXT_AT_ONCE];
    count = MIN(count, sizeof(text));
    if (!m->read(m->ctx, addr, text, count))
        return false;
    strbuf_add(out, str_over(text, count));
    return true;
}

bool memory_add_latin1(const ProcessMemory *m, uint64_t addr, size_t count, StrBuf *out)
{
    uint8_t text[TEXT_AT_ONCE];
    count = MIN(count, sizeof(text));
    if (!m->read(m->ctx, addr, text, count))
        return false;
    for (size_t i = 0; i < count; i++)
        add_utf8(out, text[i]);
    return true;
}

bool memory_add_utf16(const ProcessMemory *m, uint64_t addr, size_t count, StrBuf *out)
{
    uint16_t text[TEXT_AT_ONCE];
    count = MIN(count, ARRAY_LEN(text));
    if (!m->read(m->ctx, addr, text, count * sizeof(*text)))
        return false;
    for (size_t i = 0; i < count; i++)
        add_utf8(out, text[i] >= 0xd800 && text[i] < 0xe000 ? 0xfffd : text[i]);
    return true;
}

bool runtime_symbol(const ElfSymbols *symbols, Str name, ElfSymbol *ret)
{
    for (size_t i = 0; i < symbols->count; i++) {
        ElfSymbol s = elf_symbol_get(symbols, i);
        if (str_equal(s.name, name)) {
            *ret = s;
            return true;
        }
    }
    return false;
}
