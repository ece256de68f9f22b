// SPDX-License-Identifier: Apache-2.0
// What the program maps: parts of the address space, each with the site that mapped it.

#ifndef AGENT_HEAP_MAPS_H
#define AGENT_HEAP_MAPS_H

#include "agent/heap_sites.h"

// All sizes are rounded up to pages. The caller holds no lock, and is not interrupted by a handler
// that calls these.

// Notes that [start, start + size) was mapped by that site (its number plus 1). What was there is
// gone.
void heap_maps_add(uint64_t start, uint64_t size, uint32_t site);
// Notes that [start, start + size) is no longer mapped. The site that had mapped the first part of
// it; 0: nothing there was noted.
uint32_t heap_maps_remove(uint64_t start, uint64_t size);
// Forgets all: for the child of a fork.
void heap_maps_forget(void);

#endif // AGENT_HEAP_MAPS_H
