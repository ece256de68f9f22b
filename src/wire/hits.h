// SPDX-License-Identifier: Apache-2.0
// What the BPF program that counts the hits of probes shares with the counter. Compiled for BPF,
// too.

#ifndef WIRE_HITS_H
#define WIRE_HITS_H

#include "wire/process_set.h"

enum {
    HIT_ROWS = 1024, // so many events are counted
    HIT_CPUS = 64,   // each counts in a column of its own; further CPUs share them
};

// Constants of the program.
typedef struct HitConfig {
    uint32_t task_tgid; // offset in struct task_struct
    uint32_t has_group; // sched_process_exit says whether the thread is the last of its process
} HitConfig;

typedef struct HitShared {
    ProcessSet processes; // whose hits count
    uint32_t is_counting; // hits count now
    uint32_t waits_for;   // counting begins when this process runs a program; 0: none
    uint64_t counts[HIT_ROWS * HIT_CPUS];
} HitShared;

#endif // WIRE_HITS_H
