// SPDX-License-Identifier: Apache-2.0
// Text from outside, escaped for a terminal and fitted to a number of columns.

#ifndef ANALYSE_FIT_H
#define ANALYSE_FIT_H

#include "base/strbuf.h"
#include "model/name.h"

// Display never shows more of a name than this many bytes of it.
enum { NAME_SHOWN_MAX = 4096 };

// Appends the longest form of a function's name that fits `columns`: in full,
// without arguments, without templates, then only the end of that. `columns` is
// at least 1.
void name_add_fitting(StrBuf *out, Str name, size_t columns);

// Appends text, cut to `columns` (at least 1) with "…" in the middle
// (`keep_end`) or at the end. Gives the columns it took.
size_t text_add_fitting(StrBuf *out, Str text, size_t columns, bool keep_end);

// The longest prefix that is at most `max` bytes long and does not end inside a
// UTF-8 sequence.
Str text_prefix(Str text, size_t max);

#endif // ANALYSE_FIT_H
