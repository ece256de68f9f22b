// SPDX-License-Identifier: Apache-2.0
// Jumps at the entries of the program's own functions that allocate (wire/entries.h).

#ifndef AGENT_HEAP_ENTRIES_H
#define AGENT_HEAP_ENTRIES_H

// Writes the jumps that the session asks for, if this process runs the program they are for. Once,
// before the first block is noted and while there is one thread.
void heap_entries_hook(const char *folder);

#endif // AGENT_HEAP_ENTRIES_H
