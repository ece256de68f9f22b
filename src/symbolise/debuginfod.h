// SPDX-License-Identifier: Apache-2.0
// Debug files from debuginfod servers, through libdebuginfod.so.1 where that is
// installed. Only used when the user names servers.

#ifndef SYMBOLISE_DEBUGINFOD_H
#define SYMBOLISE_DEBUGINFOD_H

#include "elf/build_id.h"

// Asks for the debug file of a build-id and gives the path of the downloaded
// copy. False: no library, no server has it, or it took too long (90 s).
bool debuginfod_find(Arena *arena, const BuildId *id, Str *ret);

#endif // SYMBOLISE_DEBUGINFOD_H
