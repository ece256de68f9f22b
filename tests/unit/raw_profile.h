// SPDX-License-Identifier: Apache-2.0
// Raw profiles of every version, pointer width and byte order, built for tests.

#ifndef UNIT_RAW_PROFILE_H
#define UNIT_RAW_PROFILE_H

#include "base/strbuf.h"

// What a raw profile is like.
typedef struct RawShape {
    uint32_t version;
    unsigned pointer;
    bool big;
    // Where the program was loaded: functions lie at `base` + their name. 0: the second
    // function has no value profile.
    uint64_t base;
} RawShape;

static inline void raw_put(StrBuf *b, const RawShape *s, uint64_t v, unsigned size)
{
    uint8_t bytes[8];
    for (unsigned i = 0; i < size; i++)
        bytes[s->big ? size - 1 - i : i] = (uint8_t)(v >> (8 * i));
    strbuf_add_bytes(b, bytes_over(bytes, size));
}

// One record, laid out as the table in docs/formats/coverage.md states.
static inline void raw_put_record(StrBuf *b, const RawShape *s, uint64_t name, uint64_t hash,
                                  uint64_t counter_ptr, uint32_t counters)
{
    size_t start = b->len;
    raw_put(b, s, name, 8);
    raw_put(b, s, hash, 8);
    raw_put(b, s, counter_ptr, s->pointer);
    if (s->version >= 11)
        raw_put(b, s, 0, s->pointer);
    if (s->version >= 9)
        raw_put(b, s, 0, s->pointer);
    raw_put(b, s, s->base ? s->base + name : 0x1234, s->pointer);
    raw_put(b, s, 0, s->pointer);
    raw_put(b, s, counters, 4);
    for (unsigned i = 0; i < (s->version >= 10 ? 3u : 2u); i++)
        raw_put(b, s, s->base && name == 0x12 ? (i == 0 ? 2 : 1) : 0, 2);
    if (s->version >= 11)
        raw_put(b, s, 32, 2);
    if (s->version >= 9) {
        while ((b->len - start) % 4)
            raw_put(b, s, 0, 1);
        raw_put(b, s, 0, 4);
    }
    if (s->version >= 12)
        raw_put(b, s, 0, 4);
    while ((b->len - start) % 8)
        raw_put(b, s, 0, 1);
}

// The second function's values: at its first call it reached itself 5 times, the
// first function 9 times and something outside twice, its second call never ran;
// it copied 8 bytes 3 times. Where there are tables it met its own 4 times, by an
// address inside, and another's once.
static inline void raw_put_values(StrBuf *b, const RawShape *s)
{
    bool tables = s->version >= 10;
    const uint64_t calls[][2] = {{s->base + 0x12, 5}, {s->base + 0x11, 9}, {0x77, 2}};
    raw_put(b, s, 8 + 16 + 3 * 16 + 16 + 16 + (tables ? 16 + 2 * 16 : 0), 4);
    raw_put(b, s, tables ? 3 : 2, 4); // kinds
    raw_put(b, s, 0, 4);              // calls
    raw_put(b, s, 2, 4);
    strbuf_add(b, STR("\3\0\0\0\0\0\0\0"));
    for (unsigned i = 0; i < 6; i++)
        raw_put(b, s, calls[i / 2][i % 2], 8);
    raw_put(b, s, 1, 4); // sizes
    raw_put(b, s, 1, 4);
    strbuf_add(b, STR("\1\0\0\0\0\0\0\0"));
    raw_put(b, s, 8, 8);
    raw_put(b, s, 3, 8);
    if (!tables)
        return;
    raw_put(b, s, 2, 4);
    raw_put(b, s, 1, 4);
    strbuf_add(b, STR("\2\0\0\0\0\0\0\0"));
    raw_put(b, s, s->base + 0x410, 8);
    raw_put(b, s, 4, 8);
    raw_put(b, s, s->base + 0x420, 8); // behind its end
    raw_put(b, s, 1, 8);
}

// The table of the second function's class, 0x20 bytes at 0x400, and one that was
// left out by the linker; then the names of both.
static inline void raw_put_tables(StrBuf *b, const RawShape *s)
{
    raw_put(b, s, 0x99, 8);
    raw_put(b, s, 0, s->pointer);
    raw_put(b, s, 0, 4);
    raw_put(b, s, 0, s->pointer == 8 ? 4 : 0);
    raw_put(b, s, 0x44, 8);
    raw_put(b, s, s->base + 0x400, s->pointer);
    raw_put(b, s, 0x20, 4);
    raw_put(b, s, 0, s->pointer == 8 ? 4 : 0);
    strbuf_add(b, STR("\3\0t\1u\0\0\0"));
}

// Two functions with 2 and 3 counters, 10 … 14.
static inline void raw_build(StrBuf *b, const RawShape *s)
{
    StrBuf one = {0};
    raw_put_record(&one, s, 0, 0, 0, 0);
    uint64_t record = one.len;
    strbuf_deinit(&one);
    bool relative = s->version >= 8;
    uint64_t counters_at = relative ? (uint64_t)-64 : 0x5000;

    raw_put(b, s, s->pointer == 8 ? 0xff6c70726f667281ull : 0xff6c70726f665281ull, 8);
    raw_put(b, s, s->version, 8);
    if (s->version >= 6)
        raw_put(b, s, 0, 8); // binary ids
    raw_put(b, s, 2, 8);     // records
    if (s->version >= 5)
        raw_put(b, s, 0, 8);
    raw_put(b, s, 5, 8); // counters
    if (s->version >= 5)
        raw_put(b, s, 0, 8);
    if (s->version >= 9) {
        raw_put(b, s, 0, 8);
        raw_put(b, s, 0, 8);
    }
    if (s->version >= 11) {
        raw_put(b, s, 0, 8);
        raw_put(b, s, 0, 8);
        raw_put(b, s, 0, 8);
    }
    raw_put(b, s, 6, 8); // names
    raw_put(b, s, s->pointer == 4 ? (uint32_t)counters_at : counters_at, 8);
    // Without bitmaps this is an address, other in each run.
    static uint64_t address = 0x7f0000001000;
    if (s->version >= 9)
        raw_put(b, s, address += 0x1000, 8);
    raw_put(b, s, address, 8); // names delta
    if (s->version >= 10) {
        raw_put(b, s, s->base ? 2 : 0, 8); // virtual tables
        raw_put(b, s, s->base ? 5 : 0, 8); // their names
    }
    raw_put(b, s, s->version >= 10 ? 2 : 1, 8);
    raw_put_record(b, s, 0x11, 0x21, counters_at, 2);
    raw_put_record(b, s, 0x12, 0x22, relative ? counters_at - record + 16 : counters_at + 16, 3);
    for (unsigned i = 0; i < 5; i++)
        raw_put(b, s, 10 + i, 8);
    strbuf_add(b, STR("\4\0a\1bc\0\0"));
    if (s->base && s->version >= 10)
        raw_put_tables(b, s);
    if (s->base)
        raw_put_values(b, s);
}

#endif // UNIT_RAW_PROFILE_H
