// SPDX-License-Identifier: Apache-2.0
// The properties of the terminal, and text that fits its width.

#ifndef CLI_TERMINAL_H
#define CLI_TERMINAL_H

#include "base/strbuf.h"
#include "cli/option.h"

typedef struct Terminal {
    bool is_tty;    // stdout
    bool colour;    // escape sequences may be written
    size_t columns; // 80 unless known
    size_t rows;    // 24 unless known
} Terminal;

// The row of an option table; `field` is a Str in the options struct S, for terminal_get.
#define COLOUR_OPTION(S, field)                                                                    \
    OPT_CHOICE(0, "color", S, field, "WHEN", "auto|always|never",                                  \
               "colours; auto is on a terminal without NO_COLOR")

// `colour` is the word of COLOUR_OPTION; "" is auto. Auto writes colours on a terminal that is not
// dumb, unless NO_COLOR is set, and anywhere with CLICOLOR_FORCE.
Terminal terminal_get(Str colour);

typedef enum Style { STYLE_PLAIN, STYLE_BOLD, STYLE_DIM, STYLE_HOT, STYLE_WARM, STYLE_NAME } Style;

// Appends the codes that begin a style; nothing without colour. A style never carries a meaning
// that the text does not have.
void style_begin(StrBuf *out, const Terminal *t, Style style);
// Appends the code that ends a style.
void style_end(StrBuf *out, const Terminal *t, Style style);

// Appends spaces until the text behind the byte offset `from` of `out` has `columns` columns. That
// text must have no escape sequences.
void pad_to(StrBuf *out, size_t from, size_t columns);

// Appends "31.2%" in six columns; shares that would round to nothing keep a digit: "<0.1%".
void add_percent(StrBuf *out, double percent);

// Appends a value with its unit: "2.28 s", "12.5 ms", "1.2 MB", "4 922".
void add_value(StrBuf *out, uint64_t value, Str unit);

// Appends an average with its unit; values below a thousand get decimals: "7.25 ns".
void add_quotient(StrBuf *out, double value, Str unit);

// Appends a count in at most eight columns: "52 417", "15.7 M".
void add_rounded_count(StrBuf *out, double value);

// Appends 1234567 as "1 234 567".
void add_count(StrBuf *out, uint64_t value);

// Appends a word, quoted where a POSIX shell would not read it back as it is.
void add_shell_word(StrBuf *out, Str word);

#endif // CLI_TERMINAL_H
