// SPDX-License-Identifier: Apache-2.0
// Finds source lines with only brackets, such as `}` and `} else {`. A line table gives such
// a line the jump over the other branch, or the return. When that code does not run, no
// statement was missed, so that coverage leaves these lines out.

#ifndef COLLECT_COVER_BRACKET_LINES_H
#define COLLECT_COVER_BRACKET_LINES_H

#include "base/vec.h"

// Whether a line of C, C++ or Rust has only brackets, `;`, `,`, the words else, do and try, and
// comments. True for an empty line.
bool bracket_line_is(Str line);

// Appends the numbers of such lines of a source text, counted from 1, ascending. The vector is heap
// memory.
void bracket_lines_find(Str text, U32Vec *ret);

#endif // COLLECT_COVER_BRACKET_LINES_H
