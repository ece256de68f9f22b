// SPDX-License-Identifier: Apache-2.0
// What slow calls of a function do that fast ones do not: processor time by function, waits by
// reason and object, and the wait for a processor, compared per call.

#ifndef ANALYSE_CALLS_SLOW_CALLS_H
#define ANALYSE_CALLS_SLOW_CALLS_H

#include "analyse/calls/call_summary.h"
#include "analyse/waits.h"
#include "stats/intervals.h"

// Which calls are slow: the slowest part of them, or those that take longer than a time.
typedef struct SlowLimit {
    double part; // 0: `ns` counts
    uint64_t ns;
} SlowLimit;

// Parses "1%" or ">5ms" (ns, us, ms, s).
MUST_CHECK bool slow_limit_parse(Str text, SlowLimit *ret, Error *err);

typedef enum SlowKind {
    SLOW_CPU,       // samples of the processor time in a function
    SLOW_WAIT,      // blocked
    SLOW_RUN_QUEUE, // could run, and had no processor
    SLOW_OFF_CPU,   // the rest of a call, in a recording without waits
    SLOW_PARKED     // the rest of a goroutine's call: its thread was not seen in the call
} SlowKind;

// Times are means per call, in ns.
typedef struct SlowCause {
    SlowKind kind;
    WaitClass state;     // of SLOW_WAIT
    StrId object;        // of SLOW_WAIT
    WaitPlace place;     // the innermost function of the program
    Interval difference; // slow - fast; the intervals of all causes hold together, 95 %
    double slow_ns, fast_ns;
    double in_slow, in_fast; // the part of the calls in which it occurs
    bool is_certain;         // more in slow calls, and at least 1 % of their time
} SlowCause;

typedef struct SlowCalls {
    uint64_t limit_ns; // slow calls take at least so long
    size_t slow, fast;
    double slow_ns, fast_ns; // mean durations
    double explained;        // the part of the time of slow calls that the causes add up to
    bool has_waits;
    size_t moved;          // slow calls that ended on another thread: their goroutine moved
    size_t left_out;       // calls of goroutines during others on their thread
    Vec(SlowCause) causes; // certain ones first, each by difference; heap
} SlowCalls;

// A call that is in no other call of its function.
typedef struct SlowSpan {
    uint32_t thread;
    int64_t begin, end; // ns
    bool is_slow;
    uint32_t call;
    int64_t goroutine; // 0: none
} SlowSpan;
typedef Vec(SlowSpan) SlowSpans;

// The calls of a summary by thread, then by begin; heap.
SlowSpans slow_spans(const Profile *p, const CallSummary *s, const SlowLimit *limit);
// The first span of the thread that ends after a time; spans->len when there is none, but it may be
// one of another thread.
size_t slow_span_after(const SlowSpans *spans, uint32_t thread, int64_t time);
// Whether what the thread of a span does with that stack is part of the call: a goroutine's thread
// runs others meanwhile.
bool slow_span_has(const Profile *p, const SlowSpan *span, StackId stack);
// The time in ns that a sample with this value of the metric stands for.
double slow_sample_ns(const Profile *p, MetricId metric, int64_t value);

// Compares the calls of a summary. Calls within other calls of the function are parts of these.
// False when no call, or every call, is slow.
bool slow_calls_compute(const Profile *p, const CallSummary *s, const SlowLimit *limit,
                        SlowCalls *ret);
// The same for labels of the caller's: `is_slow` has one for each row of the summary.
bool slow_calls_judge(const Profile *p, const CallSummary *s, const uint8_t *is_slow,
                      SlowCalls *ret);
// Frees the causes.
void slow_calls_deinit(SlowCalls *s);

#endif // ANALYSE_CALLS_SLOW_CALLS_H
