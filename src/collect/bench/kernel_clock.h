// SPDX-License-Identifier: Apache-2.0
// The kernel's own record of when a child executed its program and when it
// ended: a software dummy event, which needs no PMU and no rights up to
// perf_event_paranoid 2. Format: perf_event_open(2), PERF_RECORD_COMM and _EXIT.

#ifndef COLLECT_BENCH_KERNEL_CLOCK_H
#define COLLECT_BENCH_KERNEL_CLOCK_H

#include "os/perf_event.h"

#include <poll.h>

// Records of exec, fork and exit of the children that the calling process starts later.
typedef struct KernelClock {
    size_t count;        // rings, one for each online CPU
    int *fds;            // of the events
    PerfRing *rings;     // mapped
    struct pollfd *poll; // [0] is the caller's, then one for each ring
} KernelClock;

// Times on CLOCK_MONOTONIC of one child; 0 where no record was seen.
typedef struct ExecTimes {
    int64_t exec_ns;
    int64_t exit_ns;
    uint32_t started;   // threads and processes that it, or what it started, started
    uint32_t processes; // of these
    uint64_t lost;      // records dropped, of any process
} ExecTimes;

// Opens an event with a ring on each online CPU, inherited by children that start later. Fails
// when the kernel refuses the events.
MUST_CHECK bool kernel_clock_open(KernelClock *ret, Error *err);
void kernel_clock_close(KernelClock *clock); // closes the events and unmaps the rings

// Reads all rings and adds the records of `pid` to *times. Records of other processes are
// dropped.
void kernel_clock_drain(KernelClock *clock, uint32_t pid, ExecTimes *times);

#endif // COLLECT_BENCH_KERNEL_CLOCK_H
