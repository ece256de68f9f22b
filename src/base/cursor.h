// SPDX-License-Identifier: Apache-2.0
// Reading untrusted bytes with sticky failure: after the first read past the
// end every read gives zero, and cursor_check says where it happened.

#ifndef BASE_CURSOR_H
#define BASE_CURSOR_H

#include "base/error.h"

typedef struct Cursor {
    Bytes data;
    size_t at;
    const char *what; // names the bytes in the error: "ELF notes"
    const char *why;  // NULL until failed; then what was wrong
    size_t failed_at; // offset of the failed read
    uint64_t base;    // added to offsets in error texts: where `data` lies in its file
    bool big_endian;
} Cursor;

static inline Cursor cursor_over(Bytes data, const char *what)
{
    return (Cursor){.data = data, .what = what};
}

static inline bool cursor_ok(const Cursor *c)
{
    return c->why == NULL;
}

static inline size_t cursor_left(const Cursor *c)
{
    return c->data.len - c->at;
}

// Bytes are left and nothing has failed.
static inline bool cursor_more(const Cursor *c)
{
    return c->why == NULL && c->at < c->data.len;
}

// Marks the cursor failed at its present position, first reason wins.
void cursor_fail(Cursor *c, const char *why);

// True, or false with "'what': why at offset 0x…".
MUST_CHECK bool cursor_check(const Cursor *c, Error *err);

// The next n bytes, or NULL after marking the cursor failed.
static inline const uint8_t *cursor_take(Cursor *c, size_t n)
{
    if (UNLIKELY(c->why != NULL || n > c->data.len - c->at)) {
        cursor_fail(c, "cut short");
        return NULL;
    }
    const uint8_t *p = c->data.ptr + c->at;
    c->at += n;
    return p;
}

static inline uint8_t cursor_u8(Cursor *c)
{
    const uint8_t *p = cursor_take(c, 1);
    return p ? *p : 0;
}

static inline uint16_t cursor_u16(Cursor *c)
{
    const uint8_t *p = cursor_take(c, 2);
    uint16_t v = 0;
    if (p)
        memcpy(&v, p, 2);
    return c->big_endian ? __builtin_bswap16(v) : v;
}

static inline uint32_t cursor_u32(Cursor *c)
{
    const uint8_t *p = cursor_take(c, 4);
    uint32_t v = 0;
    if (p)
        memcpy(&v, p, 4);
    return c->big_endian ? __builtin_bswap32(v) : v;
}

static inline uint64_t cursor_u64(Cursor *c)
{
    const uint8_t *p = cursor_take(c, 8);
    uint64_t v = 0;
    if (p)
        memcpy(&v, p, 8);
    return c->big_endian ? __builtin_bswap64(v) : v;
}

// An unsigned integer of 1 to 8 bytes.
uint64_t cursor_uint(Cursor *c, size_t size);

// LEB128 as in DWARF 5 §7.6. More than 64 bits of value is a failure; padding
// bytes (0x80 …) are accepted.
uint64_t cursor_uleb_slow(Cursor *c);
int64_t cursor_sleb(Cursor *c);

static inline uint64_t cursor_uleb(Cursor *c)
{
    const uint8_t *p = c->data.ptr + c->at;
    if (LIKELY(c->why == NULL && c->at < c->data.len && p[0] < 0x80)) {
        c->at++;
        return p[0];
    }
    if (LIKELY(c->why == NULL && c->data.len - c->at >= 2 && p[1] < 0x80)) {
        c->at += 2;
        return (p[0] & 0x7fu) | (uint64_t)p[1] << 7;
    }
    return cursor_uleb_slow(c);
}

Bytes cursor_bytes(Cursor *c, uint64_t n);
// n bytes, then the padding up to a multiple of `align` counted from the start
// of the data; padding cut off by the end is accepted.
Bytes cursor_padded(Cursor *c, uint64_t n, size_t align);
// Text up to a NUL, which is consumed and not part of it.
Str cursor_c_str(Cursor *c);
void cursor_skip(Cursor *c, uint64_t n);
// Moves to an offset from the start of the data; past the end is a failure.
void cursor_seek(Cursor *c, uint64_t at);
// A cursor over the next n bytes, which are consumed here. Offsets in its
// errors count in the same file.
Cursor cursor_sub(Cursor *c, uint64_t n, const char *what);

#endif // BASE_CURSOR_H
