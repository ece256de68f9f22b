// SPDX-License-Identifier: Apache-2.0
// Rows of separated values (RFC 4180, without line feeds in fields).

#ifndef IMPORT_STACKS_CSV_ROW_H
#define IMPORT_STACKS_CSV_ROW_H

#include "base/vec.h"

// The fields of a line, in the arena; a field in quotes without them.
StrVec csv_row(Arena *arena, Str line, char separator);

// The place of the first field that contains `text`; SIZE_MAX: none does.
size_t csv_column(const StrVec *row, const char *text);

#endif // IMPORT_STACKS_CSV_ROW_H
