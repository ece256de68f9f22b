// SPDX-License-Identifier: Apache-2.0
// Which functions of a program allocate and free, besides libc's, and how a jump at their entries
// can be written (wire/entries.h).

#ifndef COLLECT_HEAP_ENTRIES_H
#define COLLECT_HEAP_ENTRIES_H

#include "base/arena.h"
#include "base/error.h"
#include "base/vec.h"
#include "wire/entries.h"

typedef struct HeapEntries {
    WireEntries *wire;     // NULL: there is none
    const char *allocator; // of the functions that are known; NULL: none is linked in
    Str missed;            // a known function that cannot be hooked, and why; ""
    bool is_go;            // a Go program, which allocates by its runtime
} HeapEntries;

// Finds the functions of known allocators (jemalloc, mimalloc, tcmalloc, a malloc of its own) among
// the symbols of the program, and those that the user names: `alloc` and `free` have "NAME",
// "NAME:N", the number of the argument with the size or the block (1 unless said), or "NAME:N*M".
// Fails when one of the user's is not there or cannot be hooked. A file that cannot be read, or is
// not a program for this machine, has no functions.
MUST_CHECK bool heap_entries_find(Arena *arena, Str path, const StrVec *alloc, const StrVec *free,
                                  HeapEntries *ret, Error *err);

#endif // COLLECT_HEAP_ENTRIES_H
