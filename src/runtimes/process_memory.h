// SPDX-License-Identifier: Apache-2.0
// Reading the memory of a process whose runtime is of interest. Nothing in it is trusted: the
// process runs on meanwhile, and may be hostile.

#ifndef RUNTIMES_PROCESS_MEMORY_H
#define RUNTIMES_PROCESS_MEMORY_H

#include "base/strbuf.h"
#include "elf/elf.h"

// The memory of one process. `read` copies exactly `size` bytes, or returns false.
typedef struct ProcessMemory {
    bool (*read)(void *ctx, uint64_t addr, void *to, size_t size);
    void *ctx;
} ProcessMemory;

// Read a number of 8, 4, 2 or 1 bytes. False, with `ret` untouched, when it cannot be read.
bool memory_u64(const ProcessMemory *m, uint64_t addr, uint64_t *ret);
bool memory_u32(const ProcessMemory *m, uint64_t addr, uint32_t *ret);
bool memory_u16(const ProcessMemory *m, uint64_t addr, uint16_t *ret);
bool memory_u8(const ProcessMemory *m, uint64_t addr, uint8_t *ret);
// Reads a text that ends in NUL, at most `size` - 1 bytes of it, into `to`; "" when it cannot be
// read.
Str memory_text(const ProcessMemory *m, uint64_t addr, char *to, size_t size);
// Appends `count` bytes, or 16-bit characters of which those above Latin-1 become UTF-8.
bool memory_add_bytes(const ProcessMemory *m, uint64_t addr, size_t count, StrBuf *out);
bool memory_add_latin1(const ProcessMemory *m, uint64_t addr, size_t count, StrBuf *out);
bool memory_add_utf16(const ProcessMemory *m, uint64_t addr, size_t count, StrBuf *out);

// A dynamic symbol's value, as stated in the file. False when there is none.
bool runtime_symbol(const ElfSymbols *symbols, Str name, ElfSymbol *ret);

#endif // RUNTIMES_PROCESS_MEMORY_H
