// SPDX-License-Identifier: Apache-2.0
// The collector's side of a set of processes that BPF programs read and write.

#ifndef COLLECT_BPF_PROCESS_SET_H
#define COLLECT_BPF_PROCESS_SET_H

#include "wire/process_set.h"

// Adds a process that is not in the set. Programs may change the set meanwhile. A process without
// room is counted in `no_room`.
void process_set_add(ProcessSet *s, uint32_t pid);
// Removes it again.
void process_set_remove(ProcessSet *s, uint32_t pid);

#endif // COLLECT_BPF_PROCESS_SET_H
