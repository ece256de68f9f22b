// SPDX-License-Identifier: Apache-2.0
// Reads untrusted bytes: the functions that need not be inline.

#include "base/cursor.h"

#include <inttypes.h>
#include <stdio.h>

void cursor_fail(Cursor *c, const char *why)
{
    if (c->why)
        return;
    c->why = why;
    c->failed_at = c->at;
}

static void fail_number(Cursor *c, const char *why, uint64_t met, uint8_t base)
{
    if (c->why)
        return;
    cursor_fail(c, why);
    c->met = met;
    c->met_base = base;
}

void cursor_fail_decimal(Cursor *c, const char *why, uint64_t met)
{
    fail_number(c, why, met, 10);
}

void cursor_fail_hex(Cursor *c, const char *why, uint64_t met)
{
    fail_number(c, why, met, 16);
}

void cursor_fail_as(Cursor *c, const Cursor *failed)
{
    fail_number(c, failed->why, failed->met, failed->met_base);
}

const char *cursor_reason(const Cursor *c, char *out, size_t size)
{
    if (c->met_base == 16)
        snprintf(out, size, "%s 0x%" PRIx64, c->why, c->met);
    else if (c->met_base)
        snprintf(out, size, "%s %" PRIu64, c->why, c->met);
    else
        snprintf(out, size, "%s", c->why);
    return out;
}

bool cursor_check(const Cursor *c, Error *err)
{
    if (!c->why)
        return true;
    char why[128];
    return error_set(err, ERROR_FORMAT, "%s: %s at offset 0x%" PRIx64, c->what,
                     cursor_reason(c, why, sizeof(why)), c->base + c->failed_at);
}

uint64_t cursor_uint(Cursor *c, size_t size)
{
    switch (size) {
    case 1:
        return cursor_u8(c);
    case 2:
        return cursor_u16(c);
    case 4:
        return cursor_u32(c);
    case 8:
        return cursor_u64(c);
    default:
        break;
    }
    assert(size >= 1 && size <= 8);
    const uint8_t *p = cursor_take(c, size);
    uint64_t v = 0;
    for (size_t i = 0; p && i < size; i++) {
        size_t shift = 8 * (c->big_endian ? size - 1 - i : i);
        v |= (uint64_t)p[i] << shift;
    }
    return v;
}

uint64_t cursor_uleb_slow(Cursor *c)
{
    uint64_t value = 0;
    unsigned shift = 0;
    for (;;) {
        const uint8_t *p = cursor_take(c, 1);
        if (!p)
            return 0;
        uint64_t part = *p & 0x7fu;
        if (part && (shift >= 64 || (shift == 63 && part > 1))) {
            cursor_fail(c, "LEB128 number over 64 bits");
            return 0;
        }
        if (shift < 64)
            value |= part << shift;
        if (!(*p & 0x80))
            return value;
        shift = shift < 70 ? shift + 7 : 70;
    }
}

int64_t cursor_sleb(Cursor *c)
{
    uint64_t value = 0;
    unsigned shift = 0;
    for (;;) {
        const uint8_t *p = cursor_take(c, 1);
        if (!p)
            return 0;
        uint64_t part = *p & 0x7fu;
        if (shift < 64)
            value |= part << shift;
        shift = shift < 70 ? shift + 7 : 70;
        if (!(*p & 0x80)) {
            if ((part & 0x40) && shift < 64)
                value |= ~0ull << shift;
            return (int64_t)value;
        }
    }
}

Bytes cursor_bytes(Cursor *c, uint64_t n)
{
    if (n > SIZE_MAX)
        n = SIZE_MAX;
    const uint8_t *p = cursor_take(c, (size_t)n);
    return p ? (Bytes){p, (size_t)n} : (Bytes){0};
}

Bytes cursor_padded(Cursor *c, uint64_t n, size_t align)
{
    Bytes b = cursor_bytes(c, n);
    if (cursor_ok(c))
        c->at = MIN((size_t)align_up(c->at, align), c->data.len);
    return b;
}

Str cursor_c_str(Cursor *c)
{
    if (!cursor_ok(c))
        return (Str){0};
    const uint8_t *start = cursor_left(c) ? c->data.ptr + c->at : NULL;
    const uint8_t *nul = start ? memchr(start, 0, cursor_left(c)) : NULL;
    if (!nul) {
        cursor_fail(c, "text without an end");
        return (Str){0};
    }
    c->at += (size_t)(nul - start) + 1;
    return (Str){(const char *)start, (size_t)(nul - start)};
}

void cursor_skip(Cursor *c, uint64_t n)
{
    (void)cursor_bytes(c, n);
}

void cursor_seek(Cursor *c, uint64_t at)
{
    if (!cursor_ok(c))
        return;
    if (at > c->data.len)
        cursor_fail(c, "offset past the end");
    else
        c->at = (size_t)at;
}

Cursor cursor_sub(Cursor *c, uint64_t n, const char *what)
{
    uint64_t base = c->base + c->at;
    Cursor sub = cursor_over(cursor_bytes(c, n), what);
    sub.base = base;
    sub.big_endian = c->big_endian;
    if (!cursor_ok(c)) {
        sub.why = c->why;
        sub.failed_at = 0;
    }
    return sub;
}
