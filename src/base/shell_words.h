// SPDX-License-Identifier: Apache-2.0
// A command line in one text, split into words.

#ifndef BASE_SHELL_WORDS_H
#define BASE_SHELL_WORDS_H

#include "base/arena.h"
#include "base/error.h"
#include "base/vec.h"

// Appends the words as a POSIX shell splits them, without quotes and backslashes; nothing is
// expanded. Fails on a quote that is not closed.
MUST_CHECK bool shell_split_words(Arena *arena, Str text, StrVec *ret, Error *err);

#endif // BASE_SHELL_WORDS_H
