// SPDX-License-Identifier: Apache-2.0
// Allocators that lie in the program itself, which the preloaded library does not stand before.

#ifndef CLI_HEAP_OWN_ALLOCATOR_H
#define CLI_HEAP_OWN_ALLOCATOR_H

#include "model/profile.h"

// Notes in the profile that the program has an allocator of its own, if its symbols say so. Blocks
// of that allocator are not in the recording. A file that cannot be read is passed over: the
// program ran, so that its own error would have been said.
void own_allocator_note(Arena *arena, Str path, Profile *p);

#endif // CLI_HEAP_OWN_ALLOCATOR_H
