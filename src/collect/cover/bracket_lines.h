// SPDX-License-Identifier: Apache-2.0
// Lines that hold only brackets, as `}` and `} else {`. Line tables give them the
// jump over the other branch, or the return; a jump that is not taken is no line that
// was missed.

#ifndef COLLECT_COVER_BRACKET_LINES_H
#define COLLECT_COVER_BRACKET_LINES_H

#include "base/vec.h"

// Whether a line of C, C++ or Rust has nothing but brackets, `;`, `,`, the words else,
// do and try, and comments. An empty line has.
bool bracket_line_is(Str line);

// Appends the numbers, from 1, of such lines of a source text, ascending. Memory is the
// vector's own.
void bracket_lines_find(Str text, U32Vec *ret);

#endif // COLLECT_COVER_BRACKET_LINES_H
