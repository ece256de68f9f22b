// SPDX-License-Identifier: Apache-2.0
// Clocks and the machine's own facts.

#ifndef OS_CLOCK_H
#define OS_CLOCK_H

#include "base/arena.h"

int64_t os_monotonic_ns(void);   // CLOCK_MONOTONIC, the clock of every recording
int64_t os_realtime_ns(void);    // CLOCK_REALTIME
int64_t os_process_cpu_ns(void); // user + system of this process so far
int64_t os_thread_cpu_ns(void);  // of the calling thread

typedef struct Machine {
    Str host_name;
    Str kernel;         // "Linux 6.1.0-13-amd64"
    Str arch;           // "x86_64"
    Str cpu_model;      // "AMD EPYC 7B13"; "" when the kernel does not say
    uint32_t cpu_count; // online
} Machine;

// Facts about this machine; a text that the system does not provide is "". Texts lie in the arena.
Machine os_machine(Arena *arena);

#endif // OS_CLOCK_H
