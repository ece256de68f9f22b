// SPDX-License-Identifier: Apache-2.0
// The steps of one call from its begin to its end: computing, waits, and times without a processor.

#ifndef ANALYSE_CALLS_SLOW_LINE_H
#define ANALYSE_CALLS_SLOW_LINE_H

#include "analyse/calls/call_summary.h"
#include "analyse/waits.h"

typedef enum CallStepKind {
    CALL_STEP_RUNS,   // runs; waits that are shorter than those that the recorder keeps are in it
    CALL_STEP_WAITS,  // is blocked
    CALL_STEP_QUEUES, // could run, and has no processor
    CALL_STEP_UNSEEN, // not known: the recording has no waits, or only looks at threads
    CALL_STEP_APART,  // of a goroutine: no thread was seen in the call
} CallStepKind;

typedef struct CallStep {
    CallStepKind kind;
    int64_t begin_ns, end_ns; // since the start of the recording
    WaitClass state;          // of CALL_STEP_WAITS
    StrId object;             // of CALL_STEP_WAITS; 0: not known
    WaitPlace place;          // the code that waits, or that the samples of the step are in
    uint32_t samples;         // of CALL_STEP_RUNS and CALL_STEP_UNSEEN
    uint32_t waker;           // 1 + the thread that ended the wait; 0: an interrupt, or not known
    WaitPlace waker_place;
} CallStep;

// The steps in the order of time. Each begins where the one before ends; together they last as long
// as the call. The caller frees the vector (vec_free).
typedef Vec(CallStep) CallSteps;

// The steps of a call, on the thread where it began. Neighbouring times of one place are one step.
// The thread of a goroutine runs others meanwhile: only stacks within the called function count, on
// the thread where the call began and on that where it ended.
CallSteps call_steps(const Profile *p, uint32_t call);

#endif // ANALYSE_CALLS_SLOW_LINE_H
