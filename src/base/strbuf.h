// SPDX-License-Identifier: Apache-2.0
// A growing byte buffer for output. The memory is the heap's.

#ifndef BASE_STRBUF_H
#define BASE_STRBUF_H

#include "base/str.h"

#include <stdarg.h>

// Zero-initialised is a valid empty buffer.
typedef struct StrBuf {
    char *ptr;
    size_t len;
    size_t cap;
} StrBuf;

void strbuf_deinit(StrBuf *b);

// Room for `more` bytes behind the text; the caller writes there and adds to
// `len` itself.
char *strbuf_reserve(StrBuf *b, size_t more);

void strbuf_add(StrBuf *b, Str s);
void strbuf_add_bytes(StrBuf *b, Bytes s);
void strbuf_add_repeated(StrBuf *b, char c, size_t n);
void strbuf_add_u64(StrBuf *b, uint64_t value); // decimal; several times faster than printf
void strbuf_printf(StrBuf *b, const char *fmt, ...) PRINTF_LIKE(2, 3);
void strbuf_vprintf(StrBuf *b, const char *fmt, va_list args) PRINTF_LIKE(2, 0);

// Writes the decimal digits, at most 20, and gives where they end.
static inline char *str_put_u64(char *to, uint64_t value)
{
    enum { DIGITS_MAX = 20 };
    unsigned digits = 1;
    for (uint64_t limit = 10; digits < DIGITS_MAX && value >= limit; limit *= 10)
        digits++;
    // In place: bytes that were just written are slow to read together.
    for (char *at = to + digits; at > to; value /= 10)
        *--at = (char)('0' + value % 10);
    return to + digits;
}

static inline void strbuf_add_char(StrBuf *b, char c)
{
    *strbuf_reserve(b, 1) = c;
    b->len++;
}

static inline Str strbuf_str(const StrBuf *b)
{
    return (Str){b->ptr, b->len};
}

static inline void strbuf_clear(StrBuf *b)
{
    b->len = 0;
}

// Text from outside, made safe for where it is shown. Invalid UTF-8 becomes
// U+FFFD in all of them.
// - terminal: C0, C1 and DEL become \xNN, so that a name cannot drive the
//   terminal; bidirectional controls become \u{NNNN}
// - xml: & < > " ' and controls, fit for text and attribute values
// - json: what stands between the quotes of a JSON string
// - markdown: what would be markup, within a cell of a table too; lines become one
void strbuf_add_terminal(StrBuf *b, Str s);
void strbuf_add_xml(StrBuf *b, Str s);
void strbuf_add_json(StrBuf *b, Str s);
void strbuf_add_markdown(StrBuf *b, Str s);
// One CSV field (RFC 4180), quoted only where it must be.
void strbuf_add_csv(StrBuf *b, Str s);
// A word that a POSIX shell reads back as it is, quoted only where it must be.
void strbuf_add_shell_word(StrBuf *b, Str s);

// Decodes one code point at `*at` and moves past it; 0xfffd and one byte on
// invalid input (overlong, surrogate, > U+10FFFF, cut short).
uint32_t utf8_next(Str s, size_t *at);

// Terminal columns `s` takes: 0 for combining marks, 2 for wide East Asian and
// emoji, else 1 a code point. Controls count as their escaped form is long.
size_t str_columns(Str s);

#endif // BASE_STRBUF_H
