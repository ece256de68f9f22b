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
// woken, or made; then the thread that did this is. A wait that an interrupt ended is on the path
// itself. The wait for the end of a thread that ran for long, and ended as soon as it was waited
// for, does not lead into that thread: it was told to end (docs/decisions/0297). Waits that were
// too short to be kept count as running. False when the recording has no waits.
bool critical_init(Critical *c, const Profile *p, ThreadId last, int64_t from_ns, int64_t to_ns);
void critical_deinit(Critical *c);

// A span of time in one thread.
typedef struct CriticalSpan {
    ThreadId thread;
    int64_t from_ns, to_ns;
    size_t count; // of spans, of which this is the longest
} CriticalSpan;

// The longest span from one mark to the next of the other kind. A mark is the event of a probe, or
// a point or span on the time line, named in full or by the part after its last ':'. An empty
// name is the begin of the recording, up to the last mark, or its end, from the first mark. The
// thread is that of the mark at the end, if there is one. Fails when there is no such span; the
// error names the mark that is missing.
MUST_CHECK bool critical_find_marks(const Profile *p, Str from, Str to, int64_t end_ns,
                                    CriticalSpan *ret, Error *err);

#endif // ANALYSE_CRITICAL_H
