// SPDX-License-Identifier: Apache-2.0
// Reads untrusted bytes. A failure is sticky: after the first read past the end every
// read returns zero, and cursor_check says at the end where and why it failed.

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
    uint64_t met;     // the number that `why` ends with, if met_base is not 0
    uint8_t met_base; // 10 or 16: how `met` is printed
    bool big_endian;
} Cursor;

// A little-endian cursor at the start of `data`, which is borrowed. `what` names the bytes in
// errors and is borrowed, too.
static inline Cursor cursor_over(Bytes data, const char *what)
{
    return (Cursor){.data = bytes_addressable(data), .what = what};
}

// No read has failed so far.
static inline bool cursor_ok(const Cursor *c)
{
    return c->why == NULL;
}

// Bytes between the position and the end, also after a failure.
static inline size_t cursor_left(const Cursor *c)
{
    return c->data.len - c->at;
}

// Bytes are left and nothing has failed.
static inline bool cursor_more(const Cursor *c)
{
    return c->why == NULL && c->at < c->data.len;
}

// Marks the cursor failed at its position, for the reason `why` (a literal). A cursor that has
// failed before keeps its first reason.
void cursor_fail(Cursor *c, const char *why);

// The same for a number that has no meaning here, as an unknown form. The error prints
// it, in the base in which the format's document writes such numbers.
void cursor_fail_decimal(Cursor *c, const char *why, uint64_t met);
void cursor_fail_hex(Cursor *c, const char *why, uint64_t met);

// Fails with the reason of another cursor that failed, at the present position of `c`.
void cursor_fail_as(Cursor *c, const Cursor *failed);

// The reason of a failure with its number, as text. Returns `out`.
const char *cursor_reason(const Cursor *c, char *out, size_t size);

// False when the cursor has failed; the error reads "'what': why at offset 0x…".
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

// An unsigned integer of 1 byte; 0 after a failure, as in all readers below.
static inline uint8_t cursor_u8(Cursor *c)
{
    const uint8_t *p = cursor_take(c, 1);
    return p ? *p : 0;
}

// An unsigned integer of 2 bytes in the byte order of the cursor.
static inline uint16_t cursor_u16(Cursor *c)
{
    const uint8_t *p = cursor_take(c, 2);
    uint16_t v = 0;
    if (p)
        memcpy(&v, p, 2);
    return c->big_endian ? __builtin_bswap16(v) : v;
}

// The same of 4 bytes.
static inline uint32_t cursor_u32(Cursor *c)
{
    const uint8_t *p = cursor_take(c, 4);
    uint32_t v = 0;
    if (p)
        memcpy(&v, p, 4);
    return c->big_endian ? __builtin_bswap32(v) : v;
}

// The same of 8 bytes.
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

// LEB128 numbers (DWARF 5 §7.6): an unsigned one of any length, and a signed one. A value of
// more than 64 bits is a failure; padding bytes (0x80 …) are accepted.
uint64_t cursor_uleb_slow(Cursor *c);
int64_t cursor_sleb(Cursor *c);

// An unsigned LEB128 number, read in line when it has one or two bytes, as most have.
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

// The next n bytes, borrowed from the data; empty after a failure.
Bytes cursor_bytes(Cursor *c, uint64_t n);
// The next n bytes. Also skips the padding after them, up to a multiple of `align` from the
// start of the data; the data may end within the padding.
Bytes cursor_padded(Cursor *c, uint64_t n, size_t align);
// The text up to the next NUL, without the NUL; the position is then after the NUL.
Str cursor_c_str(Cursor *c);
// Moves on by n bytes.
void cursor_skip(Cursor *c, uint64_t n);
// Moves to an offset from the start of the data; past the end is a failure.
void cursor_seek(Cursor *c, uint64_t at);
// A cursor over the next n bytes; `c` moves on by n bytes. Offsets in errors of both cursors
// count from the start of the same file.
Cursor cursor_sub(Cursor *c, uint64_t n, const char *what);

#endif // BASE_CURSOR_H
