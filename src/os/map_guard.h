// SPDX-License-Identifier: Apache-2.0
// Protects this process from files that are truncated while they are mapped. A read
// after the new end would raise SIGBUS; a guarded mapping reads zeros there, which every
// reader reports as damage, and the mapping is counted. What is written there is lost.

#ifndef OS_MAP_GUARD_H
#define OS_MAP_GUARD_H

#include "base/str.h"

// Guards a mapping: reads of it no longer end the process. Installs a handler for SIGBUS; a fault
// at any other address ends the process as before.
void map_guard_add(Bytes mapped);
// Ends the guard; call it before the bytes are unmapped.
void map_guard_remove(Bytes mapped);

// The number of mappings, past and present, whose file was found truncated.
uint32_t map_guard_cut_count(void);

#endif // OS_MAP_GUARD_H
