// SPDX-License-Identifier: Apache-2.0
// Keeping an UnwindSpace in step with the process: mmap, exec, fork.

#ifndef UNWIND_SPACE_H
#define UNWIND_SPACE_H

#include "unwind/core.h"

// `load`, `find` and `ctx` (core.h) are set by the caller afterwards.
void unwind_space_init(UnwindSpace *s, UnwindArch arch);
void unwind_space_deinit(UnwindSpace *s);

// Adds a mapping; what it overlaps of older ones is cut away, as mmap does.
// Empty ones are ignored.
void unwind_space_map(UnwindSpace *s, UnwindMapping m);
// exec: nothing is mapped any more.
void unwind_space_clear(UnwindSpace *s);
// fork: an initialised `to` gets the mappings, callbacks and cached rules of `from`.
void unwind_space_copy(UnwindSpace *to, const UnwindSpace *from);

#endif // UNWIND_SPACE_H
