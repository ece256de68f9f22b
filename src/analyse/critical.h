// SPDX-License-Identifier: Apache-2.0
// The critical path: the chain of running, waking and waiting that decided how long something took.

#ifndef ANALYSE_CRITICAL_H
#define ANALYSE_CRITICAL_H

#include "analyse/waits.h"

// Time of the path at one place of one thread.
typedef struct CriticalLine {
    ThreadId thread;
    WaitClass state;
    StrId object;    // of a wait
    WaitPlace place; // 0: running without a sample
    uint64_t ns;
} CriticalLine;

typedef struct Critical {
    Vec(CriticalLine) lines; // by falling time; heap memory
    uint64_t total_ns;       // of the path
    uint64_t steps;          // from one thread to another
    int64_t from_ns, to_ns;
    ThreadId last; // at the end of the path
} Critical;

// Walks from a thread at `to_ns` back to `from_ns`. A thread that runs is on the path until it was
// woken; then the thread that woke it is. A wait that an interrupt ended is on the path itself.
// Waits that were too short to be kept count as running. False when the recording has no waits.
bool critical_init(Critical *c, const Profile *p, ThreadId last, int64_t from_ns, int64_t to_ns);
void critical_deinit(Critical *c);

#endif // ANALYSE_CRITICAL_H
