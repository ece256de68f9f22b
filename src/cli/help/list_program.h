// SPDX-License-Identifier: Apache-2.0
// assay list FILE: the places that can be probed in a program or library.

#ifndef CLI_HELP_LIST_PROGRAM_H
#define CLI_HELP_LIST_PROGRAM_H

#include "base/error.h"
#include "base/vec.h"

// Whether a word of the command line is a file rather than a part of an event's name.
bool list_is_program(Str word);

// The file that a word without a slash stands for, by which no event is named: a program in $PATH,
// or the word itself where it is the name of a library. "": neither.
Str list_find_program(Arena *arena, Str word);

// Prints the functions and markers of the file words->at[0] whose name fits one of the other words;
// all without one. Returns the exit status.
int list_program(Arena *arena, const StrVec *words, bool json, bool no_pager);

#endif // CLI_HELP_LIST_PROGRAM_H
