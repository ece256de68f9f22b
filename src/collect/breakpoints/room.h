// SPDX-License-Identifier: Apache-2.0
// Room for code of ours in a traced process: the bytes between the end of a module's code and the
// end of its last page, which no program uses. Documents: elf(5), proc(5), "maps".

#ifndef COLLECT_BREAKPOINTS_ROOM_H
#define COLLECT_BREAKPOINTS_ROOM_H

#include <sys/types.h>

#include "os/proc.h"

// An address of `len` unused bytes, at most 64, behind the code that the mapping `in` (one of
// `maps`) holds. Bytes that are not 0 are in use: what was put there by an earlier call is not
// given again. 0: there is no room. `memory_fd` is as for code_read.
uint64_t room_find(int memory_fd, pid_t pid, const ProcMapVec *maps, const ProcMap *in, size_t len);

#endif // COLLECT_BREAKPOINTS_ROOM_H
