// SPDX-License-Identifier: Apache-2.0
// Debug files from debuginfod servers, downloaded by libdebuginfod.so.1 where that is
// installed, and only when the user names servers.

#ifndef SYMBOLISE_DEBUGINFOD_H
#define SYMBOLISE_DEBUGINFOD_H

#include "elf/build_id.h"

// Downloads the debug file of a build-id and returns the path of the copy. False when there is no
// library, when no server has the file, or after 90 s.
bool debuginfod_find(Arena *arena, const BuildId *id, Str *ret);

#endif // SYMBOLISE_DEBUGINFOD_H
