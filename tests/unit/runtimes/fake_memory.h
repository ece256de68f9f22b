// SPDX-License-Identifier: Apache-2.0
// The memory of a process that is not there: some bytes at an address, of which reads can be made
// to fail.

#ifndef FAKE_MEMORY_H
#define FAKE_MEMORY_H

#include "runtimes/process_memory.h"

enum { FAKE_BYTES = 1 << 14 };
#define FAKE_BASE 0x7f0000100000ull

typedef struct FakeMemory {
    uint8_t bytes[FAKE_BYTES];
    size_t size;   // reads end here
    unsigned fail; // this read and all later ones fail, counted from 1; 0: none
    unsigned reads;
} FakeMemory;

static inline bool fake_read(void *ctx, uint64_t addr, void *to, size_t size)
{
    FakeMemory *f = ctx;
    uint64_t at = addr - FAKE_BASE;
    f->reads++;
    if ((f->fail && f->reads >= f->fail) || at > f->size || size > f->size - at)
        return false;
    memcpy(to, f->bytes + at, size);
    return true;
}

static inline ProcessMemory fake_memory(FakeMemory *f)
{
    f->reads = 0;
    return (ProcessMemory){fake_read, f};
}

// Writes `size` bytes of a number at an offset; the address of it.
static inline uint64_t fake_put(FakeMemory *f, size_t at, uint64_t value, size_t size)
{
    assert_true(at + size <= FAKE_BYTES);
    memcpy(f->bytes + at, &value, size);
    f->size = MAX(f->size, at + size);
    return FAKE_BASE + at;
}

static inline uint64_t fake_text(FakeMemory *f, size_t at, const char *text)
{
    size_t len = strlen(text);
    assert_true(at + len < FAKE_BYTES);
    memcpy(f->bytes + at, text, len + 1);
    f->size = MAX(f->size, at + len + 1);
    return FAKE_BASE + at;
}

#endif // FAKE_MEMORY_H
