// SPDX-License-Identifier: Apache-2.0
// The programs that had the CPUs while a command ran: the kernel's records of context switches.
// Source: perf_event_open(2), PERF_RECORD_SWITCH and PERF_RECORD_SWITCH_CPU_WIDE.

#ifndef COLLECT_BENCH_SWITCHES_H
#define COLLECT_BENCH_SWITCHES_H

#include "base/arena.h"
#include "base/error.h"
#include "base/vec.h"

// A time in which a thread of the command had no CPU. Times by CLOCK_MONOTONIC.
typedef struct SwitchGap {
    uint32_t tid;
    int64_t out_ns, in_ns;
    bool ready; // it was put off the CPU and would have run on; else it waited for something
} SwitchGap;

// Another program that ran on the CPU for which a thread of the command was waiting.
typedef struct SwitchOther {
    Str name; // of its thread; "" when it ended before that could be read
    int64_t ns;
} SwitchOther;

// One run of a command, all of its processes and threads. Sums over the threads.
typedef struct RunSwitches {
    int64_t exec_ns, exit_ns; // of its first process; 0: not seen
    int64_t cpu_ns;           // they ran
    int64_t ready_ns;         // put off the CPU
    int64_t blocked_ns;       // waited for something, and after that for a CPU
    Vec(SwitchGap) gaps;      // in the order of their ends
    Vec(SwitchOther) others;  // those with the most time first
    uint64_t lost;            // records; then all of this is too little
} RunSwitches;

typedef struct SwitchWatch SwitchWatch;

// Starts to watch: all programs where that is allowed, else those that this process starts from
// here on, of which `others` then stays empty.
MUST_CHECK bool switch_watch_open(SwitchWatch **ret, Error *err);
void switch_watch_close(SwitchWatch *w); // accepts NULL
// Whether other programs are seen.
bool switch_watch_sees_others(const SwitchWatch *w);

// Forgets all switches seen so far. Called before a run.
void switch_watch_begin(SwitchWatch *w);
// The switches since then of the process `pid` and its descendants. Texts and vectors are the
// arena's.
void switch_watch_end(SwitchWatch *w, Arena *arena, uint32_t pid, RunSwitches *ret);

#endif // COLLECT_BENCH_SWITCHES_H
