// SPDX-License-Identifier: Apache-2.0
// What each thread did over time, for pictures: stretches in one state, and who ended which wait.

#ifndef ANALYSE_WAIT_WAIT_SPANS_H
#define ANALYSE_WAIT_WAIT_SPANS_H

#include "analyse/waits.h"
#include "analyse/weights.h"

// A stretch of a thread's time in one state.
typedef struct WaitSpan {
    ThreadId thread;
    int64_t start_ns, end_ns;
    WaitClass state; // WAIT_RUNNING also stands for waits shorter than the recorder keeps
    StrId object;    // "" when not known
    StackId stack;   // of the wait; 0 for a thread that ran or waited for a processor
    uint32_t waker;  // 1 + the thread that ended the wait; 0: an interrupt, or not known
    StackId waker_stack;
} WaitSpan;

// One thread ended a wait of another, or made it.
typedef struct WaitArrow {
    ThreadId from, to;
    int64_t time_ns;
} WaitArrow;

typedef struct WaitSpans {
    Vec(WaitSpan) spans;   // by thread, then by time; those of one thread do not overlap
    Vec(WaitArrow) arrows; // in the order of the recording; none leads to its own thread
} WaitSpans;

// The spans of the selected threads, cut to the selection's time. Empty when the recording has no
// single waits, and for a selection by function. Recordings without BPF hold only the waits that
// were looked at, so that the time between them is not known: there it has no span.
void wait_spans_init(WaitSpans *w, const Profile *p, const Selection *s);
// Frees the memory of wait_spans_init.
void wait_spans_deinit(WaitSpans *w);

// Appends "lock cache_lock", or the class alone.
void wait_span_add_name(const Profile *p, const WaitSpan *span, StrBuf *out);

#endif // ANALYSE_WAIT_WAIT_SPANS_H
