// SPDX-License-Identifier: Apache-2.0
// Jumps at the entries of the program's own functions that allocate (wire/entries.h).

#ifndef AGENT_HEAP_ENTRIES_H
#define AGENT_HEAP_ENTRIES_H

// Writes the jumps that the session asks for, if this process runs the program they are for. Once,
// before the first block is noted and while there is one thread.
void heap_entries_hook(const char *folder);

#ifdef AGENT_ATTACHED
#include "wire/attach.h"

// Writes all but the jumps, and says in `placed` where they have to lead. False: there is nothing
// to hook.
bool heap_entries_place(const char *folder, WireAttach *a);
#endif

#endif // AGENT_HEAP_ENTRIES_H
