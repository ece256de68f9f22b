// SPDX-License-Identifier: Apache-2.0
// Writing protobuf messages, and the string table that profile formats have.
// Encoding: protobuf.dev/programming-guides/encoding.

#ifndef EXPORT_PROTOBUF_INTERNAL_H
#define EXPORT_PROTOBUF_INTERNAL_H

#include "base/intern.h"
#include "base/strbuf.h"

// Appends a varint.
static inline void pb_varint(StrBuf *b, uint64_t v)
{
    char *at = strbuf_reserve(b, 10);
    size_t len = 0;
    while (v >= 0x80) {
        at[len++] = (char)(v | 0x80);
        v >>= 7;
    }
    at[len++] = (char)v;
    b->len += len;
}

// Appends a number field. Zero is the default of a field and is not written.
static inline void pb_number(StrBuf *b, unsigned field, uint64_t v)
{
    if (v == 0)
        return;
    pb_varint(b, field << 3);
    pb_varint(b, v);
}

// Appends a fixed64 field.
static inline void pb_fixed64(StrBuf *b, unsigned field, uint64_t v)
{
    pb_varint(b, field << 3 | 1);
    memcpy(strbuf_reserve(b, 8), &v, 8); // little-endian, as every machine we build for
    b->len += 8;
}

// Appends a field of bytes, text or a message.
static inline void pb_bytes(StrBuf *b, unsigned field, Str s)
{
    pb_varint(b, field << 3 | 2);
    pb_varint(b, s.len);
    strbuf_add(b, s);
}

// The number of a text in a string table. U+FFFD replaces bytes that are not UTF-8, which the table
// must not hold.
uint64_t pb_string_of(Intern *strings, Str s);

#endif // EXPORT_PROTOBUF_INTERNAL_H
