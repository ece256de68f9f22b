// SPDX-License-Identifier: Apache-2.0
// A growing byte buffer for output, in heap memory.

#ifndef BASE_STRBUF_H
#define BASE_STRBUF_H

#include "base/arena.h"

#include <stdarg.h>

// Zero-initialised is a valid empty buffer.
typedef struct StrBuf {
    char *ptr;
    size_t len;
    size_t cap;
} StrBuf;

// Frees the memory; the buffer is empty then and may be used again.
void strbuf_deinit(StrBuf *b);

// Moves the text to the arena, followed by a NUL that is not counted, and frees the buffer. A large
// text is given back piece by piece, so that it never takes its memory twice.
Str strbuf_move(Arena *arena, StrBuf *b);

// Makes room for `more` bytes after the text and returns their address. The caller writes there
// and then adds to `len`.
char *strbuf_reserve(StrBuf *b, size_t more);

// Each appends to the text: a text, bytes, `n` times the byte `c`, a decimal number, formatted
// text. strbuf_add_u64 is several times faster than printf.
void strbuf_add(StrBuf *b, Str s);
void strbuf_add_bytes(StrBuf *b, Bytes s);
void strbuf_add_repeated(StrBuf *b, char c, size_t n);
void strbuf_add_u64(StrBuf *b, uint64_t value);
void strbuf_printf(StrBuf *b, const char *fmt, ...) PRINTF_LIKE(2, 3);
void strbuf_vprintf(StrBuf *b, const char *fmt, va_list args) PRINTF_LIKE(2, 0);

// Writes a number's decimal digits, at most 20 and without a NUL, and returns the address after
// the last one.
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

// Appends one byte.
static inline void strbuf_add_char(StrBuf *b, char c)
{
    *strbuf_reserve(b, 1) = c;
    b->len++;
}

// The text, borrowed: valid until the buffer is changed.
static inline Str strbuf_str(const StrBuf *b)
{
    return (Str){b->ptr, b->len};
}

// Empties the buffer and keeps its memory for the next text.
static inline void strbuf_clear(StrBuf *b)
{
    b->len = 0;
}

// Each appends text from outside, escaped for the place where it is shown. Invalid UTF-8 becomes
// U+FFFD in all of them.
// - terminal: control characters (C0, C1, DEL) become \xNN and bidirectional controls \u{NNNN},
//   so that a name cannot send commands to the terminal
// - xml: escapes & < > " ' and control characters, for text and for attribute values
// - json: escapes for the inside of a JSON string; the caller writes the quotes
// - markdown: escapes all markup, also that of a table's cell; joins lines into one
void strbuf_add_terminal(StrBuf *b, Str s);
void strbuf_add_xml(StrBuf *b, Str s);
void strbuf_add_json(StrBuf *b, Str s);
void strbuf_add_markdown(StrBuf *b, Str s);
// Appends one CSV field (RFC 4180), escaped as for a terminal but for line feeds and tabs. A "'"
// stands before a field that a spreadsheet would compute.
void strbuf_add_csv(StrBuf *b, Str s);
// Appends a word that a POSIX shell reads back unchanged, quoted only where it must be.
void strbuf_add_shell_word(StrBuf *b, Str s);

// Appends bytes as base64 (RFC 4648, section 4).
void strbuf_add_base64(StrBuf *out, Str bytes);

// Decodes one UTF-8 code point at `*at` and moves `*at` past it. Invalid input (overlong,
// surrogate, above U+10FFFF, cut short) gives 0xfffd and moves by one byte.
uint32_t utf8_next(Str s, size_t *at);

// The number of terminal columns of `s`: 0 for a combining mark, 2 for a wide East Asian
// character or emoji, 1 for others; a control character counts as its escaped form.
size_t str_columns(Str s);

#endif // BASE_STRBUF_H
