// SPDX-License-Identifier: Apache-2.0
// Function names at several lengths. C++ and Rust names as a demangler prints
// them are longer than any table is wide; their end says most.

#ifndef ANALYSE_NAME_H
#define ANALYSE_NAME_H

#include "base/strbuf.h"

// From long to short. Each level drops what the one before drops, and more.
typedef enum NameLevel {
    NAME_FULL,
    NAME_NO_ARGS,      // without return type, parameters, "const", "[clone …]", Rust's hash
    NAME_NO_TEMPLATES, // and without template and generic arguments
    NAME_TAIL,         // the last two segments: "Class::method"
    NAME_LAST,         // the last one; a closure keeps what it stands in
    NAME_LEVEL_COUNT
} NameLevel;

// Display never shows more of a name than this many bytes of it.
enum { NAME_SHOWN_MAX = 4096 };

// Appends `name` at a level. Names in square brackets ("[unknown in …]"), and
// names this does not understand, are appended as they are.
void name_add(StrBuf *out, Str name, NameLevel level);

// Appends the longest form, escaped for a terminal, that fits `columns`; when
// even the last does not, its middle becomes "…". `columns` is at least 1.
void name_add_fitting(StrBuf *out, Str name, size_t columns);

// Appends text, escaped for a terminal, cut to `columns` with "…" in the middle
// (`keep_end`) or at the end. Gives the columns it took.
size_t text_add_fitting(StrBuf *out, Str text, size_t columns, bool keep_end);

// The longest prefix that is at most `max` bytes long and does not end inside a
// UTF-8 sequence.
Str text_prefix(Str text, size_t max);

#endif // ANALYSE_NAME_H
