// SPDX-License-Identifier: Apache-2.0
// Updates the mappings of an UnwindSpace as the process does mmap, exec and fork.

#ifndef UNWIND_SPACE_H
#define UNWIND_SPACE_H

#include "unwind/core.h"

// A space without mappings. The caller sets `load`, `find` and `ctx` (core.h) afterwards.
void unwind_space_init(UnwindSpace *s, UnwindArch arch);
void unwind_space_deinit(UnwindSpace *s); // frees the mappings, not the tables

// mmap: adds a mapping and removes the parts of older mappings that it overlaps. An empty mapping
// is ignored.
void unwind_space_map(UnwindSpace *s, UnwindMapping m);
// exec: removes all mappings.
void unwind_space_clear(UnwindSpace *s);
// fork: copies the mappings and callbacks of `from` to an initialised `to`; entries of the cache
// for `from` are valid for `to`.
void unwind_space_copy(UnwindSpace *to, const UnwindSpace *from);

#endif // UNWIND_SPACE_H
