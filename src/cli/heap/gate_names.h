// SPDX-License-Identifier: Apache-2.0
// Functions that limits name: whether the program has them.

#ifndef CLI_HEAP_GATE_NAMES_H
#define CLI_HEAP_GATE_NAMES_H

#include "cli/heap/heap_gates.h"

// Fails with ERROR_USAGE when a limit names a function that is in none of the objects whose code
// the recorded processes ran or mapped: a limit on it holds for every run, because the name is
// misspelt. The hint has the nearest names of `program`, which is the file of the command. A name
// counts as known, too, when only the debug information has it, because every call is inlined.
// Does nothing when no object can be read.
MUST_CHECK bool gate_names_check(Arena *arena, const HeapGates *g, const Profile *p, Str program,
                                 const StrVec *debug_dirs, Error *err);

#endif // CLI_HEAP_GATE_NAMES_H
