// SPDX-License-Identifier: Apache-2.0
// Text from outside, escaped for a terminal and cut to a number of columns.

#ifndef ANALYSE_FIT_H
#define ANALYSE_FIT_H

#include "base/strbuf.h"
#include "model/name.h"

// The display shows at most this many bytes of a name.
enum { NAME_SHOWN_MAX = 4096 };

// Appends the longest form of a function's name that fits `columns` (at least 1): the full name,
// else without arguments, else without template arguments too, else the class and the function,
// else the function.
void name_add_fitting(StrBuf *out, Str name, size_t columns);

// Appends text, cut to `columns` (at least 1) with "…" at the end, or in the middle with
// `keep_end`. Returns the number of columns used.
size_t text_add_fitting(StrBuf *out, Str text, size_t columns, bool keep_end);

// Appends text broken at spaces, so that no line is wider than `columns`; text that the line of
// `out` already has counts. Further lines begin with `indent` spaces. A word that is longer is cut.
// Ends with a line feed unless the text is empty.
void text_add_wrapped(StrBuf *out, Str text, size_t columns, size_t indent);

// The longest prefix that is at most `max` bytes long and does not end inside a
// UTF-8 sequence.
Str text_prefix(Str text, size_t max);

#endif // ANALYSE_FIT_H
