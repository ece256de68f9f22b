// SPDX-License-Identifier: Apache-2.0
// The executable mappings of this process, for unwinding and for the records about them. The
// list is read from /proc/self/maps, again when an address is in none of them, or when the
// dynamic linker says that another object lies there now. No lock: readers copy a row, and a
// thread that finds another one reading the maps goes on without.

#ifndef AGENT_MAPPINGS_H
#define AGENT_MAPPINGS_H

#include "unwind/frame_search.h"

typedef struct AgentMapping {
    uint64_t start, end; // of the executable mapping
    uint64_t offset, inode;
    FrameSections frames; // frames.hdr is NULL where there is none
    const void *linked;   // the dynamic linker's object, when it was last asked; NULL: never
} AgentMapping;

// Called for each executable mapping that is new. `path` is not empty; it ends in NUL.
typedef void MappingNew(const AgentMapping *m, uint32_t device_major, uint32_t device_minor,
                        const char *path);

// Reads the maps, and calls `on_new` for each mapping that is new since the last reading. False
// when another thread reads them now, or they were read a moment ago.
bool mappings_refresh(MappingNew *on_new);
// Forgets all mappings, so that all are new at the next reading.
void mappings_forget(void);
// Whether the dynamic linker has an object at that address.
bool mappings_is_linked(uint64_t pc);
// Says that an object was unloaded: another one may come to lie at its place, with the same layout
// and the same row in the dynamic linker's list.
void mappings_set_stale(void);
// Whether that was said since the last reading.
bool mappings_are_stale(void);
// Changes with the list; never 0.
uint64_t mappings_generation(void);
// Copies the row that contains an address. False: there is none.
bool mappings_find(uint64_t pc, AgentMapping *ret);
// Copies the row of the file with that inode that contains an offset of the file.
bool mappings_find_offset(uint64_t inode, uint64_t offset, AgentMapping *ret);
// Whether an address lies in the code of this library.
bool mappings_is_own_code(uint64_t pc);
// Whether the dynamic linker still has the same object at that address.
bool mappings_is_current(const AgentMapping *m, uint64_t pc);

#endif // AGENT_MAPPINGS_H
