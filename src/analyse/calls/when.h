// SPDX-License-Identifier: Apache-2.0
// Conditions on which a flight recording is written: `--when`.

#ifndef ANALYSE_CALLS_WHEN_H
#define ANALYSE_CALLS_WHEN_H

#include "model/profile.h"
#include "os/call_plan.h"

typedef enum WhenMeasure {
    WHEN_CPU,   // processor time
    WHEN_WAITS, // time in one class of waits
    WHEN_CALLS, // the percentile of the times of calls
} WhenMeasure;

// p99(handle) > 20ms, cpu > 90%, lock > 50%.
typedef struct When {
    WhenMeasure measure;
    Str function;    // WHEN_CALLS
    WaitClass class; // WHEN_WAITS
    double part;     // of the calls, from 0 to 1; of the time: 1 is one processor, or one thread
    uint64_t ns;     // WHEN_CALLS
    Str text;
} When;

enum { WHEN_WINDOW_S = 10 }; // that a condition looks at

// What a second, or a little more, had.
typedef struct WhenSecond {
    int64_t span_ns;
    uint64_t ns;
    U64Vec calls; // their times; heap memory
} WhenSecond;

// The newest seconds. Zeroed it is empty.
typedef struct WhenWindow {
    WhenSecond seconds[WHEN_WINDOW_S];
    uint32_t at, count;            // the next one, and those that there are
    size_t samples, states, calls; // rows of the profile that were looked at
    int64_t looked_ns;             // by the clock of the machine; 0: never
} WhenWindow;

// Parses a condition.
MUST_CHECK bool when_parse(Str text, When *ret, Error *err);

// Frees its memory; it is empty then.
void when_window_deinit(WhenWindow *w);
// The rows were removed, or there is a new profile.
void when_window_forget(WhenWindow *w);
// Adds the rows that came since the last call, as one second of the window. A sample stands for
// `sample_ns`; if that is 0, for its own value. `calls` are the functions of --calls.
void when_window_look(WhenWindow *w, const When *when, const Profile *p, const CallPlan *calls,
                      uint64_t sample_ns, int64_t now_ns);
// Whether the condition holds over the window. It must be full; a percentile needs 20 calls.
bool when_holds(const When *when, const WhenWindow *w);

#endif // ANALYSE_CALLS_WHEN_H
