// SPDX-License-Identifier: Apache-2.0
// A file that someone truncates while it is mapped raises SIGBUS where it is read
// beyond its new end. Mappings that are guarded read zeros there instead, which
// every reader takes for damage, and the loss is counted.

#ifndef OS_MAP_GUARD_H
#define OS_MAP_GUARD_H

#include "base/str.h"

// From now on reads of the mapped bytes cannot raise SIGBUS. Takes the
// signal's handler; faults elsewhere end the process as they did.
void map_guard_add(Bytes mapped);
// To be called before the bytes are unmapped.
void map_guard_remove(Bytes mapped);

// How many guarded mappings turned out shorter than they were, removed ones included.
uint32_t map_guard_cut_count(void);

#endif // OS_MAP_GUARD_H
