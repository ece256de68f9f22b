// SPDX-License-Identifier: Apache-2.0
// The steps of one call from its begin to its end: computing, waits, and times without a processor.

#ifndef ANALYSE_CALLS_SLOW_LINE_H
#define ANALYSE_CALLS_SLOW_LINE_H

#include "analyse/calls/call_summary.h"
#include "analyse/waits.h"

typedef enum CallStepKind {
    CALL_STEP_RUNS,   // or waits for less than the recorder keeps
    CALL_STEP_WAITS,  // blocked
    CALL_STEP_QUEUES, // could run, and had no processor
    CALL_STEP_UNSEEN, // the recording does not say: it has no waits, or only looks at threads
    CALL_STEP_APART,  // of a goroutine: no thread was seen in the call
} CallStepKind;

typedef struct CallStep {
    CallStepKind kind;
    int64_t begin_ns, end_ns; // since the start of the recording
    WaitClass state;          // of CALL_STEP_WAITS
    StrId object;             // of CALL_STEP_WAITS; 0: not known
    WaitPlace place;          // where it waits; or where the samples of it are
    uint32_t samples;         // of CALL_STEP_RUNS and CALL_STEP_UNSEEN
    uint32_t waker;           // 1 + the thread that ended the wait; 0: an interrupt, or not known
    WaitPlace waker_place;
} CallStep;

// The steps touch each other, and fill the call. Heap.
typedef Vec(CallStep) CallSteps;

// The steps of a call on the thread where it began. Times of one place that follow each other are
// one step. A goroutine's thread runs others meanwhile: only stacks within the called function
// count, on the thread where the call began and on that where it ended.
CallSteps call_steps(const Profile *p, uint32_t call);

#endif // ANALYSE_CALLS_SLOW_LINE_H
