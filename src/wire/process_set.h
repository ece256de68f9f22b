// SPDX-License-Identifier: Apache-2.0
// A set of processes that a BPF program and the collector share. Compiled for BPF, too.

#ifndef WIRE_PROCESS_SET_H
#define WIRE_PROCESS_SET_H

#include <stdint.h>

enum {
    PROCESS_SET_PLACES = 1 << 13, // hashed by the process number
    PROCESS_SET_PROBES = 8,       // an entry lies in one of so many places
};

typedef struct ProcessSet {
    uint32_t pids[PROCESS_SET_PLACES]; // 0: free
    uint64_t no_room;                  // processes that did not fit
} ProcessSet;

#endif // WIRE_PROCESS_SET_H
